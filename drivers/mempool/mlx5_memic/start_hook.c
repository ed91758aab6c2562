/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_ethdev.h>

#include "advice.h"
#include "cache.h"
#include "control.h"
#include "guard.h"
#include "hooks.h"
#include "pool.h"
#include "rx_check.h"
#include "rxq.h"

/*
 * A look at the rings of all ports before a port starts: what fills them decides about
 * the share of frames in device memory.
 */

/* Descriptors of the Rx queues of a port that a pool feeds. */
static struct mpm_rx_descs
count_rx(uint16_t port, unsigned int queues, const struct rte_mempool *mp)
{
	struct mpm_rx_descs descs = { 0 };
	struct mpm_rxq rxq;
	unsigned int q;

	for (q = 0; q < queues; q++)
		if (mpm_rxq_get(port, q, &rxq) == 0)
			mpm_rxq_count(&rxq, mp, &descs);
	return descs;
}

static unsigned int
count_tx(uint16_t port, unsigned int queues)
{
	struct rte_eth_txq_info info;
	unsigned int n = 0;
	unsigned int q;

	for (q = 0; q < queues; q++)
		if (rte_eth_tx_queue_info_get(port, q, &info) == 0)
			n += info.nb_desc;
	return n;
}

/* Frames leave by any port, but most often by one that receives into the same pool. */
static int
look_at_rings(struct mpm_pool *p, void *arg __rte_unused)
{
	struct rte_eth_dev_info info;
	unsigned int rx = 0, tx = 0;
	struct mpm_rx_descs descs;
	uint16_t port;

	if (p->slots == 0)
		return 0;
	RTE_ETH_FOREACH_DEV(port) {
		if (rte_eth_dev_info_get(port, &info) != 0)
			continue;
		descs = count_rx(port, info.nb_rx_queues, p->mp);
		rx += descs.own;
		if (descs.own != 0)
			tx += mpm_rxq_of_tx(&descs, count_tx(port, info.nb_tx_queues));
	}
	if (rx != 0)
		mpm_cache_expect_fill(p, rx + tx);
	return 0;
}

/* What the application was not told of by an errno of the PMD, it is told here. */
static int
check(uint16_t port)
{
	int ret = mpm_rx_check(port);

	if (ret != 0)
		return ret;
	mpm_control_lock();
	ret = mpm_guard_starting(port);
	mpm_control_unlock();
	return ret;
}

int
mpm_hook_dev_start(uint16_t port)
{
	int ret;

	/* others know no devices */
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return rte_eth_dev_start(port);
	ret = check(port);
	if (ret != 0)
		return ret;
	mpm_advice(port);
	mpm_pool_walk(look_at_rings, NULL);
	return rte_eth_dev_start(port);
}
