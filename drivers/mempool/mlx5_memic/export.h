/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_EXPORT_H
#define MPM_EXPORT_H

/** Marks the calls of rte_pmd_mlx5_memic.h; all else is hidden. */
#define EXPORT __attribute__((visibility("default")))

#endif /* MPM_EXPORT_H */
