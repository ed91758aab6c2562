/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <memic.h>

#include <rte_ethdev.h>
#include <rte_mempool.h>
#include <rte_string_fns.h>
#include <rte_telemetry.h>

#include "compat.h"
#include "config.h"
#include "control.h"
#include "devices.h"
#include "figures.h"
#include "guard.h"
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
add_figures(const struct mpm_pool *p, struct rte_tel_data *d)
{
	struct mpm_figure figures[MPM_FIGURES];
	unsigned int n = mpm_figures(p, figures);
	unsigned int i;

	for (i = 0; i < n; i++)
		mpm_tel_add_u64(d, figures[i].name, figures[i].value);
}

/*
 * A string in a dictionary ends after RTE_TEL_MAX_STRING_LEN bytes, what is longer is cut.
 * So the rest goes into further ones: reason, reason_2, reason_3 and so on.
 */
static void
add_reason(const char *text, struct rte_tel_data *d)
{
	char piece[RTE_TEL_MAX_STRING_LEN];
	char name[16] = "reason";
	unsigned int n = 1;

	do {
		strlcpy(piece, text, sizeof(piece));
		text += strlen(piece);
		rte_tel_data_add_dict_string(d, name, piece);
		snprintf(name, sizeof(name), "reason_%u", ++n);
	} while (*text != '\0');
}

struct twins_request {
	const struct mpm_pool *main;
	struct rte_tel_data *names;
};

static int
add_twin(struct mpm_pool *p, void *arg)
{
	const struct twins_request *req = arg;

	return p->main == req->main ? rte_tel_data_add_array_string(req->names, p->mp->name) : 0;
}

static void
add_siblings(struct mpm_pool *p, struct rte_tel_data *d)
{
	struct twins_request req = { .main = p, .names = rte_tel_data_alloc() };

	rte_tel_data_add_dict_string(d, "foreign", mpm_foreign_name(p->rule.foreign));
	mpm_tel_add_u64(d, "siblings", p->rule.siblings);
	rte_tel_data_add_dict_string(d, "main", p->main == NULL ? "" : p->main->mp->name);
	if (req.names == NULL)
		return;
	rte_tel_data_start_array(req.names, RTE_TEL_STRING_VAL);
	mpm_pool_each(add_twin, &req);
	rte_tel_data_add_dict_container(d, "twins", req.names, 0);
}

struct info_request {
	const char *name;
	struct rte_tel_data *d;
};

static int
info_of(struct mpm_pool *p, void *arg)
{
	const struct info_request *req = arg;
	const struct mpm_region *region = mpm_pool_region(p);

	if (strncmp(p->mp->name, req->name, sizeof(p->mp->name)) != 0)
		return 0;
	rte_tel_data_start_dict(req->d);
	rte_tel_data_add_dict_string(req->d, "name", p->mp->name);
	rte_tel_data_add_dict_string(req->d, "rule", p->rule.origin);
	rte_tel_data_add_dict_string(req->d, "device", region == NULL ? "" : region->nic->name);
	rte_tel_data_add_dict_string(req->d, "address", region == NULL ? "" : region->nic->address);
	rte_tel_data_add_dict_string(req->d, "mkey",
				     region == NULL ? "" : memic_mkey_mode_name(region->mode));
	add_reason(p->reason, req->d);
	add_figures(p, req->d);
	add_siblings(p, req->d);
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

/* A port that never needed a guard has none, and all zeroes. */
static int
port_info(const char *cmd __rte_unused, const char *params, struct rte_tel_data *d)
{
	const struct mpm_guard *g;
	char *end;
	unsigned long port;

	if (params == NULL || !isdigit((unsigned char)params[0]))
		return -1;
	port = strtoul(params, &end, 10);
	if (*end != '\0' || port >= RTE_MAX_ETHPORTS || !rte_eth_dev_is_valid_port(port))
		return -1;
	mpm_control_lock();
	g = mpm_guard_get(port);
	rte_tel_data_start_dict(d);
	mpm_tel_add_u64(d, "port", port);
	mpm_tel_add_u64(d, "guarded_queues", g == NULL ? 0 : mpm_guard_queues(g));
	rte_tel_data_add_dict_string(d, "bounce_pool", g == NULL || g->bounce == NULL ? "" :
				     g->bounce->name);
	mpm_tel_add_u64(d, "bounce_mbufs", g == NULL || g->bounce == NULL ? 0 :
			g->bounce->populated_size);
	mpm_tel_add_u64(d, "bounce_free", g == NULL || g->bounce == NULL ? 0 :
			rte_mempool_avail_count(g->bounce));
	mpm_tel_add_u64(d, "foreign_dropped", g == NULL ? 0 :
			__atomic_load_n(&g->dropped, __ATOMIC_RELAXED));
	mpm_tel_add_u64(d, "foreign_bounced", g == NULL ? 0 :
			__atomic_load_n(&g->bounced, __ATOMIC_RELAXED));
	mpm_control_unlock();
	return 0;
}

void
mpm_telemetry_init(void)
{
	rte_telemetry_register_cmd("/mlx5_memic/list", list,
				   "Pools of the ops mlx5_memic. No parameters");
	rte_telemetry_register_cmd("/mlx5_memic/info", info,
				   "Where the buffers of a pool are. Parameter: pool name");
	rte_telemetry_register_cmd("/mlx5_memic/port", port_info,
				   "What keeps buffers out of reach from a port. Parameter: port "
				   "id");
}
