/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu.h"
#include "eswitch.h"
#include "wire.h"

/*
 * A traffic generator and analyser. It feeds numbered frames into the port as fast as
 * the port takes them, and knows every byte of each from its number, so that it can
 * tell what comes out of the port: good, altered, out of order, twice, or never. A frame
 * may come out of another port: it counts for the one it went into.
 *
 * Frame: Ethernet from a MAC that tells the port to the port's MAC, IPv4, UDP, the number
 * (8 bytes), data.
 */
#define ETH_LEN 14
#define IP_LEN 20
#define UDP_LEN 8
#define NUMBER_OFF (ETH_LEN + IP_LEN + UDP_LEN)
#define DATA_OFF (NUMBER_OFF + 8)
#define ORIGIN_OFF 11           /* last byte of the source MAC: 1 and the port's index */
#define FRAME_MIN 60
#define FRAME_MAX 9216
#define STALL_NS 100000000u     /* a program may not get a CPU for some time */
#define DESCRIBED 8             /* bad frames that are reported one by one */
#define KEPT 1024               /* frames; a power of two */

struct wire_check {
	struct emu_wire wire;
	uint64_t count;
	size_t bytes;
	uint64_t sent, returned, bad, reordered;
	uint64_t given_up;      /* frames in flight that are no longer waited for */
	uint64_t stalled_since; /* emu_clock() when the window filled; 0 while it is open */
	uint64_t next_expected; /* one more than the highest number seen */
	uint8_t *seen;          /* one bit a number */
	bool waiting;           /* the frame of number sent is made */
	uint8_t *kept;          /* the last KEPT frames, to compare with */
	size_t stride;          /* from one to the next */
	uint8_t want[FRAME_MAX + 8];
};

