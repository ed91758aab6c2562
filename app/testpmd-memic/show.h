/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef TPM_SHOW_H
#define TPM_SHOW_H

/**
 * @file
 * What devices, pools and ports are, as tables. Where there is none: a sentence.
 */

#include <stdint.h>

/** Devices and their memory. */
void tpm_show_devices(void);
/** Devices, pools and ports. */
void tpm_show_all(void);
/** One pool. */
void tpm_show_pool(const char *name);
/** One port, queue by queue. */
void tpm_show_port(uint32_t port);
/** What DPDK and the driver know about a pool. */
void tpm_show_dump(const char *name);

#endif /* TPM_SHOW_H */
