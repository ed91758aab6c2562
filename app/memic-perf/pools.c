/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_memzone.h>

#include "perf.h"

/** Mbufs of the pools that spill by half; the rule for them speaks of bytes. */
#define HALF_N 1023u

static bool
has_rules(int argc, char **argv)
{
	const char *at;
	int i;

	/* as value of --vdev, not in the name of the plugin */
	for (i = 0; i < argc; i++) {
		at = strstr(argv[i], "mempool_mlx5_memic");
		if (at != NULL && (at == argv[i] || at[-1] == '='))
			return true;
	}
	return getenv("MLX5_MEMIC") != NULL;
}

void
pools_rules(int argc, char **argv)
{
	char rules[128];

	if (has_rules(argc, argv))
		return;
	snprintf(rules, sizeof(rules), "pools=perf_half*,size=%u;pools=*",
		 HALF_N / 2 * PERF_ROOM);
	setenv("MLX5_MEMIC", rules, 1);
}

struct rte_mempool *
pool_make(const char *ops, unsigned int n, unsigned int cache, uint16_t room,
	  enum perf_spill spill)
{
	static unsigned int number;
	struct rte_mempool *mp;
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "perf_%s_%u", spill == SPILL_HALF ? "half" : "full",
		 number++);
	mp = rte_pktmbuf_pool_create_by_ops(name, n, cache, 0, room, SOCKET_ID_ANY, ops);
	if (mp == NULL)
		fprintf(stderr, "pool of %u mbufs of ops %s: %s\n", n, ops,
			rte_strerror(rte_errno));
	return mp;
}

struct rte_mempool *
pool_make_extbuf(unsigned int n, unsigned int cache)
{
	struct rte_pktmbuf_extmem mem = { .buf_iova = RTE_BAD_IOVA, .elt_size = PERF_ROOM };
	const struct rte_memzone *mz;
	struct rte_mempool *mp;
	static unsigned int number;
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "perf_ext_%u", number++);
	mem.buf_len = (size_t)n * PERF_ROOM;
	mz = rte_memzone_reserve(name, mem.buf_len, SOCKET_ID_ANY, 0);
	if (mz == NULL) {
		fprintf(stderr, "external buffers: %s\n", rte_strerror(rte_errno));
		return NULL;
	}
	mem.buf_ptr = mz->addr;
	mem.buf_iova = mz->iova;
	mp = rte_pktmbuf_pool_create_extbuf(name, n, cache, 0, PERF_ROOM, SOCKET_ID_ANY, &mem, 1);
	if (mp == NULL) {
		fprintf(stderr, "pool of %u external buffers: %s\n", n, rte_strerror(rte_errno));
		rte_memzone_free(mz);
	}
	return mp;
}

void
pool_free(struct rte_mempool *mp)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	if (mp == NULL)
		return;
	snprintf(name, sizeof(name), "%s", mp->name);
	rte_mempool_free(mp);
	rte_memzone_free(rte_memzone_lookup(name));
}

static void
count_outside(struct rte_mempool *mp, void *arg, void *obj, unsigned int i)
{
	const struct rte_mbuf *m = obj;
	unsigned int *n = arg;

	(void)mp;
	(void)i;
	*n += m->buf_addr != RTE_PTR_ADD(obj, sizeof(*m) + m->priv_size);
}

unsigned int
pool_device_slots(struct rte_mempool *mp)
{
	unsigned int n = 0;

	rte_mempool_obj_iter(mp, count_outside, &n);
	return n;
}
