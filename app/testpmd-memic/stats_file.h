/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef TPM_STATS_FILE_H
#define TPM_STATS_FILE_H

/**
 * @file
 * Statistics as lines of JSON: one each second, one before a port stops or goes, one at
 * exit. A line is an object with all counters as they are, not their growth.
 */

#include <stdbool.h>

/**
 * Open the file and begin to write.
 *
 * @return 0 or a negative errno, -ENOTSUP with a sentence logged.
 */
int tpm_stats_file_open(const char *path);

/**
 * Write nothing until tpm_stats_file_go_on(), and ask no port for anything.
 *
 * @param last write a line first, as counters may be gone afterwards.
 */
void tpm_stats_file_hold(bool last);
/** The end of tpm_stats_file_hold(). */
void tpm_stats_file_go_on(void);

/** Write the last line; nothing is read or written after that. */
void tpm_stats_file_end(void);

#endif /* TPM_STATS_FILE_H */
