/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_ESWITCH_H
#define MLX5EMU_ESWITCH_H

/*
 * --one-device: the first function in switchdev mode, as the kernel's hw/mlx5/ib_rep.c
 * shows it. Its IB device has a port for the uplink and one for the representor of each
 * virtual function; frames of all of them meet one set of receive flows, which tell them
 * apart by their source.
 */

#include "hw.h"

#define EMU_VPORT_UPLINK 0xffff /* MLX5_VPORT_UPLINK of linux/mlx5/device.h */
/* mlx5_eswitch_get_vport_metadata_mask(): the upper half of the register */
#define EMU_METADATA_MASK 0xffff0000u

static inline bool
emu_eswitch_on(const struct emu_dev *dev)
{
	return dev->cfg->one_device;
}

/* The IB device that a port belongs to; of all functions but those above itself. */
static inline struct emu_dev *
emu_ib_device(const struct emu_dev *port)
{
	return port->device != NULL ? port->device : (struct emu_dev *)(uintptr_t)port;
}

/* Ports of an IB device, numbered from 1. */
unsigned int emu_port_count(const struct emu_dev *dev);
/* NULL if there is none of that number. */
struct emu_dev *emu_port_find(const struct emu_dev *dev, uint64_t number);
unsigned int emu_port_number(const struct emu_dev *port);

/* ---- what only ports of an e-switch have ---- */

/* The vport whose frames arrive at the port. */
uint16_t emu_port_vport(const struct emu_dev *port);
/* What the e-switch writes into reg_c_0 of those frames. */
uint32_t emu_port_metadata(const struct emu_dev *port);
/* The flow takes frames of this port only: mlx5_ib_set_rule_source_port() in hw/mlx5/fs.c. */
void emu_source_set(struct emu_source *source, const struct emu_dev *port);
bool emu_source_matches(const struct emu_source *source, const struct emu_dev *port);

/* A send queue gets the rule that leads its frames to a port. */
void emu_eswitch_add_sq(struct emu_sq *sq, struct emu_dev *port);

#endif
