/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_EMU_H
#define MLX5EMU_EMU_H

/*
 * Seams between the parts of the library. Command side: shim, uapi, objects, verbs,
 * devx. Hardware side: mkey, engine (sq, rq, cq), steer, wire, stats.
 */

#include <stdio.h>

#include "hw.h"

/* ---- trace.c ---- */
extern bool emu_tracing;
void emu_trace_open(const char *path);
void emu_trace_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
#define emu_trace(...) do { if (emu_tracing) emu_trace_line(__VA_ARGS__); } while (0)

/* ---- report.c ---- */
/*
 * A refusal or wrong byte that somebody will want to know at exit: traced, and the
 * last EMU_REPORTS of them kept. One sentence without newline. Thread-safe.
 */
#define EMU_REPORTS 32
void emu_report(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Print what was kept, oldest first; nothing if there was nothing. Returns the lines. */
unsigned int emu_report_print(FILE *out);

/* ---- mkey.c ---- */

/* Who uses a key, and what the use moved. */
struct emu_access {
	struct emu_dev *dev;
	uint32_t pdn;
	uint64_t host_bytes;    /* of this frame */
	uint64_t memic_bytes;
};

/* Indirect keys may refer to indirect keys this often; the PRM's max_indirection. */
#define EMU_MAX_INDIRECTION 2

/*
 * Give the key an index (key->key keeps its low byte as variant) and make it usable.
 * Index numbers differ between devices and are not given again soon. Returns 0 or
 * -ENOMEM.
 */
int emu_mkey_add(struct emu_mkey *mkey);
void emu_mkey_remove(struct emu_mkey *mkey);
struct emu_mkey *emu_mkey_find(const struct emu_dev *dev, uint32_t key);
/* What --fault says of an indirect key with an entry over the key target. */
enum emu_key_fault emu_mkey_entry_fault(const struct emu_mkey *mkey, uint32_t target);

/*
 * Move len bytes between buf and the address space of a key. Checks the key, its
 * device, PD, access bits and the whole range, through every level of indirection,
 * before the first byte moves. Adds what moved to acc, which the queues add to the
 * port's statistics once the frame is complete. Returns 0, or -EACCES with the reason
 * reported and counted as a protection error; then nothing was moved.
 */
int emu_mkey_check(struct emu_access *acc, uint32_t key, uint64_t addr, size_t len,
		   uint32_t access);
int emu_mkey_read(struct emu_access *acc, uint32_t key, uint64_t addr, void *buf, size_t len);
int emu_mkey_write(struct emu_access *acc, uint32_t key, uint64_t addr, const void *buf,
		   size_t len);

/* ---- place.c ---- */
/*
 * Memory of the process that is not in one piece any more, see pin.h. Where the byte at off
 * is now, and how many follow it there; pages that were lost are memory of nobody's.
 */
uint8_t *emu_view_at(const struct emu_view *view, uint64_t off, uint64_t *room);
void emu_view_read(const struct emu_view *view, uint64_t off, void *to, size_t len);
void emu_view_write(const struct emu_view *view, uint64_t off, const void *from, size_t len);
/* Whether pages in the range were lost, and which address of the process is the first. */
bool emu_view_is_lost(const struct emu_view *view, uint64_t off, uint64_t len, uint64_t *addr);

/* Where a ring's byte is that its owner uses with others of the same 64. */
static inline uint8_t *
emu_ring_at(uint8_t *buf, const struct emu_view *torn, size_t off)
{
	return __builtin_expect(torn == NULL, 1) ? buf + off : emu_view_at(torn, off, NULL);
}

/* ---- engine.c ---- */

/*
 * Start the thread; again does nothing. Returns 0 or a negative errno. Stop waits for
 * its end and may be called without a start, but not with emu_lock() held. A forked
 * child has no engine, and its stop does nothing.
 */
int emu_engine_start(void);
void emu_engine_stop(void);

/* ---- cq.c ---- */
/* Offsets in a 64 B CQE; libmlx5's struct mlx5_cqe64 and mlx5_err_cqe. */
enum {
	EMU_CQE_HASH = 12,
	EMU_CQE_HASH_TYPE = 16,
	EMU_CQE_HDS_IP_EXT = 28,
	EMU_CQE_L4_HDR_TYPE = 29,
	EMU_CQE_UIDX = 32,
	EMU_CQE_BYTE_CNT = 44,
	EMU_CQE_TIMESTAMP = 48,
	EMU_CQE_VENDOR_SYNDROME = 54,
	EMU_CQE_SYNDROME = 55,
	EMU_CQE_SOP_QPN = 56,
	EMU_CQE_WQE_COUNTER = 60,
	EMU_CQE_OP_OWN = 63,
};

/* libmlx5's MLX5_CQE_SYNDROME_*. */
enum {
	EMU_SYND_LOCAL_LENGTH = 0x01,
	EMU_SYND_LOCAL_QP_OP = 0x02,
	EMU_SYND_LOCAL_PROT = 0x04,
	EMU_SYND_WR_FLUSH = 0x05,
};

/* Nanoseconds; the clock of CQE timestamps (device_frequency_khz is 1000000). */
uint64_t emu_clock(void);

/*
 * Write a CQE (64 bytes, fields big endian, opcode, owner and timestamp filled in here).
 * False if the CQ is dead or this killed it (overrun): the queue must go to error then.
 */
bool emu_cq_push(struct emu_cq *cq, uint8_t cqe[64], unsigned int opcode);
/* The same for an error CQE; sop_qpn as in a good one. */
bool emu_cq_push_error(struct emu_cq *cq, unsigned int opcode, uint32_t user_index,
		       uint32_t sop_qpn, uint16_t wqe_counter, uint8_t syndrome,
		       uint8_t vendor);
/*
 * In the arm word of a new CQ's record: no arming looks like it, as its command bits (26:24)
 * know two values only, while the very first of libmlx5 is the 0 that it leaves there.
 */
#define EMU_CQ_NOT_ARMED UINT32_MAX
/* Deliver the event of an armed CQ that holds unseen CQEs; true if one was sent. */
bool emu_cq_poll_arm(struct emu_cq *cq);

/* ---- sq.c, rq.c ---- */
/* Longest frame that a port sends, without FCS; mlx5 netdevs allow an MTU of 9978. */
#define EMU_FRAME_MAX 10240

/*
 * Execute (RDY) or flush (ERR) up to budget send WQEs; true if there was work. What the
 * kernel's and PRM's modify commands do is to set state, except the way to RST: that is
 * emu_sq_reset() or emu_rq_reset(), which forget all that was posted.
 */
bool emu_sq_run(struct emu_sq *sq, unsigned int budget);
void emu_sq_reset(struct emu_sq *sq);

struct emu_packet;
/* Whether a frame would find a receive WQE now. */
bool emu_rq_ready(const struct emu_rq *rq);
void emu_rq_receive(struct emu_rq *rq, const struct emu_packet *p, uint32_t hash,
		    uint8_t hash_type, uint32_t tag);
/* Count doorbells; flush up to budget WQEs of an RQ in ERR. True if there was work. */
bool emu_rq_run(struct emu_rq *rq, unsigned int budget);
void emu_rq_reset(struct emu_rq *rq);

/* ---- packet.c ---- */
struct emu_packet {
	const uint8_t *data;
	size_t len;
	unsigned int l3, l4;    /* 4, 6 or 0; IP protocol of TCP or UDP, or 0 */
	size_t l3_off, l4_off;
	size_t l4_len;          /* header and payload, as the IP header tells */
	bool frag;
	bool ip_options;        /* IPv4 options or IPv6 extension headers */
	bool l3_csum_ok, l4_csum_ok;
	bool looped;            /* it never was on the wire */
	uint8_t fields[EMU_MATCH_BYTES]; /* as fte_match_set_lyr_2_4 */
};
/* Headers and checksums of a frame, which must stay as long as p is used. */
void emu_packet_parse(struct emu_packet *p, const uint8_t *data, size_t len);
/* Write the checksums a send WQE asks for into a frame; what has no such header stays. */
void emu_packet_fill_csum(uint8_t *data, size_t len, bool l3, bool l4);
/* Sum of 16-bit words as the Internet checksum adds them (RFC 1071), not yet folded. */
uint64_t emu_csum_add(uint64_t sum, const uint8_t *data, size_t len);
uint16_t emu_csum_fold(uint64_t sum);   /* folded, complemented, to be stored as is */

/* ---- steer.c ---- */
/* Count a frame that passes the port one way. */
void emu_vport_count(struct emu_vport *vport, const uint8_t *frame, size_t len);
void emu_flow_add(struct emu_flow *flow);
void emu_flow_remove(struct emu_flow *flow);
/* Whether a frame that a queue sends goes out; flows may count it, or drop it. */
bool emu_steer_transmit(struct emu_dev *dev, const uint8_t *frame, size_t len);
/* Frame from the wire to the queue that its flow names. */
void emu_steer_receive(struct emu_dev *dev, const uint8_t *frame, size_t len);
/*
 * The same for wires that hold back: a frame that would be lost for want of a WQE or of
 * a flow stays with the wire, and nothing is counted.
 */
enum emu_offer { EMU_OFFER_TAKEN, EMU_OFFER_NO_WQE, EMU_OFFER_NO_MATCH };
enum emu_offer emu_steer_offer(struct emu_dev *dev, const uint8_t *frame, size_t len);

/*
 * A frame that the function sent to its own address, inside the card: only queues that
 * allow self loopback get it.
 */
void emu_steer_loopback(struct emu_dev *dev, const uint8_t *frame, size_t len);

/* ---- loopback.c ---- */
/* Whether a frame stays inside the card; if so it is delivered and counted. */
bool emu_loopback(struct emu_dev *dev, uint8_t *frame, size_t len);

/* ---- wire.c ---- */
/* All under emu_lock(), or before the engine starts. Open says on stderr why it fails. */
int emu_wire_open(struct emu_dev *dev);
void emu_wire_transmit(struct emu_dev *dev, const uint8_t *frame, size_t len);
/* Bring frames in; true if there was work. */
bool emu_wire_poll(struct emu_dev *dev);
void emu_wire_close(struct emu_dev *dev);
/* Extra members of the port's object in the statistics ("sent", "returned", ...). */
struct json_t;
void emu_wire_stats(const struct emu_dev *dev, struct json_t *port);

/* ---- stats.c ---- */
/* Write --stats at exit; leaked is what objects.c still holds. */
int emu_stats_write(const char *path, unsigned int leaked);

#endif
