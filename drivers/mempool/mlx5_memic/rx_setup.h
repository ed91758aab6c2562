/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_RX_SETUP_H
#define MPM_RX_SETUP_H

/**
 * @file
 * The set-up of an Rx queue, with twins in place of pools (siblings.h).
 */

#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_mempool.h>

/** Arguments of a set-up, with pools that may be others than the caller's. */
struct mpm_rx_setup {
	struct rte_mempool *mp;
	const struct rte_eth_rxconf *conf; /**< The caller's, or own. */
	struct rte_eth_rxconf own;
	union rte_eth_rxseg *segs;
	struct rte_mempool **mps;
};

/**
 * Put twins in place. Takes the control lock.
 *
 * @param port port.
 * @param[in,out] s mp and conf of the caller, all else zero.
 * @return 0, with something to be given back by mpm_rx_setup_end() in any case; -ENOMEM,
 *         or what mpm_sibling_pick() gave.
 */
int mpm_rx_setup_begin(uint16_t port, struct mpm_rx_setup *s);

/** Free what was made for a set-up that is done. */
void mpm_rx_setup_end(struct mpm_rx_setup *s);

#endif /* MPM_RX_SETUP_H */
