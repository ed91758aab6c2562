/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef TPM_BENCH_H
#define TPM_BENCH_H

/**
 * @file
 * Measurements. They run on the first worker lcore, which forwards for testpmd, while
 * that does nothing; the caller waits for them.
 */

#include <stdbool.h>
#include <stdint.h>

/** Bursts and times of those who give none. */
#define TPM_BURST 32u
#define TPM_SECONDS 2u
/** Longest measurement, in seconds. */
#define TPM_SECONDS_MAX 3600u

/** Get and put of a pool beside ring_mp_mc and the copy of pointers. */
void tpm_bench_pool(const char *name, uint32_t burst, uint32_t seconds);

/** Copies by the CPU into device memory. */
void tpm_bench_copy(void);

/** Forward between each port's own Rx and Tx queues. */
void tpm_bench_forward(uint32_t seconds);

/** All of the above, as --memic-bench asks. */
void tpm_bench_all(uint32_t seconds);

/**
 * Run a function on the first worker lcore and wait.
 *
 * @return 0, or -1 with a sentence printed: lcores are busy, there is none, or a signal
 *         came.
 */
int tpm_bench_launch(int (*fn)(void *arg), void *arg);

/** Whether a signal asks for the end; to be asked often by what was launched. */
bool tpm_bench_ends(void);

/** Whether seconds are in range; prints a sentence if not. */
bool tpm_bench_seconds_ok(uint32_t seconds);

#endif /* TPM_BENCH_H */
