/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdlib.h>

#include "emu.h"
#include "wire.h"

/* A plug that sends all back; what finds no receive WQE is lost, as on a real port. */

static int
loop_open(struct emu_dev *dev, struct emu_wire **wire)
{
	*wire = calloc(1, sizeof(**wire));
	if (*wire == NULL)
		return -ENOMEM;
	(*wire)->ops = &emu_wire_loop;
	(*wire)->dev = dev;
	return 0;
}

static void
loop_transmit(struct emu_wire *wire, const uint8_t *frame, size_t len)
{
	emu_steer_receive(wire->dev, frame, len);
}

static void
loop_close(struct emu_wire *wire)
{
	free(wire);
}

const struct emu_wire_ops emu_wire_loop = {
	.name = "loop",
	.open = loop_open,
	.transmit = loop_transmit,
	.close = loop_close,
};
