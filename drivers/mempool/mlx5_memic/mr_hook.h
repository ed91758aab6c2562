/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_MR_HOOK_H
#define MPM_MR_HOOK_H

/**
 * @file
 * What the mlx5 PMD is told when it registers memory.
 *
 * The PMD registers pools page by page with ibv_reg_mr_iova2(), which the kernel
 * refuses on a mapping of device memory. The hooks answer each range that touches a
 * region with one memory key over the whole region, one per PD. The PMD copies
 * address, length and lkey out of the ibv_mr and looks buffers up in what it copied.
 */

#include <infiniband/verbs.h>

struct mpm_region;

/** Let the hooks answer for a region. */
void mpm_keys_publish(struct mpm_region *region);

/**
 * Make the key of a region on a PD, if there is none yet.
 *
 * @return 0, or a negative errno with the reason in memic_last_error().
 */
int mpm_keys_make(struct mpm_region *region, struct ibv_pd *pd);

/** Destroy all keys on a PD that is about to go. */
void mpm_keys_drop_pd(struct ibv_pd *pd);

/**
 * Destroy all keys of a region and stop to answer for it.
 *
 * @return 0; -EBUSY when a key cannot be destroyed, and the region stays published.
 */
int mpm_keys_withdraw(struct mpm_region *region);

#endif /* MPM_MR_HOOK_H */
