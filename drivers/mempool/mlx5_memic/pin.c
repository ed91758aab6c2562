/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_pause.h>

#include "cache.h"
#include "control.h"
#include "devices.h"
#include "host_mr.h"
#include "log.h"
#include "own.h"
#include "pin.h"
#include "pool.h"
#include "region.h"
#include "thunk.h"
#include "wake.h"

/** Walks over a pool of which only some mbufs are initialised, until it is given up. */
#define TRIES_MAX 16

/** Objects of a pool, and whether all of them are mbufs fit to be pinned. */
struct roll {
	void **objs;
	unsigned int n;
	unsigned int cap;
	unsigned int room;
	bool ready;
	bool ascending;
};

/* ---- free callbacks ---- */

/*
 * The last clone of a pinned mbuf was freed after the mbuf itself: the mbuf goes back to
 * its pool in the state in which rte_pktmbuf_alloc() expects it.
 */
static void
pinned_free(void *addr __rte_unused, void *opaque)
{
	struct rte_mbuf *m = opaque;

	rte_mbuf_ext_refcnt_set(m->shinfo, 1);
	m->ol_flags = RTE_MBUF_F_EXTERNAL;
	m->next = NULL;
	m->nb_segs = 1;
	rte_mbuf_raw_free(m);
}

struct mpm_pool *
mpm_pin_origin(const struct rte_mbuf *m)
{
	const struct rte_mbuf *origin;

	if (!RTE_MBUF_HAS_EXTBUF(m) || m->shinfo == NULL || m->shinfo->free_cb != pinned_free)
		return NULL;
	origin = m->shinfo->fcb_opaque;
	return origin->pool->pool_data;
}

/* The pool is gone, and with it the mbuf. */
static void
orphan_free(void *addr __rte_unused, void *opaque __rte_unused)
{
}

void
mpm_pin_callbacks(void)
{
	mpm_thunk_set(MPM_THUNK_PINNED, pinned_free);
	mpm_thunk_set(MPM_THUNK_ORPHAN, orphan_free);
}

void
mpm_pin_orphan(struct mpm_pool *p)
{
	unsigned int i;

	for (i = 0; i < p->mp->size; i++)
		p->shinfo[i].free_cb = mpm_thunk_get(MPM_THUNK_ORPHAN);
	p->shinfo = NULL;
}

/* ---- pinning ---- */

static int
dev_index(const struct mpm_pool *p, const void *obj)
{
	void **found = bsearch(&obj, p->dev_objs, p->slots, sizeof(*p->dev_objs), mpm_by_address);

	return found == NULL ? -1 : (int)(found - p->dev_objs);
}

static void
pin_mbuf(const struct mpm_pool *p, struct rte_mbuf *m, unsigned int i)
{
	struct rte_mbuf_ext_shared_info *shinfo = &p->shinfo[i];

	if (mpm_pool_is_dev(p, m)) {
		m->buf_addr = mpm_own(p)->region->base + p->offsets[dev_index(p, m)];
		/* a device that needs IO addresses cannot reach the memory of another one */
		rte_mbuf_iova_set(m, RTE_BAD_IOVA);
	}
	/* clones of an mbuf that is initialised again still count */
	if (shinfo->free_cb == NULL) {
		shinfo->free_cb = mpm_thunk_get(MPM_THUNK_PINNED);
		shinfo->fcb_opaque = m;
		rte_mbuf_ext_refcnt_set(shinfo, 1);
	}
	m->shinfo = shinfo;
	m->ol_flags = RTE_MBUF_F_EXTERNAL;
}

static void
pin_cb(struct rte_mempool *mp __rte_unused, void *arg, void *obj, unsigned int i)
{
	pin_mbuf(arg, obj, i);
}

static void
roll_cb(struct rte_mempool *mp, void *arg, void *obj, unsigned int i __rte_unused)
{
	const struct rte_mbuf *m = obj;
	struct roll *roll = arg;

	if (m->pool != mp || m->buf_addr == NULL || m->buf_len != roll->room)
		roll->ready = false;
	if (roll->n == roll->cap) {
		roll->ready = false;
		return;
	}
	if (roll->n != 0 && (uintptr_t)obj < (uintptr_t)roll->objs[roll->n - 1])
		roll->ascending = false;
	roll->objs[roll->n++] = obj;
}

