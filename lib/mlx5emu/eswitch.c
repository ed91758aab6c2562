/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "eswitch.h"

unsigned int
emu_port_number(const struct emu_dev *port)
{
	return port->index - emu_ib_device(port)->index + 1;
}

struct emu_dev *
emu_port_find(const struct emu_dev *dev, uint64_t number)
{
	struct emu_dev *port;

	if (number == 0 || number > emu_dev_count - dev->index)
		return NULL;
	port = &emu_devs[dev->index + number - 1];
	return emu_ib_device(port) == dev ? port : NULL;
}

unsigned int
emu_port_count(const struct emu_dev *dev)
{
	unsigned int n = 1;

	while (emu_port_find(dev, n + 1) != NULL)
		n++;
	return n;
}

/* MLX5_VPORT_FIRST_VF is 1 */
uint16_t
emu_port_vport(const struct emu_dev *port)
{
	return port->device == NULL ? EMU_VPORT_UPLINK : (uint16_t)(emu_port_number(port) - 1);
}

/*
 * mlx5_esw_match_metadata_alloc() in core/eswitch_offloads.c: a number that is not 0, in
 * the upper half. Which one a vport gets is not defined; here it is that of its port.
 */
uint32_t
emu_port_metadata(const struct emu_dev *port)
{
	return emu_port_number(port) << 16;
}

void
emu_source_set(struct emu_source *source, const struct emu_dev *port)
{
	source->reg_c0 = emu_port_metadata(port);
	source->reg_c0_mask = EMU_METADATA_MASK;
}

bool
emu_source_matches(const struct emu_source *source, const struct emu_dev *port)
{
	if (source->reg_c0_mask == 0)
		return true;
	return ((source->reg_c0 ^ emu_port_metadata(port)) & source->reg_c0_mask) == 0;
}

/* create_flow_rule_vport_sq() in hw/mlx5/ib_rep.c */
void
emu_eswitch_add_sq(struct emu_sq *sq, struct emu_dev *port)
{
	sq->dev = port;
	sq->cq->dev = port; /* where its completions are counted */
	sq->no_rule = false;
}
