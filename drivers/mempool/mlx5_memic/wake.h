/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_WAKE_H
#define MPM_WAKE_H

/**
 * @file
 * Pools that were freed while buffers were out.
 *
 * rte_mempool_free() cannot be refused, yet rings of a port and applications may still
 * hold mbufs of the pool, and the NIC may still write into their slots. Such mbufs get
 * a stand-in of the pool to return to, and neither their memory nor their slots are
 * given to anybody else before the last of them is back.
 *
 * All calls need the control lock held.
 */

#include <rte_mempool.h>

struct mpm_pool;
struct mpm_region;

/**
 * Take the roll of a pinned pool that is about to be freed, and hold what is out.
 * Must come before DPDK takes all objects out of the pool. Sets p->home, and p->wake
 * where something is out; without memory for that neither.
 */
void mpm_wake_prepare(struct rte_mempool *mp, struct mpm_pool *p);

/** The mempool has gone: from now on only what returns is waited for. */
void mpm_wake_begin(struct mpm_pool *p);

/** End the wakes whose buffers are all back. */
void mpm_wake_reap(void);

/** A region goes, with the slots of those still out. */
void mpm_wake_region_gone(const struct mpm_region *region);

/** Leave pools alone from now on. */
void mpm_wake_exit(void);

#endif /* MPM_WAKE_H */
