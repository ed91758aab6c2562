/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_FOREIGN_H
#define MPM_FOREIGN_H

/**
 * @file
 * Frames in device memory that are to be sent by a port which cannot reach it.
 *
 * What becomes of such a frame is a matter of the rule of the pool that it came from.
 */

#include <stdint.h>

#include <rte_mbuf.h>

/** Tx callback of a guarded port, as in rte_ethdev.h; arg is the struct mpm_guard. */
uint16_t mpm_foreign_on_tx(uint16_t port, uint16_t queue, struct rte_mbuf *pkts[], uint16_t n,
			   void *arg);

#endif /* MPM_FOREIGN_H */
