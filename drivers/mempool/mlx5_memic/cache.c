/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "cache.h"

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "log.h"
#include "pool.h"

/** Most objects of the device tier in one cache: two of the usual bursts. */
#define DEV_MAX 64u

/**
 * Share of the slots, 1 over this, that a thread does not get in a row when the rings of
 * ports are not known, as where no Rx queue was given the pool. More than that would be
 * held back from frames in flight, where a slow wire makes Tx rings fill up.
 */
#define UNKNOWN_RESERVE 8u

/* ---- put ---- */

/* More than the pool has can only be objects that were put twice. They are lost. */
static void
overflow(struct mpm_pool *p)
{
	if (__atomic_exchange_n(&p->store.overflowed, 1, __ATOMIC_RELAXED) != 0)
		return;
	MPM_LOG(ERR, "pool %s: more objects were put than it has; some mbuf was freed twice",
		p->mp->name);
}

static void
flush(struct mpm_pool *p, void * const *objs, unsigned int n)
{
	if (mpm_store_put(&p->store, objs, n) != 0)
		overflow(p);
}

/* Caches are sorted by tier already. */
static void
flush_tier(struct mpm_pool *p, bool dev, void * const *objs, unsigned int n)
{
	struct mpm_store *s = &p->store;
	bool room;

	mpm_store_lock(s);
	room = n <= mpm_store_room(s);
	if (room && dev)
		mpm_store_push_dev(s, objs, n);
	else if (room)
		mpm_store_push_host(s, objs, n);
	s->run = 0;
	mpm_store_unlock(s);
	if (!room)
		overflow(p);
}

int
mpm_cache_trim(struct mpm_pool *p, struct mpm_cache *c)
{
	/* a thread that only puts would keep from others what it never needs */
	unsigned int dev_max = c->puts > MPM_RUN ? 0 : p->caches.dev_max;
	unsigned int keep;

	if (c->dev_n > dev_max) {
		keep = dev_max / 2;
		flush_tier(p, true, c->dev + keep, c->dev_n - keep);
		MPM_POKE(c->dev_n, keep);
	}
	if (c->host_n > p->caches.host_max) {
		keep = p->caches.host_fill;
		flush_tier(p, false, c->host + keep, c->host_n - keep);
		MPM_POKE(c->host_n, keep);
	}
	return 0;
}

static void
put_block(struct mpm_pool *p, struct mpm_cache *c, void * const *objs, unsigned int n)
{
	unsigned int dev, host;

	mpm_split(objs, n, p->tier_end, c->dev + c->dev_n, &dev, c->host + c->host_n,
		  &host);
	c->puts += n;
	MPM_POKE(c->dev_n, c->dev_n + dev);
	MPM_POKE(c->host_n, c->host_n + host);
	mpm_cache_trim(p, c);
}

int
mpm_cache_put_any(struct mpm_pool *p, struct mpm_cache *c, void * const *objs, unsigned int n)
{
	unsigned int k;

	c->run = 0;
	if (MPM_PEEK(p->store.stirred) == 0)
		MPM_POKE(p->store.stirred, 1);
	if (n > p->caches.host_max) {
		flush(p, objs, n);
		return 0;
	}
	for (; n != 0; n -= k, objs += k) {
		k = RTE_MIN(n, MPM_BLOCK);
		put_block(p, c, objs, k);
	}
	return 0;
}

/* ---- get ---- */

/* Whether the thread is filling a ring, after it got c->run objects in a row. */
static bool
fills_ring(struct mpm_store *s, struct mpm_cache *c, unsigned int n)
{
	/* others may have put something for a thread that only gets */
	if (c->run > MPM_RUN / 2 && MPM_PEEK(s->stirred) != 0) {
		MPM_POKE(s->stirred, 0);
		c->run = 0;
	}
	return c->run >= MPM_RUN && c->run >= 2 * n && MPM_PEEK(s->dev_n) <= MPM_PEEK(s->reserve);
}

/* How a get is made up: of each tier, from the cache and from the store. */
struct share {
	unsigned int dev, dev_cache;
	unsigned int host, host_cache;
};

static void
divide(const struct mpm_store *s, const struct mpm_cache *c, unsigned int n, bool fill,
       struct share *sh)
{
	unsigned int dev = c->dev_n + MPM_PEEK(s->dev_n);
	unsigned int host = c->host_n + MPM_PEEK(s->host_n);

