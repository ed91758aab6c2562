/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_memzone.h>
#include <rte_tailq.h>

#include "cache.h"
#include "devices.h"
#include "log.h"
#include "own.h"
#include "pin.h"
#include "pool.h"
#include "region.h"
#include "wake.h"

struct mpm_wake {
	TAILQ_ENTRY(mpm_wake) next;
	struct mpm_pool *pool;
	struct rte_mempool *mp; /* stand-in for the mempool that is gone */
	unsigned int out;       /* buffers that are to come back */
	unsigned int dev_out;   /* those with a slot */
	unsigned int idle;      /* objects that were in the pool when it went, in caches */
	bool lost;              /* memory of some belongs to the application and may be gone */
	unsigned int n_chunks;
	struct rte_mempool_memhdr chunks[]; /* memory to be freed at the end */
};

static TAILQ_HEAD(mpm_wakes, mpm_wake) wakes = TAILQ_HEAD_INITIALIZER(wakes);
static bool exiting; /* what EAL had allocated may be gone */

/* ---- who is at home ---- */

struct roll {
	void **objs;
	unsigned int n;
	bool eal; /* whose memory it is */
};

/* A pool that cannot be looked at loses all its slots: one heap may help where another fails. */
static int
roll_call(const struct mpm_pool *p, struct roll *roll)
{
	size_t bytes = p->store.cap * sizeof(*roll->objs);

	roll->objs = malloc(bytes);
	roll->eal = roll->objs == NULL;
	if (roll->eal)
		roll->objs = rte_malloc("mlx5_memic_wake", bytes, 0);
	if (roll->objs == NULL)
		return -1;
	roll->n = mpm_cache_list(p, roll->objs, p->store.cap);
	qsort(roll->objs, roll->n, sizeof(*roll->objs), mpm_by_address);
	return 0;
}

static void
roll_end(struct roll *roll)
{
	if (roll->eal)
		rte_free(roll->objs);
	else
		free(roll->objs);
}

static bool
at_home(const struct roll *roll, const void *obj)
{
	return bsearch(&obj, roll->objs, roll->n, sizeof(*roll->objs), mpm_by_address) != NULL;
}

/* Returns how many slots are out. */
static unsigned int
mark_slots(struct mpm_pool *p, const struct roll *roll)
{
	unsigned int out = 0;
	unsigned int i;

	for (i = 0; i < p->slots; i++) {
		p->home[i] = at_home(roll, p->dev_objs[i]);
		out += p->home[i] == 0;
	}
	return out;
}

static unsigned int
count_out(const struct rte_mempool *mp, const struct roll *roll)
{
	struct rte_mempool_objhdr *hdr;
	unsigned int out = 0;

	STAILQ_FOREACH(hdr, &mp->elt_list, next)
		out += !at_home(roll, RTE_PTR_ADD(hdr, sizeof(*hdr)));
	return out;
}

/* ---- holding memory ---- */

/*
 * A mempool without cache and objects, in shared memory as mbufs point to it. What
 * returns to it goes into the store of the pool it stands for.
 */
static struct rte_mempool *
stand_in(struct rte_mempool *mp)
{
	size_t header = RTE_MEMPOOL_HEADER_SIZE(mp, 0);
	struct rte_mempool *twin;

	twin = rte_zmalloc_socket("mlx5_memic_wake", header + mp->private_data_size,
				  RTE_CACHE_LINE_SIZE, mp->socket_id);
	if (twin == NULL)
		return NULL;
	memcpy(twin, mp, sizeof(*mp));
	twin->mz = NULL;
	twin->cache_size = 0;
	twin->local_cache = NULL;
	twin->populated_size = 0;
	twin->nb_mem_chunks = 0;
	STAILQ_INIT(&twin->elt_list);
	STAILQ_INIT(&twin->mem_list);
	memcpy(rte_mempool_get_priv(twin), rte_mempool_get_priv(mp), mp->private_data_size);
	return twin;
}

/*
 * The next pool of the same name will want the names of this one's zones. A zone is
 * freed by its address, so its name is free to be changed.
 */
static void
rename_zone(const struct rte_memzone *mz, void *arg)
{
	static unsigned int number;

	if (mz == arg)
		snprintf((char *)(uintptr_t)mz->name, sizeof(mz->name), "MLX5_MEMIC_wake_%u",
			 number++);
}

/* Memory that DPDK got in one piece has one free callback and one argument for all chunks. */
static bool
is_held(const struct mpm_wake *w, const struct rte_mempool_memhdr *chunk)
{
	unsigned int i;

	for (i = 0; i < w->n_chunks; i++)
		if (w->chunks[i].opaque == chunk->opaque)
			return true;
	return false;
}

static void
hold_chunks(struct rte_mempool *mp, struct mpm_wake *w)
{
	struct rte_mempool_memhdr *chunk;

	STAILQ_FOREACH(chunk, &mp->mem_list, next) {
		if (chunk->free_cb == NULL) {
			w->lost = w->lost || !is_held(w, chunk);
			continue;
		}
		w->chunks[w->n_chunks] = *chunk;
		w->chunks[w->n_chunks++].mp = w->mp;
		chunk->free_cb = NULL;
		rte_memzone_walk(rename_zone, chunk->opaque);
	}
}

