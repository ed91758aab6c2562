/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/* Making a pool, and freeing it. */

#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include "perf.h"

/** As the pools that spill by half, whose rule is for this number. */
#define POOL_N 1023u

struct subject {
	const char *ops;
	enum perf_spill spill;
	unsigned int mbufs;
	unsigned int device_slots;
};

static double
run(void *arg)
{
	struct subject *s = arg;
	struct rte_mempool *mp;
	uint64_t start, made;

	start = rte_rdtsc_precise();
	mp = pool_make(s->ops, s->mbufs, 256, PERF_ROOM, s->spill);
	made = rte_rdtsc_precise();
	if (mp == NULL)
		return -1;
	s->device_slots = pool_device_slots(mp);
	/* counting is no part of it */
	start += rte_rdtsc_precise() - made;
	pool_free(mp);
	return (double)(rte_rdtsc_precise() - start) * 1e6 / rte_get_tsc_hz();
}

static void
report(const struct subject *s, const struct variant *v)
{
	bool memic = strcmp(s->ops, OPS_MEMIC) == 0;

	result_begin("create");
	result_string("ops", s->ops);
	result_integer("cache", 256);
	result_integer("mbufs", s->mbufs);
	if (s->spill == SPILL_HALF)
		result_number("spill", 0.5);
	else
		result_number("spill", memic ? 1 - (double)s->device_slots / s->mbufs : 0);
	if (memic)
		result_integer("device_slots", s->device_slots);
	report_device_slots += memic ? s->device_slots : 0;
	result_variant("microseconds", v, "ratio_to_ring");
	result_end();
}

static int
create_of(unsigned int mbufs)
{
	struct subject s[] = {
		{ OPS_RING, SPILL_NONE, mbufs, 0 },
		{ OPS_MEMIC, SPILL_NONE, mbufs, 0 },
		{ OPS_MEMIC, SPILL_HALF, mbufs, 0 },
	};
	unsigned int n = mbufs == POOL_N ? RTE_DIM(s) : RTE_DIM(s) - 1;
	unsigned int times = mbufs > POOL_N ? 1 : perf_options.quick ? 3 : 11;
	struct variant v[RTE_DIM(s)];
	unsigned int i;

	for (i = 0; i < n; i++)
		v[i] = (struct variant){ .name = s[i].ops, .run = run, .arg = &s[i] };
	if (rounds_run("create", v, n, times) != 0)
		return PERF_FAILED;
	for (i = 0; i < n; i++)
		report(&s[i], &v[i]);
	return PERF_OK;
}

int
test_create(void)
{
	unsigned int i;

	if (perf_options.n_sizes == 0)
		return create_of(POOL_N);
	for (i = 0; i < perf_options.n_sizes; i++)
		if (create_of(perf_options.sizes[i]) != PERF_OK)
			return PERF_FAILED;
	return PERF_OK;
}
