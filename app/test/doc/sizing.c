/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>

#include "rte_pmd_mlx5_memic.h"

/* More than any card here has slots for. */
#define MBUFS 2047

/* Pools with the data rooms that are arguments, one after the other: how many slots. */
int
main(int argc, char **argv)
{
	struct rte_pmd_mlx5_memic_stats stats;
	struct rte_mempool *mp;
	int i, first;

	first = rte_eal_init(argc, argv);
	if (first < 0)
		errx(1, "rte_eal_init: %s", rte_strerror(rte_errno));
	for (i = first + 1; i < argc; i++) {
		mp = rte_pktmbuf_pool_create_by_ops("sizing", MBUFS, 0, 0, (uint16_t)atoi(argv[i]),
						    SOCKET_ID_ANY, RTE_PMD_MLX5_MEMIC_OPS);
		if (mp == NULL)
			errx(1, "pool of %s bytes: %s", argv[i], rte_strerror(rte_errno));
		if (rte_pmd_mlx5_memic_stats_get(mp, &stats, sizeof(stats)) != 0)
			errx(1, "pool of %s bytes: no figures", argv[i]);
		printf("room %s slots %u bytes %lu\n", argv[i], stats.device_slots,
		       (unsigned long)stats.device_bytes);
		rte_mempool_free(mp);
	}
	return rte_eal_cleanup() != 0;
}
