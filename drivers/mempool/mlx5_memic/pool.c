/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/random.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_string_fns.h>

#include <memic.h>

#include "cache.h"
#include "control.h"
#include "devices.h"
#include "guard.h"
#include "hooks.h"
#include "host_mr.h"
#include "log.h"
#include "own.h"
#include "pages.h"
#include "pin.h"
#include "pool.h"
#include "pool_hook.h"
#include "process.h"
#include "region.h"
#include "rxq.h"
#include "siblings.h"
#include "wake.h"

static TAILQ_HEAD(mpm_pools, mpm_own) pools = TAILQ_HEAD_INITIALIZER(pools);

/* ---- placement ---- */

/*
 * The private area belongs to the application and may hold anything: only what is
 * consistent with the size of the objects is taken for a pool of packet buffers.
 */
static const struct rte_pktmbuf_pool_private *
pktmbuf_private(struct rte_mempool *mp, const char **why)
{
	const struct rte_pktmbuf_pool_private *priv = rte_mempool_get_priv(mp);
	size_t size;

	*why = "it is not a pool of packet buffers";
	if (mp->private_data_size < sizeof(*priv) || mp->elt_size < sizeof(struct rte_mbuf))
		return NULL;
	if (priv->flags == RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF)
		*why = "its buffers are external ones already";
	else if (priv->mbuf_data_room_size == 0)
		*why = "its mbufs have no data room";
	if (priv->flags != 0 || priv->mbuf_data_room_size == 0)
		return NULL;
	size = sizeof(struct rte_mbuf) + priv->mbuf_priv_size + priv->mbuf_data_room_size;
	return size <= mp->elt_size ? priv : NULL;
}

/* The pool gets nothing on the device: an error where the rule says so, else told once. */
static int __rte_format_printf(3, 4)
in_host_memory(struct mpm_pool *p, int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(p->reason, sizeof(p->reason), fmt, args);
	va_end(args);
	if (!p->rule.spill) {
		MPM_LOG(ERR, "pool %s not created (%s), rule %s has spill=0: %s", p->mp->name,
			memic_errno_name(err), p->rule.origin, p->reason);
		return err;
	}
	MPM_LOG(WARNING, "pool %s lives in host memory: %s", p->mp->name, p->reason);
	return 0;
}

static void
release_slots(struct mpm_pool *p)
{
	struct mpm_own *own = mpm_own(p);
	struct mpm_region *region = own->region;
	bool out = p->state == MPM_PINNED;
	unsigned int i;

	for (i = 0; i < p->slots; i++) {
		if (out && (p->home == NULL || p->home[i] == 0))
			mpm_region_quarantine(region, p->stride, p->offsets[i]);
		else
			mpm_region_give(region, p->stride, p->offsets[i]);
	}
	/* those that are out are still known by their offsets */
	if (own->wake == NULL) {
		p->slots = 0;
		own->region = NULL;
	}
	mpm_region_put(region);
}

/* What DPDK says of it is an errno. */
static int
no_memory(const struct rte_mempool *mp, const char *what)
{
	MPM_LOG(ERR, "pool %s not created (ENOMEM): EAL has no memory for %s: give it more (-m, "
		"--socket-mem, huge pages) or make the pool smaller", mp->name, what);
	return -ENOMEM;
}

/* The roll call at the pool's end is too late to learn that there is no memory for it. */
static int
alloc_tables(struct mpm_pool *p, unsigned int want)
{
	const char *type = "mlx5_memic_pool";
	int socket = p->mp->socket_id;

	p->offsets = rte_zmalloc_socket(type, want * sizeof(*p->offsets), 0, socket);
	p->dev_objs = rte_zmalloc_socket(type, want * sizeof(*p->dev_objs), 0, socket);
	p->shinfo = rte_zmalloc_socket(type, p->mp->size * sizeof(*p->shinfo), 0, socket);
	p->home_room = rte_zmalloc_socket(type, want, 0, socket);
	if (p->offsets == NULL || p->dev_objs == NULL || p->shinfo == NULL || p->home_room == NULL)
		return no_memory(p->mp, "the places of its buffers");
	mpm_pages_want(p->shinfo, p->mp->size * sizeof(*p->shinfo));
	return 0;
}

