/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_HOOKS_H
#define MPM_HOOKS_H

/**
 * @file
 * What is called instead of functions of verbs and DPDK.
 *
 * In a process with DPDK's shared libraries the loader's slots lead here (install.c),
 * in a static application the linker's option --wrap does (static_wrap.c).
 */

#include <stdint.h>

#include <infiniband/verbs.h>

#include <rte_ethdev.h>
#include <rte_mempool.h>

/**
 * Put the hooks in place, or check that they still are.
 *
 * @return 0; otherwise -ENOTSUP or what mpm_plt_divert() gave, with the reason logged
 *         once and kept for mpm_hooks_reason().
 */
int mpm_hooks_install(void);

/** Why the hooks are not in place; "" where they are. */
const char *mpm_hooks_reason(void);

/** Why they were not once, so that the PMD's calls went by unseen; "" if they always were. */
const char *mpm_hooks_missed(void);

/* Calls of the PMD (mr_hook.c), as in verbs.h. */
struct ibv_pd *mpm_hook_alloc_pd(struct ibv_context *ctx);
struct ibv_pd *mpm_hook_import_pd(struct ibv_context *ctx, uint32_t handle);
int mpm_hook_dealloc_pd(struct ibv_pd *pd);
void mpm_hook_unimport_pd(struct ibv_pd *pd);
int mpm_hook_close_device(struct ibv_context *ctx);
struct ibv_mr *mpm_hook_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova,
				     unsigned int access);
int mpm_hook_dereg_mr(struct ibv_mr *mr);

/* Calls of everybody (walk_hook.c), as in rte_mempool.h. */
uint32_t mpm_hook_obj_iter(struct rte_mempool *mp, rte_mempool_obj_cb_t *cb, void *arg);
/** The same when the PMD calls. */
uint32_t mpm_hook_pmd_obj_iter(struct rte_mempool *mp, rte_mempool_obj_cb_t *cb, void *arg);

/* Calls of everybody, as in rte_ethdev.h. */
int mpm_hook_dev_start(uint16_t port); /* start_hook.c */
int mpm_hook_rx_queue_setup(uint16_t port, uint16_t queue, uint16_t descs, unsigned int socket,
			    const struct rte_eth_rxconf *conf,
			    struct rte_mempool *mp); /* rxq_hook.c */
int mpm_hook_dev_configure(uint16_t port, uint16_t rx, uint16_t tx,
			   const struct rte_eth_conf *conf); /* fast_free.c */
int mpm_hook_tx_queue_setup(uint16_t port, uint16_t queue, uint16_t descs, unsigned int socket,
			    const struct rte_eth_txconf *conf);

#endif /* MPM_HOOKS_H */
