/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/** What loader.c loads here, and what it says where it does not. */
#define MPM_LOADS "librte_pmd_mlx5_memic.so." MEMIC_ABI
#define MPM_LOG_AS "MLX5_MEMIC"
#define MPM_LOSS "The plugin stays off, and there are no mempool ops mlx5_memic"
#define MPM_IN_STATIC ", so the driver must be, too: link it with what \"pkg-config --static " \
	"--libs mlx5_memic\" gives"
