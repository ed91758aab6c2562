/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_LOG_H
#define MPM_LOG_H

#include <rte_log.h>

/** Bytes of a sentence that says why; those of libmemic (error.c) take up to 768. */
#define MPM_WHY 1024

/** Dynamic log type "mempool.mlx5_memic". */
extern int mpm_logtype;

#define MPM_LOG(level, fmt, ...) \
	rte_log(RTE_LOG_ ## level, mpm_logtype, "MLX5_MEMIC: " fmt "\n", ## __VA_ARGS__)

#endif /* MPM_LOG_H */
