/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_STORE_H
#define MPM_STORE_H

/**
 * @file
 * The part of a pool that all threads share: a stack of objects for each tier.
 *
 * Both stacks lie in one array, that of the device tier grows from its start and that
 * of the host tier from its end. One lock covers both, so that a get sees all objects
 * or fails and takes none.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_pause.h>

#include "compat.h"

/** Objects whose tiers are told in one go. */
#define MPM_BLOCK 32u

/**
 * Objects got in a row, without a put by anybody, from which on somebody is taken to
 * fill a ring. At or under the usual burst of 32 a forwarding thread is mistaken for one.
 */
#define MPM_RUN 64u

struct mpm_store {
	uint32_t lock;
	unsigned int dev_n;
	unsigned int host_n;
	unsigned int cap;      /**< Most objects: those beyond were put twice. */
	unsigned int reserve;  /**< Objects of the device tier not to be used up by a fill. */
	unsigned int run;      /**< Objects got since the last put, of threads without cache. */
	unsigned int dev_low;  /**< Fewest objects of the device tier there ever were. */
	void **objs;
	uintptr_t end;         /**< The device tier is all objects below this address. */
	uint64_t got_dev;      /**< Objects handed out to threads without cache. */
	uint64_t got_host;
	uint32_t overflowed;   /**< A put of more than the pool has was told. */
	/**
	 * Somebody has put something since a thread that only gets last looked. Of a line of
	 * its own: read with each put, yet seldom written.
	 */
	uint32_t stirred MPM_CACHE_ALIGNED;
} MPM_CACHE_ALIGNED;

/** Wait for the lock of a store, and take it. */
void mpm_store_lock_wait(struct mpm_store *s);

/* Unlike rte_spinlock_unlock(), which is an exchange on x86, a release is a mere store. */
static inline void
mpm_store_lock(struct mpm_store *s)
{
	if (unlikely(__atomic_exchange_n(&s->lock, 1, __ATOMIC_ACQUIRE) != 0))
		mpm_store_lock_wait(s);
}

static inline void
mpm_store_unlock(struct mpm_store *s)
{
	__atomic_store_n(&s->lock, 0, __ATOMIC_RELEASE);
}

/* Counts are written by one thread at a time and read by any. */
#define MPM_PEEK(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define MPM_POKE(x, value) __atomic_store_n(&(x), (value), __ATOMIC_RELAXED)

/** Two pointers at once; without AVX that is what a vector holds. */
typedef uint64_t mpm_pair __attribute__((vector_size(16), aligned(8), may_alias));

/** Copy pointers: for the few that there are, a call of memcpy() costs more than the copy. */
static __rte_always_inline void
mpm_copy(void **to, void * const *from, unsigned int n)
{
	unsigned int i;

	for (i = 0; i + 8 <= n; i += 8) {
		const mpm_pair *src = (const mpm_pair *)(const void *)&from[i];
		mpm_pair *dst = (mpm_pair *)(void *)&to[i];

		dst[0] = src[0];
		dst[1] = src[1];
		dst[2] = src[2];
		dst[3] = src[3];
	}
	for (; i < n; i++)
		to[i] = from[i];
}

/**
 * Copy pointers, and tell whether all of them are of one tier.
 *
 * An object is of the device tier if its address is less than end: the tier is the
 * objects with the lowest addresses. So the sign of the difference tells, and that of all
 * differences, and-ed and or-ed, tells for all of them.
 *
 * @return whether all are of the tier of the first one.
 */
static __rte_always_inline bool
mpm_copy_uniform(void **to, void * const *from, unsigned int n, uintptr_t end)
{
	const mpm_pair ends = { end, end };
	mpm_pair ands = { UINT64_MAX, UINT64_MAX };
	mpm_pair ors = { 0, 0 };
	uint64_t all, any;
	unsigned int i;

	for (i = 0; i + 8 <= n; i += 8) {
		const mpm_pair *src = (const mpm_pair *)(const void *)&from[i];
		mpm_pair *dst = (mpm_pair *)(void *)&to[i];
		mpm_pair a = src[0], b = src[1], c = src[2], d = src[3];

		dst[0] = a;
		dst[1] = b;
		dst[2] = c;
		dst[3] = d;
		a -= ends;
		b -= ends;
		c -= ends;
		d -= ends;
		ands &= a & b & c & d;
		ors |= a | b | c | d;
	}
	all = ands[0] & ands[1];
	any = ors[0] | ors[1];
	for (; i < n; i++) {
		to[i] = from[i];
		all &= (uintptr_t)from[i] - end;
		any |= (uintptr_t)from[i] - end;
	}
	return (int64_t)(all ^ any) >= 0;
}

