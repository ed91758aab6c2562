/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "bounce.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/queue.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_tailq.h>

#include <memic.h>

#include "log.h"
#include "region.h"

/** Mbufs of a pool for each queue, besides one for each descriptor: bursts and caches. */
#define SPARE 256u
#define CACHE 64u

/** A pool that waits for its mbufs. */
struct retired {
	TAILQ_ENTRY(retired) next;
	struct rte_mempool *mp;
	uint64_t since; /* timer cycles */
};

static TAILQ_HEAD(all_retired, retired) retired = TAILQ_HEAD_INITIALIZER(retired);

/* ---- pools ---- */

/* After a second whoever was about to take an mbuf out has done so. */
static void
reap(void)
{
	struct retired *r;
	void *tmp;

	RTE_TAILQ_FOREACH_SAFE(r, &retired, next, tmp) {
		if (rte_get_timer_cycles() - r->since < rte_get_timer_hz() ||
		    rte_mempool_avail_count(r->mp) < r->mp->populated_size)
			continue;
		TAILQ_REMOVE(&retired, r, next);
		rte_mempool_free(r->mp);
		free(r);
	}
}

void
mpm_bounce_retire(struct rte_mempool *pool)
{
	struct retired *r;

	reap();
	if (pool == NULL)
		return;
	r = calloc(1, sizeof(*r));
	if (r == NULL) {
		MPM_LOG(WARNING, "pool %s stays until the process ends: no memory to note that it "
			"is to be freed (ENOMEM)", pool->name);
		return;
	}
	r->mp = pool;
	r->since = rte_get_timer_cycles();
	TAILQ_INSERT_TAIL(&retired, r, next);
}

static bool
will_do(struct rte_mempool *mp, const struct mpm_bounce_need *need, unsigned int n,
	unsigned int room)
{
	return mp != NULL && mp->populated_size >= n && rte_pktmbuf_data_room_size(mp) >= room &&
		rte_pktmbuf_priv_size(mp) >= need->priv;
}

int
mpm_bounce_ensure(struct rte_mempool **pool, uint16_t port, const struct mpm_bounce_need *need)
{
	unsigned int room = RTE_MIN(need->room + RTE_PKTMBUF_HEADROOM, (unsigned int)UINT16_MAX);
	unsigned int n = need->descs + need->queues * SPARE;
	static unsigned int number;
	char name[RTE_MEMPOOL_NAMESIZE];
	struct rte_mempool *mp;

	reap();
	if (will_do(*pool, need, n, room))
		return 0;
	snprintf(name, sizeof(name), "memic_bounce_%u_%u", port, number++);
	mp = rte_pktmbuf_pool_create_by_ops(name, n, CACHE, need->priv, room, SOCKET_ID_ANY,
					    "ring_mp_mc");
	if (mp == NULL) {
		MPM_LOG(ERR, "port %u: no pool of %u mbufs with %u bytes in host memory for "
			"copies of frames: %s", port, n, room, rte_strerror(rte_errno));
		return rte_errno == 0 ? -ENOMEM : -rte_errno;
	}
	MPM_LOG(INFO, "port %u: pool %s of %u mbufs with %u bytes for copies of frames in device "
		"memory of others", port, name, n, room);
	mpm_bounce_retire(*pool);
	__atomic_store_n(pool, mp, __ATOMIC_RELEASE);
	return 0;
}

/* ---- copies ---- */

static void
copy_bytes(void *dst, const void *src, size_t len)
{
	if (mpm_region_holds(src))
		memic_copy_from(dst, src, len);
	else
		memcpy(dst, src, len);
}

/* Append a segment's bytes to a chain, which grows where it must. */
static int
append(struct rte_mbuf *head, struct rte_mbuf **last, const struct rte_mbuf *seg, bool may_chain)
{
	const char *from = rte_pktmbuf_mtod(seg, const char *);
	unsigned int left = seg->data_len, part;
	struct rte_mbuf *more;

	while (left != 0) {
		part = RTE_MIN(left, (unsigned int)rte_pktmbuf_tailroom(*last));
		copy_bytes(rte_pktmbuf_mtod_offset(*last, char *, (*last)->data_len), from, part);
		(*last)->data_len += part;
		head->pkt_len += part;
		from += part;
		left -= part;
		if (left == 0)
			break;
		more = may_chain ? rte_pktmbuf_alloc(head->pool) : NULL;
		if (more == NULL)
			return -ENOMEM;
		(*last)->next = more;
		*last = more;
		head->nb_segs++;
	}
	return 0;
}

static void
copy_private(struct rte_mbuf *to, const struct rte_mbuf *m)
{
	unsigned int n = RTE_MIN(rte_pktmbuf_priv_size(to->pool), rte_pktmbuf_priv_size(m->pool));

	if (n != 0)
		memcpy(rte_mbuf_to_priv(to), (const char *)m + sizeof(*m), n);
}

struct rte_mbuf *
mpm_bounce_copy(struct rte_mempool *pool, const struct rte_mbuf *m)
{
	bool may_chain = m->nb_segs > 1;
	const struct rte_mbuf *seg;
	struct rte_mbuf *head, *last;

	/* no bytes: all that a copy has besides, as this release of DPDK knows it */
	head = rte_pktmbuf_copy(m, pool, 0, 0);
	if (head == NULL)
		return NULL;
	copy_private(head, m);
	last = head;
	for (seg = m; seg != NULL; seg = seg->next) {
		if (append(head, &last, seg, may_chain) != 0) {
			rte_pktmbuf_free(head);
			return NULL;
		}
	}
	return head;
}
