/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_BOUNCE_H
#define MPM_BOUNCE_H

/**
 * @file
 * Copies of frames in host memory, for ports that cannot reach the frames' memory.
 *
 * Each such port has a pool of its own. It has an mbuf for each descriptor of its Tx
 * rings, as a driver may hold on to what it sent until the ring is full, and some for
 * what is on its way. All calls but mpm_bounce_copy() need the control lock.
 */

#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

/** What the mbufs of a pool of copies must have room for. */
struct mpm_bounce_need {
	unsigned int descs;  /**< Descriptors of all Tx queues. */
	unsigned int queues;
	unsigned int room;   /**< Largest buffer to be copied, bytes. */
	unsigned int priv;   /**< Largest private area, bytes. */
};

/**
 * See to it that a port has a pool that will do. One that will not is replaced, and freed
 * once all its mbufs are back.
 *
 * @param[in,out] pool pool of the port, or NULL.
 * @return 0; -ENOMEM and the like, with the pool as it was.
 */
int mpm_bounce_ensure(struct rte_mempool **pool, uint16_t port,
		      const struct mpm_bounce_need *need);

/** Nobody takes mbufs out of a pool any more: free it when all are back. */
void mpm_bounce_retire(struct rte_mempool *pool);

/**
 * Copy a frame: data, lengths, offload flags and fields, dynamic fields, private area.
 *
 * @param pool where to.
 * @param m frame of any number of segments anywhere.
 * @return the copy, in no more segments than needed; NULL when the pool has too few mbufs,
 *         or a frame of one segment would take several, which its port need not know
 *         how to send.
 */
struct rte_mbuf *mpm_bounce_copy(struct rte_mempool *pool, const struct rte_mbuf *m);

#endif /* MPM_BOUNCE_H */
