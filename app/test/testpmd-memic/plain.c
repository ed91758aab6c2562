/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/* A program of EAL and getopt_long(3), and nothing else. */

#include <getopt.h>

#include <rte_eal.h>

int
main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "size", required_argument, NULL, 's' },
		{ NULL, 0, NULL, 0 },
	};

	if (rte_eal_init(argc, argv) < 0)
		return 1;
	optind = 1;
	if (getopt_long(1, argv, "", longs, NULL) != -1)
		return 1;
	return rte_eal_cleanup() == 0 ? 0 : 1;
}
