/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_POOL_H
#define MPM_POOL_H

/**
 * @file
 * Pools of the ops mlx5_memic.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/queue.h>
#include <sys/types.h>

#include <rte_branch_prediction.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "cache.h"
#include "compat.h"
#include "config.h"
#include "log.h"
#include "store.h"

#define MPM_OPS_NAME "mlx5_memic"
/** Tells a pool of ours from what another ops left in pool_data. */
#define MPM_POOL_MAGIC 0x6d696364u
/** What no pool has. */
#define MPM_POOL_MAGIC_NONE 1u

/**
 * What the pools have that this process can use: MPM_POOL_MAGIC, or MPM_POOL_MAGIC_NONE
 * in a secondary process that has not attached to the primary (process.h).
 */
extern uint32_t mpm_pool_magic __attribute__((visibility("hidden")));

struct mpm_region;

/** Words of a bit for each port. */
#define MPM_PORT_WORDS ((RTE_MAX_ETHPORTS + 63) / 64)

/** States of a pool; those above MPM_PINNED have work to do before the first get. */
enum mpm_state {
	MPM_PLAIN,   /**< No buffer in device memory: an ordinary pool. */
	MPM_PINNED,  /**< Buffers point where they belong. */
	MPM_NEW,     /**< Slots taken, mbufs not yet pointed at them. */
	MPM_PINNING, /**< Somebody is pointing them there. */
};

struct mpm_pool {
	/* all that get and put read, in one line */
	uint32_t magic;
	uint32_t state;    /**< enum mpm_state. */
	uintptr_t tier_end; /**< The device tier is all objects below this address. */
	struct mpm_caches caches;

	/* what follows is not touched by get and put */
	struct rte_mempool *mp;
	struct mpm_rule rule;
	char device[MPM_DEV_NAME_LEN]; /**< That the slots are of; "" without slots. */
	size_t stride;             /**< Bytes from one slot to the next. */
	unsigned int slots;        /**< Objects of the device tier. */
	uint32_t *offsets;         /**< Slot of each of them in the region. */
	void **dev_objs;           /**< The device tier, ascending. */
	uint8_t *home;             /**< At free: which of them were in the pool; NULL before. */
	uint8_t *home_room;        /**< Memory for that, taken when there was some. */
	struct rte_mbuf_ext_shared_info *shinfo; /**< One per object. */
	unsigned int tries;        /**< Walks that found only some mbufs initialised. */
	unsigned int repinned;     /**< How often mbufs were initialised once more. */
	char reason[MPM_WHY];      /**< Why the pool has no device memory. */
	bool told_depth;           /**< Advice that was given (advice.c). */
	uint64_t told_device[MPM_PORT_WORDS]; /**< The same for each port. */
	struct mpm_pool *main;     /**< Of a twin: the pool that it stands in for (siblings.c). */
	struct {
		uint64_t dropped;  /**< Frames handed back on ports of others (foreign.c). */
		uint64_t bounced;  /**< Frames copied for them. */
		uint64_t told[MPM_PORT_WORDS]; /**< Ports that were told of. */
	} foreign;

	uint64_t owner;            /**< The process that created it, see mpm_pool_mine(). */
	pid_t owner_pid;           /**< For messages: processes can have namespaces of pids. */
	uint32_t own;              /**< Where that one keeps what is its own (own.h). */

	struct mpm_store store;
} MPM_CACHE_ALIGNED;

/** Whether an object of the pool belongs to the device tier. */
static inline bool
mpm_pool_is_dev(const struct mpm_pool *p, const void *obj)
{
	return (uintptr_t)obj < p->tier_end;
}

/** Whether pool_data is a pool of ours that this process can use. */
static inline bool
mpm_pool_valid(const struct mpm_pool *p)
{
	return likely(p != NULL) && likely(p->magic == mpm_pool_magic);
}

/** Whether this process created a pool; a child of fork() did not. */
bool mpm_pool_mine(const struct mpm_pool *p);

/** The region of a pool; NULL without, and where another process created the pool. */
const struct mpm_region *mpm_pool_region(const struct mpm_pool *p);

/** The pool behind a mempool, or NULL for one of other ops. */
struct mpm_pool *mpm_pool_of(const struct rte_mempool *mp);

/** Ops alloc: match the pool against the rules and take slots. */
int mpm_pool_alloc(struct rte_mempool *mp);

/** Ops free: give slots back, quarantine those still out. */
void mpm_pool_free(struct rte_mempool *mp);

/** Free what belongs to a pool that holds no slots and is on no list. */
void mpm_pool_delete(struct mpm_pool *p);

/** Give all slots of a pool that is not pinned back; takes the control lock. */
void mpm_pool_release(struct mpm_pool *p);

/**
 * Call for each pool, with the control lock held throughout.
 *
 * @param fn callback; a return other than 0 ends the walk.
 * @param arg its argument.
 * @return what the last callback returned.
 */
int mpm_pool_walk(int (*fn)(struct mpm_pool *p, void *arg), void *arg);

/** The same for a caller that has the lock. */
int mpm_pool_each(int (*fn)(struct mpm_pool *p, void *arg), void *arg);

/** The pool of a mempool that may be gone; NULL for those and others. Needs the lock. */
struct mpm_pool *mpm_pool_known(const struct rte_mempool *mp);

/** Forget all pools at exit, when their memory may be gone already. */
void mpm_pool_exit(void);

#endif /* MPM_POOL_H */
