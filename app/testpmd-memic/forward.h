/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef TPM_FORWARD_H
#define TPM_FORWARD_H

/**
 * @file
 * The loop of "memic bench forward": what a port receives it sends, queue by queue, and
 * looks into no frame. All calls are for the lcore that forwards.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

/** Most frames of a burst, as testpmd's default. */
#define FWD_BURST 32u
/** Frames sent on each port where none come by themselves. */
#define FWD_SEEDS 32u
/** One burst of this many is looked at for its place, and left out of the cycles. */
#define FWD_LOOK 16u

struct fwd_port {
	uint16_t id;
	uint16_t rx_queues;
	uint16_t tx_queues;
	struct rte_mempool *mp;   /**< That of the first Rx queue. */
	uint64_t rx, tx, dropped; /**< Frames. */
	struct rte_eth_stats before;
};

struct fwd {
	struct fwd_port ports[RTE_MAX_ETHPORTS];
	unsigned int n_ports;
	uint32_t seconds;
	/* what came of it */
	uint64_t cycles;          /**< Of the loop, start to end. */
	uint64_t busy_cycles;     /**< From a burst's Rx to the end of its Tx, */
	uint64_t busy_frames;     /**< and the frames of these bursts. */
	uint64_t looked;          /**< Frames whose place was looked at, */
	uint64_t on_device;       /**< and those of them on the device. */
	unsigned int seeds;       /**< Frames of our own that were sent. */
	bool short_of_mbufs;      /**< There was no mbuf for one. */
};

/** Receive and send for some time. Where nothing comes by itself, frames are sent. */
void fwd_run(struct fwd *f);

/**
 * Receive a burst from the first queue of all that has one.
 *
 * @param f ports.
 * @param[out] m room for FWD_BURST mbufs: the mlx5 driver's vectorized Rx gives nothing to
 *        who asks for less than four.
 */
uint16_t fwd_receive(const struct fwd *f, struct rte_mbuf **m);

/** Take what is in flight off the wire: when frames of our own go round for ever. */
void fwd_drain(const struct fwd *f);

#endif /* TPM_FORWARD_H */
