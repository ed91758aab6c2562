/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu.h"
#include "wire.h"

/*
 * The network device emuN as the cable's other end: what the network stack sends on it
 * arrives at the port, and what the port sends, the stack receives. The launcher hands
 * down the TAP device's descriptor.
 */

struct wire_tap {
	struct emu_wire wire;
	int fd;
	bool told;              /* of an error */
	uint8_t frame[EMU_FRAME_MAX];
};

static int
tap_open(struct emu_dev *dev, struct emu_wire **wire)
{
	int fd = dev->cfg->tap_fds[dev->index];
	struct ifreq req = { .ifr_flags = 0 };
	struct wire_tap *w;

	if (syscall(SYS_ioctl, fd, TUNGETIFF, &req) < 0 || strcmp(req.ifr_name, dev->netdev) != 0) {
		fprintf(stderr, "mlx5emu: --wire tap: descriptor %d, which the launcher hands "
			"down for %s, was closed on the way (EBADF): a program that starts "
			"another must leave it open\n", fd, dev->netdev);
		return -EBADF;
	}
	w = malloc(sizeof(*w));
	if (w == NULL)
		return -ENOMEM;
	w->wire.ops = &emu_wire_tap;
	w->wire.dev = dev;
	w->fd = fd;
	w->told = false;
	*wire = &w->wire;
	return 0;
}

static void
tell(struct wire_tap *w, const char *what)
{
	if (!w->told)
		emu_report("%s: --wire tap: cannot %s %s: %s", w->wire.dev->name, what,
			   w->wire.dev->netdev, strerrorname_np(errno));
	w->told = true;
}

/* EIO is an interface that is down: frames are lost then as on a pulled cable. */
static void
tap_transmit(struct emu_wire *wire, const uint8_t *frame, size_t len)
{
	struct wire_tap *w = (struct wire_tap *)wire;

	if (syscall(SYS_write, w->fd, frame, len) < 0 && errno != EIO && errno != EAGAIN)
		tell(w, "write to");
}

/* What finds no receive WQE is lost, as on a real port: the stack does not wait. */
static bool
tap_poll(struct emu_wire *wire)
{
	struct wire_tap *w = (struct wire_tap *)wire;
	unsigned int i;
	ssize_t len;

	for (i = 0; i < EMU_WIRE_BURST; i++) {
		len = syscall(SYS_read, w->fd, w->frame, sizeof(w->frame));
		if (len < 0 && errno != EAGAIN && errno != EIO && errno != EINTR)
			tell(w, "read from");
		if (len <= 0)
			break;
		emu_steer_receive(wire->dev, w->frame, (size_t)len);
	}
	return i > 0;
}

static void
tap_close(struct emu_wire *wire)
{
	free(wire); /* the descriptor is for the next context, too */
}

const struct emu_wire_ops emu_wire_tap = {
	.name = "tap",
	.open = tap_open,
	.transmit = tap_transmit,
	.poll = tap_poll,
	.close = tap_close,
};
