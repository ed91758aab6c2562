/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <stdio.h>
#include <string.h>

#include <memic.h>

#include <rte_string_fns.h>
#include <rte_telemetry.h>

#include "compat.h"
#include "config.h"
#include "control.h"
#include "devices.h"
#include "figures.h"
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
	add_reason(p->reason, req->d);
	add_figures(p, req->d);
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
