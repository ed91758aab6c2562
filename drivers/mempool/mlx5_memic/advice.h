/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_ADVICE_H
#define MPM_ADVICE_H

/**
 * @file
 * What will hurt, said when a port is started, with the cure; once per port or pool.
 */

#include <stdint.h>

/** Look at a port that is about to be started. */
void mpm_advice(uint16_t port);

#endif /* MPM_ADVICE_H */