static void
redirect(struct rte_mempool *mp, const struct mpm_wake *w, const struct roll *roll)
{
	struct rte_mempool_objhdr *hdr;
	struct rte_mbuf *m;

	STAILQ_FOREACH(hdr, &mp->elt_list, next) {
		m = RTE_PTR_ADD(hdr, sizeof(*hdr));
		if (at_home(roll, m))
			continue;
		m->pool = w->mp;
		hdr->mp = w->mp;
	}
}

static struct mpm_wake *
wake_new(struct rte_mempool *mp, struct mpm_pool *p, const struct roll *roll, unsigned int out)
{
	struct mpm_wake *w;

	w = calloc(1, sizeof(*w) + mp->nb_mem_chunks * sizeof(w->chunks[0]));
	if (w == NULL)
		return NULL;
	w->mp = stand_in(mp);
	if (w->mp == NULL) {
		free(w);
		return NULL;
	}
	w->mp->pool_data = p;
	w->pool = p;
	w->out = out;
	hold_chunks(mp, w);
	redirect(mp, w, roll);
	return w;
}

static void
tell(const struct rte_mempool *mp, const struct mpm_pool *p, unsigned int out,
     unsigned int dev_out)
{
	const struct mpm_own *own = mpm_own(p);

	MPM_LOG(ERR, "pool %s is freed with %u of its %u buffers still out, %u of them in device "
		"memory of %s: their slots stay out of use until %s%s. Stop ports and free all "
		"mbufs before rte_mempool_free()", mp->name, out, mp->populated_size, dev_out,
		own->region->nic->name, own->wake == NULL || own->wake->lost ?
		"the device is closed" : "they are back or the device is closed",
		own->wake == NULL ? ", as there is no memory to wait for them (ENOMEM)" : "");
}

static void
tell_no_roll(const struct rte_mempool *mp, const struct mpm_pool *p)
{
	MPM_LOG(ERR, "pool %s is freed, and there is no memory to find out which of its buffers "
		"are still out (ENOMEM): all %u slots in device memory of %s stay out of use "
		"until the device is closed", mp->name, p->slots, mpm_own(p)->region->nic->name);
}

void
mpm_wake_prepare(struct rte_mempool *mp, struct mpm_pool *p)
{
	struct mpm_own *own = mpm_own(p);
	unsigned int out, dev_out;
	struct roll roll;

	if (roll_call(p, &roll) != 0) {
		tell_no_roll(mp, p);
		mpm_pin_orphan(p);
		return;
	}
	p->home = p->home_room;
	dev_out = mark_slots(p, &roll);
	out = count_out(mp, &roll);
	if (out != 0)
		own->wake = wake_new(mp, p, &roll, out);
	if (own->wake != NULL)
		own->wake->dev_out = dev_out;
	roll_end(&roll);
	if (out != 0)
		tell(mp, p, out, dev_out);
	/* what cannot be held must not be called back either */
	if (out != 0 && (own->wake == NULL || own->wake->lost))
		mpm_pin_orphan(p);
}

/* ---- the wake ---- */

static unsigned int
returned(const struct mpm_pool *p)
{
	const struct mpm_wake *w = mpm_own(p)->wake;

	return rte_mempool_avail_count(w->mp) - w->idle;
}

void
mpm_wake_begin(struct mpm_pool *p)
{
	struct mpm_wake *w = mpm_own(p)->wake;

	p->mp = w->mp;
	w->idle = rte_mempool_avail_count(w->mp);
	TAILQ_INSERT_TAIL(&wakes, w, next);
}

static void
recover_slots(struct mpm_pool *p)
{
	unsigned int i;

	for (i = 0; i < p->slots; i++)
		if (p->home[i] == 0)
			mpm_region_recover(mpm_own(p)->region, p->stride, p->offsets[i]);
}

static void
wake_end(struct mpm_pool *p)
{
	struct mpm_wake *w = mpm_own(p)->wake;
	unsigned int i;

	TAILQ_REMOVE(&wakes, w, next);
	MPM_LOG(NOTICE, "pool %s: the %u buffers that were out when it was freed are back, %u of "
		"them had device memory", p->mp->name, w->out, w->dev_out);
	if (mpm_own(p)->region != NULL)
		recover_slots(p);
	for (i = 0; i < w->n_chunks; i++)
		w->chunks[i].free_cb(&w->chunks[i], w->chunks[i].opaque);
	rte_free(w->mp);
	free(w);
	mpm_own_remove(p);
	mpm_pool_delete(p);
}

void
mpm_wake_reap(void)
{
	struct mpm_wake *w;
	void *tmp;

	RTE_TAILQ_FOREACH_SAFE(w, &wakes, next, tmp)
		if (!w->lost && returned(w->pool) >= w->out)
			wake_end(w->pool);
}

void
mpm_wake_region_gone(const struct mpm_region *region)
{
	struct mpm_wake *w;

	if (exiting)
		return;
	TAILQ_FOREACH(w, &wakes, next)
		if (mpm_own(w->pool)->region == region)
			mpm_own(w->pool)->region = NULL;
}

void
mpm_wake_exit(void)
{
	exiting = true;
}
