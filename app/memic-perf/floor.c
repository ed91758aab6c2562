/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * The least that mempool ops can do: a stack of pointers for one lcore, without a check, a
 * lock or a choice. It tells what a call of ops costs by itself.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>

#include "perf.h"

struct stack {
	unsigned int n;
	void *objs[];
};

static int
stack_alloc(struct rte_mempool *mp)
{
	mp->pool_data = rte_zmalloc(NULL, sizeof(struct stack) + mp->size * sizeof(void *), 0);
	return mp->pool_data == NULL ? -ENOMEM : 0;
}

static void
stack_free(struct rte_mempool *mp)
{
	rte_free(mp->pool_data);
}

static int
push(struct rte_mempool *mp, void * const *objs, unsigned int n)
{
	struct stack *s = mp->pool_data;

	if (n == 1)
		s->objs[s->n] = objs[0];
	else
		memcpy(&s->objs[s->n], objs, n * sizeof(*objs));
	s->n += n;
	return 0;
}

static int
pop(struct rte_mempool *mp, void **objs, unsigned int n)
{
	struct stack *s = mp->pool_data;

	if (n > s->n)
		return -ENOBUFS;
	s->n -= n;
	if (n == 1)
		objs[0] = s->objs[s->n];
	else
		memcpy(objs, &s->objs[s->n], n * sizeof(*objs));
	return 0;
}

static unsigned int
count(const struct rte_mempool *mp)
{
	return ((const struct stack *)mp->pool_data)->n;
}

static const struct rte_mempool_ops floor_ops = {
	.name = OPS_FLOOR,
	.alloc = stack_alloc,
	.free = stack_free,
	.enqueue = push,
	.dequeue = pop,
	.get_count = count,
};

struct rte_mempool *
pool_make_floor(unsigned int n)
{
	char before[RTE_MEMPOOL_OPS_NAMESIZE];
	struct rte_mempool *mp;

	/* the table of ops is full in some releases of DPDK */
	if (rte_mempool_register_ops(&floor_ops) < 0)
		return NULL;
	/* pools of external buffers cannot be made by ops */
	snprintf(before, sizeof(before), "%s", rte_mbuf_best_mempool_ops());
	rte_mbuf_set_user_mempool_ops(OPS_FLOOR);
	mp = pool_make_extbuf(n, 0);
	rte_mbuf_set_user_mempool_ops(before);
	return mp;
}
