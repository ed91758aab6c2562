/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_OPS_H
#define MPM_OPS_H

/**
 * @file
 * The mempool ops mlx5_memic: get and put.
 */

#include <stdint.h>

struct mpm_pool;

/**
 * Register the ops.
 *
 * @return 0; -ENOSPC when DPDK's table is full, logged with the cure.
 */
int mpm_ops_register(void);

/**
 * Sort what is in the pool into tiers, after the device tier was settled.
 *
 * @param p pool.
 * @param scratch room for as many objects as the store takes.
 */
void mpm_store_resplit(struct mpm_pool *p, void **scratch);

/** Numbers of objects in the pool, device and host tier; one glance, no lock. */
void mpm_store_counts(const struct mpm_pool *p, unsigned int *dev, unsigned int *host);

#endif /* MPM_OPS_H */
