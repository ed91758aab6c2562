/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_PAGES_H
#define MPM_PAGES_H

/**
 * @file
 * Pages of memory that is about to be written to for the first time.
 *
 * Most of the time that a large pool on small pages takes goes into page faults. Asked
 * for in one call, the kernel gives the same pages at a fraction of the cost.
 */

#include <stddef.h>

#include <rte_mempool.h>

/**
 * Have the kernel map the pages of memory that will be written to. Where it cannot
 * (Linux before 5.14), they come by faults, as always.
 */
void mpm_pages_want(void *addr, size_t len);

/**
 * Ops populate: the objects are placed as DPDK places them. Their pages are wanted ahead
 * of them where the pool has device memory, as the card's driver will pin all of them.
 */
int mpm_pages_populate(struct rte_mempool *mp, unsigned int max_objs, void *addr, rte_iova_t iova,
		       size_t len, rte_mempool_populate_obj_cb_t *cb, void *arg);

#endif /* MPM_PAGES_H */