/* Returns -ENOMEM, with the region held or not, where no slot could be had. */
static int
take_slots(struct mpm_pool *p, struct mpm_nic *nic, unsigned int want, char *why, size_t why_len)
{
	struct mpm_own *own = mpm_own(p);
	int ret;

	strlcpy(p->rule.dev, nic->name, sizeof(p->rule.dev));
	ret = mpm_region_get(nic, &p->rule, p->stride, want, &own->region, why, why_len);
	if (ret != 0)
		return ret;
	p->slots = mpm_region_take(own->region, p->stride, want, p->offsets);
	if (p->slots != 0)
		return 0;
	snprintf(why, why_len, "no %zu bytes left of the device memory of %s", p->stride,
		 nic->name);
	return -ENOMEM;
}

/* On the device that was named; where each gets a sibling, on the first that has room. */
static int
take_somewhere(struct mpm_pool *p, struct mpm_nic *first, unsigned int want, char *why,
	       size_t why_len)
{
	bool any = p->rule.siblings && p->rule.dev[0] == '\0';
	struct mpm_nic *nic = first;
	int ret;

	do {
		if (mpm_own(p)->region != NULL)
			release_slots(p);
		ret = take_slots(p, nic, want, why, why_len);
		nic = any && ret != 0 ? mpm_devices_after(nic) : NULL;
	} while (nic != NULL);
	/* twins look for a device other than this one */
	if (any && ret != 0)
		strlcpy(p->rule.dev, first->name, sizeof(p->rule.dev));
	return ret;
}

static int
too_few(const struct mpm_pool *p)
{
	unsigned int missing = p->mp->size - p->slots;

	MPM_LOG(ERR, "pool %s not created (ENOMEM), rule %s has spill=0: %u buffers of %zu bytes "
		"need %zu bytes of device memory of %s, %u buffers fit, %u buffers and %zu bytes "
		"are missing; make the pool smaller, raise size= or set spill=1", p->mp->name,
		p->rule.origin, p->mp->size, p->stride, p->mp->size * p->stride,
		mpm_own(p)->region->nic->name, p->slots, missing, missing * p->stride);
	return -ENOMEM;
}

static int
settle(struct mpm_pool *p, struct mpm_nic *nic, unsigned int want)
{
	const struct mpm_own *own = mpm_own(p);
	char why[sizeof(p->reason)];
	int ret;

	ret = take_somewhere(p, nic, want, why, sizeof(why));
	if (ret == MPM_OTHER_MKEY) {
		MPM_LOG(ERR, "pool %s not created (EINVAL), rule %s: %s", p->mp->name,
			p->rule.origin, why);
		return -EINVAL;
	}
	if (p->slots < p->mp->size && own->region != NULL && !p->rule.spill)
		return too_few(p);
	/* nobody has an mbuf of the pool yet */
	if (ret == 0)
		ret = mpm_guard_pool(p, why, sizeof(why));
	if (ret != 0) {
		if (own->region != NULL)
			release_slots(p);
		return in_host_memory(p, ret, "%s", why);
	}
	MPM_LOG(NOTICE, "pool %s: %u of %u buffers, %zu bytes, in device memory of %s (%s), %u in "
		"host memory", p->mp->name, p->slots, p->mp->size, p->slots * p->stride,
		own->region->nic->name, own->region->nic->address, p->mp->size - p->slots);
	strlcpy(p->device, own->region->nic->name, sizeof(p->device));
	p->state = MPM_NEW;
	return 0;
}

