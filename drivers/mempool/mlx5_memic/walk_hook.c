/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <rte_eal.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "hooks.h"
#include "host_mr.h"
#include "pin.h"
#include "pool.h"

/*
 * rte_pktmbuf_pool_create() and its like walk over the objects with rte_pktmbuf_init()
 * last, which resets each buffer address to the one inside the object. Only after that
 * may buffers be moved, and it must be before a queue registers the pool. An application
 * that walks with a function of its own has its mbufs moved after the walk, as nobody
 * knows what it does with them meanwhile.
 */
uint32_t
mpm_hook_obj_iter(struct rte_mempool *mp, rte_mempool_obj_cb_t *cb, void *arg)
{
	struct mpm_pool *p = mpm_pool_of(mp);
	uint32_t n = 0;

	if (p != NULL && cb == rte_pktmbuf_init &&
	    rte_eal_process_type() == RTE_PROC_PRIMARY)
		n = mpm_pin_in_walk(mp, p, arg);
	if (n != 0)
		return n;
	n = rte_mempool_obj_iter(mp, cb, arg);
	if (p != NULL)
		mpm_pin_after_walk(mp, p);
	return n;
}

/* The PMD walks over a pool in order to register it. */
uint32_t
mpm_hook_pmd_obj_iter(struct rte_mempool *mp, rte_mempool_obj_cb_t *cb, void *arg)
{
	struct mpm_pool *p = mpm_pool_of(mp);
	uint32_t n = 0;

	if (p != NULL)
		n = mpm_host_mr_walk(mp, p, cb, arg);
	return n != 0 ? n : mpm_hook_obj_iter(mp, cb, arg);
}