	sh->dev = fill ? n - RTE_MIN(n, host) : RTE_MIN(n, dev);
	sh->host = n - sh->dev;
	sh->dev_cache = RTE_MIN(sh->dev, c->dev_n);
	sh->host_cache = RTE_MIN(sh->host, c->host_n);
}

static void
hand_out(struct mpm_cache *c, void **objs, const struct share *sh)
{
	MPM_POKE(c->dev_n, c->dev_n - sh->dev_cache);
	MPM_POKE(c->host_n, c->host_n - sh->host_cache);
	mpm_copy(objs, c->dev + c->dev_n, sh->dev_cache);
	mpm_copy(objs + sh->dev_cache, c->host + c->host_n, sh->host_cache);
	MPM_POKE(c->got_dev, c->got_dev + sh->dev);
	MPM_POKE(c->got_host, c->got_host + sh->host);
}

/* Needs the lock. */
static void
refill(const struct mpm_caches *all, struct mpm_store *s, struct mpm_cache *c)
{
	unsigned int want = all->host_fill - RTE_MIN(c->host_n, all->host_fill);
	unsigned int n = RTE_MIN(want, s->host_n);

	mpm_store_pop_host(s, c->host + c->host_n, n);
	MPM_POKE(c->host_n, c->host_n + n);
}

static int
get_shared(struct mpm_pool *p, struct mpm_cache *c, void **objs, unsigned int n, bool fill)
{
	struct mpm_store *s = &p->store;
	struct share sh;
	unsigned int k;

	mpm_store_lock(s);
	if (unlikely(n > c->dev_n + c->host_n + s->dev_n + s->host_n)) {
		mpm_store_unlock(s);
		return -ENOBUFS;
	}
	divide(s, c, n, fill, &sh);
	hand_out(c, objs, &sh);
	objs += sh.dev_cache + sh.host_cache;
	k = sh.dev - sh.dev_cache;
	if (k != 0)
		mpm_store_pop_dev(s, objs, k);
	objs += k;
	k = sh.host - sh.host_cache;
	if (k != 0) {
		mpm_store_pop_host(s, objs, k);
		refill(&p->caches, s, c);
	}
	mpm_store_unlock(s);
	return 0;
}

int
mpm_cache_get_any(struct mpm_pool *p, struct mpm_cache *c, void **objs, unsigned int n)
{
	bool fill = fills_ring(&p->store, c, n);
	struct share sh;
	int ret = 0;

	c->puts = 0;
	divide(&p->store, c, n, fill, &sh);
	if (sh.dev == sh.dev_cache && sh.host == sh.host_cache)
		hand_out(c, objs, &sh);
	else
		ret = get_shared(p, c, objs, n, fill);
	if (likely(ret == 0))
		c->run += n;
	return ret;
}

/* ---- counts ---- */

void
mpm_cache_where(const struct mpm_pool *p, struct mpm_where *w)
{
	const struct mpm_store *s = &p->store;
	const struct mpm_cache *c;
	unsigned int hosts = p->mp->populated_size - RTE_MIN(p->mp->populated_size, p->slots);
	unsigned int lcore;

	memset(w, 0, sizeof(*w));
	w->cache_size = p->caches.bytes == NULL ? p->mp->cache_size :
		p->caches.host_fill + p->caches.dev_max;
	w->got_dev = MPM_PEEK(s->got_dev);
	w->got_host = MPM_PEEK(s->got_host);
	for (lcore = 0; lcore < RTE_MAX_LCORE; lcore++) {
		c = MPM_PEEK(p->caches.of[lcore]);
		if (c == NULL)
			break;
		w->dev_cached += MPM_PEEK(c->dev_n);
		w->host_cached += MPM_PEEK(c->host_n);
		w->got_dev += MPM_PEEK(c->got_dev);
		w->got_host += MPM_PEEK(c->got_host);
	}
	w->dev_free = MPM_PEEK(s->dev_n) + w->dev_cached;
	w->host_free = MPM_PEEK(s->host_n) + w->host_cached;
	w->dev_out = p->slots - RTE_MIN(p->slots, w->dev_free);
	w->host_out = hosts - RTE_MIN(hosts, w->host_free);
	w->dev_peak = p->slots - RTE_MIN(p->slots, MPM_PEEK(s->dev_low));
}

static unsigned int
add(void **list, unsigned int n, unsigned int cap, void * const *objs, unsigned int k)
{
	k = RTE_MIN(k, cap - n);
	memcpy(list + n, objs, k * sizeof(*objs));
	return n + k;
}

