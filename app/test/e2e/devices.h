/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef E2E_DEVICES_H
#define E2E_DEVICES_H

/**
 * @file
 * What the modes of the program with two devices share.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <rte_debug.h>
#include <rte_eal.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#define RING 64
#define ROOM 1664
#define PRIV 16
#define BURST 16

#define CHECK(condition) \
	do { \
		if (!(condition)) \
			rte_exit(EXIT_FAILURE, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
	} while (0)

/** Pools "a" and "b", of ports 0 and 1, and "host", which is of ring_mp_mc. */
extern struct rte_mempool *pools[2], *host_pool;
/** Frames that each port received, sent, and was given but did not take. */
extern uint64_t seen[2], frames_sent[2], frames_refused[2];

/** A pool of the usual size, or the end. */
struct rte_mempool *make_pool(const char *name, const char *ops);
/** Configure a port with one Rx queue. */
void set_up(uint16_t port, struct rte_mempool *mp, uint16_t tx_queues, uint64_t offloads);
/** Set up and start ports 0 and 1, each with its pool. */
void start_both(uint64_t offloads);
/** Send what one port receives by the other, until all came or nothing comes any more. */
void forward(uint64_t frames, struct rte_mbuf *(*change)(struct rte_mbuf *), bool retry);
/** Leave a frame as it is. */
struct rte_mbuf *pass(struct rte_mbuf *m);
/** Stop and close both ports. */
void stop_and_close(void);
/** All mbufs must be back, wherever they were sent. */
void check_pools(void);
/** Say what came and went. */
void report(void);

/** Whether a Tx queue has a callback. */
bool has_callback(uint16_t port, uint16_t queue);

/* Modes of devices_frames.c. */
void mode_bounce(uint64_t frames);
void mode_drop(uint64_t frames);
void mode_clone(uint64_t frames);
void mode_chain(uint64_t frames);
void mode_hold(uint64_t frames);
void mode_fields(uint64_t frames);
void mode_mixed(uint64_t frames);
void mode_exhaust(uint64_t frames);

/* Modes of devices_callbacks.c. */
void mode_callbacks(uint64_t frames);
void mode_copying(uint64_t frames);
void mode_no_callbacks(uint64_t frames);
void mode_cost(uint64_t rounds);

/* Modes of devices_twins.c. */
void mode_twins(uint64_t frames);
void mode_twin_detach(uint64_t frames);
void mode_twin_strict(uint64_t frames);
void mode_fast_free(uint64_t frames);
void mode_late_bounce(uint64_t frames);

#endif /* E2E_DEVICES_H */
