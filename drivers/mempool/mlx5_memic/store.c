/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "store.h"

int
mpm_store_init(struct mpm_store *s, unsigned int cap, int socket)
{
	memset(s, 0, sizeof(*s));
	s->cap = cap;
	s->objs = rte_zmalloc_socket("mlx5_memic_pool", cap * sizeof(*s->objs),
				     RTE_CACHE_LINE_SIZE, socket);
	return s->objs == NULL ? -ENOMEM : 0;
}

void
mpm_store_fini(struct mpm_store *s)
{
	rte_free(s->objs);
	s->objs = NULL;
}

/*
 * Each look takes the line with the counts from the thread that is at work in it, which
 * waits for its return. So the pauses between looks grow; the longest one, some 1000
 * cycles, is what a few gets and puts take.
 */
#define PAUSES_MAX 16u

void
mpm_store_lock_wait(struct mpm_store *s)
{
	unsigned int pauses = 1;
	unsigned int i;

	do {
		for (i = 0; i < pauses; i++)
			rte_pause();
		pauses = RTE_MIN(2 * pauses, PAUSES_MAX);
	} while (__atomic_load_n(&s->lock, __ATOMIC_RELAXED) != 0 ||
		 __atomic_exchange_n(&s->lock, 1, __ATOMIC_ACQUIRE) != 0);
}

/* The tier of the first one is where all of them go at first: most often that was right. */
static __rte_always_inline void
push_block(struct mpm_store *s, void * const *objs, unsigned int n)
{
	uintptr_t end = s->end;
	bool dev = (uintptr_t)objs[0] < end;
	unsigned int at = dev ? s->dev_n : s->cap - s->host_n - n;
	void *lists[2][MPM_BLOCK];
	unsigned int dev_n, host_n;

	if (likely(mpm_copy_uniform(&s->objs[at], objs, n, end))) {
		if (dev)
			MPM_POKE(s->dev_n, s->dev_n + n);
		else
			MPM_POKE(s->host_n, s->host_n + n);
		return;
	}
	mpm_split(objs, n, end, lists[0], &dev_n, lists[1], &host_n);
	mpm_store_push_dev(s, lists[0], dev_n);
	mpm_store_push_host(s, lists[1], host_n);
}

void
mpm_store_push(struct mpm_store *s, void * const *objs, unsigned int n)
{
	unsigned int k;

	for (; n != 0; n -= k, objs += k) {
		k = RTE_MIN(n, MPM_BLOCK);
		push_block(s, objs, k);
	}
}

/* Numbers that the compiler knows make straight code; most often it is one of two. */
static __rte_always_inline void
push_any(struct mpm_store *s, void * const *objs, unsigned int n)
{
	if (n == MPM_BLOCK)
		push_block(s, objs, MPM_BLOCK);
	else if (n == 1)
		push_block(s, objs, 1);
	else
		mpm_store_push(s, objs, n);
}

int
mpm_store_put(struct mpm_store *s, void * const *objs, unsigned int n)
{
	int ret = -ENOBUFS;

	mpm_store_lock(s);
	if (likely(n != 0 && n <= mpm_store_room(s))) {
		push_any(s, objs, n);
		s->run = 0;
		ret = 0;
	}
	mpm_store_unlock(s);
	/* for the threads that have a cache */
	if (unlikely(MPM_PEEK(s->stirred) == 0))
		MPM_POKE(s->stirred, 1);
	return ret;
}

/* How many of n are to come from the device tier. */
static inline unsigned int
share_of_dev(const struct mpm_store *s, unsigned int n)
{
	if (likely(s->run < MPM_RUN || s->run < 2 * n || s->dev_n > s->reserve))
		return RTE_MIN(n, s->dev_n);
	return n - RTE_MIN(n, s->host_n);
}

