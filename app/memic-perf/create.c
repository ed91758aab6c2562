/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/* Making a pool, and freeing it. */

#include <stdio.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include "perf.h"

#define POOL_N 1023u

struct subject {
	const char *ops;
	enum perf_spill spill;
	unsigned int device_slots;
};

static double
run(void *arg)
{
	struct subject *s = arg;
	struct rte_mempool *mp;
	uint64_t start, made;

	start = rte_rdtsc_precise();
	mp = pool_make(s->ops, POOL_N, 256, PERF_ROOM, s->spill);
	made = rte_rdtsc_precise();
	if (mp == NULL)
		return -1;
	s->device_slots = pool_device_slots(mp);
	/* counting is no part of it */
	start += rte_rdtsc_precise() - made;
	pool_free(mp);
	return (double)(rte_rdtsc_precise() - start) * 1e6 / rte_get_tsc_hz();
}

int
test_create(void)
{
	struct subject s[] = {
		{ OPS_RING, SPILL_NONE, 0 },
		{ OPS_MEMIC, SPILL_NONE, 0 },
		{ OPS_MEMIC, SPILL_HALF, 0 },
	};
	struct variant v[RTE_DIM(s)];
	unsigned int i;

	for (i = 0; i < RTE_DIM(s); i++)
		v[i] = (struct variant){ .name = s[i].ops, .run = run, .arg = &s[i] };
	if (rounds_run("create", v, RTE_DIM(s), perf_options.quick ? 3 : 11) != 0)
		return PERF_FAILED;
	for (i = 0; i < RTE_DIM(s); i++) {
		result_begin("create");
		result_string("ops", v[i].name);
		result_integer("cache", 256);
		result_integer("mbufs", POOL_N);
		result_number("spill", s[i].spill == SPILL_HALF ? 0.5 : 0);
		if (i != 0)
			result_integer("device_slots", s[i].device_slots);
		report_device_slots += s[i].device_slots;
		result_variant("microseconds", &v[i], "ratio_to_ring");
		result_end();
	}
	return PERF_OK;
}