unsigned int
mpm_cache_list(const struct mpm_pool *p, void **objs, unsigned int cap)
{
	const struct mpm_store *s = &p->store;
	const struct mpm_cache *c;
	unsigned int lcore;
	unsigned int n = 0;

	n = add(objs, n, cap, s->objs, s->dev_n);
	n = add(objs, n, cap, &s->objs[s->cap - s->host_n], s->host_n);
	for (lcore = 0; lcore < RTE_MAX_LCORE && p->caches.of[lcore] != NULL; lcore++) {
		c = p->caches.of[lcore];
		n = add(objs, n, cap, c->dev, c->dev_n);
		n = add(objs, n, cap, c->host, c->host_n);
	}
	return n;
}

/* ---- creation ---- */

/* Bounds as those of DPDK's own cache, which holds 1.5 times its size before it flushes. */
static int
make_caches(struct rte_mempool *mp, struct mpm_pool *p)
{
	struct mpm_caches *all = &p->caches;
	unsigned int host, dev;

	/* all lcores together must not keep more than half of the slots to themselves */
	dev = p->slots / (2 * RTE_MAX(rte_lcore_count(), 1u));
	dev = RTE_MIN(dev, DEV_MAX);
	all->dev_max = RTE_MIN(dev, mp->cache_size / 2);
	all->host_max = mp->cache_size * 3 / 2 - all->dev_max;
	all->host_fill = mp->cache_size - all->dev_max;
	/* what exceeds a bound is trimmed after each block */
	host = all->host_max + MPM_BLOCK;
	dev = all->dev_max + MPM_BLOCK;
	all->stride = RTE_ALIGN_CEIL(sizeof(struct mpm_cache) + (host + dev) * sizeof(void *),
				     RTE_CACHE_LINE_SIZE);
	all->bytes = rte_zmalloc_socket("mlx5_memic_pool", RTE_MAX_LCORE * all->stride,
					RTE_CACHE_LINE_SIZE, mp->socket_id);
	return all->bytes == NULL ? -ENOMEM : 0;
}

/*
 * rte_mempool_get_priv() finds the private area behind the caches, if there are any: the
 * area moves to where it is looked for from now on.
 */
static void
disable_own_cache(struct rte_mempool *mp)
{
	void *from = rte_mempool_get_priv(mp);

	mp->cache_size = 0;
	memmove(rte_mempool_get_priv(mp), from, mp->private_data_size);
}

void
mpm_cache_open(struct mpm_pool *p)
{
	struct mpm_caches *all = &p->caches;
	struct mpm_cache *c;
	unsigned int lcore;

	/* what was put so far were the objects of the pool as it was made */
	MPM_POKE(p->store.stirred, 0);
	for (lcore = 0; all->bytes != NULL && lcore < RTE_MAX_LCORE; lcore++) {
		c = (struct mpm_cache *)(void *)(all->bytes + lcore * all->stride);
		c->dev = c->host + all->host_max + MPM_BLOCK;
		__atomic_store_n(&all->of[lcore], c, __ATOMIC_RELEASE);
	}
}

void
mpm_cache_expect_fill(struct mpm_pool *p, unsigned int descs)
{
	struct mpm_store *s = &p->store;
	struct mpm_cache *c = mpm_cache_mine(&p->caches);

	mpm_store_lock(s);
	MPM_POKE(s->reserve, descs <= p->slots ? 0 : p->slots);
	s->run = MPM_RUN;
	mpm_store_unlock(s);
	MPM_POKE(s->stirred, 0);
	if (c != NULL)
		c->run = MPM_RUN;
}

int
mpm_cache_init(struct rte_mempool *mp, struct mpm_pool *p)
{
	int ret;

	/* ring_mp_mc takes that many too, where an object is put twice */
	ret = mpm_store_init(&p->store, rte_align32pow2(mp->size + 1) - 1, mp->socket_id);
	if (ret != 0)
		return ret;
	p->store.dev_low = p->slots;
	p->store.reserve = p->slots / UNKNOWN_RESERVE;
	/* a pool without slots keeps DPDK's cache, and is one of ring_mp_mc in all but name */
	if (mp->cache_size == 0 || p->slots == 0)
		return 0;
	ret = make_caches(mp, p);
	if (ret == 0)
		disable_own_cache(mp);
	return ret;
}

void
mpm_cache_fini(struct mpm_pool *p)
{
	rte_free(p->caches.bytes);
	mpm_store_fini(&p->store);
}
