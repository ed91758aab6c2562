/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "devices.h"

#include <errno.h>

#include <rte_bus_vdev.h>
#include <rte_common.h>
#include <rte_dev.h>
#include <rte_ethdev.h>

/* Twins of pool "a", and rules that come late. */

static struct rte_mempool *
pool_of_queue(uint16_t port)
{
	struct rte_eth_rxq_info info;

	CHECK(rte_eth_rx_queue_info_get(port, 0, &info) == 0);
	return info.mp;
}

/* One pool on both ports; its twin comes and goes as it should, also under traffic. */
void
mode_twins(uint64_t frames)
{
	struct rte_mempool *twin, *main_pool = pools[0];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		set_up(0, main_pool, 1, 0);
		CHECK(pool_of_queue(0) == main_pool && rte_mempool_lookup("a@mlx5_1") == NULL);
		set_up(1, main_pool, 1, RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE);
		twin = rte_mempool_lookup("a@mlx5_1");
		CHECK(twin != NULL && pool_of_queue(1) == twin);
		CHECK(twin->populated_size == main_pool->populated_size);
		CHECK(rte_pktmbuf_priv_size(twin) == PRIV);
		CHECK(rte_pktmbuf_data_room_size(twin) == ROOM);
		/* once for all, and from either side */
		set_up(1, main_pool, 1, 0);
		CHECK(pool_of_queue(1) == twin);
		set_up(0, twin, 1, 0);
		CHECK(pool_of_queue(0) == main_pool);
		CHECK(rte_eth_dev_start(0) == 0 && rte_eth_dev_start(1) == 0);
		if (i == 1)
			break;
		CHECK(rte_eth_dev_stop(0) == 0 && rte_eth_dev_stop(1) == 0);
		CHECK(rte_mempool_in_use_count(main_pool) == 0);
		CHECK(rte_mempool_in_use_count(twin) == 0);
		rte_mempool_free(main_pool);
		CHECK(rte_mempool_lookup("a@mlx5_1") == NULL);
		main_pool = make_pool("a", "mlx5_memic");
	}
	forward(frames, pass, false);
	report();
	CHECK(seen[0] > 0 && seen[1] > 0);
	/* rings are full of mbufs of either */
	rte_mempool_free(main_pool);
	CHECK(rte_mempool_lookup("a@mlx5_1") == NULL);
	stop_and_close();
	pools[0] = make_pool("a", "mlx5_memic");
	check_pools();
}

static void
detach(uint16_t port)
{
	struct rte_eth_dev_info info;

	CHECK(rte_eth_dev_info_get(port, &info) == 0);
	CHECK(rte_dev_remove((struct rte_device *)(uintptr_t)info.device) == 0);
}

/* The device of a twin goes and comes back. */
void
mode_twin_detach(uint64_t frames __rte_unused)
{
	set_up(1, pools[0], 1, 0);
	CHECK(pool_of_queue(1) == rte_mempool_lookup("a@mlx5_1"));
	CHECK(rte_eth_dev_start(1) == 0 && rte_eth_dev_stop(1) == 0);
	detach(1);
	CHECK(rte_eal_hotplug_add("pci", "0000:08:00.1", "") == 0);
	set_up(1, pools[0], 1, 0);
	CHECK(pool_of_queue(1) == rte_mempool_lookup("a@mlx5_1"));
	set_up(0, pools[0], 1, 0);
	CHECK(rte_eth_dev_start(0) == 0 && rte_eth_dev_start(1) == 0);
	/* the same for the device of the main pool */
	CHECK(rte_eth_dev_stop(0) == 0);
	detach(0);
	CHECK(rte_eal_hotplug_add("pci", "0000:08:00.0", "") == 0);
	set_up(0, pools[0], 1, 0);
	CHECK(pool_of_queue(0) == rte_mempool_lookup("a@mlx5_0"));
	CHECK(rte_eth_dev_start(0) == 0);
	stop_and_close();
	check_pools();
}

/* spill=0, and pool "b" has taken most of the second device. */
void
mode_twin_strict(uint64_t frames __rte_unused)
{
	struct rte_eth_conf conf = { 0 };

	CHECK(rte_eth_dev_configure(1, 1, 1, &conf) == 0);
	CHECK(rte_eth_rx_queue_setup(1, 0, RING, SOCKET_ID_ANY, NULL, pools[0]) == -ENOMEM);
	CHECK(rte_mempool_lookup("a@mlx5_1") == NULL);
	set_up(1, host_pool, 1, 0);
	set_up(0, pools[0], 1, 0);
	CHECK(rte_eth_dev_start(0) == 0 && rte_eth_dev_start(1) == 0);
	stop_and_close();
	check_pools();
}

/* A port that was configured for mbufs of one pool only, before there was such a rule. */
void
mode_fast_free(uint64_t frames __rte_unused)
{
	struct rte_eth_conf conf = { .txmode.offloads = RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE };

	rte_mempool_free(pools[0]);
	CHECK(rte_vdev_uninit("mempool_mlx5_memic2") == 0);
	CHECK(rte_eth_dev_configure(1, 1, 1, &conf) == 0);
	CHECK(rte_vdev_init("mempool_mlx5_memic2", "siblings=1,pools=a") == 0);
	pools[0] = make_pool("a", "mlx5_memic");
	CHECK(rte_eth_rx_queue_setup(1, 0, RING, SOCKET_ID_ANY, NULL, pools[0]) == -EINVAL);
	/* once more, and it works */
	set_up(1, pools[0], 1, RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE);
	CHECK(rte_eth_dev_conf_get(1, &conf) == 0 && conf.txmode.offloads == 0);
	CHECK(rte_eth_dev_start(1) == 0);
	set_up(0, pools[0], 1, RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE);
	CHECK(rte_eth_dev_start(0) == 0);
	stop_and_close();
	check_pools();
}

/* The same with foreign=bounce: nothing but what is sent tells that copies are called for. */
void
mode_late_bounce(uint64_t frames __rte_unused)
{
	struct rte_mbuf *m;

	rte_mempool_free(pools[0]);
	CHECK(rte_vdev_uninit("mempool_mlx5_memic2") == 0);
	set_up(1, host_pool, 1, RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE);
	CHECK(rte_eth_dev_start(1) == 0);
	CHECK(rte_vdev_init("mempool_mlx5_memic2", "foreign=bounce,pools=a,dev=mlx5_0") == 0);
	pools[0] = make_pool("a", "mlx5_memic");
	m = rte_pktmbuf_alloc(pools[0]);
	CHECK(m != NULL && rte_pktmbuf_append(m, 60) != NULL);
	CHECK(rte_eth_tx_burst(1, 0, &m, 1) == 0);
	CHECK(rte_eth_dev_stop(1) == 0);
	set_up(1, host_pool, 1, RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE);
	CHECK(rte_eth_dev_start(1) == 0);
	CHECK(rte_eth_tx_burst(1, 0, &m, 1) == 1);
	rte_delay_ms(200);
	CHECK(rte_eth_dev_stop(1) == 0 && rte_eth_dev_close(1) == 0);
	CHECK(rte_eth_dev_close(0) == 0);
	check_pools();
}
