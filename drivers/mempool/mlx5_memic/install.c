/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <infiniband/verbs.h>

#include <rte_common.h>
#include <rte_ethdev.h>
#include <rte_mempool.h>
#include <rte_string_fns.h>

#include "hooks.h"
#include "log.h"
#include "plt_hook.h"
#include "pool_hook.h"

/** Start of the names of the objects through which the PMD calls verbs and walks. */
#define GLUE "librte_common_mlx5"

static char reason[MPM_WHY], missed[MPM_WHY / 4];

const char *
mpm_hooks_reason(void)
{
	return reason;
}

const char *
mpm_hooks_missed(void)
{
	return missed;
}

static bool
is_glue(const char *object)
{
	return strncmp(object, GLUE, strlen(GLUE)) == 0;
}

static bool
is_other(const char *object)
{
	return !is_glue(object) && strncmp(object, "linux-vdso", strlen("linux-vdso")) != 0;
}

/* All of these must be there, or the PMD would do things that nobody sees. */
static int
divert_glue(char *why, size_t why_len)
{
	static struct mpm_plt_hook hooks[] = {
		{ .symbol = "ibv_reg_mr_iova2", .replacement = mpm_hook_reg_mr_iova2,
		  .genuine = ibv_reg_mr_iova2 },
		{ .symbol = "ibv_dereg_mr", .replacement = mpm_hook_dereg_mr,
		  .genuine = ibv_dereg_mr },
		{ .symbol = "ibv_alloc_pd", .replacement = mpm_hook_alloc_pd,
		  .genuine = ibv_alloc_pd },
		{ .symbol = "ibv_import_pd", .replacement = mpm_hook_import_pd,
		  .genuine = ibv_import_pd },
		{ .symbol = "ibv_dealloc_pd", .replacement = mpm_hook_dealloc_pd,
		  .genuine = ibv_dealloc_pd },
		{ .symbol = "ibv_unimport_pd", .replacement = mpm_hook_unimport_pd,
		  .genuine = ibv_unimport_pd },
		{ .symbol = "ibv_close_device", .replacement = mpm_hook_close_device,
		  .genuine = ibv_close_device },
		{ .symbol = "rte_mempool_obj_iter", .replacement = mpm_hook_pmd_obj_iter,
		  .genuine = rte_mempool_obj_iter },
	};
	unsigned int i;
	int ret;

	ret = mpm_plt_divert(hooks, RTE_DIM(hooks), is_glue, why, why_len);
	for (i = 0; i < RTE_DIM(hooks) && ret == 0; i++) {
		if (hooks[i].slots != 0)
			continue;
		snprintf(why, why_len, "%s of " GLUE " is not there to be diverted (ENOTSUP); "
			 "an mlx5 driver linked statically, or with its verbs in a glue library, "
			 "has no such slot", hooks[i].symbol);
		ret = -ENOTSUP;
	}
	return ret;
}

static int
divert_others(char *why, size_t why_len)
{
	static struct mpm_plt_hook walk = {
		.symbol = "rte_mempool_obj_iter",
		.replacement = mpm_hook_obj_iter,
		.genuine = rte_mempool_obj_iter,
	};

	return mpm_plt_divert(&walk, 1, is_other, why, why_len);
}

/* Pools work without, as long as there is one device. */
static void
divert_ports(void)
{
	static struct mpm_plt_hook hooks[] = {
		{ .symbol = "rte_eth_dev_start", .replacement = mpm_hook_dev_start,
		  .genuine = rte_eth_dev_start },
		{ .symbol = "rte_eth_dev_configure", .replacement = mpm_hook_dev_configure,
		  .genuine = rte_eth_dev_configure },
		{ .symbol = "rte_eth_rx_queue_setup", .replacement = mpm_hook_rx_queue_setup,
		  .genuine = rte_eth_rx_queue_setup },
		{ .symbol = "rte_eth_tx_queue_setup", .replacement = mpm_hook_tx_queue_setup,
		  .genuine = rte_eth_tx_queue_setup },
	};
	static bool told;
	char why[sizeof(reason)];

	if (mpm_plt_divert(hooks, RTE_DIM(hooks), is_other, why, sizeof(why)) == 0 || told)
		return;
	told = true;
	MPM_LOG(WARNING, "%s: no advice is given when ports start, rings of queues without "
		"traffic may keep most slots, and ports of other devices are not kept from "
		"buffers in device memory: foreign= and siblings= have no effect", why);
}

int
mpm_hooks_install(void)
{
	char why[sizeof(reason)] = "";
	int ret;

	ret = divert_glue(why, sizeof(why));
	if (ret == 0)
		ret = divert_others(why, sizeof(why));
	if (ret != 0 && strcmp(why, reason) != 0)
		MPM_LOG(ERR, "%s: no pool gets device memory", why);
	strlcpy(reason, why, sizeof(reason));
	if (ret != 0)
		strlcpy(missed, why, sizeof(missed));
	divert_ports();
	mpm_pool_hook_install();
	return ret;
}
