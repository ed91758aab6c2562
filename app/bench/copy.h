/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef BENCH_COPY_H
#define BENCH_COPY_H

/**
 * @file
 * Copies by the CPU into device memory. Each variant's argument is a struct bench_copy,
 * its result cycles per byte.
 */

#include <infiniband/verbs.h>

/** Most bytes of a copy. */
#define BENCH_COPY_MAX 1536u

struct bench_copy {
	void *addr;          /**< Device memory as the CPU sees it. */
	struct ibv_dm *dm;   /**< The verbs object that starts there, for bench_copy_verbs(). */
	unsigned int bytes;  /**< A multiple of 4, which is all that ibv_memcpy_to_dm() takes. */
	unsigned int iterations;
};

/** By ibv_memcpy_to_dm(3). */
double bench_copy_verbs(void *arg);
/** By memic_copy_to(). */
double bench_copy_memic(void *arg);
/** By memcpy(3): not safe on device memory, but what programs would do. */
double bench_copy_memcpy(void *arg);

#endif /* BENCH_COPY_H */
