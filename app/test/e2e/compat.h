/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef E2E_COMPAT_H
#define E2E_COMPAT_H

/**
 * @file
 * All that depends on the DPDK release, in one place.
 */

#include <errno.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_version.h>

/**
 * Let a port that is configured receive what is sent to it. With DPDK 24.11.8 a port of a
 * physical function has no flow rule for its own address unless it is promiscuous:
 * mlx5_traffic_enable() passes over addresses of which nobody noted that they are the
 * port's own, and mlx5_os_mac_addr_add() notes those of virtual functions only.
 * 0 or a negative errno.
 */
static inline int
e2e_receive(uint16_t port)
{
#if RTE_VER_YEAR == 24 && RTE_VER_MONTH == 11
	int ret = rte_eth_promiscuous_enable(port);

	return ret == -ENOTSUP ? 0 : ret; /* net_null and the like take everything anyway */
#else
	RTE_SET_USED(port);
	return 0;
#endif
}

#endif /* E2E_COMPAT_H */
