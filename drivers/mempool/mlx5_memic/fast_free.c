/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE is the promise that all mbufs of a Tx queue are of one
 * pool. An application that makes it knows nothing of twins and copies, which are of
 * others, so the promise is taken back for it where they may come. It costs nothing but
 * time.
 */

#include <stdbool.h>

#include <rte_eal.h>
#include <rte_ethdev.h>

#include "config.h"
#include "control.h"
#include "hooks.h"
#include "log.h"
#include "pool.h"
#include "reach.h"

static int
pool_mixes(struct mpm_pool *p, void *arg __rte_unused)
{
	return mpm_rule_mixes(&p->rule) ? 1 : 0;
}

/* Whether a port may get mbufs of memory that is not its device's. */
static bool
has_others(uint16_t port)
{
	struct mpm_port view, other;
	uint16_t i;

	if (mpm_port_look(port, &view) != 0)
		return false;
	RTE_ETH_FOREACH_DEV(i)
		if (mpm_port_look(i, &other) == 0 && other.nic != view.nic)
			return true;
	return false;
}

static bool
may_mix(uint16_t port)
{
	bool mixes = mpm_config_mixes();

	mpm_control_lock();
	mixes = (mixes || mpm_pool_each(pool_mixes, NULL) != 0) && has_others(port);
	mpm_control_unlock();
	return mixes;
}

static bool
must_go(uint16_t port, uint64_t offloads)
{
	return (offloads & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE) != 0 &&
		rte_eal_process_type() == RTE_PROC_PRIMARY && may_mix(port);
}

int
mpm_hook_dev_configure(uint16_t port, uint16_t rx, uint16_t tx, const struct rte_eth_conf *conf)
{
	struct rte_eth_conf own;

	if (conf == NULL || !must_go(port, conf->txmode.offloads))
		return rte_eth_dev_configure(port, rx, tx, conf);
	own = *conf;
	own.txmode.offloads &= ~RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	MPM_LOG(INFO, "port %u is configured without RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE: with "
		"siblings=1 or foreign=bounce it may send mbufs of several pools", port);
	return rte_eth_dev_configure(port, rx, tx, &own);
}

int
mpm_hook_tx_queue_setup(uint16_t port, uint16_t queue, uint16_t descs, unsigned int socket,
			const struct rte_eth_txconf *conf)
{
	struct rte_eth_txconf own;

	if (conf == NULL || !must_go(port, conf->offloads))
		return rte_eth_tx_queue_setup(port, queue, descs, socket, conf);
	own = *conf;
	own.offloads &= ~RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	return rte_eth_tx_queue_setup(port, queue, descs, socket, &own);
}
