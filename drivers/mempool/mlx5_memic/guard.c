/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "guard.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_string_fns.h>

#include "bounce.h"
#include "control.h"
#include "foreign.h"
#include "log.h"
#include "own.h"
#include "pool.h"
#include "reach.h"
#include "region.h"

static struct mpm_guard *guards[RTE_MAX_ETHPORTS];

/* ---- callbacks ---- */

static void
free_dead(struct mpm_guard *g)
{
	unsigned int q;

	for (q = 0; q < RTE_DIM(g->dead); q++) {
		/* rte_eth_remove_tx_callback() leaves this to its caller */
		rte_free((void *)(uintptr_t)g->dead[q]);
		g->dead[q] = NULL;
	}
}

/*
 * A callback of a queue that the port has no longer cannot be removed. It stays, and
 * does its work when there is such a queue again.
 */
static void
unlink_all(struct mpm_guard *g, uint16_t port)
{
	unsigned int q;

	for (q = 0; q < RTE_DIM(g->cbs); q++) {
		if (g->cbs[q] == NULL || rte_eth_remove_tx_callback(port, q, g->cbs[q]) != 0)
			continue;
		g->dead[q] = g->cbs[q];
		g->cbs[q] = NULL;
	}
}

static int
link_queue(struct mpm_guard *g, uint16_t port, uint16_t q)
{
	struct rte_eth_txq_info info;

	if (g->cbs[q] != NULL)
		return 0;
	g->cbs[q] = rte_eth_add_tx_callback(port, q, mpm_foreign_on_tx, g);
	if (g->cbs[q] != NULL)
		return 0;
	/* nobody sends on a hairpin queue, which takes no callback */
	if (rte_errno == EINVAL && rte_eth_tx_queue_info_get(port, q, &info) == -EINVAL)
		return 0;
	return rte_errno == 0 ? -ENOMEM : -rte_errno;
}

static int
link_all(struct mpm_guard *g, uint16_t port, unsigned int queues)
{
	unsigned int q;
	int ret = 0;

	for (q = 0; q < queues && ret == 0; q++)
		ret = link_queue(g, port, q);
	return ret;
}

/* ---- life ---- */

/* The port is closed: nobody sends any more, and its number may be given to another. */
static int
on_destroy(uint16_t port, enum rte_eth_event_type event __rte_unused, void *arg __rte_unused,
	   void *ret __rte_unused)
{
	struct mpm_guard *g;

	mpm_control_lock();
	g = guards[port];
	if (g != NULL) {
		g->hi = 0;
		unlink_all(g, port);
		free_dead(g);
		mpm_bounce_retire(g->bounce);
		g->bounce = NULL;
		g->told_empty = false;
		g->started = false;
	}
	mpm_control_unlock();
	return 0;
}

static struct mpm_guard *
guard_of(uint16_t port)
{
	static bool registered;

	if (guards[port] == NULL)
		guards[port] = calloc(1, sizeof(*guards[port]));
	if (!registered)
		registered = rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_DESTROY,
							   on_destroy, NULL) == 0;
	return registered ? guards[port] : NULL;
}

static void
widen(struct mpm_guard *g, uintptr_t lo, uintptr_t hi)
{
	if (g->hi != 0) {
		lo = RTE_MIN(lo, g->lo);
		hi = RTE_MAX(hi, g->hi);
	}
	__atomic_store_n(&g->lo, lo, __ATOMIC_RELAXED);
	__atomic_store_n(&g->hi, hi, __ATOMIC_RELEASE);
}

static bool
has_fast_free(uint16_t port, unsigned int queues)
{
	struct rte_eth_txq_info info;
	struct rte_eth_conf conf;
	unsigned int q;

	if (rte_eth_dev_conf_get(port, &conf) == 0 &&
	    (conf.txmode.offloads & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE) != 0)
		return true;
	for (q = 0; q < queues; q++)
		if (rte_eth_tx_queue_info_get(port, q, &info) == 0 &&
		    (info.conf.offloads & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE) != 0)
			return true;
	return false;
}

/* ---- what copies need ---- */

struct survey {
	const struct mpm_nic *nic;   /* device of the port */
	struct mpm_pool *more;       /* a pool that is not on the list yet, or NULL */
	struct mpm_bounce_need need;
};

static int
survey_pool(struct mpm_pool *p, void *arg)
{
	struct survey *s = arg;

	if (mpm_own(p)->region == NULL || mpm_own(p)->region->nic == s->nic ||
	    p->rule.foreign != MPM_FOREIGN_BOUNCE)
		return 0;
	s->need.room = RTE_MAX(s->need.room, (unsigned int)rte_pktmbuf_data_room_size(p->mp));
	s->need.priv = RTE_MAX(s->need.priv, (unsigned int)rte_pktmbuf_priv_size(p->mp));
	return 0;
}

