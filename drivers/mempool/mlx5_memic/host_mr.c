/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <sys/queue.h>
#include <sys/resource.h>

#include <rte_common.h>
#include <rte_mempool.h>

#include <memic.h>

#include "host_mr.h"
#include "log.h"
#include "pool.h"

/** Memory of a pool without gaps, in whole pages, and its outermost host-tier objects. */
struct span {
	uintptr_t lo;
	uintptr_t hi;
	void *first;
	void *last;
};

struct spans {
	LIST_ENTRY(spans) next;
	const struct mpm_pool *pool;
	void *dev_obj;
	unsigned int n;
	struct span span[];
};

/** A real MR and who it stands for. The PMD keeps a pointer to the copy. */
struct host_mr {
	LIST_ENTRY(host_mr) next;
	struct ibv_mr mr;
	struct ibv_mr *real;
	unsigned int access;
	unsigned int refs;
};

/* as the key lock: taken with locks of the PMD held, covers verbs calls only */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(all_spans, spans) all = LIST_HEAD_INITIALIZER(all);
static LIST_HEAD(host_mrs, host_mr) mrs = LIST_HEAD_INITIALIZER(mrs);

/* ---- spans ---- */

static int
by_start(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return (x->lo > y->lo) - (x->lo < y->lo);
}

static struct spans *
spans_of_chunks(struct rte_mempool *mp)
{
	uintptr_t page = sysconf(_SC_PAGESIZE);
	struct rte_mempool_memhdr *chunk;
	struct spans *s;
	unsigned int i, n = 0;

	s = calloc(1, sizeof(*s) + mp->nb_mem_chunks * sizeof(s->span[0]));
	if (s == NULL)
		return NULL;
	STAILQ_FOREACH(chunk, &mp->mem_list, next) {
		s->span[n].lo = RTE_ALIGN_FLOOR((uintptr_t)chunk->addr, page);
		s->span[n++].hi = RTE_ALIGN_CEIL((uintptr_t)chunk->addr + chunk->len, page);
	}
	qsort(s->span, n, sizeof(s->span[0]), by_start);
	for (i = 0; i < n; i++) {
		if (s->n != 0 && s->span[i].lo <= s->span[s->n - 1].hi)
			s->span[s->n - 1].hi = RTE_MAX(s->span[s->n - 1].hi, s->span[i].hi);
		else
			s->span[s->n++] = s->span[i];
	}
	return s;
}

int
mpm_host_mr_publish(struct rte_mempool *mp, const struct mpm_pool *p, void * const *objs,
		    unsigned int n)
{
	struct spans *s = spans_of_chunks(mp);
	struct span *at;
	unsigned int i;

	if (s == NULL)
		return -ENOMEM;
	s->pool = p;
	s->dev_obj = objs[0];
	at = s->span;
	for (i = p->slots; i < n; i++) {
		while ((uintptr_t)objs[i] >= at->hi)
			at++;
		if (at->first == NULL)
			at->first = objs[i];
		at->last = objs[i];
	}
	pthread_mutex_lock(&lock);
	LIST_INSERT_HEAD(&all, s, next);
	pthread_mutex_unlock(&lock);
	return 0;
}

static struct spans *
spans_find(const struct mpm_pool *p)
{
	struct spans *s;

	LIST_FOREACH(s, &all, next)
		if (s->pool == p)
			return s;
	return NULL;
}

void
mpm_host_mr_withdraw(const struct mpm_pool *p)
{
	struct spans *s;

	pthread_mutex_lock(&lock);
	s = spans_find(p);
	if (s != NULL)
		LIST_REMOVE(s, next);
	pthread_mutex_unlock(&lock);
	free(s);
}

/* The caller holds on to the pool, so its spans stay while the lock is free. */
unsigned int
mpm_host_mr_walk(struct rte_mempool *mp, const struct mpm_pool *p, rte_mempool_obj_cb_t *cb,
		 void *arg)
{
	const struct spans *s;
	unsigned int shown = 0;
	unsigned int i;

	pthread_mutex_lock(&lock);
	s = spans_find(p);
	pthread_mutex_unlock(&lock);
	if (s == NULL)
		return 0;
	/* one will do: any part of the region is answered with the whole */
	cb(mp, arg, s->dev_obj, shown++);
	/* both ends, or the PMD may take a long span for part of one huge page */
	for (i = 0; i < s->n; i++) {
		if (s->span[i].first == NULL)
			continue;
		cb(mp, arg, s->span[i].first, shown++);
		if (s->span[i].last != s->span[i].first)
			cb(mp, arg, s->span[i].last, shown++);
	}
	return shown;
}

/* ---- registrations, with the lock held ---- */

/* Grow a range by the spans that it touches. */
static bool
cover(uintptr_t *lo, uintptr_t *hi)
{
	uintptr_t from = *lo, to = *hi;
	const struct spans *s;
	bool touched = false;
	unsigned int i;

	LIST_FOREACH(s, &all, next) {
		for (i = 0; i < s->n; i++) {
			if (from >= s->span[i].hi || s->span[i].lo >= to)
				continue;
			*lo = RTE_MIN(*lo, s->span[i].lo);
			*hi = RTE_MAX(*hi, s->span[i].hi);
			touched = true;
		}
	}
	return touched;
}

