/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_PIN_H
#define MPM_PIN_H

/**
 * @file
 * Pointing mbufs at their buffers in device memory.
 *
 * The objects with the lowest addresses become the device tier. All mbufs of a pool
 * with device memory, also those whose buffer stays inside the object, are made pinned
 * external ones: drivers take the flags of a whole pool from one of its mbufs.
 */

#include <rte_mbuf.h>
#include <rte_mempool.h>

struct mpm_pool;

/** Say which free callbacks this process has; before any pool is pinned. */
void mpm_pin_callbacks(void);

/**
 * Ask DPDK to be told before a pool is freed. May be called again.
 *
 * @return 0 or -ENOMEM.
 */
int mpm_pin_init(void);

/**
 * Initialise the mbufs of a pool and pin them, in one walk: each costs a miss of cache
 * and TLB, and the first of two walks over a large pool leaves nothing in either.
 *
 * @param arg what rte_pktmbuf_init() is given.
 * @return number of objects; 0, and nothing was done, where other walks have to do it:
 *         when the pool is not complete, was used before or has no buffers to be pinned.
 */
uint32_t mpm_pin_in_walk(struct rte_mempool *mp, struct mpm_pool *p, void *arg);

/**
 * Bring the mbufs of a pool in order after somebody walked over its objects: pin them
 * when they have just been initialised, and again when they were initialised again.
 */
void mpm_pin_after_walk(struct rte_mempool *mp, struct mpm_pool *p);

/**
 * The same before the first get, for programs whose walks are not diverted.
 *
 * @return 0; -ENOBUFS in a secondary process, as only the primary can do that.
 */
int mpm_pin_first_get(struct rte_mempool *mp, struct mpm_pool *p);

/**
 * The pool that a pinned mbuf, or a clone of one, has its data from.
 *
 * @return the pool, or NULL for any other mbuf. It stays while the mbuf is held.
 */
struct mpm_pool *mpm_pin_origin(const struct rte_mbuf *m);

/**
 * Take the sting out of mbufs that are still out of a freed pool: their free callbacks
 * do nothing from now on. The callbacks' memory is given away and never freed.
 */
void mpm_pin_orphan(struct mpm_pool *p);

#endif /* MPM_PIN_H */
