/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>
#include <rte_mempool.h>

#include "perf.h"

static bool
driver_loaded(void)
{
	unsigned int i;

	for (i = 0; i < rte_mempool_ops_table.num_ops; i++)
		if (strcmp(rte_mempool_ops_table.ops[i].name, OPS_MEMIC) == 0)
			return true;
	return false;
}

static int
run_tests(void)
{
	static const struct {
		const char *name;
		int (*fn)(void);
	} tests[] = {
		{ "get_put", test_get_put },
		{ "pktmbuf", test_pktmbuf },
		{ "create", test_create },
		{ "start", test_start },
		{ "copy", test_copy },
	};
	bool copied = false;
	unsigned int i;
	int ret;

	for (i = 0; i < RTE_DIM(tests); i++) {
		if (!test_wanted(tests[i].name))
			continue;
		ret = tests[i].fn();
		if (ret == PERF_FAILED)
			return ret;
		copied = copied || (tests[i].fn == test_copy && ret == PERF_OK);
	}
	if (report_device_slots != 0 || copied)
		return PERF_OK;
	fprintf(stderr, "no pool had a buffer in device memory: nothing to measure. Is a port with "
		"such memory given to EAL (-a), and not taken by others?\n");
	return PERF_NOTHING;
}

static int
run(void)
{
	int status;

	if (!driver_loaded()) {
		fprintf(stderr, "the mempool driver is not loaded; give EAL the option "
			"-d librte_mempool_mlx5_memic.so\n");
		return PERF_NOTHING;
	}
	/* the table is all that is of interest, but for errors */
	rte_log_set_level_pattern("mempool.mlx5_memic", RTE_LOG_ERR);
	if (report_open() != 0)
		return PERF_FAILED;
	status = run_tests();
	return report_close() ? status : PERF_FAILED;
}

int
main(int argc, char **argv)
{
	int first = options_parse(argc, argv);
	int status;

	if (first < 0)
		return first == -2 ? PERF_OK : PERF_USAGE;
	pools_rules(argc - first, argv + first);
	/* EAL's words follow the name of the program */
	argv[first - 1] = argv[0];
	optind = 1;
	if (rte_eal_init(argc - first + 1, argv + first - 1) < 0) {
		fprintf(stderr, "EAL does not start: %s\n", rte_strerror(rte_errno));
		return PERF_FAILED;
	}
	status = run();
	rte_eal_cleanup();
	return status;
}