static void
ensure_bounce(struct mpm_guard *g, uint16_t port, const struct mpm_port *view,
	      struct mpm_pool *more)
{
	struct survey s = { .nic = view->nic };
	struct rte_eth_txq_info info;
	unsigned int q;

	mpm_pool_each(survey_pool, &s);
	if (more != NULL)
		survey_pool(more, &s);
	if (s.need.room == 0)
		return;
	s.need.queues = view->info.nb_tx_queues;
	g->fast_free = has_fast_free(port, s.need.queues);
	for (q = 0; q < s.need.queues; q++)
		if (rte_eth_tx_queue_info_get(port, q, &info) == 0)
			s.need.descs += info.nb_desc;
	/* without, which was told, frames are dropped and counted */
	if (!g->fast_free)
		mpm_bounce_ensure(&g->bounce, port, &s.need);
}

/* ---- decisions ---- */

static int
guard_port(struct mpm_guard *g, uint16_t port, const struct mpm_port *view, struct mpm_pool *more,
	   char *why, size_t why_len)
{
	uintptr_t lo, hi;
	int ret;

	g->nic = view->nic;
	g->copies = view->reach == MPM_REACH_COPY;
	strlcpy(g->device, view->device, sizeof(g->device));
	if (!g->copies)
		ensure_bounce(g, port, view, more);
	ret = link_all(g, port, view->info.nb_tx_queues);
	if (ret == 0 && mpm_region_of_others(view->nic, &lo, &hi))
		widen(g, lo, hi);
	else if (ret == -ENOTSUP)
		snprintf(why, why_len, "port %u (%s) can be kept from sending what it cannot reach "
			 "only by a Tx callback, and DPDK was built without "
			 "RTE_ETHDEV_RXTX_CALLBACKS (ENOTSUP)", port, view->device);
	else if (ret != 0)
		snprintf(why, why_len, "no Tx callback for port %u (%s), which cannot reach the "
			 "memory: %s", port, view->device, rte_strerror(-ret));
	return ret;
}

static bool
needs_guard(const struct mpm_port *view)
{
	uintptr_t lo, hi;

	return view->reach != MPM_REACH_PASS && mpm_region_of_others(view->nic, &lo, &hi);
}

int
mpm_guard_starting(uint16_t port)
{
	struct mpm_guard *g;
	struct mpm_port view;
	char why[256];
	int ret;

	if (mpm_port_look(port, &view) != 0)
		return 0;
	g = guard_of(port);
	if (g == NULL)
		return -ENOMEM;
	g->started = true;
	/* taken off at the start before this one */
	free_dead(g);
	if (!needs_guard(&view)) {
		__atomic_store_n(&g->hi, 0, __ATOMIC_RELAXED);
		unlink_all(g, port);
		return 0;
	}
	ret = guard_port(g, port, &view, NULL, why, sizeof(why));
	if (ret != 0)
		MPM_LOG(ERR, "not started: %s. Free the pools in device memory of other devices "
			"before, or use a DPDK that has them", why);
	return ret;
}

int
mpm_guard_pool(struct mpm_pool *p, char *why, size_t why_len)
{
	struct mpm_port view;
	uint16_t port;
	int ret = 0;

	RTE_ETH_FOREACH_DEV(port) {
		if (guards[port] == NULL || !guards[port]->started)
			continue;
		if (mpm_port_look(port, &view) != 0 || !needs_guard(&view))
			continue;
		ret = guard_port(guards[port], port, &view, p, why, why_len);
		if (ret != 0)
			break;
	}
	return ret;
}

/* Callbacks of a port that runs may be in use: they stay, and look at no more than counts. */
void
mpm_guard_relax(void)
{
	uintptr_t lo, hi;
	uint16_t port;

	for (port = 0; port < RTE_MAX_ETHPORTS; port++)
		if (guards[port] != NULL && !mpm_region_of_others(guards[port]->nic, &lo, &hi))
			__atomic_store_n(&guards[port]->hi, 0, __ATOMIC_RELAXED);
}

const struct mpm_guard *
mpm_guard_get(uint16_t port)
{
	return port < RTE_MAX_ETHPORTS ? guards[port] : NULL;
}

unsigned int
mpm_guard_queues(const struct mpm_guard *g)
{
	unsigned int n = 0;
	unsigned int q;

	for (q = 0; q < RTE_DIM(g->cbs); q++)
		n += g->cbs[q] != NULL;
	return n;
}
