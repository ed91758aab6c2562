/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <string.h>

#include <rte_common.h>
#include <rte_dev.h>
#include <rte_ethdev.h>

#include "devices.h"
#include "reach.h"

/*
 * Drivers known to use virtual addresses and the CPU only (their Tx and Rx functions in
 * drivers/net). All others are taken for ones that do DMA, whose IO addresses mean
 * nothing in device memory, or that share host memory with somebody (memif, AF_XDP).
 */
static const struct {
	const char *driver;
	enum mpm_reach reach;
} known[] = {
	{ "net_af_packet", MPM_REACH_COPY },
	{ "net_pcap", MPM_REACH_COPY },
	{ "net_tap", MPM_REACH_COPY },
	{ "net_vhost", MPM_REACH_COPY },
	{ "net_null", MPM_REACH_PASS },
	{ "net_ring", MPM_REACH_PASS },
	/* its members are ports of their own, started and sent on by ethdev calls */
	{ "net_bonding", MPM_REACH_PASS },
};

int
mpm_port_look(uint16_t port, struct mpm_port *out)
{
	unsigned int i;

	memset(out, 0, sizeof(*out));
	if (!rte_eth_dev_is_valid_port(port) || rte_eth_dev_info_get(port, &out->info) != 0 ||
	    out->info.device == NULL)
		return -ENODEV;
	out->device = rte_dev_name(out->info.device);
	out->nic = mpm_devices_at(out->device);
	for (i = 0; i < RTE_DIM(known) && out->info.driver_name != NULL; i++)
		if (strcmp(out->info.driver_name, known[i].driver) == 0)
			out->reach = known[i].reach;
	return 0;
}
