/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "emu.h"
#include "eswitch.h"
#include "wqe.h"

/*
 * What a send WQE says, and the frames that come of it. Segments as in libmlx5's
 * mlx5dv.h and DPDK's mlx5_prm.h and mlx5_tx.h. Whatever is not done here fails the WQE:
 * a frame that leaves without what was asked for would be a silent wrong byte.
 */
enum {
	OP_NOP = 0x00,
	OP_SEND = 0x0a,
	OP_TSO = 0x0e,          /* with OPMOD_MPW: legacy multi-packet WQE */
	OP_EMPW = 0x29,
};

#define OPMOD_MPW 1

#define CS_L3 0x40
#define CS_L4 0x80

#define ETH_INLINE_START 14     /* of the Ethernet segment; 2 bytes fit into its 16 */
#define ETH_INLINE_SIZE 0x03ff  /* of inline_hdr_sz */
#define ETH_VLAN_INSERT 0x8000

#define DATA_INLINE 0x80000000u
#define FRAME_MIN 14

/* A WQE on its way: what is left of it, and the frame so far. */
struct send {
	struct wqe *wqe;
	const uint8_t *seg, *end;
	struct emu_access acc;
	uint8_t cs_flags;
	uint16_t mss;
	size_t len;             /* of the frame */
	size_t inlined;         /* bytes of it that came in the WQE */
};

/* Only the engine sends, and under its lock. */
static uint8_t frame[EMU_FRAME_MAX];

int
emu_wqe_fail(struct wqe *wqe, uint8_t syndrome, uint8_t vendor, const char *fmt, ...)
{
	char why[120];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	emu_report("%s: sq 0x%x wqe %u (opcode 0x%02x): %s", wqe->sq->dev->name, wqe->sq->num,
		   wqe->sq->ci, wqe->opcode, why);
	wqe->syndrome = syndrome;
	wqe->vendor = vendor;
	return -1;
}

static uint32_t
get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static uint64_t
get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return be64toh(v);
}

static uint16_t
get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static int
bad_data(struct send *s, const char *what, size_t n)
{
	return emu_wqe_fail(s->wqe, EMU_SYND_LOCAL_QP_OP, VENDOR_DATA, "%s %zu bytes", what, n);
}

static size_t
left(const struct send *s)
{
	return (size_t)(s->end - s->seg);
}

/* Bytes that the WQE carries itself. */
static int
add_inline(struct send *s, const uint8_t *from, size_t n)
{
	if (n > sizeof(frame) - s->len)
		return emu_wqe_fail(s->wqe, EMU_SYND_LOCAL_LENGTH, VENDOR_LENGTH,
				    "frame exceeds %zu bytes", sizeof(frame));
	memcpy(frame + s->len, from, n);
	s->len += n;
	s->inlined += n;
	return 0;
}

static int
add_pointer(struct send *s, uint32_t bytes, uint32_t lkey, uint64_t addr)
{
	/* Why libmlx5 leaves empty segments out: 0 stands for 2^31. */
	if (bytes == 0 || bytes > sizeof(frame) - s->len)
		return emu_wqe_fail(s->wqe, EMU_SYND_LOCAL_LENGTH, VENDOR_LENGTH,
				    "pointer segment of %u%s bytes, frame exceeds %zu",
				    bytes, bytes == 0 ? " (2^31)" : "", sizeof(frame));
	if (emu_mkey_read(&s->acc, lkey, addr, frame + s->len, bytes) < 0)
		return emu_wqe_fail(s->wqe, EMU_SYND_LOCAL_PROT, VENDOR_MKEY,
				    "lkey 0x%x, address 0x%llx, %u bytes refused", lkey,
				    (unsigned long long)addr, bytes);
	s->len += bytes;
	return 0;
}

