/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdio.h>

#include "emu.h"
#include "wire.h"

static const struct emu_wire_ops *const kinds[] = {
	[EMU_WIRE_LOOP] = &emu_wire_loop,
	[EMU_WIRE_PAIR] = &emu_wire_pair,
	[EMU_WIRE_TAP] = NULL,
	[EMU_WIRE_PCAP] = &emu_wire_pcap,
	[EMU_WIRE_CHECK] = &emu_wire_check,
};

int
emu_wire_open(struct emu_dev *dev)
{
	const struct emu_wire_ops *ops = kinds[dev->cfg->wire];

	if (ops == NULL) {
		fprintf(stderr, "mlx5emu: --wire tap is not available in this build (EOPNOTSUPP): "
			"use loop, pair, pcap or check\n");
		return -EOPNOTSUPP;
	}
	return ops->open(dev, &dev->wire);
}

void
emu_wire_transmit(struct emu_dev *dev, const uint8_t *frame, size_t len)
{
	if (dev->wire != NULL)
		dev->wire->ops->transmit(dev->wire, frame, len);
}

bool
emu_wire_poll(struct emu_dev *dev)
{
	if (dev->wire == NULL || dev->wire->ops->poll == NULL)
		return false;
	return dev->wire->ops->poll(dev->wire);
}

void
emu_wire_close(struct emu_dev *dev)
{
	if (dev->wire != NULL)
		dev->wire->ops->close(dev->wire);
	dev->wire = NULL;
}

void
emu_wire_stats(const struct emu_dev *dev, struct json_t *port)
{
	if (dev->wire != NULL && dev->wire->ops->stats != NULL)
		dev->wire->ops->stats(dev->wire, port);
}
