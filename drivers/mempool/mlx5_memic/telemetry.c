/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <string.h>

#include <memic.h>

#include <rte_telemetry.h>

#include "cache.h"
#include "compat.h"
#include "config.h"
#include "control.h"
#include "devices.h"
#include "pool.h"
#include "region.h"
#include "telemetry.h"

static int
add_name(struct mpm_pool *p, void *arg)
{
	/* an array that is full takes no more and says so; the list then ends there */
	return rte_tel_data_add_array_string(arg, p->mp->name);
}

static int
list(const char *cmd __rte_unused, const char *params __rte_unused, struct rte_tel_data *d)
{
	rte_tel_data_start_array(d, RTE_TEL_STRING_VAL);
	mpm_pool_walk(add_name, d);
	return 0;
}

static void
add_where(const struct mpm_pool *p, const struct mpm_where *w, struct rte_tel_data *d)
{
	mpm_tel_add_u64(d, "device_cached", w->dev_cached);
	mpm_tel_add_u64(d, "device_out", w->dev_out);
	mpm_tel_add_u64(d, "device_peak", w->dev_peak);
	mpm_tel_add_u64(d, "host_cached", w->host_cached);
	mpm_tel_add_u64(d, "host_out", w->host_out);
	mpm_tel_add_u64(d, "cache_size", w->cache_size);
	mpm_tel_add_u64(d, "device_gets", w->got_dev);
	mpm_tel_add_u64(d, "host_gets", w->got_host);
}

static void
add_placement(const struct mpm_pool *p, struct rte_tel_data *d)
{
	const struct mpm_region *region = p->region;
	struct mpm_where where;

	mpm_cache_where(p, &where);
	mpm_tel_add_u64(d, "objects", p->mp->populated_size);
	mpm_tel_add_u64(d, "device_slots", p->slots);
	mpm_tel_add_u64(d, "device_bytes", (uint64_t)p->slots * p->stride);
	mpm_tel_add_u64(d, "device_free", where.dev_free);
	mpm_tel_add_u64(d, "host_slots", p->mp->populated_size - p->slots);
	mpm_tel_add_u64(d, "host_bytes",
			(uint64_t)(p->mp->populated_size - p->slots) * p->stride);
	mpm_tel_add_u64(d, "host_free", where.host_free);
	add_where(p, &where, d);
	mpm_tel_add_u64(d, "pinned", p->state == MPM_PINNED);
	mpm_tel_add_u64(d, "repinned", p->repinned);
	if (region == NULL)
		return;
	mpm_tel_add_u64(d, "region_bytes", region->len);
	mpm_tel_add_u64(d, "region_used_bytes", region->used);
	mpm_tel_add_u64(d, "region_quarantined_bytes", region->quarantined);
}

struct info_request {
	const char *name;
	struct rte_tel_data *d;
};

static int
info_of(struct mpm_pool *p, void *arg)
{
	const struct info_request *req = arg;
	const struct mpm_region *region = p->region;

	if (strncmp(p->mp->name, req->name, sizeof(p->mp->name)) != 0)
		return 0;
	rte_tel_data_start_dict(req->d);
	rte_tel_data_add_dict_string(req->d, "name", p->mp->name);
	rte_tel_data_add_dict_string(req->d, "rule", p->rule.origin);
	rte_tel_data_add_dict_string(req->d, "device", region == NULL ? "" : region->nic->name);
	rte_tel_data_add_dict_string(req->d, "address", region == NULL ? "" : region->nic->address);
	rte_tel_data_add_dict_string(req->d, "mkey",
				     region == NULL ? "" : memic_mkey_mode_name(region->mode));
	rte_tel_data_add_dict_string(req->d, "reason", p->reason);
	add_placement(p, req->d);
	return 1;
}

/* An unknown pool gives an error, which telemetry turns into null. */
static int
info(const char *cmd __rte_unused, const char *params, struct rte_tel_data *d)
{
	struct info_request req = { .name = params, .d = d };

	if (params == NULL || params[0] == '\0')
		return -1;
	return mpm_pool_walk(info_of, &req) == 1 ? 0 : -1;
}

void
mpm_telemetry_init(void)
{
	rte_telemetry_register_cmd("/mlx5_memic/list", list,
				   "Pools of the ops mlx5_memic. No parameters");
	rte_telemetry_register_cmd("/mlx5_memic/info", info,
				   "Where the buffers of a pool are. Parameter: pool name");
}
