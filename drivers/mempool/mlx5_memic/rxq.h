/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_RXQ_H
#define MPM_RXQ_H

/**
 * @file
 * The pools of Rx queues, taken down when these are set up: rte_eth_rx_queue_info_get()
 * tells but one of each queue, which is not enough with buffer split, and many drivers do
 * not answer it. All calls but the hook need the control lock held.
 */

#include <stdint.h>

#include <rte_mempool.h>

/** Most segments of a frame that are looked at; the mlx5 PMD has as many. */
#define MPM_RXQ_SEGS 32u

/** An Rx queue. */
struct mpm_rxq {
	unsigned int descs;                   /**< Descriptors, one buffer each, if known. */
	unsigned int segs;                    /**< Buffers that a frame takes in turn. */
	struct rte_mempool *mp[MPM_RXQ_SEGS]; /**< Pool of each. */
};

/** Descriptors of Rx queues. */
struct mpm_rx_descs {
	unsigned int own; /**< Filled from the pool in question. */
	unsigned int all; /**< Of all queues that are filled from it, and from others too. */
};

/**
 * Look at an Rx queue.
 *
 * @return 0, or -EINVAL where there is no such queue, or one without a pool.
 */
int mpm_rxq_get(uint16_t port, uint16_t queue, struct mpm_rxq *rxq);

/** Add what a queue has of a pool. */
void mpm_rxq_count(const struct mpm_rxq *rxq, const struct rte_mempool *mp,
		   struct mpm_rx_descs *descs);

/** Share of Tx descriptors that a pool's buffers take: as many as frames have segments. */
unsigned int mpm_rxq_of_tx(const struct mpm_rx_descs *descs, unsigned int txd);

/** A pool is freed. */
void mpm_rxq_forget(const struct rte_mempool *mp);

#endif /* MPM_RXQ_H */
