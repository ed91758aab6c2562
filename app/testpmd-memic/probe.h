/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef TPM_PROBE_H
#define TPM_PROBE_H

/**
 * Put to the test what is assumed of a device's memory, and print the answers.
 *
 * @param name IB name or bus address.
 */
void tpm_probe(const char *name);

#endif /* TPM_PROBE_H */
