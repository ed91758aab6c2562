/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * Case 38: a plugin that was built for another release. The program's own
 * rte_version_month() comes before DPDK's, so that the plugin sees another release.
 */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_version.h>

#include "fixture.h"

static const char *load_log;

unsigned int
rte_version_month(void)
{
	return RTE_VER_MONTH + 1;
}

static void
told_with_both_releases(void **state)
{
	const char *line = strstr(load_log, "MLX5_MEMIC: built for DPDK ");
	char built[16], running[16];

	(void)state;
	assert_non_null(line);
	snprintf(built, sizeof(built), "%d.%02d", RTE_VER_YEAR, RTE_VER_MONTH);
	snprintf(running, sizeof(running), "%d.%02d", RTE_VER_YEAR, RTE_VER_MONTH + 1);
	assert_non_null(strstr(line, built));
	assert_non_null(strstr(line, running));
}

static void
stays_off(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < rte_mempool_ops_table.num_ops; i++)
		assert_string_not_equal(rte_mempool_ops_table.ops[i].name, OPS);
	assert_null(rte_pktmbuf_pool_create_by_ops("p", 64, 0, 0, ROOM, SOCKET_ID_ANY, OPS));
	assert_int_equal(rte_errno, EINVAL);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(told_with_both_releases),
		cmocka_unit_test(stays_off),
	};

	log_begin();
	if (eal_start(argc, argv) != 0)
		return 1;
	load_log = log_end();
	return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