/* The data segment at s->seg, of either kind; moves on to the next. */
static int
add_data(struct send *s)
{
	uint32_t bytes = get32(s->seg);
	size_t n;
	int ret;

	if (!(bytes & DATA_INLINE)) {
		ret = add_pointer(s, bytes, get32(s->seg + 4), get64(s->seg + 8));
		s->seg += WQE_SEG_BYTES;
		return ret;
	}
	n = bytes & ~DATA_INLINE;
	if (n > left(s) - 4)
		return bad_data(s, "inline data exceeds the WQE:", n);
	ret = add_inline(s, s->seg + 4, n);
	s->seg += (4 + n + WQE_SEG_BYTES - 1) / WQE_SEG_BYTES * WQE_SEG_BYTES;
	return ret;
}

/*
 * mlx5_eswitch_add_send_to_vport_rule() is what brings a queue's frames to a vport, and the
 * kernel does it for queues of verbs only. Those of DevX are left to the slow path's miss
 * rule (esw_add_fdb_miss_rule()), behind which no port of ours is.
 */
static void
lose(const struct emu_sq *sq)
{
	if (sq->dev->stats.tx_no_rule++ == 0)
		emu_report("%s: sq 0x%x was made by DevX and has no rule in the e-switch: its "
			   "frames are lost; with --one-device send from queues of verbs, as "
			   "the mlx5 PMD does with dv_flow_en=0", sq->dev->name, sq->num);
}

/* The next frame of the WQE begins. */
static void
begin_frame(struct send *s)
{
	s->len = 0;
	s->inlined = 0;
	s->acc.host_bytes = 0;
	s->acc.memic_bytes = 0;
}

static int
transmit(struct send *s)
{
	struct emu_dev *dev = s->wqe->sq->dev;
	struct emu_stats *stats = &dev->stats;
	bool l3 = s->cs_flags & CS_L3, l4 = s->cs_flags & CS_L4;

	if (s->len < FRAME_MIN)
		return emu_wqe_fail(s->wqe, EMU_SYND_LOCAL_LENGTH, VENDOR_LENGTH,
				    "frame of %zu bytes has no Ethernet header", s->len);
	if (l3 || l4)
		emu_packet_fill_csum(frame, s->len, l3, l4);
	if (emu_loopback(dev, frame, s->len)) {
		begin_frame(s);
		return 0;
	}
	stats->tx_frames++;
	stats->tx_bytes += s->len;
	stats->inline_bytes += s->inlined;
	stats->host_read_bytes += s->acc.host_bytes;
	stats->memic_read_bytes += s->acc.memic_bytes;
	if (s->wqe->sq->no_rule)
		lose(s->wqe->sq);
	else if (emu_steer_transmit(dev, frame, s->len))
		emu_wire_transmit(dev, frame, s->len);
	begin_frame(s);
	return 0;
}

static int
bad_eth(struct send *s, const char *what, unsigned int value)
{
	return emu_wqe_fail(s->wqe, EMU_SYND_LOCAL_QP_OP, VENDOR_ETH, "%s (0x%x) not supported",
			    what, value);
}

/* The Ethernet segment without its inline part; *inline_size is what it says of that. */
static int
read_eth(struct send *s, size_t *inline_size)
{
	const uint8_t *eth = s->seg;
	uint16_t size;

	if (left(s) < WQE_SEG_BYTES)
		return bad_data(s, "no Ethernet segment in", left(s));
	size = get16(eth + 12);
	s->cs_flags = eth[4];
	s->mss = get16(eth + 6);
	if (s->cs_flags & ~(CS_L3 | CS_L4))
		return bad_eth(s, "inner checksums", s->cs_flags);
	if (get32(eth) != 0 || eth[5] != 0)
		return bad_eth(s, "software parser", eth[5]);
	if (size & ETH_VLAN_INSERT)
		return bad_eth(s, "VLAN insertion", get16(eth + 14));
	if (size & ~ETH_INLINE_SIZE)
		return bad_eth(s, "inline header size", size);
	*inline_size = size;
	return 0;
}

