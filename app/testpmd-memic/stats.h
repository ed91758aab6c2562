/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef TPM_STATS_H
#define TPM_STATS_H

/**
 * @file
 * Rates since the last look.
 */

/** Begin the first interval, unless that was done. */
void tpm_stats_begin(void);

/** Print rates and begin the next interval. */
void tpm_stats_show(void);

/** Begin an interval, and the watermarks of all pools. Counters stay as they are. */
void tpm_stats_clear(void);

#endif /* TPM_STATS_H */
