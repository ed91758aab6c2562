/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * Send back what the first port receives, out of packet buffers on its card, until COUNT
 * frames have passed: echo [EAL OPTION]... -- COUNT
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_debug.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <rte_pmd_mlx5_memic.h>

#define RING 64
#define BURST 16
/* Headroom and a frame of 1518 bytes, in units of 64. */
#define DATA_ROOM 1664
/* Seconds without a frame after which no more are waited for. */
#define PATIENCE 10

/* What rings and a burst hold at once, so that nothing is received into host memory. */
static struct rte_mempool *
create_pool(void)
{
	struct rte_pmd_mlx5_memic_conf conf;
	struct rte_pmd_mlx5_memic_stats stats;
	struct rte_mempool *pool;

	rte_pmd_mlx5_memic_conf_init(&conf);
	conf.spill = 0;
	pool = rte_pmd_mlx5_memic_pool_create("echo", 2 * RING + BURST, 0, 0, DATA_ROOM,
					      SOCKET_ID_ANY, &conf);
	if (pool == NULL)
		rte_exit(EXIT_FAILURE, "no pool: %s\n", rte_strerror(rte_errno));
	if (rte_pmd_mlx5_memic_stats_get(pool, &stats, sizeof(stats)) == 0)
		printf("echo: %" PRIu32 " buffers on %s, %" PRIu32 " in host memory\n",
		       stats.device_slots, stats.device, stats.host_slots);
	return pool;
}

static void
start_port(uint16_t port, struct rte_mempool *pool)
{
	struct rte_eth_conf conf = { 0 };
	int ret;

	ret = rte_eth_dev_configure(port, 1, 1, &conf);
	if (ret == 0)
		ret = rte_eth_rx_queue_setup(port, 0, RING, SOCKET_ID_ANY, NULL, pool);
	if (ret == 0)
		ret = rte_eth_tx_queue_setup(port, 0, RING, SOCKET_ID_ANY, NULL);
	if (ret == 0)
		ret = rte_eth_dev_start(port);
	if (ret == 0)
		ret = rte_eth_promiscuous_enable(port);
	if (ret != 0)
		rte_exit(EXIT_FAILURE, "port %u: %s\n", port, rte_strerror(-ret));
}

/* Frames sent; stops early when no more come. */
static uint64_t
forward(uint16_t port, uint64_t count)
{
	const uint64_t patience = PATIENCE * rte_get_timer_hz();
	struct rte_mbuf *frames[BURST];
	uint64_t last = rte_get_timer_cycles(), done = 0;
	uint16_t received, sent;

	while (done < count && rte_get_timer_cycles() - last < patience) {
		received = rte_eth_rx_burst(port, 0, frames, BURST);
		if (received > 0)
			last = rte_get_timer_cycles();
		for (sent = 0; sent < received;)
			sent += rte_eth_tx_burst(port, 0, frames + sent, received - sent);
		done += received;
	}
	return done;
}

int
main(int argc, char **argv)
{
	struct rte_mempool *pool;
	uint64_t count, done;
	uint16_t port;
	int used = rte_eal_init(argc, argv);

	if (used < 0)
		rte_exit(EXIT_FAILURE, "EAL: %s\n", rte_strerror(rte_errno));
	count = argc - used > 1 ? strtoull(argv[used + 1], NULL, 10) : 0;
	if (count == 0)
		rte_exit(EXIT_FAILURE, "usage: echo [EAL OPTION]... -- COUNT\n");
	port = rte_eth_find_next(0);
	if (port == RTE_MAX_ETHPORTS)
		rte_exit(EXIT_FAILURE, "no port\n");
	pool = create_pool();
	start_port(port, pool);
	done = forward(port, count);
	rte_delay_ms(100); /* the last frames are still being sent */
	rte_eth_dev_stop(port);
	rte_eth_dev_close(port);
	rte_mempool_free(pool);
	printf("echo: %" PRIu64 " frames\n", done);
	rte_eal_cleanup();
	return done == count ? EXIT_SUCCESS : EXIT_FAILURE;
}
