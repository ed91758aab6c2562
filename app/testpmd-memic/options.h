/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef TPM_OPTIONS_H
#define TPM_OPTIONS_H

/**
 * @file
 * Flags among testpmd's own.
 *
 * Those that say where pools are to live are a rule of the mempool driver, and make
 * testpmd's pools use its ops. They are read after devices were probed and before pools
 * are made.
 */

#include <getopt.h>
#include <stdbool.h>

/** Called instead of getopt_long(3); other tables than testpmd's are left alone. */
int tpm_options_getopt(int argc, char *const *argv, const char *shorts,
		       const struct option *longs, int *index);

/** Whether this program has handed in testpmd's table of flags. */
bool tpm_options_seen(void);

/** Seconds of --memic-bench; 0 when it was not given. */
unsigned int tpm_options_bench(void);

#endif /* TPM_OPTIONS_H */
