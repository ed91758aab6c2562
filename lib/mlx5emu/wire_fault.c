/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <stdlib.h>
#include <string.h>

#include "inject.h"

/*
 * Between a port's send queues and its wire, of whatever kind: every so manieth frame is
 * lost, changes places with the next one, and all of them take their time.
 */
#define WAIT_BYTES_MAX (64u << 20) /* on their way; more are lost */
#define SWAP_WAIT_NS 10000000u     /* a frame without a successor goes by itself */

struct frame {
	STAILQ_ENTRY(frame) next;
	uint64_t due;           /* emu_clock() */
	size_t len;
	uint8_t data[];
};

struct emu_wire_fault {
	STAILQ_HEAD(, frame) waiting; /* by ascending due, as the delay is the same for all */
	size_t waiting_bytes;
	struct frame *swap;     /* goes behind the next one, or alone when it is due */
	uint64_t seen, passed;  /* frames that came, and those of them that were not lost */
	uint64_t dropped, delayed, reordered, overflowed;
};

bool
emu_wire_fault_any(const struct emu_dev *dev)
{
	const struct emu_faults *f = &dev->cfg->fault;

	return f->drop != 0 || f->delay_us != 0 || f->reorder != 0;
}

static struct emu_wire_fault *
state(struct emu_dev *dev)
{
	struct emu_wire_fault *w = dev->inject.wire;

	if (w == NULL) {
		w = calloc(1, sizeof(*w));
		if (w == NULL)
			return NULL;
		STAILQ_INIT(&w->waiting);
		dev->inject.wire = w;
	}
	return w;
}

static struct frame *
keep(const uint8_t *data, size_t len, uint64_t due)
{
	struct frame *frame = malloc(sizeof(*frame) + len);

	if (frame == NULL)
		return NULL;
	frame->due = due;
	frame->len = len;
	memcpy(frame->data, data, len);
	return frame;
}

static void
wait(struct emu_dev *dev, const uint8_t *data, size_t len)
{
	struct emu_wire_fault *w = dev->inject.wire;
	struct frame *frame = NULL;

	if (w->waiting_bytes + len <= WAIT_BYTES_MAX)
		frame = keep(data, len, emu_clock() + dev->cfg->fault.delay_us * 1000);
	if (frame == NULL) {
		if (w->overflowed++ == 0)
			emu_report("%s: --fault delay: more than %u MiB on the wire, frames are "
				   "lost", dev->name, WAIT_BYTES_MAX >> 20);
		return;
	}
	w->waiting_bytes += len;
	w->delayed++;
	STAILQ_INSERT_TAIL(&w->waiting, frame, next);
}

static void
leave(struct emu_dev *dev, const uint8_t *data, size_t len)
{
	if (dev->cfg->fault.delay_us != 0)
		wait(dev, data, len);
	else
		dev->wire->ops->transmit(dev->wire, data, len);
}

static void
release_swap(struct emu_dev *dev)
{
	struct frame *frame = dev->inject.wire->swap;

	dev->inject.wire->swap = NULL;
	leave(dev, frame->data, frame->len);
	free(frame);
}

void
emu_wire_fault_transmit(struct emu_dev *dev, const uint8_t *data, size_t len)
{
	const struct emu_faults *f = &dev->cfg->fault;
	struct emu_wire_fault *w = state(dev);

	if (w == NULL)
		return;
	w->seen++;
	if (f->drop != 0 && w->seen % f->drop == 0) {
		w->dropped++;
		return;
	}
	w->passed++;
	if (w->swap != NULL) {
		leave(dev, data, len);
		w->reordered++;
		release_swap(dev);
		return;
	}
	if (f->reorder != 0 && w->passed % f->reorder == 0)
		w->swap = keep(data, len, emu_clock() + SWAP_WAIT_NS);
	if (w->swap == NULL)
		leave(dev, data, len);
}

bool
emu_wire_fault_poll(struct emu_dev *dev)
{
	struct emu_wire_fault *w = dev->inject.wire;
	uint64_t now = emu_clock();
	struct frame *frame;
	unsigned int n = 0;

	if (w == NULL)
		return false;
	if (w->swap != NULL && w->swap->due <= now)
		release_swap(dev);
	for (; n < EMU_WIRE_BURST; n++) {
		frame = STAILQ_FIRST(&w->waiting);
		if (frame == NULL || frame->due > now)
			break;
		STAILQ_REMOVE_HEAD(&w->waiting, next);
		w->waiting_bytes -= frame->len;
		dev->wire->ops->transmit(dev->wire, frame->data, frame->len);
		free(frame);
	}
	return n > 0;
}

void
emu_wire_fault_close(struct emu_dev *dev)
{
	struct emu_wire_fault *w = dev->inject.wire;
	struct frame *frame;

	if (w == NULL)
		return;
	while ((frame = STAILQ_FIRST(&w->waiting)) != NULL) {
		STAILQ_REMOVE_HEAD(&w->waiting, next);
		free(frame);
	}
	free(w->swap);
	free(w);
	dev->inject.wire = NULL;
}

static void
add(json_t *port, const char *name, uint64_t value)
{
	json_object_set_new(port, name, json_integer((json_int_t)value));
}

void
emu_wire_fault_stats(const struct emu_dev *dev, json_t *port)
{
	const struct emu_faults *f = &dev->cfg->fault;
	static const struct emu_wire_fault none;
	const struct emu_wire_fault *w = dev->inject.wire == NULL ? &none : dev->inject.wire;

	if (f->drop != 0)
		add(port, "wire_dropped", w->dropped);
	if (f->delay_us != 0)
		add(port, "wire_delayed", w->delayed);
	if (f->reorder != 0)
		add(port, "wire_reordered", w->reordered);
}
