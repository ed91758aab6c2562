/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef TPM_POOLS_H
#define TPM_POOLS_H

/**
 * @file
 * Mempools of the process by name.
 */

#include <stddef.h>

#include <rte_mempool.h>

/** Number of mempools. */
unsigned int tpm_pool_count(void);

/** Name of the i-th one; -1 when there is none. */
int tpm_pool_name(unsigned int i, char *name, size_t len);

/** A mempool by name; NULL with a sentence that lists those there are. */
struct rte_mempool *tpm_pool_find(const char *name);

#endif /* TPM_POOLS_H */
