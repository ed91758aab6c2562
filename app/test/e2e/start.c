/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * How long a port takes from the creation of its pool to its start, in a process that
 * has touched none of the memory before.
 *
 * usage: EAL arguments -- OPS MBUFS
 */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_debug.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#define RING 1024
#define ROOM 1664

static void
check(int ret, const char *what)
{
	if (ret != 0)
		rte_exit(EXIT_FAILURE, "%s: %s\n", what, rte_strerror(-ret));
}

/* Time that the thread was running: what a busy machine leaves as it is. */
static double
cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static void
life(const char *ops, unsigned int n)
{
	const struct rte_eth_conf conf = { 0 };
	uint64_t begin = rte_get_timer_cycles();
	double cpu = cpu_ms();
	struct rte_mempool *mp;

	mp = rte_pktmbuf_pool_create_by_ops("start", n, 0, 0, ROOM, SOCKET_ID_ANY, ops);
	if (mp == NULL)
		rte_exit(EXIT_FAILURE, "pool of %s: %s\n", ops, rte_strerror(rte_errno));
	check(rte_eth_dev_configure(0, 1, 1, &conf), "configure");
	check(rte_eth_rx_queue_setup(0, 0, RING, SOCKET_ID_ANY, NULL, mp), "Rx queue");
	check(rte_eth_tx_queue_setup(0, 0, RING, SOCKET_ID_ANY, NULL), "Tx queue");
	check(rte_eth_dev_start(0), "start");
	cpu = cpu_ms() - cpu;
	printf("%.1f ms, %.1f ms of CPU\n",
	       (rte_get_timer_cycles() - begin) * 1e3 / rte_get_timer_hz(), cpu);
	check(rte_eth_dev_stop(0), "stop");
	rte_mempool_free(mp);
}

int
main(int argc, char **argv)
{
	int used = rte_eal_init(argc, argv);

	if (used < 0 || argc - used != 3)
		rte_exit(EXIT_FAILURE, "usage: EAL arguments -- OPS MBUFS\n");
	life(argv[used + 1], strtoul(argv[used + 2], NULL, 10));
	rte_eth_dev_close(0);
	rte_eal_cleanup();
	return 0;
}
