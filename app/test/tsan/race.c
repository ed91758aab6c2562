/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * Two lcores get from and put to a pool of the device: each with the cache of its own,
 * or, with "race" as the last argument, both with the same one, which is what a driver
 * that chose the wrong cache would do. The sanitizer must tell the one from the other.
 */

#include <stdio.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#define N 1023
#define BURST 8
#define ROUNDS 2000

static struct rte_mempool *mp;
static bool race;

static int
work(void *arg)
{
	unsigned int own = rte_lcore_id();
	void *objs[BURST];

	(void)arg;
	if (race)
		RTE_PER_LCORE(_lcore_id) = rte_get_main_lcore();
	for (unsigned int i = 0; i < ROUNDS; i++)
		if (rte_mempool_get_bulk(mp, objs, BURST) == 0)
			rte_mempool_put_bulk(mp, objs, BURST);
	RTE_PER_LCORE(_lcore_id) = own;
	return 0;
}

int
main(int argc, char **argv)
{
	race = argc > 1 && strcmp(argv[argc - 1], "race") == 0;
	if (rte_eal_init(race ? argc - 1 : argc, argv) < 0) {
		fprintf(stderr, "rte_eal_init: %s\n", rte_strerror(rte_errno));
		return 1;
	}
	if (rte_lcore_count() != 2) {
		fprintf(stderr, "%u lcores, not 2\n", rte_lcore_count());
		return 1;
	}
	mp = rte_pktmbuf_pool_create_by_ops("race", N, 64, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
					    SOCKET_ID_ANY, "mlx5_memic");
	if (mp == NULL) {
		fprintf(stderr, "pool: %s\n", rte_strerror(rte_errno));
		return 1;
	}
	rte_eal_mp_remote_launch(work, NULL, CALL_MAIN);
	rte_eal_mp_wait_lcore();
	rte_mempool_free(mp);
	return 0;
}
