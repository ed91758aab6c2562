/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MEMIC_PORT_H
#define MEMIC_PORT_H

/* What frames that a port sends to itself need to know of it. */

#include <stdbool.h>
#include <stdint.h>

struct memic_device;

struct memic_port {
	uint8_t mac[6];
	unsigned int mtu;  /* of the interface; 1500 where it is not to be seen */
	bool netdev;       /* the interface is in this network namespace */
	bool up;           /* it is administratively up; true where it is not to be seen */
	bool active;       /* the link is up */
	bool switchdev;    /* rules of an e-switch send its frames out, also those to itself */
};

/* Look at a port, 1 is the first; 0 or a negative errno with a sentence. */
int memic_port_query(const struct memic_device *dev, unsigned int port, struct memic_port *out);

#endif /* MEMIC_PORT_H */
