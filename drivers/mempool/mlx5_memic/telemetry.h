/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_TELEMETRY_H
#define MPM_TELEMETRY_H

/** Register the commands under /mlx5_memic. */
void mpm_telemetry_init(void);

#endif /* MPM_TELEMETRY_H */
