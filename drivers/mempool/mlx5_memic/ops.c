/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * Objects in the pool lie in one array: the device tier grows from its start, the host
 * tier from its end, both last in first out. A get takes from the device tier first,
 * so that slots on the device are not idle while host buffers are in use.
 */

#include <errno.h>
#include <string.h>

#include <rte_mempool.h>

#include "log.h"
#include "ops.h"
#include "pin.h"
#include "pool.h"

static void
store_push(const struct mpm_pool *p, struct mpm_store *s, void * const *objs, unsigned int n)
{
	unsigned int dev_n = s->dev_n;
	unsigned int host_n = s->host_n;
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (mpm_pool_is_dev(p, objs[i]))
			s->objs[dev_n++] = objs[i];
		else
			s->objs[s->cap - ++host_n] = objs[i];
	}
	__atomic_store_n(&s->dev_n, dev_n, __ATOMIC_RELAXED);
	__atomic_store_n(&s->host_n, host_n, __ATOMIC_RELAXED);
}

static void
store_pop(struct mpm_store *s, void **objs, unsigned int n)
{
	unsigned int dev = RTE_MIN(n, s->dev_n);
	unsigned int host = n - dev;

	memcpy(objs, &s->objs[s->dev_n - dev], dev * sizeof(*objs));
	memcpy(objs + dev, &s->objs[s->cap - s->host_n], host * sizeof(*objs));
	__atomic_store_n(&s->dev_n, s->dev_n - dev, __ATOMIC_RELAXED);
	__atomic_store_n(&s->host_n, s->host_n - host, __ATOMIC_RELAXED);
}

/* All or nothing. Bulk calls of rte_ring give 0 both for none asked and for failure. */
static int
enqueue(struct rte_mempool *mp, void * const *objs, unsigned int n)
{
	struct mpm_pool *p = mp->pool_data;
	struct mpm_store *s;
	int ret = -ENOBUFS;

	if (unlikely(!mpm_pool_valid(p)))
		return -EINVAL;
	s = &p->store;
	rte_spinlock_lock(&s->lock);
	if (likely(n != 0 && n <= s->cap - s->dev_n - s->host_n)) {
		store_push(p, s, objs, n);
		ret = 0;
	}
	rte_spinlock_unlock(&s->lock);
	return ret;
}

static int
dequeue(struct rte_mempool *mp, void **objs, unsigned int n)
{
	struct mpm_pool *p = mp->pool_data;
	struct mpm_store *s;
	int ret = -ENOBUFS;

	if (unlikely(!mpm_pool_valid(p)))
		return -ENOBUFS;
	if (unlikely(__atomic_load_n(&p->state, __ATOMIC_ACQUIRE) > MPM_PINNED))
		mpm_pin_first_get(mp, p);
	s = &p->store;
	rte_spinlock_lock(&s->lock);
	if (likely(n != 0 && n <= s->dev_n + s->host_n)) {
		store_pop(s, objs, n);
		ret = 0;
	}
	rte_spinlock_unlock(&s->lock);
	return ret;
}

void
mpm_store_counts(const struct mpm_pool *p, unsigned int *dev, unsigned int *host)
{
	*dev = __atomic_load_n(&p->store.dev_n, __ATOMIC_RELAXED);
	*host = __atomic_load_n(&p->store.host_n, __ATOMIC_RELAXED);
}

static unsigned int
get_count(const struct rte_mempool *mp)
{
	const struct mpm_pool *p = mp->pool_data;
	unsigned int dev, host;

	if (unlikely(!mpm_pool_valid(p)))
		return 0;
	mpm_store_counts(p, &dev, &host);
	return dev + host;
}

void
mpm_store_resplit(struct mpm_pool *p, void **scratch)
{
	struct mpm_store *s = &p->store;
	unsigned int n;

	rte_spinlock_lock(&s->lock);
	n = s->dev_n + s->host_n;
	store_pop(s, scratch, n);
	store_push(p, s, scratch, n);
	rte_spinlock_unlock(&s->lock);
}

static const struct rte_mempool_ops mpm_ops = {
	.name = MPM_OPS_NAME,
	.alloc = mpm_pool_alloc,
	.free = mpm_pool_free,
	.enqueue = enqueue,
	.dequeue = dequeue,
	.get_count = get_count,
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
