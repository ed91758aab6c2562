/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>

#include <rte_mempool.h>

#include "cache.h"
#include "log.h"
#include "ops.h"
#include "pages.h"
#include "pin.h"
#include "pool.h"
#include "process.h"

/* ---- lcores with a cache ---- */

/*
 * The objects of a burst are most often of one tier, and there is most often room. What
 * is else is left to mpm_cache_put_any(); what was written past a top by then is void.
 */
static __rte_always_inline int
cache_put(struct mpm_pool *p, struct mpm_cache *c, void * const *objs, unsigned int n)
{
	bool dev = mpm_pool_is_dev(p, objs[0]);
	unsigned int top = dev ? c->dev_n : c->host_n;
	unsigned int puts = c->puts + n;

	if (unlikely(!mpm_copy_uniform((dev ? c->dev : c->host) + top, objs, n, p->tier_end)) ||
	    unlikely(MPM_PEEK(p->store.stirred) == 0))
		return mpm_cache_put_any(p, c, objs, n);
	top += n;
	c->run = 0;
	c->puts = puts;
	if (dev) {
		MPM_POKE(c->dev_n, top);
		if (unlikely(top > p->caches.dev_max) || unlikely(puts > MPM_RUN))
			return mpm_cache_trim(p, c);
	} else {
		MPM_POKE(c->host_n, top);
		if (unlikely(top > p->caches.host_max))
			return mpm_cache_trim(p, c);
	}
	return 0;
}

static __rte_always_inline int
cache_get(struct mpm_pool *p, struct mpm_cache *c, void **objs, unsigned int n)
{
	unsigned int left;

	/* somebody who gets so much without a put may be filling a ring */
	if (unlikely(c->run > MPM_RUN / 2))
		return mpm_cache_get_any(p, c, objs, n);
	if (likely(c->dev_n >= n)) {
		left = c->dev_n - n;
		mpm_copy(objs, c->dev + left, n);
		MPM_POKE(c->dev_n, left);
		MPM_POKE(c->got_dev, c->got_dev + n);
	} else if (c->dev_n == 0 && c->host_n >= n && MPM_PEEK(p->store.dev_n) == 0) {
		left = c->host_n - n;
		mpm_copy(objs, c->host + left, n);
		MPM_POKE(c->host_n, left);
		MPM_POKE(c->got_host, c->got_host + n);
	} else {
		return mpm_cache_get_any(p, c, objs, n);
	}
	c->puts = 0;
	c->run += n;
	return 0;
}

/* ---- all others ---- */

/*
 * Pools without slots, whose lcores have DPDK's own cache, pools without caches, threads
 * that are no lcores, and pools that are not pinned yet.
 */
static __rte_noinline int
shared_get(struct mpm_pool *p, void **objs, unsigned int n)
{
	if (unlikely(__atomic_load_n(&p->state, __ATOMIC_ACQUIRE) > MPM_PINNED) &&
	    mpm_pin_first_get(p->mp, p) != 0)
		return -ENOBUFS;
	return mpm_store_get(&p->store, objs, n);
}

/* ---- ops ---- */

/*
 * Numbers known to the compiler make straight code for the most frequent ones. One object
 * stands in the op itself, where each instruction counts: all else is a call at its end,
 * so that no register has to be saved.
 */
static __rte_noinline int
put_block(struct mpm_pool *p, void * const *objs, struct mpm_cache *c)
{
	return cache_put(p, c, objs, MPM_BLOCK);
}

static __rte_noinline int
put_few(struct mpm_pool *p, void * const *objs, unsigned int n, struct mpm_cache *c)
{
	if (likely(n != 0 && n < MPM_BLOCK))
		return cache_put(p, c, objs, n);
	return mpm_cache_put_any(p, c, objs, n);
}

static __rte_noinline int
refuse_put(const struct rte_mempool *mp)
{
	mpm_process_refuse(mp);
	return -EINVAL;
}

static __rte_noinline int
refuse_get(const struct rte_mempool *mp)
{
	mpm_process_refuse(mp);
	return -ENOBUFS;
}

static int
enqueue(struct rte_mempool *mp, void * const *objs, unsigned int n)
{
	struct mpm_pool *p = mp->pool_data;
	struct mpm_cache *c;

	if (unlikely(!mpm_pool_valid(p)))
		return refuse_put(mp);
	c = mpm_cache_mine(&p->caches);
	if (unlikely(c == NULL))
		return mpm_store_put(&p->store, objs, n);
	if (n == 1)
		return cache_put(p, c, objs, 1);
	return n == MPM_BLOCK ? put_block(p, objs, c) : put_few(p, objs, n, c);
}

static __rte_noinline int
get_block(struct mpm_pool *p, void **objs, struct mpm_cache *c)
{
	return cache_get(p, c, objs, MPM_BLOCK);
}

static __rte_noinline int
get_few(struct mpm_pool *p, void **objs, unsigned int n, struct mpm_cache *c)
{
	return cache_get(p, c, objs, n);
}

static int
dequeue(struct rte_mempool *mp, void **objs, unsigned int n)
{
	struct mpm_pool *p = mp->pool_data;
	struct mpm_cache *c;

	if (unlikely(!mpm_pool_valid(p)))
		return refuse_get(mp);
	c = mpm_cache_mine(&p->caches);
	if (unlikely(c == NULL))
		return shared_get(p, objs, n);
	if (n == 1)
		return cache_get(p, c, objs, 1);
	return n == MPM_BLOCK ? get_block(p, objs, c) : get_few(p, objs, n, c);
}

static unsigned int
get_count(const struct rte_mempool *mp)
{
	const struct mpm_pool *p = mp->pool_data;
	struct mpm_where where;

	if (unlikely(!mpm_pool_valid(p))) {
		mpm_process_refuse(mp);
		return 0;
	}
	mpm_cache_where(p, &where);
	return where.dev_free + where.host_free;
}

static const struct rte_mempool_ops mpm_ops = {
	.name = MPM_OPS_NAME,
	.alloc = mpm_pool_alloc,
	.free = mpm_pool_free,
	.enqueue = enqueue,
	.dequeue = dequeue,
	.get_count = get_count,
	.populate = mpm_pages_populate,
};

struct mpm_pool *
mpm_pool_of(const struct rte_mempool *mp)
{
	struct mpm_pool *p;

	if ((mp->flags & RTE_MEMPOOL_F_POOL_CREATED) == 0)
		return NULL;
	if (rte_mempool_get_ops(mp->ops_index)->alloc != mpm_pool_alloc)
		return NULL;
	p = mp->pool_data;
	return mpm_pool_valid(p) ? p : NULL;
}

int
mpm_ops_register(void)
{
	int ret = rte_mempool_register_ops(&mpm_ops);

	if (ret >= 0)
		return 0;
	MPM_LOG(ERR, "ops " MPM_OPS_NAME " not registered: %s. DPDK has room for %d mempool ops; "
		"build DPDK with -Ddisable_drivers=mempool/... for one that is not needed, or load "
		"fewer plugins. Pools of ops " MPM_OPS_NAME " cannot be created",
		ret == -ENOSPC ? "the table is full (ENOSPC)" : "refused by DPDK",
		RTE_MEMPOOL_MAX_OPS_IDX);
	return ret;
}
