/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/* Get and put of mempool objects, by one lcore and by two at once. */

#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_pause.h>

#include "get_put.h"
#include "perf.h"

#define BULK_MAX 32u
/** Mbufs: enough for the caches of two lcores, few enough for 256 KiB of device memory. */
#define POOL_N 1023u
/** Bursts that are out at once in the deep variant: half of the pool, more than caches hold. */
#define DEEP 16u

struct subject {
	struct rte_mempool *mp;  /**< NULL: copy the pointers. */
	const char *ops;
	double spill;            /**< Share in host memory. */
	unsigned int device_slots;
	unsigned int bulk;
	unsigned int lcores;
	unsigned int bursts;     /**< Got before the first is put. */
	unsigned int iterations;
	/* of the run at hand */
	unsigned int waiting;
	uint64_t cycles[RTE_MAX_LCORE];
};

static int
loop(const struct subject *s)
{
	if (s->bursts == 1 || s->mp == NULL)
		return bench_get_put(s->mp, s->bulk, s->iterations);
	return bench_get_put_deep(s->mp, s->bulk, s->bursts, s->iterations);
}

static int
work(void *arg)
{
	struct subject *s = arg;
	uint64_t start;
	int ret;

	__atomic_sub_fetch(&s->waiting, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&s->waiting, __ATOMIC_ACQUIRE) != 0)
		rte_pause();
	start = rte_rdtsc_precise();
	ret = loop(s);
	s->cycles[rte_lcore_id()] = rte_rdtsc_precise() - start;
	return ret;
}

/* Cycles that an object takes an lcore. */
static double
run(void *arg)
{
	struct subject *s = arg;
	unsigned int started = 1;
	unsigned int lcore;
	uint64_t cycles = 0;
	int ret;

	memset(s->cycles, 0, sizeof(s->cycles));
	s->waiting = s->lcores;
	RTE_LCORE_FOREACH_WORKER(lcore) {
		if (started == s->lcores)
			break;
		if (rte_eal_remote_launch(work, s, lcore) != 0)
			return -1;
		started++;
	}
	ret = work(s);
	RTE_LCORE_FOREACH_WORKER(lcore)
		ret |= rte_eal_wait_lcore(lcore);
	for (lcore = 0; lcore < RTE_MAX_LCORE; lcore++)
		cycles += s->cycles[lcore];
	if (ret != 0) {
		fprintf(stderr, "get from a pool of ops %s failed\n", s->ops);
		return -1;
	}
	return (double)cycles / s->lcores / s->iterations / s->bulk;
}

/* ring_mp_mc twice: how far it is from itself is the spread that counts. */
static const struct {
	const char *name, *ops;
	enum perf_spill spill;
} subjects[] = {
	{ OPS_RING, OPS_RING, SPILL_NONE },
	{ OPS_RING " again", OPS_RING, SPILL_NONE },
	{ "stack", "stack", SPILL_NONE },
	{ "lf_stack", "lf_stack", SPILL_NONE },
	{ OPS_MEMIC, OPS_MEMIC, SPILL_NONE },
	{ OPS_MEMIC, OPS_MEMIC, SPILL_HALF },
	{ "copy", NULL, SPILL_NONE },
};

static void
report(const struct subject *s, const struct variant *v, unsigned int cache, double floor)
{
	result_begin(s->bursts == 1 ? "get_put" : "get_put_deep");
	result_string("ops", v->name);
	result_integer("cache", cache);
	result_integer("bulk", s->bulk);
	result_integer("lcores", s->lcores);
	result_number("spill", s->spill);
	if (s->mp != NULL && strcmp(s->ops, OPS_MEMIC) == 0)
		result_integer("device_slots", s->device_slots);
	result_variant("cycles_per_object", v, "ratio_to_ring");
	result_number("ratio_to_copy", v->median / floor);
	result_end();
}

static int
measure(struct subject *s, struct variant *v, unsigned int cache, unsigned int bulk,
	unsigned int lcores, unsigned int bursts)
{
	const unsigned int n = RTE_DIM(subjects);
	char what[64];
	unsigned int i;

	for (i = 0; i < n; i++) {
		s[i].bulk = bulk;
		s[i].lcores = lcores;
		s[i].bursts = bursts;
		s[i].iterations = (perf_options.quick ? 20000 : 320000) / (bulk + 8) / DEEP * DEEP;
	}
	snprintf(what, sizeof(what), "get_put%s, cache %u, bulk %u, %u lcores",
		 bursts == 1 ? "" : " deep", cache, bulk, lcores);
	if (rounds_run(what, v, n, perf_options.rounds) != 0)
		return -1;
	for (i = 0; i < n; i++)
		report(&s[i], &v[i], cache, v[n - 1].median);
	return 0;
}

/* An odd number of mbufs has no half. */
static double
spill_of(unsigned int device_slots)
{
	double spill = 1 - (double)device_slots / POOL_N;

	return spill > 0.499 && spill < 0.501 ? 0.5 : spill;
}

static int
prepare(struct subject *s, struct variant *v, unsigned int cache)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(subjects); i++) {
		s[i].ops = subjects[i].ops;
		v[i] = (struct variant){ .name = subjects[i].name, .run = run, .arg = &s[i] };
		if (s[i].ops == NULL)
			continue;
		s[i].mp = pool_make(s[i].ops, POOL_N, cache, PERF_ROOM, subjects[i].spill);
		if (s[i].mp == NULL)
			return -1;
		if (strcmp(s[i].ops, OPS_MEMIC) != 0)
			continue;
		s[i].device_slots = pool_device_slots(s[i].mp);
		report_device_slots += s[i].device_slots;
		s[i].spill = spill_of(s[i].device_slots);
	}
	return 0;
}

static int
with_cache(unsigned int cache)
{
	static const unsigned int bulks[] = { 1, 8, 32 };
	static struct subject s[RTE_DIM(subjects)];
	static struct variant v[RTE_DIM(subjects)];
	unsigned int lcores = RTE_MIN(rte_lcore_count(), 2u);
	unsigned int i, k;
	int ret;

	memset(s, 0, sizeof(s));
	ret = prepare(s, v, cache);
	for (k = 1; k <= lcores && ret == 0; k++)
		for (i = 0; i < RTE_DIM(bulks) && ret == 0; i++)
			ret = measure(s, v, cache, bulks[i], k, 1);
	if (ret == 0)
		ret = measure(s, v, cache, BULK_MAX, 1, DEEP);
	for (i = 0; i < RTE_DIM(subjects); i++)
		pool_free(s[i].mp);
	return ret;
}

int
test_get_put(void)
{
	if (rte_lcore_count() < 2)
		fprintf(stderr, "get_put: EAL has one lcore only, nothing is measured with two\n");
	if (with_cache(0) != 0 || with_cache(256) != 0)
		return PERF_FAILED;
	return PERF_OK;
}
