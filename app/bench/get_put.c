/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <string.h>

#include <rte_common.h>
#include <rte_lcore.h>

#include "get_put.h"

static void *tables[RTE_MAX_LCORE][BENCH_OUT_MAX + 8];

static __rte_always_inline void
copy_pointers(void **stack, void **objs, unsigned int n)
{
	memcpy(objs, stack, n * sizeof(*objs));
	rte_compiler_barrier();
	memcpy(stack, objs, n * sizeof(*objs));
	rte_compiler_barrier();
}

static __rte_always_inline int
loop(struct rte_mempool *mp, unsigned int bulk, unsigned int iterations)
{
	static void *stacks[RTE_MAX_LCORE][BENCH_OUT_MAX + 8];
	void **objs = tables[rte_lcore_id()];
	void **stack = stacks[rte_lcore_id()];
	unsigned int i;

	for (i = 0; i < iterations; i++) {
		if (mp == NULL) {
			copy_pointers(stack, objs, bulk);
			continue;
		}
		if (rte_mempool_get_bulk(mp, objs, bulk) != 0)
			return -1;
		rte_mempool_put_bulk(mp, objs, bulk);
	}
	return 0;
}

/* Numbers that the compiler knows, as in most applications. */
int
bench_get_put(struct rte_mempool *mp, unsigned int bulk, unsigned int iterations)
{
	switch (bulk) {
	case 1:
		return loop(mp, 1, iterations);
	case 8:
		return loop(mp, 8, iterations);
	case 32:
		return loop(mp, 32, iterations);
	default:
		return loop(mp, bulk, iterations);
	}
}

int
bench_get_put_deep(struct rte_mempool *mp, unsigned int bulk, unsigned int bursts,
		   unsigned int iterations)
{
	void **objs = tables[rte_lcore_id()];
	unsigned int i, k;

	for (i = 0; i < iterations; i += bursts) {
		for (k = 0; k < bursts; k++)
			if (rte_mempool_get_bulk(mp, &objs[k * bulk], bulk) != 0)
				goto err_put;
		for (k = 0; k < bursts; k++)
			rte_mempool_put_bulk(mp, &objs[k * bulk], bulk);
	}
	return 0;

err_put:
	while (k-- != 0)
		rte_mempool_put_bulk(mp, &objs[k * bulk], bulk);
	return -1;
}
