/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef TPM_DRIVER_H
#define TPM_DRIVER_H

/**
 * @file
 * The mempool driver's public calls, if it is there.
 *
 * The plugin is not linked with the driver: it is to be of use beside it and do nothing
 * without it. Which of the two EAL loads first makes no difference.
 */

#include <stdbool.h>

#include <rte_pmd_mlx5_memic.h>

/** The calls; see rte_pmd_mlx5_memic.h. */
struct tpm_driver {
	__typeof__(rte_pmd_mlx5_memic_devices_get) *devices_get;
	__typeof__(rte_pmd_mlx5_memic_dump) *dump;
	__typeof__(rte_pmd_mlx5_memic_mbuf_on_device) *mbuf_on_device;
	__typeof__(rte_pmd_mlx5_memic_peak_reset) *peak_reset;
	__typeof__(rte_pmd_mlx5_memic_pools_get) *pools_get;
	__typeof__(rte_pmd_mlx5_memic_rule_add) *rule_add;
	__typeof__(rte_pmd_mlx5_memic_stats_get) *stats_get;
};

/** What to say where there is no driver. */
#define TPM_NO_DRIVER "the mempool driver mlx5_memic is not loaded, or is another release's: " \
	"give EAL the option -d librte_mempool_mlx5_memic.so"

/** The driver's calls, or NULL when it is not in this process. */
const struct tpm_driver *tpm_driver(void);

/** The same, with a sentence printed where it is NULL. */
const struct tpm_driver *tpm_driver_or_say(void);

#endif /* TPM_DRIVER_H */