/** Copy each pointer to the list of its tier; both get room for all of them. */
static inline void
mpm_split(void * const *objs, unsigned int n, uintptr_t end, void **dev, unsigned int *dev_n,
	  void **host, unsigned int *host_n)
{
	unsigned int d = 0, h = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		bool is_dev = (uintptr_t)objs[i] < end;

		/* which tier is next cannot be predicted: rather write twice than branch */
		dev[d] = objs[i];
		host[h] = objs[i];
		d += is_dev;
		h += !is_dev;
	}
	*dev_n = d;
	*host_n = h;
}

/**
 * Make an empty store.
 *
 * @param s store.
 * @param cap most objects.
 * @param socket NUMA node of the array, or SOCKET_ID_ANY.
 * @return 0 or -ENOMEM.
 */
int mpm_store_init(struct mpm_store *s, unsigned int cap, int socket);

/** Free the array of a store, or of one that was never initialised. */
void mpm_store_fini(struct mpm_store *s);

/** Room left. Needs the lock. */
static inline unsigned int
mpm_store_room(const struct mpm_store *s)
{
	return s->cap - s->dev_n - s->host_n;
}

/** Push objects of one tier, for which there is room. Needs the lock. */
static inline void
mpm_store_push_dev(struct mpm_store *s, void * const *objs, unsigned int n)
{
	mpm_copy(&s->objs[s->dev_n], objs, n);
	MPM_POKE(s->dev_n, s->dev_n + n);
}

static inline void
mpm_store_push_host(struct mpm_store *s, void * const *objs, unsigned int n)
{
	MPM_POKE(s->host_n, s->host_n + n);
	mpm_copy(&s->objs[s->cap - s->host_n], objs, n);
}

/** Pop objects of one tier that are there. Needs the lock. */
static inline void
mpm_store_pop_dev(struct mpm_store *s, void **objs, unsigned int n)
{
	unsigned int left = s->dev_n - n;

	mpm_copy(objs, &s->objs[left], n);
	MPM_POKE(s->dev_n, left);
	if (unlikely(left < s->dev_low))
		MPM_POKE(s->dev_low, left);
}

static inline void
mpm_store_pop_host(struct mpm_store *s, void **objs, unsigned int n)
{
	mpm_copy(objs, &s->objs[s->cap - s->host_n], n);
	MPM_POKE(s->host_n, s->host_n - n);
}

/** Push objects of any tier, for which there is room. Needs the lock. */
void mpm_store_push(struct mpm_store *s, void * const *objs, unsigned int n);

/**
 * Put of a thread without cache.
 *
 * @return 0; -ENOBUFS, and nothing is taken, for no object or more than there is room for.
 */
int mpm_store_put(struct mpm_store *s, void * const *objs, unsigned int n);

/**
 * Get of a thread without cache.
 *
 * @return 0; -ENOBUFS, and nothing is handed out, for no object or more than there are.
 */
int mpm_store_get(struct mpm_store *s, void **objs, unsigned int n);

/** Settle where the device tier ends, and sort what is in the store once more. */
void mpm_store_resplit(struct mpm_store *s, uintptr_t end, void **scratch);

/**
 * Sort the objects of a store by address, where they are.
 *
 * @param s store that was never got from, without device tier yet.
 * @param n objects that it must have.
 * @return its objects, in ascending order, until the next get, put or settling; NULL
 *         where objects are or were out.
 */
void **mpm_store_sort(struct mpm_store *s, unsigned int n);

/** After that, make the first dev_n objects, all below address end, the device tier. */
void mpm_store_settle(struct mpm_store *s, unsigned int dev_n, uintptr_t end);

/** Compare two pointers in an array, as bsearch(3) and qsort(3) want it. */
int mpm_by_address(const void *a, const void *b);

#endif /* MPM_STORE_H */
