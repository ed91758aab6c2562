/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_WRAP_H
#define MPM_WRAP_H

/**
 * @file
 * Included before everything else when the driver is built for static applications.
 *
 * Such applications are linked with --wrap for each of these names, which would lead
 * the driver's own calls back into its hooks. A program linked without --wrap misses
 * the __real_ names, so the mistake shows when it is linked.
 */

#define ibv_alloc_pd __real_ibv_alloc_pd
#define ibv_close_device __real_ibv_close_device
#define ibv_dealloc_pd __real_ibv_dealloc_pd
#define ibv_dereg_mr __real_ibv_dereg_mr
#define ibv_import_pd __real_ibv_import_pd
#define ibv_reg_mr_iova2 __real_ibv_reg_mr_iova2
#define ibv_unimport_pd __real_ibv_unimport_pd
#define rte_eth_dev_configure __real_rte_eth_dev_configure
#define rte_eth_dev_start __real_rte_eth_dev_start
#define rte_eth_rx_queue_setup __real_rte_eth_rx_queue_setup
#define rte_eth_tx_queue_setup __real_rte_eth_tx_queue_setup
#define rte_mempool_obj_iter __real_rte_mempool_obj_iter

#endif /* MPM_WRAP_H */
