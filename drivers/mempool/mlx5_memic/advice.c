/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_kvargs.h>

#include "advice.h"
#include "control.h"
#include "devices.h"
#include "log.h"
#include "own.h"
#include "pool.h"
#include "region.h"
#include "rxq.h"

/** From this many Tx queues on the PMD inlines (mlx5.rst, txqs_min_inline). */
#define TXQS_MIN_INLINE 8

/** Advice on a port that was given; that on a pool is kept with the pool. */
enum {
	TOLD_INLINE = 1 << 0,
	TOLD_MPRQ = 1 << 1,
};

static uint8_t told[RTE_MAX_ETHPORTS];

/** Most pools of a port that are looked at. */
#define SHARES RTE_MAX_QUEUES_PER_PORT

/** A port as it is configured. */
struct view {
	uint16_t port;
	struct rte_eth_dev_info info;
	const char *device;            /* bus address */
	const struct mpm_nic *nic;     /* NULL: not of the mlx5 PMD */
	struct rte_kvargs *args;       /* devargs, or NULL */
	unsigned int txd;              /* descriptors of all Tx queues */
};

static const char *
devarg(const struct view *v, const char *key)
{
	return v->args == NULL ? NULL : rte_kvargs_get(v->args, key);
}

static long
devarg_number(const struct view *v, const char *key, long otherwise)
{
	const char *value = devarg(v, key);

	return value == NULL ? otherwise : strtol(value, NULL, 0);
}

static void
view_open(struct view *v)
{
	const struct rte_devargs *devargs = rte_dev_devargs(v->info.device);
	struct rte_eth_txq_info txq;
	uint16_t q;

	v->device = rte_dev_name(v->info.device);
	if (devargs != NULL && devargs->args != NULL)
		v->args = rte_kvargs_parse(devargs->args, NULL);
	for (q = 0; q < v->info.nb_tx_queues; q++)
		if (rte_eth_tx_queue_info_get(v->port, q, &txq) == 0)
			v->txd += txq.nb_desc;
	v->nic = mpm_devices_at(v->device);
}

/* ---- the port ---- */

/* Told with the pool that the port receives into, if any: it may only send. */
static void
advise_inline(const struct view *v, const char *pool)
{
	long least = devarg_number(v, "txqs_min_inline", TXQS_MIN_INLINE);

	if (v->info.nb_tx_queues < least || (told[v->port] & TOLD_INLINE) != 0)
		return;
	if (devarg_number(v, "txq_inline_max", -1) == 0 &&
	    devarg_number(v, "txq_inline_mpw", -1) == 0)
		return;
	told[v->port] |= TOLD_INLINE;
	MPM_LOG(WARNING, "port %u (%s): with %u Tx queues, %ld or more, the mlx5 driver copies the "
		"start of frames into descriptors, and the CPU reads buffers%s%s in device memory "
		"of %s at a crawl: add the devargs txq_inline_max=0,txq_inline_mpw=0 to the port, "
		"or use fewer Tx queues", v->port, v->device, v->info.nb_tx_queues, least,
		pool == NULL ? "" : " of pool ", pool == NULL ? "" : pool, v->nic->name);
}

static void
advise_mprq(const struct view *v, const struct mpm_pool *p)
{
	if (devarg_number(v, "mprq_en", 0) == 0 || (told[v->port] & TOLD_MPRQ) != 0)
		return;
	told[v->port] |= TOLD_MPRQ;
	MPM_LOG(WARNING, "port %u (%s): mprq_en has no effect on queues of pool %s, whose buffers "
		"are external ones: leave the devarg out", v->port, v->device, p->mp->name);
}

/* ---- its pools ---- */

static void
advise_depth(const struct view *v, struct mpm_pool *p, const struct mpm_rx_descs *descs)
{
	unsigned int rxd = descs->own;
	unsigned int txd = mpm_rxq_of_tx(descs, v->txd);
	unsigned int need = rxd + txd;

	if (need <= p->slots || p->slots == p->mp->populated_size || p->told_depth)
		return;
	p->told_depth = true;
	MPM_LOG(WARNING, "port %u (%s): its rings hold up to %u buffers (%u Rx, %u Tx) of pool %s "
		"with %u in device memory: part of the frames will be in host memory. Use shorter "
		"rings, fewer queues or a smaller data room (%zu bytes a buffer now)", v->port,
		v->device, need, rxd, txd, p->mp->name, p->slots, p->stride);
}

