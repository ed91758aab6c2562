/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "walks.h"

#include <dlfcn.h>

#include <rte_mempool.h>

unsigned int walks_done;

uint32_t
rte_mempool_obj_iter(struct rte_mempool *mp, rte_mempool_obj_cb_t *cb, void *arg)
{
	static uint32_t (*genuine)(struct rte_mempool *mp, rte_mempool_obj_cb_t *cb, void *arg);

	if (genuine == NULL)
		*(void **)&genuine = dlsym(RTLD_NEXT, "rte_mempool_obj_iter");
	walks_done++;
	return genuine(mp, cb, arg);
}
