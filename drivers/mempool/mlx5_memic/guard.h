/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_GUARD_H
#define MPM_GUARD_H

/**
 * @file
 * Tx callbacks that keep buffers out of reach from a port.
 *
 * A Tx queue has no pool, so what comes is seen when it is sent. Ports that may be given
 * buffers in memory of other devices get a Tx callback on each queue, all others have
 * none. All calls need the control lock.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_mempool.h>

#include "devices.h"

struct mpm_pool;

/** One port. Its memory stays for ever, as callbacks point to it. */
struct mpm_guard {
	/*
	 * Foreign memory is somewhere between these. While there are callbacks the stretch
	 * only grows, or becomes nothing (hi 0), so both may be read one after the other.
	 */
	uintptr_t lo;
	uintptr_t hi;
	const struct mpm_nic *nic;  /**< Device of the port, or NULL. */
	struct rte_mempool *bounce; /**< Where copies go, or NULL. */
	bool copies;                /**< The CPU reads foreign buffers, and reads them right. */
	bool fast_free;             /**< Mbufs of one pool only: no copy may come between. */
	bool told_empty;
	bool started;               /**< The port was started since it was made. */
	uint64_t dropped;           /**< Frames handed back to the sender. */
	uint64_t bounced;           /**< Frames copied. */
	char device[MPM_DEV_NAME_LEN];
	/** Callbacks on queues, and those that were taken off but not freed yet. */
	const struct rte_eth_rxtx_callback *cbs[RTE_MAX_QUEUES_PER_PORT];
	const struct rte_eth_rxtx_callback *dead[RTE_MAX_QUEUES_PER_PORT];
};

/**
 * A port is about to be started: guard it if there is memory of other devices, else take
 * callbacks off it that it may have had.
 *
 * @return 0; -ENOTSUP (DPDK has no Tx callbacks), -ENOMEM, logged.
 */
int mpm_guard_starting(uint16_t port);

/**
 * A pool is about to get device memory: guard all ports that were started.
 *
 * @param p pool, which has its slots.
 * @param[out] why sentence on failure.
 * @param why_len its size.
 * @return as mpm_guard_starting().
 */
int mpm_guard_pool(struct mpm_pool *p, char *why, size_t why_len);

/** Device memory may have gone: let callbacks do no more than is needed. */
void mpm_guard_relax(void);

/** The guard of a port, or NULL for one that never had any. */
const struct mpm_guard *mpm_guard_get(uint16_t port);

/** Number of queues with a callback. */
unsigned int mpm_guard_queues(const struct mpm_guard *g);

#endif /* MPM_GUARD_H */