/* The objects with the lowest addresses; all of them are given, in ascending order. */
static int
set_tier(struct rte_mempool *mp, struct mpm_pool *p, void * const *objs, unsigned int n)
{
	int ret = mpm_host_mr_publish(mp, p, objs, n);

	if (ret != 0)
		return ret;
	memcpy(p->dev_objs, objs, p->slots * sizeof(*objs));
	p->tier_end = (uintptr_t)objs[p->slots - 1] + 1;
	return 0;
}

static void
pinned(struct rte_mempool *mp, const struct mpm_pool *p)
{
	struct rte_pktmbuf_pool_private *priv = rte_mempool_get_priv(mp);

	priv->flags |= RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF;
	MPM_LOG(DEBUG, "pool %s: %u mbufs pinned, %u in device memory", mp->name, mp->size,
		p->slots);
}

/* Only one thread gets here. */
static int
pin_all(struct rte_mempool *mp, struct mpm_pool *p, struct roll *roll)
{
	int ret;

	if (!roll->ascending)
		qsort(roll->objs, roll->n, sizeof(*roll->objs), mpm_by_address);
	ret = set_tier(mp, p, roll->objs, roll->n);
	if (ret != 0)
		return ret;
	mpm_store_resplit(&p->store, p->tier_end, roll->objs);
	rte_mempool_obj_iter(mp, pin_cb, p);
	pinned(mp, p);
	return 0;
}

