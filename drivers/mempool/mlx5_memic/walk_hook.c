/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_mempool.h>

#include "host_mr.h"
#include "mr_hook.h"
#include "pin.h"
#include "plt_hook.h"
#include "pool.h"
#include "walk_hook.h"

/*
 * rte_pktmbuf_pool_create() and its like walk over the objects with rte_pktmbuf_init()
 * last, which resets each buffer address to the one inside the object. Only after that
 * may buffers be moved, and it must be before a queue registers the pool.
 */
static uint32_t
obj_iter(struct rte_mempool *mp, rte_mempool_obj_cb_t *cb, void *arg)
{
	uint32_t n = rte_mempool_obj_iter(mp, cb, arg);
	struct mpm_pool *p = mpm_pool_of(mp);

	if (p != NULL)
		mpm_pin_after_walk(mp, p);
	return n;
}

/* The PMD walks over a pool in order to register it. */
static uint32_t
pmd_obj_iter(struct rte_mempool *mp, rte_mempool_obj_cb_t *cb, void *arg)
{
	struct mpm_pool *p = mpm_pool_of(mp);
	uint32_t n = 0;

	if (p != NULL)
		n = mpm_host_mr_walk(mp, p, cb, arg);
	return n != 0 ? n : obj_iter(mp, cb, arg);
}

static bool
is_pmd(const char *object)
{
	return strncmp(object, MPM_GLUE, strlen(MPM_GLUE)) == 0;
}

static bool
is_other(const char *object)
{
	return !is_pmd(object) && strncmp(object, "linux-vdso", strlen("linux-vdso")) != 0;
}

int
mpm_walk_hook_install(char *why, size_t why_len)
{
	static struct mpm_plt_hook pmd = {
		.symbol = "rte_mempool_obj_iter",
		.replacement = pmd_obj_iter,
		.genuine = rte_mempool_obj_iter,
	};
	static struct mpm_plt_hook others = {
		.symbol = "rte_mempool_obj_iter",
		.replacement = obj_iter,
		.genuine = rte_mempool_obj_iter,
	};
	int ret;

	ret = mpm_plt_divert(&pmd, 1, is_pmd, why, why_len);
	if (ret == 0)
		ret = mpm_plt_divert(&others, 1, is_other, why, why_len);
	if (ret == 0 && pmd.slots == 0) {
		snprintf(why, why_len, "%s of " MPM_GLUE " is not there to be diverted (ENOTSUP)",
			 pmd.symbol);
		ret = -ENOTSUP;
	}
	return ret;
}
