/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_REACH_H
#define MPM_REACH_H

/**
 * @file
 * Which ports reach which memory.
 */

#include <rte_ethdev.h>

struct mpm_nic;

/** How a port comes to the bytes of an mbuf that is in memory of another device. */
enum mpm_reach {
	MPM_REACH_NOT,    /**< Not at all: it would send or overwrite other bytes. */
	MPM_REACH_COPY,   /**< The CPU copies them, with ordinary loads and stores. */
	MPM_REACH_PASS,   /**< It touches none, and hands the mbuf on. */
};

/** What a port is to device memory. */
struct mpm_port {
	struct rte_eth_dev_info info;
	const char *device;        /**< Name of its bus device. */
	const struct mpm_nic *nic; /**< Its device, or NULL for one of another driver. */
	enum mpm_reach reach;      /**< To memory of devices other than nic. */
};

/**
 * Look at a port. Needs the control lock.
 *
 * @return 0; -ENODEV for none.
 */
int mpm_port_look(uint16_t port, struct mpm_port *out);

#endif /* MPM_REACH_H */
