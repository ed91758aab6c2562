/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef TPM_SAMPLE_H
#define TPM_SAMPLE_H

/**
 * @file
 * What ports, pools and devices count, all at one time.
 */

#include <stdint.h>

#include <rte_ethdev.h>

#include <rte_pmd_mlx5_memic.h>

struct tpm_port {
	uint16_t id;
	char device[64];              /**< Name of its EAL device. */
	struct rte_eth_stats stats;
};

struct tpm_sample {
	uint64_t tsc;
	double time;                  /**< Seconds since 1970. */
	unsigned int n_ports;
	unsigned int n_pools;
	unsigned int n_devices;
	struct tpm_port ports[RTE_MAX_ETHPORTS];
	struct rte_pmd_mlx5_memic_pool *pools;
	struct rte_pmd_mlx5_memic_device *devices;
};

/**
 * Take a sample. Without the driver it has ports only.
 *
 * @return sample, to be freed with tpm_sample_free(), or NULL without memory.
 */
struct tpm_sample *tpm_sample_take(void);

/** Free a sample, or NULL. */
void tpm_sample_free(struct tpm_sample *s);

/** The pool of a name in a sample, or NULL. */
const struct rte_pmd_mlx5_memic_pool *tpm_sample_pool(const struct tpm_sample *s,
						      const char *name);

/** The port of a number in a sample, or NULL. */
const struct tpm_port *tpm_sample_port(const struct tpm_sample *s, uint16_t id);

/** IB name of the device at a bus address, "" where the driver knows none. */
const char *tpm_sample_ib_name(const struct tpm_sample *s, const char *address);

/** What was counted since; all of it when the counter was cleared in between. */
static inline uint64_t
tpm_since(uint64_t now, uint64_t before)
{
	return now >= before ? now - before : now;
}

/** Seconds from one sample to the next. */
double tpm_sample_seconds(const struct tpm_sample *before, const struct tpm_sample *now);

#endif /* TPM_SAMPLE_H */
