/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_VDEV_H
#define MPM_VDEV_H

/** Register the vdev driver mempool_mlx5_memic, whose devices are rules. */
void mpm_vdev_init(void);

#endif /* MPM_VDEV_H */
