/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu.h"
#include "wire.h"

/* Cables between ports 0 and 1, 2 and 3, and so on. */

static int
pair_open(struct emu_dev *dev, struct emu_wire **wire)
{
	if ((dev->index ^ 1) >= emu_dev_count) {
		fprintf(stderr, "mlx5emu: --wire pair: port %u has no partner, "
			"give an even number of --ports (EINVAL)\n", dev->index);
		return -EINVAL;
	}
	*wire = calloc(1, sizeof(**wire));
	if (*wire == NULL)
		return -ENOMEM;
	(*wire)->ops = &emu_wire_pair;
	(*wire)->dev = dev;
	return 0;
}

static void
pair_transmit(struct emu_wire *wire, const uint8_t *frame, size_t len)
{
	emu_steer_receive(&emu_devs[wire->dev->index ^ 1], frame, len);
}

static void
pair_close(struct emu_wire *wire)
{
	free(wire);
}

const struct emu_wire_ops emu_wire_pair = {
	.name = "pair",
	.open = pair_open,
	.transmit = pair_transmit,
	.close = pair_close,
};
