/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_POOL_HOOK_H
#define MPM_POOL_HOOK_H

/**
 * @file
 * Pools that drivers make for their own use.
 *
 * Bonding in mode 4, net_tap with GSO and the like call rte_pktmbuf_pool_create(), and
 * an ops name that the user meant for the application's pools reaches those as well.
 */

#include <stdbool.h>

/** Watch the drivers that are loaded by now. May be called again. */
void mpm_pool_hook_install(void);

/** Whether a driver is creating a pool in this thread. */
bool mpm_pool_hook_in_driver(void);

#endif /* MPM_POOL_HOOK_H */