static void
pop_mixed(struct mpm_store *s, void **objs, unsigned int n)
{
	unsigned int dev = share_of_dev(s, n);

	if (dev != 0)
		mpm_store_pop_dev(s, objs, dev);
	if (dev != n)
		mpm_store_pop_host(s, objs + dev, n - dev);
	MPM_POKE(s->got_dev, s->got_dev + dev);
	MPM_POKE(s->got_host, s->got_host + n - dev);
}

static __rte_always_inline void
pop_uniform(struct mpm_store *s, void **objs, unsigned int n)
{
	if (s->dev_n != 0) {
		mpm_store_pop_dev(s, objs, n);
		MPM_POKE(s->got_dev, s->got_dev + n);
	} else {
		mpm_store_pop_host(s, objs, n);
		MPM_POKE(s->got_host, s->got_host + n);
	}
}

static __rte_always_inline void
pop_any(struct mpm_store *s, void **objs, unsigned int n)
{
	if (unlikely(s->dev_n != 0 && (s->run >= MPM_RUN || n > s->dev_n)))
		pop_mixed(s, objs, n);
	else if (n == MPM_BLOCK)
		pop_uniform(s, objs, MPM_BLOCK);
	else if (n == 1)
		pop_uniform(s, objs, 1);
	else
		pop_uniform(s, objs, n);
}

int
mpm_store_get(struct mpm_store *s, void **objs, unsigned int n)
{
	int ret = -ENOBUFS;

	mpm_store_lock(s);
	if (likely(n != 0 && n <= s->dev_n + s->host_n)) {
		pop_any(s, objs, n);
		s->run += n;
		ret = 0;
	}
	mpm_store_unlock(s);
	return ret;
}

void
mpm_store_resplit(struct mpm_store *s, uintptr_t end, void **scratch)
{
	unsigned int dev, host;

	mpm_store_lock(s);
	dev = s->dev_n;
	host = s->host_n;
	mpm_store_pop_dev(s, scratch, dev);
	mpm_store_pop_host(s, scratch + dev, host);
	s->end = end;
	mpm_store_push(s, scratch, dev + host);
	s->dev_low = s->dev_n;
	mpm_store_unlock(s);
}

/* ---- settling in place ---- */

int
mpm_by_address(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)*(void *const *)a;
	uintptr_t y = (uintptr_t)*(void *const *)b;

	return (x > y) - (x < y);
}

static void
reverse(void **objs, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n / 2; i++)
		RTE_SWAP(objs[i], objs[n - 1 - i]);
}

/*
 * DPDK puts the objects of a chunk of memory in ascending order, which on a stack is
 * descending, and the chunks most often in one order or the other.
 */
static void
sort_runs(void **objs, unsigned int n)
{
	bool ascending = true;
	unsigned int from, to;

	for (from = 0; from < n; from = to) {
		for (to = from + 1; to < n && objs[to] < objs[to - 1]; to++)
			;
		reverse(&objs[from], to - from);
		if (from != 0 && objs[from] < objs[from - 1])
			ascending = false;
	}
	if (!ascending)
		qsort(objs, n, sizeof(*objs), mpm_by_address);
}

void **
mpm_store_sort(struct mpm_store *s, unsigned int n)
{
	void **objs = NULL;

	mpm_store_lock(s);
	if (s->host_n == n && s->dev_n == 0 && s->got_host == 0 && s->got_dev == 0) {
		objs = &s->objs[s->cap - n];
		sort_runs(objs, n);
	}
	mpm_store_unlock(s);
	return objs;
}

void
mpm_store_settle(struct mpm_store *s, unsigned int dev_n, uintptr_t end)
{
	mpm_store_lock(s);
	memmove(s->objs, &s->objs[s->cap - s->host_n], dev_n * sizeof(*s->objs));
	MPM_POKE(s->host_n, s->host_n - dev_n);
	MPM_POKE(s->dev_n, dev_n);
	s->end = end;
	s->dev_low = dev_n;
	mpm_store_unlock(s);
}
