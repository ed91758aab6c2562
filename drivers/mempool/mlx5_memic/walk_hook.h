/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_WALK_HOOK_H
#define MPM_WALK_HOOK_H

/**
 * @file
 * Diversion of rte_mempool_obj_iter(), to see the moment when mbufs are initialised.
 */

#include <stddef.h>

/**
 * Divert rte_mempool_obj_iter() in all loaded objects.
 *
 * @param[out] why sentence on failure.
 * @param why_len its size.
 * @return as mpm_plt_divert().
 */
int mpm_walk_hook_install(char *why, size_t why_len);

#endif /* MPM_WALK_HOOK_H */
