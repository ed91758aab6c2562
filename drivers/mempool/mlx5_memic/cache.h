/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_CACHE_H
#define MPM_CACHE_H

/**
 * @file
 * Caches of the lcores, and who gets objects of the device tier.
 *
 * DPDK's own cache sits above the ops. It is filled with whatever comes, so the lcore
 * that starts a port keeps the slots for ever. In pools with device memory it is
 * therefore switched off, and each lcore has a cache of the ops' own that holds up to as
 * many objects, few of the device tier among them. Whoever asked for no cache gets none.
 *
 * Policy: slots are to be where packets are, so objects of the device tier come first.
 * But a thread that gets MPM_RUN objects and more while nobody puts any is filling a
 * ring, which may stay idle for long. It gets objects of the host tier
 *
 * - never, if the rings of all ports were seen at a port's start and have no more
 *   descriptors than the pool has slots,
 * - always, if they have more: frames find the slots as soon as a ring is in use,
 * - once an eighth of the slots is left, if nobody knows.
 */

#include <stdint.h>

#include <rte_lcore.h>
#include <rte_mempool.h>

#include "store.h"

struct mpm_pool;

/** Cache of one lcore. Host tier in host[], device tier behind it. */
struct mpm_cache {
	unsigned int run;    /**< Objects got since the last put. */
	unsigned int puts;   /**< Objects put since the last get. */
	unsigned int dev_n;
	unsigned int host_n;
	uint64_t got_dev;    /**< Objects handed out. */
	uint64_t got_host;
	void **dev;
	void *host[];
} MPM_CACHE_ALIGNED;

/** Caches of a pool. */
struct mpm_caches {
	uint8_t *bytes;         /**< RTE_MAX_LCORE caches; NULL if there are none. */
	uint32_t stride;        /**< Bytes from one to the next. */
	unsigned int dev_max;   /**< Objects that a put leaves at most, device tier. */
	unsigned int host_max;  /**< Host tier; together 1.5 times what the user asked for. */
	unsigned int host_fill; /**< Objects of the host tier that a refill or flush leaves. */
	struct mpm_cache *of[RTE_MAX_LCORE]; /**< That of each lcore; NULL until they open. */
};

/** Where the objects of a pool are; a glance at counters that may change meanwhile. */
struct mpm_where {
	unsigned int dev_free;    /**< In the pool, caches included. */
	unsigned int host_free;
	unsigned int dev_cached;  /**< Of those, in caches of lcores. */
	unsigned int host_cached;
	unsigned int dev_out;     /**< In Rx and Tx rings or with the application. */
	unsigned int host_out;
	unsigned int dev_peak;    /**< Most slots that were out or in caches at once. */
	unsigned int cache_size;  /**< What the application asked for. */
	uint64_t got_dev;         /**< Objects handed out since the pool was made. */
	uint64_t got_host;
};

/**
 * Make the store and the caches of a pool whose slots are settled. A pool with slots
 * loses DPDK's own cache, and its private area moves.
 *
 * @return 0 or -ENOMEM with nothing changed.
 */
int mpm_cache_init(struct rte_mempool *mp, struct mpm_pool *p);

/** Free them. */
void mpm_cache_fini(struct mpm_pool *p);

/** Where the objects are; takes no lock. */
void mpm_cache_where(const struct mpm_pool *p, struct mpm_where *w);

/**
 * List the objects in store and caches, when no other thread uses the pool any more.
 *
 * @param p pool that was made with slots.
 * @param[out] objs room for cap pointers.
 * @param cap where to stop: an object that was put twice is there twice.
 * @return number of objects listed.
 */
unsigned int mpm_cache_list(const struct mpm_pool *p, void **objs, unsigned int cap);

/**
 * Let lcores use their caches. Before that, all objects are in the store, to be sorted
 * when the device tier is settled.
 */
void mpm_cache_open(struct mpm_pool *p);

/**
 * The calling thread is about to fill rings.
 *
 * @param p pool that was made with slots.
 * @param descs descriptors of all Rx and Tx rings that its mbufs go to.
 */
void mpm_cache_expect_fill(struct mpm_pool *p, unsigned int descs);

/** Make a cache fit its bounds after a put, which may end in it: always 0. */
int mpm_cache_trim(struct mpm_pool *p, struct mpm_cache *c);

/** Put of any number of objects; never fails: always 0. */
int mpm_cache_put_any(struct mpm_pool *p, struct mpm_cache *c, void * const *objs,
		      unsigned int n);

/**
 * Get of any number of objects, out of cache and store.
 *
 * @return 0; -ENOBUFS, and nothing is handed out.
 */
int mpm_cache_get_any(struct mpm_pool *p, struct mpm_cache *c, void **objs, unsigned int n);

/** Cache of the calling thread, or NULL. */
static inline struct mpm_cache *
mpm_cache_mine(const struct mpm_caches *all)
{
	unsigned int lcore = rte_lcore_id();

	/* as LCORE_ID_ANY is */
	if (unlikely(lcore >= RTE_MAX_LCORE))
		return NULL;
	return __atomic_load_n(&all->of[lcore], __ATOMIC_ACQUIRE);
}

#endif /* MPM_CACHE_H */