static struct host_mr *
mr_find(const struct ibv_pd *pd, uintptr_t lo, uintptr_t hi, unsigned int access)
{
	struct host_mr *m;

	LIST_FOREACH(m, &mrs, next)
		if (m->mr.pd == pd && (uintptr_t)m->mr.addr == lo && m->mr.length == hi - lo &&
		    m->access == access)
			return m;
	return NULL;
}

static struct host_mr *
mr_make(struct ibv_pd *pd, uintptr_t lo, uintptr_t hi, unsigned int access)
{
	struct host_mr *m = calloc(1, sizeof(*m));

	if (m == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	m->real = ibv_reg_mr_iova2(pd, (void *)lo, hi - lo, lo, access);
	if (m->real == NULL) {
		free(m);
		return NULL;
	}
	m->mr = *m->real;
	m->mr.addr = (void *)lo;
	m->mr.length = hi - lo;
	m->access = access;
	LIST_INSERT_HEAD(&mrs, m, next);
	return m;
}

bool
mpm_host_mr_reg(struct ibv_pd *pd, uintptr_t addr, size_t len, unsigned int access,
		struct ibv_mr **mr)
{
	uintptr_t lo = addr, hi = addr + len;
	struct host_mr *m = NULL;
	bool touched;

	pthread_mutex_lock(&lock);
	touched = cover(&lo, &hi);
	if (touched) {
		m = mr_find(pd, lo, hi, access);
		if (m == NULL)
			m = mr_make(pd, lo, hi, access);
		if (m != NULL)
			m->refs++;
	}
	pthread_mutex_unlock(&lock);
	*mr = m == NULL ? NULL : &m->mr;
	return touched;
}

void
mpm_host_mr_tell(const struct ibv_pd *pd, const void *addr, size_t len, const struct ibv_mr *mr)
{
	static uint32_t told;
	struct rlimit limit;
	char cure[128] = "";
	int err = errno;

	/* once until it works again: on the data path the PMD asks for each packet */
	if (__atomic_exchange_n(&told, mr == NULL, __ATOMIC_RELAXED) != 0 || mr != NULL)
		return;
	/* what ib_umem_get() of the kernel says beyond the limit */
	if (err == ENOMEM && getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
	    limit.rlim_cur != RLIM_INFINITY)
		snprintf(cure, sizeof(cure), "; the process may lock %zu KiB (RLIMIT_MEMLOCK): "
			 "raise that, as with ulimit -l", (size_t)limit.rlim_cur >> 10);
	/* what a removed device says (ib_uverbs_get_ucontext_file()); the port was told of that */
	if (err == EIO)
		MPM_LOG(INFO, "ibv_reg_mr of %zu bytes of host memory at %p on %s: EIO", len, addr,
			ibv_get_device_name(pd->context->device));
	else
		MPM_LOG(ERR, "ibv_reg_mr of %zu bytes of host memory at %p on %s: %s%s", len, addr,
			ibv_get_device_name(pd->context->device), memic_errno_name(err), cure);
	errno = err;
}

/* Deregister one that nobody holds. */
static int
mr_release(struct host_mr *m)
{
	int err = m->real == NULL ? 0 : ibv_dereg_mr(m->real);

	/* after a removal of the device EIO means that it is gone already */
	if (err != 0 && err != EIO)
		return err;
	LIST_REMOVE(m, next);
	free(m);
	return 0;
}

static void
tell_kept(const struct host_mr *m, int err)
{
	MPM_LOG(ERR, "ibv_dereg_mr of %zu bytes at %p on %s: %s: kept for another try before the "
		"PD goes", m->mr.length, m->mr.addr,
		ibv_get_device_name(m->mr.context->device), memic_errno_name(err));
}

bool
mpm_host_mr_dereg(struct ibv_mr *mr)
{
	struct host_mr *m;
	int err;

	pthread_mutex_lock(&lock);
	LIST_FOREACH(m, &mrs, next)
		if (&m->mr == mr)
			break;
	if (m != NULL && m->refs > 0 && --m->refs == 0) {
		err = mr_release(m);
		if (err != 0)
			tell_kept(m, err);
	}
	pthread_mutex_unlock(&lock);
	return m != NULL;
}

void
mpm_host_mr_drop_pd(const struct ibv_pd *pd)
{
	struct host_mr *m, *after;

	pthread_mutex_lock(&lock);
	for (m = LIST_FIRST(&mrs); m != NULL; m = after) {
		after = LIST_NEXT(m, next);
		if (m->refs == 0 && m->mr.pd == pd)
			mr_release(m);
	}
	pthread_mutex_unlock(&lock);
}

static void
mr_abandon(struct host_mr *m)
{
	int err = ibv_dereg_mr(m->real);

	if (err != 0 && err != EIO)
		MPM_LOG(ERR, "ibv_dereg_mr of %zu bytes at %p on %s: %s: given up until the "
			"process ends", m->mr.length, m->mr.addr,
			ibv_get_device_name(m->mr.context->device), memic_errno_name(err));
	m->real = NULL;
	m->mr.pd = NULL;
	m->mr.context = NULL;
	if (m->refs == 0)
		mr_release(m);
}

void
mpm_host_mr_abandon(const struct ibv_context *ctx)
{
	struct host_mr *m, *after;

	pthread_mutex_lock(&lock);
	for (m = LIST_FIRST(&mrs); m != NULL; m = after) {
		after = LIST_NEXT(m, next);
		if (m->mr.context == ctx)
			mr_abandon(m);
	}
	pthread_mutex_unlock(&lock);
}
