/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_CONTROL_H
#define MPM_CONTROL_H

/**
 * @file
 * The lock of the control path.
 *
 * Two locks order the driver. The control lock covers pools, devices and the life of
 * regions; it is taken by pool creation and free, telemetry and the hooks of PDs and
 * contexts. The holder may call into EAL and the PMD. The key lock (mr_hook.c) covers
 * the list of keys; the PMD calls the MR hooks with locks of its own held, so its
 * holder calls verbs only, and never takes the control lock.
 */

/** Take the control lock. */
void mpm_control_lock(void);
/** Release the control lock. */
void mpm_control_unlock(void);

#endif /* MPM_CONTROL_H */
