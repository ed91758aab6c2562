/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_OPS_H
#define MPM_OPS_H

/**
 * @file
 * The mempool ops mlx5_memic: get and put.
 */

/**
 * Register the ops.
 *
 * @return 0; -ENOSPC when DPDK's table is full, logged with the cure.
 */
int mpm_ops_register(void);

#endif /* MPM_OPS_H */
