/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "siblings.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_string_fns.h>

#include <memic.h>

#include "cache.h"
#include "control.h"
#include "devices.h"
#include "hooks.h"
#include "log.h"
#include "own.h"
#include "pool.h"
#include "reach.h"
#include "region.h"

/** First member of what a twin's pool_config points to. */
#define TWIN_MAGIC 0x7477696eu
/** Twins of one name that may be there at once. */
#define TWINS_MAX 100u

/** What a twin is made of. Handed to ops alloc as pool_config. */
struct order {
	uint32_t magic;
	struct mpm_rule rule;
	struct mpm_pool *main;
	/* the main pool, as the application made it */
	char name[RTE_MEMPOOL_NAMESIZE];
	unsigned int n;
	unsigned int elt_size;
	unsigned int cache;
	unsigned int flags;
	int socket;
	unsigned int priv_size;
	uint8_t *priv;
};

/* One queue set-up at a time looks for a twin and makes it. Taken before the control lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- making ---- */

/* Names of pools are short: that of the main one gives way to that of the device. */
static void
name_twin(const struct order *o, unsigned int number, char *name)
{
	char tail[RTE_MEMPOOL_NAMESIZE];
	size_t keep;

	if (number == 0)
		snprintf(tail, sizeof(tail), "@%.14s", o->rule.dev);
	else
		snprintf(tail, sizeof(tail), "@%.14s.%u", o->rule.dev, number % TWINS_MAX);
	keep = RTE_MIN(strlen(o->name), RTE_MEMPOOL_NAMESIZE - 1 - strlen(tail));
	memcpy(name, o->name, keep);
	strlcpy(name + keep, tail, RTE_MEMPOOL_NAMESIZE - keep);
}

/* As the main pool was made, but that its private area is there from the start. */
static struct rte_mempool *
make(const char *name, struct order *o)
{
	struct rte_mempool *mp;
	int ret;

	mp = rte_mempool_create_empty(name, o->n, o->elt_size, o->cache, o->priv_size, o->socket,
				      o->flags);
	if (mp == NULL)
		return NULL;
	memcpy(rte_mempool_get_priv(mp), o->priv, o->priv_size);
	ret = rte_mempool_set_ops_byname(mp, MPM_OPS_NAME, o);
	if (ret == 0)
		ret = rte_mempool_populate_default(mp);
	if (ret < 0) {
		rte_mempool_free(mp);
		rte_errno = -ret;
		return NULL;
	}
	mpm_hook_obj_iter(mp, rte_pktmbuf_init, NULL);
	mp->pool_config = NULL;
	return mp;
}

/* Names may be taken, as by a twin on the device before it was closed. */
static struct rte_mempool *
make_twin(struct order *o)
{
	char name[RTE_MEMPOOL_NAMESIZE];
	struct rte_mempool *mp = NULL;
	unsigned int i;

	rte_errno = EEXIST;
	for (i = 0; i < TWINS_MAX && mp == NULL && rte_errno == EEXIST; i++) {
		name_twin(o, i, name);
		if (rte_mempool_lookup(name) != NULL) {
			rte_errno = EEXIST;
			continue;
		}
		mp = make(name, o);
	}
	return mp;
}

bool
mpm_sibling_rule(const struct rte_mempool *mp, struct mpm_rule *rule, struct mpm_pool **main)
{
	const struct order *o = mp->pool_config;

	if (o == NULL || o->magic != TWIN_MAGIC)
		return false;
	*rule = o->rule;
	*main = o->main;
	return true;
}

/* ---- looking ---- */

struct search {
	const struct mpm_pool *main;
	const char *dev; /* NULL: any */
	bool stale;      /* only those whose device was closed */
	struct mpm_pool *found;
};

static bool
is_stale(const struct mpm_pool *p)
{
	return mpm_own(p)->region != NULL && !mpm_nic_alive(mpm_own(p)->region->nic);
}

static int
is_twin(struct mpm_pool *p, void *arg)
{
	struct search *s = arg;

	if (p->main != s->main || s->main == NULL)
		return 0;
	if (s->dev != NULL && strcmp(p->rule.dev, s->dev) != 0)
		return 0;
	/* the device may have been closed and opened again */
	if ((s->dev != NULL && is_stale(p)) || (s->stale && !is_stale(p)))
		return 0;
	s->found = p;
	return 1;
}

