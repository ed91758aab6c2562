/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MEMIC_COMPAT_H
#define MEMIC_COMPAT_H

/* All that depends on a version of rdma-core or of the C library. */

#include <infiniband/mlx5dv.h>

#ifdef MEMIC_HAVE_DM_TYPE_ENCAP
#define MEMIC_DV_DM_TYPE_ENCAP MLX5DV_DM_TYPE_ENCAP_SW_ICM
#else
/*
 * The kernel ABI's number of the type (MLX5_IB_UAPI_DM_TYPE_ENCAP_SW_ICM), which
 * rdma-core passes on. A libmlx5 before 50 answers it with EOPNOTSUPP by itself,
 * a newer one at run time knows it, whatever headers the library was built with.
 */
#define MEMIC_DV_DM_TYPE_ENCAP ((enum mlx5dv_alloc_dm_type)4)
#endif

#endif /* MEMIC_COMPAT_H */
