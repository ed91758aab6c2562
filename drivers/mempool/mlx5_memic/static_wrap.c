/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * The hooks of a static application, where the linker has put them in place by --wrap.
 * Nobody can tell there who calls: walks of the PMD are not thinned, and pools that
 * drivers make for themselves fall under all rules.
 */

#include "hooks.h"
#include "pool_hook.h"

struct ibv_pd *__wrap_ibv_alloc_pd(struct ibv_context *ctx);
struct ibv_pd *__wrap_ibv_import_pd(struct ibv_context *ctx, uint32_t handle);
int __wrap_ibv_dealloc_pd(struct ibv_pd *pd);
void __wrap_ibv_unimport_pd(struct ibv_pd *pd);
int __wrap_ibv_close_device(struct ibv_context *ctx);
struct ibv_mr *__wrap_ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova,
				       unsigned int access);
int __wrap_ibv_dereg_mr(struct ibv_mr *mr);
uint32_t __wrap_rte_mempool_obj_iter(struct rte_mempool *mp, rte_mempool_obj_cb_t *cb, void *arg);
int __wrap_rte_eth_dev_start(uint16_t port);
int __wrap_rte_eth_dev_configure(uint16_t port, uint16_t rx, uint16_t tx,
				 const struct rte_eth_conf *conf);
int __wrap_rte_eth_rx_queue_setup(uint16_t port, uint16_t queue, uint16_t descs,
				  unsigned int socket, const struct rte_eth_rxconf *conf,
				  struct rte_mempool *mp);
int __wrap_rte_eth_tx_queue_setup(uint16_t port, uint16_t queue, uint16_t descs,
				  unsigned int socket, const struct rte_eth_txconf *conf);

struct ibv_pd *
__wrap_ibv_alloc_pd(struct ibv_context *ctx)
{
	return mpm_hook_alloc_pd(ctx);
}

struct ibv_pd *
__wrap_ibv_import_pd(struct ibv_context *ctx, uint32_t handle)
{
	return mpm_hook_import_pd(ctx, handle);
}

int
__wrap_ibv_dealloc_pd(struct ibv_pd *pd)
{
	return mpm_hook_dealloc_pd(pd);
}

void
__wrap_ibv_unimport_pd(struct ibv_pd *pd)
{
	mpm_hook_unimport_pd(pd);
}

int
__wrap_ibv_close_device(struct ibv_context *ctx)
{
	return mpm_hook_close_device(ctx);
}

struct ibv_mr *
__wrap_ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova,
			unsigned int access)
{
	return mpm_hook_reg_mr_iova2(pd, addr, len, iova, access);
}

int
__wrap_ibv_dereg_mr(struct ibv_mr *mr)
{
	return mpm_hook_dereg_mr(mr);
}

uint32_t
__wrap_rte_mempool_obj_iter(struct rte_mempool *mp, rte_mempool_obj_cb_t *cb, void *arg)
{
	return mpm_hook_obj_iter(mp, cb, arg);
}

int
__wrap_rte_eth_dev_start(uint16_t port)
{
	return mpm_hook_dev_start(port);
}

int
__wrap_rte_eth_dev_configure(uint16_t port, uint16_t rx, uint16_t tx,
			     const struct rte_eth_conf *conf)
{
	return mpm_hook_dev_configure(port, rx, tx, conf);
}

int
__wrap_rte_eth_rx_queue_setup(uint16_t port, uint16_t queue, uint16_t descs, unsigned int socket,
			      const struct rte_eth_rxconf *conf, struct rte_mempool *mp)
{
	return mpm_hook_rx_queue_setup(port, queue, descs, socket, conf, mp);
}

int
__wrap_rte_eth_tx_queue_setup(uint16_t port, uint16_t queue, uint16_t descs, unsigned int socket,
			      const struct rte_eth_txconf *conf)
{
	return mpm_hook_tx_queue_setup(port, queue, descs, socket, conf);
}

int
mpm_hooks_install(void)
{
	return 0;
}

const char *
mpm_hooks_reason(void)
{
	return "";
}

const char *
mpm_hooks_missed(void)
{
	return "";
}

void
mpm_pool_hook_install(void)
{
}

bool
mpm_pool_hook_in_driver(void)
{
	return false;
}
