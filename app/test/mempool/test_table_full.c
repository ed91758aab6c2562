/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/* Case 1: DPDK's table of mempool ops is full when the plugin loads. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>

#include "fixture.h"

static const char *load_log;

static int
dummy_alloc(struct rte_mempool *mp)
{
	(void)mp;
	return -ENOTSUP;
}

static int
dummy_put(struct rte_mempool *mp, void * const *objs, unsigned int n)
{
	(void)mp, (void)objs, (void)n;
	return -ENOTSUP;
}

static int
dummy_get(struct rte_mempool *mp, void **objs, unsigned int n)
{
	(void)mp, (void)objs, (void)n;
	return -ENOTSUP;
}

static unsigned int
dummy_count(const struct rte_mempool *mp)
{
	(void)mp;
	return 0;
}

static void
fill_table(void)
{
	struct rte_mempool_ops ops = {
		.alloc = dummy_alloc,
		.enqueue = dummy_put,
		.dequeue = dummy_get,
		.get_count = dummy_count,
	};
	int i;

	for (i = 0; i >= 0;) {
		snprintf(ops.name, sizeof(ops.name), "filler%u", rte_mempool_ops_table.num_ops);
		i = rte_mempool_register_ops(&ops);
	}
}

static void
told_with_the_cure(void **state)
{
	const char *line = strstr(load_log, "MLX5_MEMIC: ops mlx5_memic not registered");

	(void)state;
	assert_non_null(line);
	assert_non_null(strstr(line, "ENOSPC"));
	assert_non_null(strstr(line, "disable_drivers"));
}

static void
nothing_registered(void **state)
{
	(void)state;
	assert_int_equal(rte_mempool_ops_table.num_ops, RTE_MEMPOOL_MAX_OPS_IDX);
	assert_null(rte_pktmbuf_pool_create_by_ops("p", 64, 0, 0, ROOM, SOCKET_ID_ANY, OPS));
	assert_int_equal(rte_errno, EINVAL);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(told_with_the_cure),
		cmocka_unit_test(nothing_registered),
	};

	fill_table();
	log_begin();
	if (eal_start(argc, argv) != 0)
		return 1;
	load_log = log_end();
	return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