static void
free_twins(const struct mpm_pool *main, bool stale)
{
	struct search s = { .main = main, .stale = stale };

	do {
		s.found = NULL;
		mpm_control_lock();
		mpm_pool_each(is_twin, &s);
		mpm_control_unlock();
		/* takes the lock itself when it comes back to the ops */
		if (s.found != NULL)
			rte_mempool_free(s.found->mp);
	} while (s.found != NULL);
}

/* The order for a twin of a pool, with the control lock held. */
static int
order_of(struct mpm_pool *main, const struct mpm_nic *nic, struct order *o)
{
	struct rte_pktmbuf_pool_private *priv;
	struct mpm_where where;

	mpm_cache_where(main, &where);
	memset(o, 0, sizeof(*o));
	o->magic = TWIN_MAGIC;
	o->main = main;
	o->rule = main->rule;
	strlcpy(o->rule.dev, nic->name, sizeof(o->rule.dev));
	strlcpy(o->name, main->mp->name, sizeof(o->name));
	o->n = main->mp->size;
	o->elt_size = main->mp->elt_size;
	o->cache = where.cache_size;
	o->flags = main->mp->flags & RTE_MEMPOOL_VALID_USER_FLAGS;
	o->socket = main->mp->socket_id;
	o->priv_size = main->mp->private_data_size;
	o->priv = malloc(o->priv_size);
	if (o->priv == NULL)
		return -ENOMEM;
	memcpy(o->priv, rte_mempool_get_priv(main->mp), o->priv_size);
	priv = (void *)o->priv;
	priv->flags &= ~RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF;
	return 0;
}

/*
 * Returns 1 with an order to be carried out, 0 with the pool, which is the one given where
 * no other is called for; negative errno.
 */
static int
look(uint16_t port, struct rte_mempool **mp, struct order *o)
{
	struct mpm_pool *p = mpm_pool_of(*mp);
	struct search s = { 0 };
	struct mpm_port view;

	if (p == NULL || !p->rule.siblings || mpm_port_look(port, &view) != 0 || view.nic == NULL)
		return 0;
	s.main = p->main != NULL ? p->main : p;
	s.dev = view.nic->name;
	/* memory from before the device was closed and opened again is as that of another */
	if (strcmp(s.main->rule.dev, s.dev) == 0 && !is_stale(s.main)) {
		*mp = s.main->mp;
		return 0;
	}
	if (mpm_pool_each(is_twin, &s) == 1) {
		*mp = s.found->mp;
		return 0;
	}
	return order_of(p->main != NULL ? p->main : p, view.nic, o) == 0 ? 1 : -ENOMEM;
}

/* A port that gives all it has sent back to one pool would mix up main pool and twins. */
static int
check_fast_free(const struct order *o)
{
	struct rte_eth_conf conf;
	uint16_t port;

	RTE_ETH_FOREACH_DEV(port) {
		if (rte_eth_dev_conf_get(port, &conf) != 0 ||
		    (conf.txmode.offloads & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE) == 0)
			continue;
		MPM_LOG(ERR, "pool %s gets no sibling on %s (EINVAL): port %u was configured with "
			"RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE, which is for mbufs of one pool, before "
			"there was a pool with siblings=1: configure it once more or leave that "
			"out",
			o->name, o->rule.dev, port);
		return -EINVAL;
	}
	return 0;
}

static int
carry_out(struct order *o, struct rte_mempool **mp)
{
	struct rte_mempool *twin;
	int ret = check_fast_free(o);

	if (ret != 0)
		return ret;
	twin = make_twin(o);
	if (twin == NULL) {
		ret = rte_errno == 0 ? -ENOMEM : -rte_errno;
		MPM_LOG(ERR, "pool %s gets no sibling on %s: %s", o->name, o->rule.dev,
			memic_errno_name(-ret));
		return ret;
	}
	*mp = twin;
	return 0;
}

int
mpm_sibling_pick(uint16_t port, struct rte_mempool **mp)
{
	struct order o = { 0 };
	int ret;

	if (*mp == NULL || rte_eal_process_type() != RTE_PROC_PRIMARY)
		return 0;
	pthread_mutex_lock(&lock);
	mpm_control_lock();
	ret = look(port, mp, &o);
	mpm_control_unlock();
	if (ret == 1) {
		/* what they have of the device is wanted, and so is their name */
		free_twins(o.main, true);
		ret = carry_out(&o, mp);
	}
	free(o.priv);
	pthread_mutex_unlock(&lock);
	return ret;
}

void
mpm_siblings_free(const struct mpm_pool *main)
{
	free_twins(main, false);
}