static int
place(struct mpm_pool *p, unsigned int room)
{
	struct mpm_nic *nic;
	unsigned int want;
	char why[sizeof(p->reason)];
	int ret;

	p->stride = RTE_ALIGN_CEIL(room, MPM_GRAIN);
	want = RTE_MIN(p->rule.size / p->stride, (uint64_t)p->mp->size);
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return in_host_memory(p, -ENOTSUP, "a secondary process creates it, and only the "
				      "primary's pools have device memory: create it there");
	if (want == 0)
		return in_host_memory(p, -ENOMEM,
				      "size= of rule %s is less than one buffer of %zu bytes",
				      p->rule.origin, p->stride);
	if (mpm_hooks_install() != 0)
		return in_host_memory(p, -ENOTSUP, "%s", mpm_hooks_reason());
	ret = mpm_devices_find(p->rule.dev, &nic, why, sizeof(why));
	/* each gets its own, whichever comes first */
	if (ret == -EINVAL && p->rule.siblings) {
		nic = mpm_devices_after(NULL);
		ret = 0;
	}
	if (ret == -EINVAL) {
		MPM_LOG(ERR, "pool %s not created (EINVAL): %s", p->mp->name, why);
		return ret;
	}
	if (ret == -ENODEV && mpm_hooks_missed()[0] != '\0')
		return in_host_memory(p, ret, "%s. It may have done so while its calls went by "
				      "unseen (%s): then detach the device and attach it "
				      "again",
				      why, mpm_hooks_missed());
	if (ret != 0)
		return in_host_memory(p, ret, "%s", why);
	ret = alloc_tables(p, want);
	if (ret != 0)
		return ret;
	return settle(p, nic, want);
}

/* ---- creation ---- */

void
mpm_pool_delete(struct mpm_pool *p)
{
	if (p == NULL)
		return;
	mpm_cache_fini(p);
	rte_free(p->offsets);
	rte_free(p->dev_objs);
	rte_free(p->shinfo);
	rte_free(p->home_room);
	p->magic = 0;
	rte_free(p);
}

/*
 * Of this process. A pid would do, if primary and secondary processes were not free to
 * have pid namespaces of their own, as containers give them.
 */
