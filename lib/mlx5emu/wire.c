/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "emu.h"
#include "eswitch.h"
#include "inject.h"
#include "wire.h"

static const struct emu_wire_ops *const kinds[] = {
	[EMU_WIRE_LOOP] = &emu_wire_loop,
	[EMU_WIRE_PAIR] = &emu_wire_pair,
	[EMU_WIRE_TAP] = &emu_wire_tap,
	[EMU_WIRE_PCAP] = &emu_wire_pcap,
	[EMU_WIRE_CHECK] = &emu_wire_check,
};

#define SETTLE_NS 100000000u

/*
 * Whether the port receives at all. At probe the PMD makes a flow that drops all, to
 * see which priorities there are; frames must not fall into that.
 */
static bool
receiving(const struct emu_dev *dev)
{
	const struct emu_rq *rq;

	LIST_FOREACH(rq, &emu_ib_device(dev)->rqs, next)
		if (emu_rq_ready(rq))
			return true;
	return false;
}

bool
emu_wire_settled(const struct emu_dev *dev)
{
	const struct emu_dev *owner = emu_ib_device(dev);

	return !dev->link_down && receiving(dev) && !TAILQ_EMPTY(&owner->flows) &&
	       emu_clock() - owner->flows_changed >= SETTLE_NS;
}

int
emu_wire_open(struct emu_dev *dev)
{
	return kinds[dev->cfg->wire]->open(dev, &dev->wire);
}

void
emu_wire_transmit(struct emu_dev *dev, const uint8_t *frame, size_t len)
{
	if (dev->wire == NULL || dev->link_down)
		return;
	dev->tx_phy++;
	emu_vport_count(&dev->tx, frame, len);
	if (emu_wire_fault_any(dev))
		emu_wire_fault_transmit(dev, frame, len);
	else
		dev->wire->ops->transmit(dev->wire, frame, len);
}

bool
emu_wire_poll(struct emu_dev *dev)
{
	bool work;

	if (dev->wire == NULL)
		return false;
	work = emu_wire_fault_poll(dev);
	if (dev->wire->ops->poll != NULL)
		work |= dev->wire->ops->poll(dev->wire);
	return work;
}

void
emu_wire_close(struct emu_dev *dev)
{
	emu_wire_fault_close(dev);
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
