/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_RX_CHECK_H
#define MPM_RX_CHECK_H

#include <stdint.h>

/**
 * Refuse a port whose Rx queues have pools in memory that it cannot reach, before it is
 * started. Takes the control lock.
 *
 * @return 0; -EXDEV with pool, device, port and cure logged.
 */
int mpm_rx_check(uint16_t port);

#endif /* MPM_RX_CHECK_H */
