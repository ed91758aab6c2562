/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/* Mbufs with pinned external buffers: ours, and those of DPDK's own on ring_mp_mc. */

#include <stdio.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "perf.h"

#define BULK 32u
#define CACHE 256u
#define POOL_N 1023u

struct subject {
	struct rte_mempool *mp;
	unsigned int iterations;
	bool each;   /**< Free one by one, as programs that drop frames do. */
};

static void
give_back(struct rte_mbuf **m, bool each)
{
	unsigned int i;

	if (!each) {
		rte_pktmbuf_free_bulk(m, BULK);
		return;
	}
	for (i = 0; i < BULK; i++)
		rte_pktmbuf_free(m[i]);
}

static double
run(void *arg)
{
	const struct subject *s = arg;
	struct rte_mbuf *m[BULK];
	uint64_t start = rte_rdtsc_precise();
	unsigned int i;

	for (i = 0; i < s->iterations; i++) {
		if (rte_pktmbuf_alloc_bulk(s->mp, m, BULK) != 0) {
			fprintf(stderr, "rte_pktmbuf_alloc_bulk() failed\n");
			return -1;
		}
		give_back(m, s->each);
	}
	return (double)(rte_rdtsc_precise() - start) / s->iterations / BULK;
}

static void
report(const struct variant *v, bool each, unsigned int cache, double spill,
       unsigned int device_slots)
{
	result_begin("pktmbuf");
	result_string("ops", v->name);
	result_integer("cache", cache);
	result_integer("bulk", BULK);
	result_integer("lcores", 1);
	result_number("spill", spill);
	result_string("free", each ? "each" : "bulk");
	if (device_slots != 0)
		result_integer("device_slots", device_slots);
	result_variant("cycles_per_object", v, "ratio_to_extbuf");
	result_end();
}

/* Pools to compare; that of the floor comes last, as it may not be had. */
static const char *const names[] = {
	OPS_RING " extbuf", OPS_RING " extbuf again", OPS_RING, OPS_MEMIC, OPS_MEMIC, "call of ops",
};
#define HALF 4u
#define FLOOR 5u

static int
measure(struct rte_mempool **mp, const unsigned int *slots, bool each)
{
	unsigned int n = mp[FLOOR] == NULL ? FLOOR : FLOOR + 1;
	struct variant v[RTE_DIM(names)];
	struct subject s[RTE_DIM(names)];
	unsigned int i;

	for (i = 0; i < n; i++) {
		s[i] = (struct subject){
			.mp = mp[i],
			.iterations = perf_options.quick ? 200 : 2000,
			.each = each,
		};
		v[i] = (struct variant){ .name = names[i], .run = run, .arg = &s[i] };
	}
	if (rounds_run(each ? "pktmbuf, one by one" : "pktmbuf", v, n, perf_options.rounds) != 0)
		return -1;
	for (i = 0; i < n; i++)
		report(&v[i], each, i == FLOOR ? 0 : CACHE, i == HALF ? 0.5 : 0, slots[i]);
	return 0;
}

int
test_pktmbuf(void)
{
	struct rte_mempool *mp[RTE_DIM(names)] = { NULL };
	unsigned int slots[RTE_DIM(names)] = { 0 };
	unsigned int i;
	int ret = -1;

	mp[0] = pool_make_extbuf(POOL_N, CACHE);
	mp[1] = pool_make_extbuf(POOL_N, CACHE);
	mp[2] = pool_make(OPS_RING, POOL_N, CACHE, PERF_ROOM, SPILL_NONE);
	mp[3] = pool_make(OPS_MEMIC, POOL_N, CACHE, PERF_ROOM, SPILL_NONE);
	mp[HALF] = pool_make(OPS_MEMIC, POOL_N, CACHE, PERF_ROOM, SPILL_HALF);
	mp[FLOOR] = pool_make_floor(POOL_N);
	if (mp[0] != NULL && mp[1] != NULL && mp[2] != NULL && mp[3] != NULL && mp[HALF] != NULL) {
		for (i = 3; i <= HALF; i++) {
			slots[i] = pool_device_slots(mp[i]);
			report_device_slots += slots[i];
		}
		ret = measure(mp, slots, false);
		if (ret == 0)
			ret = measure(mp, slots, true);
	}
	for (i = 0; i < RTE_DIM(mp); i++)
		pool_free(mp[i]);
	return ret == 0 ? PERF_OK : PERF_FAILED;
}
