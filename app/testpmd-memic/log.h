/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef TPM_LOG_H
#define TPM_LOG_H

#include <rte_log.h>

/** Dynamic log type "user.testpmd_memic". */
extern int tpm_logtype;

#define TPM_LOG(level, fmt, ...) \
	rte_log(RTE_LOG_ ## level, tpm_logtype, "TESTPMD_MEMIC: " fmt "\n", ## __VA_ARGS__)

#endif /* TPM_LOG_H */