static void
advise_device(const struct view *v, struct mpm_pool *p, uint16_t queue)
{
	const struct mpm_nic *nic = mpm_own(p)->region->nic;
	uint64_t bit = UINT64_C(1) << v->port % 64;

	/* each port on its own: one of them may be able to start, another not */
	if ((p->told_device[v->port / 64] & bit) != 0)
		return;
	p->told_device[v->port / 64] |= bit;
	MPM_LOG(WARNING, "port %u (%s, driver %s): Rx queue %u has pool %s in device memory of %s "
		"(%s): its frames are copied there by the CPU. Give the port another pool, as with "
		"a rule pools=NAME for those of %s only", v->port, v->device,
		v->info.driver_name, queue, p->mp->name, nic->name, nic->address, nic->name);
}

/** What the queues of a port have of one pool. */
struct share {
	struct mpm_pool *pool;
	uint16_t queue; /* the first of them */
	struct mpm_rx_descs descs;
};

/* In device memory; further segments of one pool are the same to it. */
static struct mpm_pool *
pool_of_segment(const struct mpm_rxq *rxq, unsigned int seg)
{
	struct mpm_pool *p = mpm_pool_of(rxq->mp[seg]);
	unsigned int i;

	for (i = 0; i < seg; i++)
		if (rxq->mp[i] == rxq->mp[seg])
			return NULL;
	return p != NULL && mpm_own(p)->region != NULL && p->slots != 0 ? p : NULL;
}

static void
add_queue(struct share *shares, unsigned int *n, struct mpm_pool *p, uint16_t queue,
	  const struct mpm_rxq *rxq)
{
	unsigned int i;

	for (i = 0; i < *n; i++)
		if (shares[i].pool == p)
			break;
	if (i == SHARES)
		return;
	if (i == *n)
		shares[(*n)++] = (struct share){ .pool = p, .queue = queue };
	mpm_rxq_count(rxq, p->mp, &shares[i].descs);
}

static unsigned int
collect(const struct view *v, struct share *shares)
{
	struct mpm_rxq rxq;
	struct mpm_pool *p;
	unsigned int n = 0;
	unsigned int seg;
	uint16_t q;

	for (q = 0; q < v->info.nb_rx_queues; q++) {
		if (mpm_rxq_get(v->port, q, &rxq) != 0)
			continue;
		for (seg = 0; seg < rxq.segs; seg++) {
			p = pool_of_segment(&rxq, seg);
			if (p != NULL)
				add_queue(shares, &n, p, q, &rxq);
		}
	}
	return n;
}

static bool
same_device(const struct mpm_nic *a, const struct mpm_nic *b)
{
	return a != NULL && strcmp(a->name, b->name) == 0;
}

static void
advise_pool(const struct view *v, const struct share *s)
{
	if (!same_device(v->nic, mpm_own(s->pool)->region->nic)) {
		advise_device(v, s->pool, s->queue);
		return;
	}
	advise_mprq(v, s->pool);
	advise_depth(v, s->pool, &s->descs);
}

void
mpm_advice(uint16_t port)
{
	static struct share shares[SHARES];
	struct view v = { .port = port };
	const char *own = NULL;
	unsigned int i, n;

	if (rte_eth_dev_info_get(port, &v.info) != 0 || v.info.device == NULL)
		return;
	mpm_control_lock();
	view_open(&v);
	n = collect(&v, shares);
	for (i = 0; i < n; i++) {
		advise_pool(&v, &shares[i]);
		if (own == NULL && same_device(v.nic, mpm_own(shares[i].pool)->region->nic))
			own = shares[i].pool->mp->name;
	}
	/* whatever it receives into, it may be given buffers of its device to send */
	if (v.nic != NULL && !LIST_EMPTY(&v.nic->regions))
		advise_inline(&v, own);
	mpm_control_unlock();
	rte_kvargs_free(v.args);
}
