/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_WIRE_H
#define MLX5EMU_WIRE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emu_dev;
struct emu_wire;

/* Frames that a wire may bring in one poll: the command side gets its turn after it. */
#define EMU_WIRE_BURST 64

/*
 * A kind of wire. All are called under emu_lock(). A wire that brings frames by itself
 * holds them while the port cannot take them; see emu_steer_offer().
 */
struct emu_wire_ops {
	const char *name;
	/* Makes the wire of a port; returns 0, or a negative errno told on stderr. */
	int (*open)(struct emu_dev *dev, struct emu_wire **wire);
	/* A frame leaves the port. */
	void (*transmit)(struct emu_wire *wire, const uint8_t *frame, size_t len);
	/* Brings frames in; true if there was work. May be NULL. */
	bool (*poll)(struct emu_wire *wire);
	void (*close)(struct emu_wire *wire);
	/* More members of the port's statistics. May be NULL. */
	void (*stats)(const struct emu_wire *wire, json_t *port);
};

/*
 * Whether a wire that brings frames by itself may: the link is up, a queue receives,
 * and the flows have been the same for a while. A driver sets them up one by one and
 * replaces them when it becomes promiscuous; in between a frame would go where no
 * complete set sends it.
 */
bool emu_wire_settled(const struct emu_dev *dev);

/* What every wire starts with. */
struct emu_wire {
	const struct emu_wire_ops *ops;
	struct emu_dev *dev;
};

extern const struct emu_wire_ops emu_wire_loop;
extern const struct emu_wire_ops emu_wire_pair;
extern const struct emu_wire_ops emu_wire_tap;
extern const struct emu_wire_ops emu_wire_pcap;
extern const struct emu_wire_ops emu_wire_check;

#endif
