/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef TEST_MLX5EMU_RIG_H
#define TEST_MLX5EMU_RIG_H

/* cmocka.h wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "emu.h"
#include "wire.h"

/* A card of two functions built by hand, with no driver and no engine thread. */

#define RIG_PD 7
#define RIG_UIDX 0x4321
#define RIG_MEM 65536
#define RIG_FRAMES 128

/* A wire that keeps what a port sends. */
struct rig_wire {
	struct emu_wire wire;
	unsigned int n;
	size_t len[RIG_FRAMES];
	uint8_t frame[RIG_FRAMES][EMU_FRAME_MAX];
};

struct rig {
	struct emu_config cfg;
	struct emu_dev devs[2];
	struct rig_wire wire;   /* of devs[0] */
	uint8_t *host, *memic;  /* RIG_MEM bytes each */
	struct emu_mkey host_key, memic_key; /* of devs[0] and RIG_PD, VA-based and zero-based */
	struct emu_cq cq;
	struct emu_sq sq;
	struct emu_rq rq;
	struct emu_tir tir;
	struct emu_flow flow;   /* all default, to rq; not added */
	uint32_t cq_db[2], sq_db, rq_db;
	struct emu_rq *rqs[1];
};

struct rig *rig_new(void);
void rig_free(struct rig *r);

void rig_make_cq(struct rig *r, uint32_t entries, uint32_t entry_size);
void rig_make_sq(struct rig *r, uint32_t wqebbs);
void rig_make_rq(struct rig *r, uint32_t entries, uint32_t segs);

void rig_set_db(uint32_t *db, uint32_t value);

/* The CQE at a consumer index, or NULL if the owner bit says it is the card's. */
const uint8_t *rig_cqe(const struct rig *r, uint32_t ci);
unsigned int rig_cqe_opcode(const uint8_t *cqe);
uint16_t rig_cqe_counter(const uint8_t *cqe);
uint32_t rig_get32(const uint8_t *p);

/* A send WQE in the making. */
struct rig_wqe {
	uint8_t bytes[64 * 16];
	size_t len;
};

void rig_wqe_start(struct rig *r, struct rig_wqe *w, uint8_t opmod, uint8_t opcode,
		   unsigned int ce);
/* Ethernet segment with n bytes of inline header. */
void rig_wqe_eth(struct rig_wqe *w, uint8_t cs_flags, uint16_t mss, const void *inl, size_t n);
void rig_wqe_ptr(struct rig_wqe *w, uint32_t len, uint32_t lkey, uint64_t addr);
void rig_wqe_inline(struct rig_wqe *w, const void *data, size_t n);
/* Put it in the ring at the producer index, set ds, and ring the doorbell. */
void rig_wqe_post(struct rig *r, struct rig_wqe *w);
/* The same without completing the ds field. */
void rig_wqe_post_raw(struct rig *r, struct rig_wqe *w);

/* Segment seg of the RQ entry index. */
void rig_rq_seg(struct rig *r, uint32_t index, unsigned int seg, uint32_t len, uint32_t lkey,
		uint64_t addr);

void rig_pattern(uint8_t *p, size_t n, unsigned int seed);
/* An IPv4 TCP (6) or UDP (17) frame of n bytes with good checksums; n >= 60. */
void rig_ip_frame(uint8_t *p, size_t n, unsigned int protocol);

#endif
