/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "foreign.h"

#include <stdbool.h>
#include <string.h>

#include <rte_atomic.h>
#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_mbuf.h>

#include "bounce.h"
#include "guard.h"
#include "log.h"
#include "pin.h"
#include "pool.h"
#include "region.h"

static __rte_always_inline bool
is_between(const struct rte_mbuf *m, uintptr_t lo, uintptr_t span)
{
	return (uintptr_t)m->buf_addr - lo < span;
}

/* Whether a segment of a frame is where foreign memory is. */
static __rte_always_inline bool
may_be_foreign(const struct rte_mbuf *m, uintptr_t lo, uintptr_t span)
{
	if (unlikely(is_between(m, lo, span)))
		return true;
	if (likely(m->nb_segs == 1))
		return false;
	for (m = m->next; m != NULL; m = m->next)
		if (is_between(m, lo, span))
			return true;
	return false;
}

/* The first segment in memory of another device, or NULL. */
static const struct rte_mbuf *
foreign_segment(const struct mpm_guard *g, const struct rte_mbuf *m, const struct mpm_nic **nic)
{
	for (; m != NULL; m = m->next) {
		*nic = mpm_region_nic_of(m->buf_addr);
		if (*nic != NULL && *nic != g->nic)
			return m;
	}
	return NULL;
}

/* Whether this is the first time for a pool on a port. */
static bool
first_time(struct mpm_pool *p, uint16_t port)
{
	uint64_t bit = UINT64_C(1) << port % 64;

	if ((__atomic_load_n(&p->foreign.told[port / 64], __ATOMIC_RELAXED) & bit) != 0)
		return false;
	return (__atomic_fetch_or(&p->foreign.told[port / 64], bit, __ATOMIC_RELAXED) & bit) == 0;
}

static const char *
cure(const struct mpm_guard *g, const struct mpm_pool *p)
{
	if (p->rule.foreign != MPM_FOREIGN_BOUNCE)
		return "set foreign=bounce in its rule to have them copied, or send them by "
		       "ports of their device only";
	if (g->fast_free)
		return "the port was configured with RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE before "
		       "there was a rule with foreign=bounce: configure it once more or leave "
		       "that out";
	return "there is no memory for copies of them (ENOMEM): give EAL more";
}

static void
count_drop(struct mpm_guard *g, struct mpm_pool *p, uint16_t port, const struct mpm_nic *nic)
{
	__atomic_fetch_add(&g->dropped, 1, __ATOMIC_RELAXED);
	if (p == NULL)
		return;
	__atomic_fetch_add(&p->foreign.dropped, 1, __ATOMIC_RELAXED);
	if (first_time(p, port))
		MPM_LOG(ERR, "port %u (%s) cannot send frames of pool %s out of device memory of "
			"%s (%s): they are dropped, that is handed back to the sender as not sent, "
			"and counted; %s", port, g->device, p->mp->name, nic->name, nic->address,
			cure(g, p));
}

static void
tell_empty(struct mpm_guard *g, uint16_t port)
{
	if (!__atomic_exchange_n(&g->told_empty, true, __ATOMIC_RELAXED))
		MPM_LOG(WARNING, "port %u: pool %s has no mbuf left for a copy, frames are handed "
			"back to the sender as not sent and counted", port, g->bounce->name);
}

/* A copy in host memory instead of a frame, or NULL. */
static struct rte_mbuf *
bounce(struct mpm_guard *g, struct mpm_pool *p, uint16_t port, struct rte_mbuf *m)
{
	struct rte_mempool *mp = __atomic_load_n(&g->bounce, __ATOMIC_ACQUIRE);
	struct rte_mbuf *copy;

	if (p == NULL || p->rule.foreign != MPM_FOREIGN_BOUNCE || mp == NULL || g->fast_free)
		return NULL;
	copy = mpm_bounce_copy(mp, m);
	if (copy == NULL) {
		tell_empty(g, port);
		return NULL;
	}
	rte_pktmbuf_free(m);
	__atomic_fetch_add(&g->bounced, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&p->foreign.bounced, 1, __ATOMIC_RELAXED);
	return copy;
}

/*
 * Something foreign may be among the frames from i on. The sender takes what is behind
 * those sent for its own still, so those to be dropped go to the end of the burst, and
 * are the sender's to free or to try again.
 */
static __rte_noinline uint16_t
sort_out(struct mpm_guard *g, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint16_t i)
{
	const struct mpm_nic *nic;
	const struct rte_mbuf *seg;
	struct rte_mbuf *good;
	struct mpm_pool *p;
	uint16_t kept = i;

	for (; i < n; i++) {
		seg = foreign_segment(g, pkts[i], &nic);
		good = pkts[i];
		if (seg != NULL && !g->copies) {
			p = mpm_pin_origin(seg);
			good = bounce(g, p, port, pkts[i]);
			if (good == NULL)
				count_drop(g, p, port, nic);
		}
		if (good == NULL)
			continue;
		memmove(&pkts[kept + 1], &pkts[kept], (i - kept) * sizeof(pkts[0]));
		pkts[kept++] = good;
	}
	/* reads of device memory may otherwise run ahead of the completion of what they read */
	if (g->copies)
		rte_rmb();
	return kept;
}

uint16_t
mpm_foreign_on_tx(uint16_t port, uint16_t queue __rte_unused, struct rte_mbuf *pkts[],
		  uint16_t n, void *arg)
{
	struct mpm_guard *g = arg;
	uintptr_t hi = __atomic_load_n(&g->hi, __ATOMIC_ACQUIRE);
	uintptr_t lo = __atomic_load_n(&g->lo, __ATOMIC_RELAXED);
	uintptr_t span = hi > lo ? hi - lo : 0;
	uint16_t i;

	for (i = 0; i < n; i++)
		if (unlikely(may_be_foreign(pkts[i], lo, span)))
			return sort_out(g, port, pkts, n, i);
	return n;
}
