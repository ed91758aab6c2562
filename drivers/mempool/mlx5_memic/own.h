/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_OWN_H
#define MPM_OWN_H

/**
 * @file
 * What a process knows of the pools that it created and no other one could use: regions are
 * mappings and objects of verbs. The pools themselves are in EAL's shared memory, and all
 * that they point to is there, too.
 */

#include <sys/queue.h>

struct mpm_pool;
struct mpm_region;
struct mpm_wake;

struct mpm_own {
	TAILQ_ENTRY(mpm_own) next; /**< List of pools (pool.c). */
	struct mpm_pool *pool;     /**< NULL where there is none. */
	struct mpm_region *region; /**< NULL in a pool without device memory. */
	struct mpm_wake *wake;     /**< At free: what was out, where that can be held. */
};

/**
 * Make room for a pool of this process. Needs the control lock.
 *
 * @return 0; -ENOMEM.
 */
int mpm_own_add(struct mpm_pool *p);

/** Forget it. Needs the control lock. */
void mpm_own_remove(struct mpm_pool *p);

/** Of a pool, from any thread; never NULL, as other processes' pools have one with nothing. */
struct mpm_own *mpm_own(const struct mpm_pool *p);

#endif /* MPM_OWN_H */
