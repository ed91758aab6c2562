/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <endian.h>

#include "card.h"
#include "wqe_model.h"

/*
 * Queues of one function with any content: rings, doorbell records, keys and scatter
 * lists as they come. Rings and memory are allocations of their exact size, so that
 * AddressSanitizer sees a step outside; what the card says it did must add up.
 */
#define STEPS 64
#define BUDGET 8

/* Members in front of a WQE that would be hard to hit by chance. */
enum { FIX_INDEX = 1, FIX_QUEUE = 2, FIX_OPCODE = 4, FIX_LENGTH = 8, FIX_KEYS = 16 };

static struct model m;

static const uint8_t opcodes[] = { 0x00, 0x0a, 0x0e, 0x29 };

/* Data segments that name a key and a place in it. */
static void
fix_keys(uint8_t *wqe, unsigned int ds, struct fuzz_in *in)
{
	for (unsigned int seg = 2; seg < ds; seg++) {
		const struct emu_mkey *key = &m.keys[fuzz_u8(in) % MODEL_KEYS];
		uint32_t bytes = htobe32(fuzz_u16(in)), lkey = htobe32(key->key);
		uint64_t addr = htobe64(key->start + fuzz_u16(in));

		memcpy(wqe + seg * 16, &bytes, 4);
		memcpy(wqe + seg * 16 + 4, &lkey, 4);
		memcpy(wqe + seg * 16 + 8, &addr, 8);
	}
}

static void
post_send(struct fuzz_in *in)
{
	unsigned int fix = fuzz_u8(in), ds = fuzz_u8(in) % 64, len = fuzz_u8(in);
	uint16_t pi = (uint16_t)be32toh(m.sq_db);
	uint8_t wqe[64 * 16] = { 0 };
	size_t ring = (size_t)m.sq.wqebbs * 64;

	fuzz_bytes(in, wqe, len);
	if (fix & FIX_INDEX) {
		wqe[1] = (uint8_t)(pi >> 8);
		wqe[2] = (uint8_t)pi;
	}
	if (fix & FIX_QUEUE) {
		uint32_t qpn_ds = htobe32(m.sq.num << 8 | ds);

		memcpy(wqe + 4, &qpn_ds, 4);
	}
	if (fix & FIX_OPCODE) {
		wqe[3] = opcodes[wqe[3] % sizeof(opcodes)];
		wqe[0] = wqe[3] == 0x0e;
	}
	if (fix & FIX_LENGTH) /* no inline header, nothing asked for */
		memset(wqe + 16, 0, 16);
	if (fix & FIX_KEYS)
		fix_keys(wqe, ds, in);
	for (size_t i = 0; i < sizeof(wqe) && i < ds * 16; i++)
		m.sq.buf[((size_t)pi * 64 + i) % ring] = wqe[i];
	m.sq_db = htobe32((uint16_t)(pi + (ds + 3) / 4));
}

static void
post_receive(struct fuzz_in *in)
{
	uint16_t pi = (uint16_t)be32toh(m.rq_db);
	uint8_t *wqe = m.rq.buf + ((size_t)(pi & (m.rq.entries - 1)) << m.rq.log_stride);

	for (unsigned int seg = 0; seg < 1u << (m.rq.log_stride - 4); seg++) {
		const struct emu_mkey *key = &m.keys[fuzz_u8(in) % MODEL_KEYS];
		uint32_t bytes = htobe32(fuzz_u16(in)), lkey = htobe32(key->key);
		uint64_t addr = htobe64(key->start + fuzz_u16(in));

		memcpy(wqe + seg * 16, &bytes, 4);
		memcpy(wqe + seg * 16 + 4, &lkey, 4);
		memcpy(wqe + seg * 16 + 8, &addr, 8);
	}
	m.rq_db = htobe32((uint16_t)(pi + 1));
}

static void
scribble(uint8_t *ring, size_t size, struct fuzz_in *in)
{
	size_t at = fuzz_u16(in) % size, len = fuzz_u8(in);

	fuzz_bytes(in, ring + at, len < size - at ? len : size - at);
}

static void
set_state(unsigned int what)
{
	switch (what % 6) {
	case 0:
		emu_sq_reset(&m.sq);
		model_forget_errors(&m, true);
		break;
	case 1:
		emu_rq_reset(&m.rq);
		model_forget_errors(&m, false);
		break;
	case 2:
		m.sq.state = EMU_Q_RDY;
		model_forget_errors(&m, true);
		break;
	case 3:
		m.rq.state = EMU_Q_RDY;
		model_forget_errors(&m, false);
		break;
	case 4:
		m.sq.state = EMU_Q_ERR;
		break;
	default:
		m.rq.state = EMU_Q_ERR;
	}
}

static void
step(struct fuzz_in *in)
{
	switch (fuzz_u8(in) % 12) {
	case 0:
		post_send(in);
		break;
	case 1:
		post_receive(in);
		break;
	case 2:
		scribble(m.sq.buf, (size_t)m.sq.wqebbs * 64, in);
		break;
	case 3:
		scribble(m.rq.buf, (size_t)m.rq.entries << m.rq.log_stride, in);
		break;
	case 4:
		m.sq_db = fuzz_u32(in);
		break;
	case 5:
		m.rq_db = fuzz_u32(in);
		break;
	case 6:
		model_consume(&m, fuzz_u32(in));
		break;
	case 7:
		m.cq_db[1] = fuzz_u32(in);
		emu_cq_poll_arm(&m.cq);
		break;
	case 8:
		set_state(fuzz_u8(in));
		break;
	case 9:
		m.cq_db[0] = htobe32(m.cq.pi & 0xffffff);
		break;
	case 10:
		model_run(&m, BUDGET);
		break;
	default:
		model_receive(&m, in);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, size };

	model_init(&m, &in);
	for (unsigned int i = 0; i < STEPS && in.left > 0; i++) {
		step(&in);
		model_check(&m);
	}
	model_drain(&m, BUDGET);
	model_check(&m);
	model_fini(&m);
	return 0;
}