static int
run_send(struct send *s)
{
	size_t n, eth_bytes;
	int ret;

	ret = read_eth(s, &n);
	if (ret < 0)
		return ret;
	if (s->mss != 0)
		return bad_eth(s, "segmentation", s->mss);
	eth_bytes = n > 2 ? (ETH_INLINE_START + n + WQE_SEG_BYTES - 1) / WQE_SEG_BYTES *
			    WQE_SEG_BYTES : WQE_SEG_BYTES;
	if (eth_bytes > left(s))
		return bad_data(s, "inline header exceeds the WQE:", n);
	ret = add_inline(s, s->seg + ETH_INLINE_START, n);
	s->seg += eth_bytes;
	while (ret == 0 && left(s) > 0)
		ret = add_data(s);
	return ret < 0 ? ret : transmit(s);
}

/* The Ethernet segment that the packets of a multi-packet WQE share. */
static int
read_shared_eth(struct send *s)
{
	size_t inline_size;
	int ret;

	if (!s->wqe->sq->allow_mpw)
		return emu_wqe_fail(s->wqe, EMU_SYND_LOCAL_QP_OP, VENDOR_OPCODE,
				    "multi-packet WQEs are not enabled");
	ret = read_eth(s, &inline_size);
	if (ret < 0)
		return ret;
	if (inline_size != 0)
		return bad_eth(s, "inline header in a multi-packet WQE",
			       (unsigned int)inline_size);
	s->seg += WQE_SEG_BYTES;
	if (left(s) == 0)
		return bad_data(s, "multi-packet WQE has data of", 0);
	return 0;
}

/* Each data segment is a packet. */
static int
run_empw(struct send *s)
{
	int ret;

	ret = read_shared_eth(s);
	if (ret == 0 && s->mss != 0)
		return bad_eth(s, "segmentation", s->mss);
	while (ret == 0 && left(s) > 0) {
		ret = add_data(s);
		if (ret == 0)
			ret = transmit(s);
	}
	return ret;
}

/* Packets of one length, one after the other in one inline segment. */
static int
run_mpw_inline(struct send *s, size_t bytes)
{
	const uint8_t *data = s->seg + 4;
	size_t done;
	int ret = 0;

	if (bytes > left(s) - 4)
		return bad_data(s, "inline data exceeds the WQE:", bytes);
	if (bytes == 0 || bytes % s->mss != 0)
		return bad_data(s, "inline data is no multiple of the packet length:", bytes);
	for (done = 0; ret == 0 && done < bytes; done += s->mss) {
		ret = add_inline(s, data + done, s->mss);
		if (ret == 0)
			ret = transmit(s);
	}
	return ret;
}

static int
run_mpw(struct send *s)
{
	int ret;

	ret = read_shared_eth(s);
	if (ret < 0)
		return ret;
	if (s->mss == 0)
		return bad_eth(s, "packet length", 0);
	if (get32(s->seg) & DATA_INLINE)
		return run_mpw_inline(s, get32(s->seg) & ~DATA_INLINE);
	while (ret == 0 && left(s) > 0) {
		if (get32(s->seg) != s->mss)
			return bad_data(s, "packet differs from the common length:",
					get32(s->seg));
		ret = add_data(s);
		if (ret == 0)
			ret = transmit(s);
	}
	return ret;
}

int
emu_wqe_run(struct wqe *wqe)
{
	struct send s = {
		.wqe = wqe,
		.seg = wqe->data + WQE_SEG_BYTES,
		.end = wqe->data + (size_t)wqe->ds * WQE_SEG_BYTES,
		.acc = { .dev = emu_ib_device(wqe->sq->dev), .pdn = wqe->sq->pdn },
	};

	if (wqe->opcode == OP_NOP && wqe->opmod == 0)
		return 0;
	if (wqe->opcode == OP_SEND && wqe->opmod == 0)
		return run_send(&s);
	if (wqe->opcode == OP_EMPW && wqe->opmod == 0)
		return run_empw(&s);
	if (wqe->opcode == OP_TSO && wqe->opmod == OPMOD_MPW)
		return run_mpw(&s);
	return emu_wqe_fail(wqe, EMU_SYND_LOCAL_QP_OP, VENDOR_OPCODE,
			    "opcode with modifier 0x%x not supported", wqe->opmod);
}