/* Finalizer of splitmix64: all bits of the number reach all bits of the result. */
static uint64_t
scramble(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static void
put16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* Data words follow each other with a step, so that a word in the wrong place shows. */
static void
fill_data(uint8_t *p, size_t len, uint64_t number)
{
	uint64_t word = scramble(number), step = scramble(~number) | 1;
	size_t i;

	for (i = 0; i < len; i += 8) {
		memcpy(p + i, &word, 8);
		word += step;
	}
}

static void
fill_ip(uint8_t *ip, size_t len, uint64_t number)
{
	static const uint8_t head[IP_LEN] = {
		0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, IPPROTO_UDP, 0, 0,
		192, 0, 2, 0, 198, 51, 100, 1, /* RFC 5737 */
	};
	uint16_t csum;

	memcpy(ip, head, IP_LEN);
	put16(ip + 2, (uint16_t)len);
	put16(ip + 4, (uint16_t)number);
	ip[15] = (uint8_t)(1 + number % 254); /* spreads an RSS over addresses only, too */
	csum = emu_csum_fold(emu_csum_add(0, ip, IP_LEN));
	memcpy(ip + 10, &csum, 2);
}

static void
fill_udp(uint8_t *udp, const uint8_t *ip, size_t len, uint64_t number)
{
	uint64_t sum = htobe16(IPPROTO_UDP) + htobe16((uint16_t)len);
	uint16_t csum;

	put16(udp, (uint16_t)(0xc000 | (number & 0x3fff)));
	put16(udp + 2, 9); /* discard */
	put16(udp + 4, (uint16_t)len);
	put16(udp + 6, 0);
	csum = emu_csum_fold(emu_csum_add(emu_csum_add(sum, ip + 12, 8), udp, len));
	if (csum == 0)
		csum = 0xffff;
	memcpy(udp + 6, &csum, 2);
}

/* Writes up to 7 bytes more than the frame has. */
static void
make_frame(const struct wire_check *w, uint8_t *frame, uint64_t number)
{
	static const uint8_t src[5] = { 0x02, 0, 0, 0xc4, 0xec };
	uint64_t be = htobe64(number);
	uint8_t *ip = frame + ETH_LEN, *udp = ip + IP_LEN;

	memcpy(frame, w->wire.dev->mac, 6);
	memcpy(frame + 6, src, sizeof(src));
	frame[ORIGIN_OFF] = (uint8_t)(1 + w->wire.dev->index);
	put16(frame + 12, 0x0800);
	memcpy(frame + NUMBER_OFF, &be, 8);
	fill_data(frame + DATA_OFF, w->bytes - DATA_OFF, number);
	fill_ip(ip, w->bytes - ETH_LEN, number);
	fill_udp(udp, ip, w->bytes - ETH_LEN - IP_LEN, number);
}

static uint8_t *
kept_frame(const struct wire_check *w, uint64_t number)
{
	return w->kept + (number & (KEPT - 1)) * w->stride;
}

/* The frame of a number that was sent: kept, or made again if it comes that late. */
static const uint8_t *
wanted_frame(struct wire_check *w, uint64_t number)
{
	if (w->sent - number <= KEPT - 1) /* one slot may hold a frame that waits */
		return kept_frame(w, number);
	make_frame(w, w->want, number);
	return w->want;
}

static int
check_open(struct emu_dev *dev, struct emu_wire **wire)
{
	uint64_t count = dev->cfg->check_count;
	uint32_t bytes = dev->cfg->check_bytes;
	struct wire_check *w;

	if (count == 0 || bytes < FRAME_MIN || bytes > FRAME_MAX) {
		fprintf(stderr, "mlx5emu: --wire check:%llu:%u: at least 1 frame of %u to %u "
			"bytes (EINVAL)\n", (unsigned long long)count, bytes, FRAME_MIN,
			FRAME_MAX);
		return -EINVAL;
	}
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return -ENOMEM;
	w->stride = (bytes + 8 + 63) / 64 * 64; /* make_frame() writes beyond the end */
	w->kept = calloc(KEPT, w->stride);
	w->seen = calloc(count / 8 + 1, 1);
	if (w->kept == NULL || w->seen == NULL) {
		fprintf(stderr, "mlx5emu: --wire check:%llu: no memory for so many (ENOMEM)\n",
			(unsigned long long)count);
		goto err_free;
	}
	w->wire.ops = &emu_wire_check;
	w->wire.dev = dev;
	w->count = count;
	w->bytes = bytes;
	*wire = &w->wire;
	return 0;

err_free:
	free(w->seen);
	free(w->kept);
	free(w);
	return -ENOMEM;
}

/*
 * Frames that may be in flight: half of the smallest send ring. A forwarder drops what
 * finds its ring full, and while this many are on their way none can be: so what is
 * lost is the program's doing, not the pace's.
 */
static uint64_t
window(const struct emu_dev *dev)
{
	uint64_t least = UINT64_MAX;
	const struct emu_sq *sq;

	LIST_FOREACH(sq, &emu_ib_device(dev)->sqs, next)
		if (sq->state == EMU_Q_RDY && sq->wqebbs / 2 < least)
			least = sq->wqebbs / 2;
	return least;
}

/* Whether one more frame may go in. What does not come back in time is lost. */
static bool
window_open(struct wire_check *w)
{
	uint64_t flying = w->sent - w->returned;

	if (flying < w->given_up + window(w->wire.dev)) {
		w->stalled_since = 0;
		return true;
	}
	if (w->stalled_since == 0)
		w->stalled_since = emu_clock();
	if (emu_clock() - w->stalled_since < STALL_NS)
		return false;
	w->given_up = flying;
	w->stalled_since = 0;
	return true;
}

static bool
check_poll(struct emu_wire *wire)
{
	struct wire_check *w = (struct wire_check *)wire;
	unsigned int i;

	if (w->sent == w->count || !emu_wire_settled(wire->dev))
		return false;
	for (i = 0; i < EMU_WIRE_BURST && w->sent < w->count && window_open(w); i++) {
		uint8_t *frame = kept_frame(w, w->sent);

		if (!w->waiting)
			make_frame(w, frame, w->sent);
		w->waiting = true;
		/* What goes in may come out before this returns. */
		w->sent++;
		if (emu_steer_offer(wire->dev, frame, w->bytes) != EMU_OFFER_TAKEN) {
			w->sent--;
			break;
		}
		w->waiting = false;
	}
	return i > 0;
}

static void
describe(struct wire_check *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void
describe(struct wire_check *w, const char *fmt, ...)
{
	char why[120];
	va_list ap;

	if (w->bad++ >= DESCRIBED)
		return;
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	emu_report("%s: --wire check: %s", w->wire.dev->name, why);
}

static void
describe_difference(struct wire_check *w, uint64_t number, const uint8_t *frame,
		    const uint8_t *want)
{
	size_t i = 0;

	while (i < w->bytes - 1 && frame[i] == want[i])
		i++;
	describe(w, "frame %llu, offset %zu: got 0x%02x, want 0x%02x",
		 (unsigned long long)number, i, frame[i], want[i]);
}

/* Notes that a number came; false if it had come before. An altered one counts, too. */
static bool
take_number(struct wire_check *w, uint64_t number)
{
	uint8_t bit = (uint8_t)(1u << (number & 7));

	if (w->seen[number >> 3] & bit)
		return false;
	w->seen[number >> 3] |= bit;
	w->returned++;
	if (number < w->next_expected)
		w->reordered++;
	else
		w->next_expected = number + 1;
	return true;
}

/* The wire that a frame says it comes from; this one where that cannot be. */
static struct wire_check *
origin(struct emu_wire *wire, const uint8_t *frame, size_t len)
{
	unsigned int index = len > ORIGIN_OFF ? frame[ORIGIN_OFF] - 1u : UINT_MAX;

	if (index < emu_dev_count && emu_devs[index].wire != NULL &&
	    emu_devs[index].wire->ops == wire->ops)
		wire = emu_devs[index].wire;
	return (struct wire_check *)wire;
}

static void
check_transmit(struct emu_wire *wire, const uint8_t *frame, size_t len)
{
	struct wire_check *w = origin(wire, frame, len);
	const uint8_t *want;
	uint64_t number;
	bool fresh;

	/* What is not one of ours, or comes twice, does not make up for one that is lost. */
	if (len != w->bytes) {
		describe(w, "frame of %zu bytes, want %zu", len, w->bytes);
		return;
	}
	memcpy(&number, frame + NUMBER_OFF, 8);
	number = be64toh(number);
	if (number >= w->sent) {
		describe(w, "frame %llu (0x%llx) was never sent", (unsigned long long)number,
			 (unsigned long long)number);
		return;
	}
	fresh = take_number(w, number);
	want = wanted_frame(w, number);
	if (memcmp(frame, want, len) != 0)
		describe_difference(w, number, frame, want);
	else if (!fresh)
		describe(w, "frame %llu came twice", (unsigned long long)number);
}

static void
check_stats(const struct emu_wire *wire, json_t *port)
{
	const struct wire_check *w = (const struct wire_check *)wire;
	uint64_t lost = w->sent > w->returned ? w->sent - w->returned : 0;

	json_object_set_new(port, "sent", json_integer((json_int_t)w->sent));
	json_object_set_new(port, "returned", json_integer((json_int_t)w->returned));
	json_object_set_new(port, "bad", json_integer((json_int_t)w->bad));
	json_object_set_new(port, "lost", json_integer((json_int_t)lost));
	json_object_set_new(port, "reordered", json_integer((json_int_t)w->reordered));
}

static void
check_close(struct emu_wire *wire)
{
	struct wire_check *w = (struct wire_check *)wire;

	free(w->seen);
	free(w->kept);
	free(w);
}

const struct emu_wire_ops emu_wire_check = {
	.name = "check",
	.open = check_open,
	.transmit = check_transmit,
	.poll = check_poll,
	.close = check_close,
	.stats = check_stats,
};