/* Of several threads, one. */
static bool
begin_pinning(struct mpm_pool *p)
{
	uint32_t state = MPM_NEW;

	return __atomic_compare_exchange_n(&p->state, &state, MPM_PINNING, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static void
end_pinning(struct mpm_pool *p, bool done)
{
	if (done)
		mpm_cache_open(p);
	__atomic_store_n(&p->state, done ? MPM_PINNED : MPM_NEW, __ATOMIC_RELEASE);
}

static int
roll_make(struct rte_mempool *mp, struct mpm_pool *p, struct roll *roll)
{
	roll->n = 0;
	roll->cap = p->store.cap;
	roll->room = rte_pktmbuf_data_room_size(mp);
	roll->ready = true;
	roll->ascending = true;
	roll->objs = malloc(roll->cap * sizeof(*roll->objs));
	if (roll->objs == NULL)
		return -ENOMEM;
	rte_mempool_obj_iter(mp, roll_cb, roll);
	roll->ready = roll->ready && roll->n != 0;
	return 0;
}

/*
 * One look, for the gets with which DPDK takes all objects out of a pool of which the
 * creation failed: a walk over all of them for each would never end.
 */
static bool
first_is_ready(struct rte_mempool *mp)
{
	const struct rte_mempool_objhdr *hdr = STAILQ_FIRST(&mp->elt_list);
	const struct rte_mbuf *m;

	if (hdr == NULL)
		return false;
	m = RTE_PTR_ADD(hdr, sizeof(*hdr));
	return m->pool == mp && m->buf_addr != NULL;
}

/*
 * Pin if the mbufs are all there and initialised.
 *
 * @return 0 pinned (by whomever), -EAGAIN not yet, -ENODATA some mbufs initialised but
 *         others still to come, -ENOMEM.
 */
static int
try_pin(struct rte_mempool *mp, struct mpm_pool *p)
{
	struct roll roll;
	int ret;

	if (!first_is_ready(mp))
		return -EAGAIN;
	ret = roll_make(mp, p, &roll);
	if (ret != 0)
		return ret;
	if (!roll.ready) {
		ret = __atomic_add_fetch(&p->tries, 1, __ATOMIC_RELAXED) < TRIES_MAX ?
			-EAGAIN : -ENODATA;
	} else if (roll.n < mp->size) {
		ret = -ENODATA;
	} else if (begin_pinning(p)) {
		ret = pin_all(mp, p, &roll);
		end_pinning(p, ret == 0);
	}
	free(roll.objs);
	return ret;
}

static void
await_pinning(const struct mpm_pool *p)
{
	while (__atomic_load_n(&p->state, __ATOMIC_ACQUIRE) == MPM_PINNING)
		rte_pause();
}

/* ---- pinning while mbufs are initialised ---- */

struct init {
	struct mpm_pool *p;
	void *arg;
};

static void
init_cb(struct rte_mempool *mp, void *arg, void *obj, unsigned int i)
{
	const struct init *init = arg;

	rte_pktmbuf_init(mp, init->arg, obj, i);
	pin_mbuf(init->p, obj, i);
}

uint32_t
mpm_pin_in_walk(struct rte_mempool *mp, struct mpm_pool *p, void *arg)
{
	struct init init = { .p = p, .arg = arg };
	uint32_t n = 0;
	void **objs;

	if (mp->populated_size != mp->size || !begin_pinning(p))
		return 0;
	objs = mpm_store_sort(&p->store, mp->size);
	if (objs != NULL && set_tier(mp, p, objs, mp->size) == 0) {
		mpm_store_settle(&p->store, p->slots, p->tier_end);
		n = rte_mempool_obj_iter(mp, init_cb, &init);
		pinned(mp, p);
	}
	end_pinning(p, n != 0);
	return n;
}

/* ---- pinning afterwards ---- */

struct repin {
	struct mpm_pool *p;
	unsigned int n;
};

/* rte_pktmbuf_init() clears the mbuf, and nothing else leaves it without shinfo. */
static void
repin_cb(struct rte_mempool *mp __rte_unused, void *arg, void *obj, unsigned int i)
{
	struct rte_mbuf *m = obj;
	struct repin *re = arg;

	if (m->shinfo != NULL)
		return;
	pin_mbuf(re->p, m, i);
	re->n++;
}

void
mpm_pin_after_walk(struct rte_mempool *mp, struct mpm_pool *p)
{
	struct repin re = { .p = p };
	int ret;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return;
	switch (__atomic_load_n(&p->state, __ATOMIC_ACQUIRE)) {
	case MPM_NEW:
		/* the first get comes for sure, but perhaps after a port has registered the pool */
		ret = try_pin(mp, p);
		if (ret == -ENOMEM)
			ret = try_pin(mp, p);
		if (ret == -ENOMEM)
			MPM_LOG(WARNING, "pool %s: no memory to point its buffers at device memory "
				"(ENOMEM): tried again when it is used", mp->name);
		await_pinning(p);
		break;
	case MPM_PINNED:
		rte_mempool_obj_iter(mp, repin_cb, &re);
		if (re.n != 0)
			p->repinned++;
		break;
	}
}

/* The pool goes on as an ordinary one. */
static void
give_up(struct rte_mempool *mp, struct mpm_pool *p, int err)
{
	uint32_t state = MPM_NEW;

	if (!__atomic_compare_exchange_n(&p->state, &state, MPM_PLAIN, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		return;
	MPM_LOG(WARNING, "pool %s lives in host memory: %s", mp->name, err == -ENOMEM ?
		"no memory to sort its buffers (ENOMEM)" :
		"it is in use before all its buffers were added and initialised");
	mpm_pool_release(p);
	mpm_cache_open(p);
}

/* Its mbufs would be pointed elsewhere while a secondary process has some of them. */
static int
refuse_early_get(const struct rte_mempool *mp)
{
	static const struct rte_mempool *told;

	if (__atomic_exchange_n(&told, mp, __ATOMIC_RELAXED) != mp)
		MPM_LOG(ERR, "pool %s: a secondary process gets mbufs (ENOBUFS) before the primary "
			"has initialised them all or got one", mp->name);
	return -ENOBUFS;
}

int
mpm_pin_first_get(struct rte_mempool *mp, struct mpm_pool *p)
{
	int ret = -EAGAIN;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY) {
		await_pinning(p);
		return __atomic_load_n(&p->state, __ATOMIC_ACQUIRE) > MPM_PINNED ?
			refuse_early_get(mp) : 0;
	}
	if (__atomic_load_n(&p->state, __ATOMIC_ACQUIRE) == MPM_NEW)
		ret = try_pin(mp, p);
	await_pinning(p);
	/* raw objects are taken out of a pool that is torn down after a failed creation */
	if (ret == -ENODATA || ret == -ENOMEM)
		give_up(mp, p, ret);
	return 0;
}

/* ---- before the pool is freed ---- */

/*
 * rte_mempool_free() takes all objects out and frees their memory before it calls ops
 * free, so this is the last moment to see who is at home.
 */
static void
on_event(enum rte_mempool_event event, struct rte_mempool *mp, void *arg __rte_unused)
{
	struct mpm_pool *p = mpm_pool_of(mp);

	if (event != RTE_MEMPOOL_EVENT_DESTROY || p == NULL || !mpm_pool_mine(p))
		return;
	mpm_control_lock();
	if (p->state == MPM_PINNED)
		mpm_wake_prepare(mp, p);
	else
		/* nothing is to be pinned by the gets that are to come */
		p->state = MPM_PLAIN;
	mpm_control_unlock();
}

int
mpm_pin_init(void)
{
	int ret = rte_mempool_event_callback_register(on_event, NULL);

	return ret == -EEXIST ? 0 : ret;
}