static uint64_t
own_number(void)
{
	static uint64_t number;

	if (number == 0 && getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		number = rte_rdtsc();
	return number;
}

bool
mpm_pool_mine(const struct mpm_pool *p)
{
	return p->owner == own_number() && p->owner_pid == getpid();
}

const struct mpm_region *
mpm_pool_region(const struct mpm_pool *p)
{
	return mpm_own(p)->region;
}

static struct mpm_pool *
pool_new(struct rte_mempool *mp)
{
	struct mpm_pool *p;

	p = rte_zmalloc_socket("mlx5_memic_pool", sizeof(*p), RTE_CACHE_LINE_SIZE, mp->socket_id);
	if (p == NULL)
		return NULL;
	p->magic = MPM_POOL_MAGIC;
	p->mp = mp;
	p->owner = own_number();
	p->owner_pid = getpid();
	p->state = MPM_PLAIN;
	p->stride = mp->elt_size;
	return p;
}

/* The application asked for device memory: what cannot be that is an error. */
static int
place_by_conf(struct mpm_pool *p, const struct rte_pktmbuf_pool_private *priv, const char *why)
{
	int ret = mpm_config_of_conf(p->mp->pool_config, p->mp->name, &p->rule);

	if (ret != 0)
		return ret;
	if (priv == NULL) {
		MPM_LOG(ERR, "pool %s not created (EINVAL): a configuration was given, but %s",
			p->mp->name, why);
		return -EINVAL;
	}
	return place(p, priv->mbuf_data_room_size);
}

static int
match_and_place(struct mpm_pool *p)
{
	bool internal = mpm_pool_hook_in_driver();
	const struct rte_pktmbuf_pool_private *priv;
	const char *why;
	int ret;

	priv = pktmbuf_private(p->mp, &why);
	if (mpm_sibling_rule(p->mp, &p->rule, &p->main))
		return place(p, priv->mbuf_data_room_size);
	if (p->mp->pool_config != NULL)
		return place_by_conf(p, priv, why);
	if (priv != NULL) {
		ret = mpm_config_match(p->mp->name, priv->mbuf_data_room_size, internal, &p->rule);
		if (ret < 0)
			return ret;
		if (ret > 0)
			return place(p, priv->mbuf_data_room_size);
		why = internal ? "a driver made it for itself, and no rule names it in pools=" :
		      "no rule matches";
	}
	snprintf(p->reason, sizeof(p->reason), "%s", why);
	return 0;
}

int
mpm_pool_alloc(struct rte_mempool *mp)
{
	struct mpm_pool *p;
	int ret;

	/* where EAL did not call before, there is one process only */
	if (rte_eal_process_type() == RTE_PROC_PRIMARY)
		mpm_pool_magic = MPM_POOL_MAGIC;
	ret = mpm_pin_init();
	if (ret != 0)
		return ret == -ENOMEM ? no_memory(mp, "a callback at its end") : ret;
	p = pool_new(mp);
	if (p == NULL)
		return no_memory(mp, "what is known of it");
	mpm_control_lock();
	mpm_wake_reap();
	mpm_region_retry();
	ret = mpm_own_add(p) != 0 ? no_memory(mp, "what this process knows of it") :
	      match_and_place(p);
	if (ret == 0 && mpm_cache_init(mp, p) != 0)
		ret = no_memory(mp, "the list of its buffers and the lcores' caches");
	if (ret != 0 && mpm_own(p)->region != NULL)
		release_slots(p);
	if (ret == 0) {
		mp->pool_data = p;
		TAILQ_INSERT_TAIL(&pools, mpm_own(p), next);
	} else {
		mpm_own_remove(p);
	}
	mpm_control_unlock();
	if (ret != 0)
		mpm_pool_delete(p);
	return ret;
}

void
mpm_pool_release(struct mpm_pool *p)
{
	mpm_control_lock();
	if (mpm_own(p)->region != NULL)
		release_slots(p);
	mpm_control_unlock();
}

void
mpm_pool_free(struct rte_mempool *mp)
{
	struct mpm_pool *p = mp->pool_data;
	struct mpm_own *own;

	if (!mpm_pool_valid(p))
		return;
	/* lists, regions and keys are those of the process that created the pool */
	if (!mpm_pool_mine(p)) {
		MPM_LOG(ERR, "pool %s is freed by another process than the one that created it "
			"(pid %d): its device memory stays taken until that one ends", mp->name,
			(int)p->owner_pid);
		return;
	}
	mpm_siblings_free(p);
	mpm_control_lock();
	own = mpm_own(p);
	TAILQ_REMOVE(&pools, own, next);
	mpm_rxq_forget(mp);
	mpm_host_mr_withdraw(p);
	if (p->state == MPM_PINNED && p->home == NULL && p->shinfo != NULL)
		mpm_pin_orphan(p);
	if (own->wake != NULL)
		mpm_wake_begin(p);
	else
		mp->pool_data = NULL;
	if (own->region != NULL)
		release_slots(p);
	if (own->wake == NULL) {
		mpm_own_remove(p);
		mpm_pool_delete(p);
	}
	mpm_wake_reap();
	mpm_region_retry();
	mpm_guard_relax();
	mpm_control_unlock();
}

int
mpm_pool_each(int (*fn)(struct mpm_pool *p, void *arg), void *arg)
{
	struct mpm_own *own;
	int ret = 0;

	TAILQ_FOREACH(own, &pools, next) {
		ret = fn(own->pool, arg);
		if (ret != 0)
			break;
	}
	return ret;
}

int
mpm_pool_walk(int (*fn)(struct mpm_pool *p, void *arg), void *arg)
{
	int ret;

	mpm_control_lock();
	ret = mpm_pool_each(fn, arg);
	mpm_control_unlock();
	return ret;
}

struct mpm_pool *
mpm_pool_known(const struct rte_mempool *mp)
{
	struct mpm_own *own;

	TAILQ_FOREACH(own, &pools, next)
		if (own->pool->mp == mp)
			return own->pool;
	return NULL;
}

void
mpm_pool_exit(void)
{
	TAILQ_INIT(&pools);
	mpm_wake_exit();
}
