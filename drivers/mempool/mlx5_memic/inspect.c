/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/* The public calls that tell what the driver knows about pools and devices. */

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <rte_common.h>
#include <rte_mempool.h>
#include <rte_string_fns.h>

#include <memic.h>

#include "cache.h"
#include "control.h"
#include "devices.h"
#include "export.h"
#include "pool.h"
#include "region.h"
#include "rte_pmd_mlx5_memic.h"

static void
fill(const struct mpm_pool *p, struct rte_pmd_mlx5_memic_stats *s)
{
	struct mpm_where where;

	mpm_cache_where(p, &where);
	s->device_slots = p->slots;
	s->device_free = where.dev_free;
	s->device_cached = where.dev_cached;
	s->device_out = where.dev_out;
	s->device_peak = where.dev_peak;
	s->device_gets = where.got_dev;
	s->host_slots = p->mp->populated_size - p->slots;
	s->host_free = where.host_free;
	s->host_cached = where.host_cached;
	s->host_out = where.host_out;
	s->host_gets = where.got_host;
	s->cache_size = where.cache_size;
	s->slot_bytes = p->stride;
	s->device_bytes = (uint64_t)p->slots * p->stride;
	s->host_bytes = (uint64_t)s->host_slots * p->stride;
	s->foreign_dropped = __atomic_load_n(&p->foreign.dropped, __ATOMIC_RELAXED);
	s->foreign_bounced = __atomic_load_n(&p->foreign.bounced, __ATOMIC_RELAXED);
	strlcpy(s->device, p->device, sizeof(s->device));
}

EXPORT int
rte_pmd_mlx5_memic_stats_get(const struct rte_mempool *mp, struct rte_pmd_mlx5_memic_stats *stats,
			     size_t size)
{
	struct rte_pmd_mlx5_memic_stats s;
	const struct mpm_pool *p;

	if (mp == NULL || stats == NULL || size == 0)
		return -EINVAL;
	p = mpm_pool_of(mp);
	if (p == NULL)
		return -ENOTSUP;
	memset(&s, 0, sizeof(s));
	mpm_control_lock();
	fill(p, &s);
	mpm_control_unlock();
	memset(stats, 0, size);
	memcpy(stats, &s, RTE_MIN(size, sizeof(s)));
	return 0;
}

/* ---- lists: elements of the caller's size, which need not be ours ---- */

struct list {
	uint8_t *at;
	unsigned int room;
	size_t size;
	unsigned int n; /* elements there are */
};

static void
list_add(struct list *l, const void *element, size_t size)
{
	uint8_t *to = l->at + (size_t)l->n * l->size;

	if (l->n++ >= l->room)
		return;
	memset(to, 0, l->size);
	memcpy(to, element, RTE_MIN(size, l->size));
}

static int
add_pool(struct mpm_pool *p, void *arg)
{
	const struct mpm_region *region = mpm_pool_region(p);
	struct rte_pmd_mlx5_memic_pool info;

	memset(&info, 0, sizeof(info));
	strlcpy(info.name, p->mp->name, sizeof(info.name));
	strlcpy(info.rule, p->rule.origin, sizeof(info.rule));
	strlcpy(info.reason, p->reason, sizeof(info.reason));
	if (region != NULL) {
		strlcpy(info.address, region->nic->address, sizeof(info.address));
		strlcpy(info.mkey, memic_mkey_mode_name(region->mode), sizeof(info.mkey));
	}
	fill(p, &info.stats);
	list_add(arg, &info, sizeof(info));
	return 0;
}

EXPORT int
rte_pmd_mlx5_memic_pools_get(struct rte_pmd_mlx5_memic_pool *pools, unsigned int n, size_t size)
{
	struct list l = { .at = (uint8_t *)pools, .room = n, .size = size };

	if (size == 0 || (pools == NULL && n != 0))
		return -EINVAL;
	mpm_pool_walk(add_pool, &l);
	return l.n;
}

/* A region has the device open; where there is none somebody has to open it. */
static uint64_t
max_bytes(const struct mpm_nic *nic)
{
	const struct mpm_region *region = LIST_FIRST(&nic->regions);
	struct memic_device *dev;
	uint64_t bytes;

	if (region != NULL)
		return memic_device_caps(region->dev)->max_dm_size;
	if (nic->ctx == NULL || memic_device_adopt(nic->ctx, &dev) != 0)
		return 0;
	bytes = memic_device_caps(dev)->max_dm_size;
	memic_device_close(dev);
	return bytes;
}

static int
add_device(const struct mpm_nic *nic, void *arg)
{
	struct rte_pmd_mlx5_memic_device info;
	const struct mpm_region *region;

	memset(&info, 0, sizeof(info));
	strlcpy(info.name, nic->name, sizeof(info.name));
	strlcpy(info.address, nic->address, sizeof(info.address));
	info.max_bytes = max_bytes(nic);
	info.open = mpm_nic_alive(nic);
	LIST_FOREACH(region, &nic->regions, of_nic) {
		info.region_bytes += region->len;
		info.used_bytes += region->used;
		info.quarantined_bytes += region->quarantined;
		info.pools += region->users;
	}
	list_add(arg, &info, sizeof(info));
	return 0;
}

EXPORT int
rte_pmd_mlx5_memic_devices_get(struct rte_pmd_mlx5_memic_device *devices, unsigned int n,
			       size_t size)
{
	struct list l = { .at = (uint8_t *)devices, .room = n, .size = size };

	if (size == 0 || (devices == NULL && n != 0))
		return -EINVAL;
	mpm_control_lock();
	mpm_devices_walk(add_device, &l);
	mpm_control_unlock();
	return l.n;
}

EXPORT int
rte_pmd_mlx5_memic_peak_reset(struct rte_mempool *mp)
{
	struct mpm_store *s;
	struct mpm_pool *p;

	if (mp == NULL)
		return -EINVAL;
	p = mpm_pool_of(mp);
	if (p == NULL)
		return -ENOTSUP;
	s = &p->store;
	mpm_store_lock(s);
	MPM_POKE(s->dev_low, s->dev_n);
	mpm_store_unlock(s);
	return 0;
}
