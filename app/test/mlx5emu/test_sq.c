/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <string.h>

#include "eswitch.h"
#include "rig.h"

#define NOP 0x00
#define SEND 0x0a
#define TSO 0x0e
#define EMPW 0x29
#define ALWAYS 2
#define FIRST_ERROR 1
#define ON_ERROR 0

static struct rig *
new_sq(uint32_t wqebbs)
{
	struct rig *r = rig_new();

	rig_make_cq(r, 64, 64);
	rig_make_sq(r, wqebbs);
	rig_pattern(r->host, RIG_MEM, 1);
	rig_pattern(r->memic, RIG_MEM, 77);
	return r;
}

static uint64_t
host_va(const struct rig *r, size_t off)
{
	return (uintptr_t)r->host + off;
}

static void
check_conservation(const struct rig *r)
{
	const struct emu_stats *s = &r->devs[0].stats;

	assert_int_equal(s->host_read_bytes + s->memic_read_bytes + s->inline_bytes, s->tx_bytes);
}

/* The only CQE there is an error of this kind at this WQE, and the SQ is in error. */
static void
check_failed(struct rig *r, const char *what, uint8_t syndrome, uint16_t counter)
{
	const uint8_t *cqe = rig_cqe(r, 0);

	if (cqe == NULL || rig_cqe_opcode(cqe) != EMU_CQE_REQ_ERR || cqe[55] != syndrome)
		fail_msg("%s: CQE %s, opcode %u, syndrome 0x%x", what, cqe ? "there" : "missing",
			 cqe ? rig_cqe_opcode(cqe) : 0, cqe ? cqe[55] : 0);
	assert_int_equal(rig_cqe_counter(cqe), counter);
	assert_int_equal(rig_get32(cqe + 32), RIG_UIDX);
	assert_int_equal(rig_get32(cqe + 56) & 0xffffff, r->sq.num);
	assert_null(rig_cqe(r, 1));
	assert_int_equal(r->sq.state, EMU_Q_ERR);
	assert_int_equal(r->devs[0].stats.errors, 1);
}

static void
send_of_pointers(void **state)
{
	struct rig *r = new_sq(64);
	struct rig_wqe w;
	const uint8_t *cqe;

	rig_wqe_start(r, &w, 0, SEND, ALWAYS);
	rig_wqe_eth(&w, 0, 0, NULL, 0);
	rig_wqe_ptr(&w, 100, r->host_key.key, host_va(r, 5));
	rig_wqe_ptr(&w, 60, r->memic_key.key, 300);
	rig_wqe_ptr(&w, 1, r->host_key.key, host_va(r, 9000));
	rig_wqe_post(r, &w);
	assert_true(emu_sq_run(&r->sq, 8));
	assert_false(emu_sq_run(&r->sq, 8));
	assert_int_equal(r->wire.n, 1);
	assert_int_equal(r->wire.len[0], 161);
	assert_memory_equal(r->wire.frame[0], r->host + 5, 100);
	assert_memory_equal(r->wire.frame[0] + 100, r->memic + 300, 60);
	assert_int_equal(r->wire.frame[0][160], r->host[9000]);
	cqe = rig_cqe(r, 0);
	assert_non_null(cqe);
	assert_int_equal(rig_cqe_opcode(cqe), EMU_CQE_REQ);
	assert_int_equal(rig_cqe_counter(cqe), 0);
	assert_int_equal(rig_get32(cqe + 56), 0x0a000000 | r->sq.num);
	assert_int_equal(rig_get32(cqe + 32), RIG_UIDX);
	assert_int_equal(r->devs[0].stats.wqe_bytes, 128);
	assert_int_equal(r->devs[0].stats.doorbells, 1);
	assert_int_equal(r->devs[0].stats.host_read_bytes, 101);
	assert_int_equal(r->devs[0].stats.memic_read_bytes, 60);
	check_conservation(r);
	rig_free(r);
}

static void
inline_header_of_every_size(void **state)
{
	size_t n;

	for (n = 0; n <= 930; n += n < 40 ? 1 : 89) {
		struct rig *r = new_sq(64);
		uint8_t hdr[1024], want[1024];
		struct rig_wqe w;

		rig_pattern(hdr, n, 200);
		rig_wqe_start(r, &w, 0, SEND, ON_ERROR);
		rig_wqe_eth(&w, 0, 0, hdr, n);
		rig_wqe_ptr(&w, 50, r->memic_key.key, 0);
		rig_wqe_post(r, &w);
		assert_true(emu_sq_run(&r->sq, 1));
		assert_int_equal(r->wire.len[0], n + 50);
		memcpy(want, hdr, n);
		memcpy(want + n, r->memic, 50);
		assert_memory_equal(r->wire.frame[0], want, n + 50);
		assert_int_equal(r->devs[0].stats.inline_bytes, n);
		assert_null(rig_cqe(r, 0));
		check_conservation(r);
		rig_free(r);
	}
}

/* A WQE with all kinds of segments, at each place of a ring that it nearly fills. */
static void
wrap_at_every_position(void **state)
{
	struct rig *r = new_sq(8);
	uint8_t hdr[21], data[75], want[400];
	unsigned int i;

	for (i = 0; i < 3 * 8; i++) {
		struct rig_wqe w;

		/* Other bytes and addresses each time: what was read before must not do. */
		rig_pattern(hdr, sizeof(hdr), 9 + i);
		rig_pattern(data, sizeof(data), 55 + i);
		memcpy(want, hdr, 21);
		memcpy(want + 21, data, 75);
		memcpy(want + 96, r->host + 33 + i, 100);
		memcpy(want + 196, data, 13);
		memcpy(want + 209, r->memic + 40 + i, 60);
		r->wire.n = 0;
		rig_wqe_start(r, &w, 0, SEND, ON_ERROR);
		rig_wqe_eth(&w, 0, 0, hdr, sizeof(hdr));
		rig_wqe_inline(&w, data, 75);
		rig_wqe_ptr(&w, 100, r->host_key.key, host_va(r, 33 + i));
		rig_wqe_inline(&w, data, 13);
		rig_wqe_ptr(&w, 60, r->memic_key.key, 40 + i);
		assert_true(w.len > 3 * 64);
		rig_wqe_post(r, &w);
		assert_true(emu_sq_run(&r->sq, 1));
		assert_int_equal(r->wire.n, 1);
		assert_int_equal(r->wire.len[0], 269);
		assert_memory_equal(r->wire.frame[0], want, 269);
		/* One basic block more, so that the next starts elsewhere. */
		rig_wqe_start(r, &w, 0, NOP, ON_ERROR);
		rig_wqe_post(r, &w);
		assert_true(emu_sq_run(&r->sq, 1));
	}
	check_conservation(r);
	rig_free(r);
}

static void
index_of_16_bits_wraps(void **state)
{
	struct rig *r = new_sq(64);
	unsigned int i;

	r->sq.ci = 0xfff0;
	rig_set_db(&r->sq_db, 0xfff0);
	for (i = 0; i < 40; i++) {
		struct rig_wqe w;

		rig_wqe_start(r, &w, 0, SEND, ALWAYS);
		rig_wqe_eth(&w, 0, 0, NULL, 0);
		rig_wqe_ptr(&w, 64, r->memic_key.key, i);
		rig_wqe_post(r, &w);
		assert_true(emu_sq_run(&r->sq, 1));
		assert_int_equal(rig_cqe_counter(rig_cqe(r, i)), (0xfff0 + i) & 0xffff);
		assert_int_equal(rig_cqe_opcode(rig_cqe(r, i)), EMU_CQE_REQ);
	}
	assert_int_equal(r->wire.n, 40);
	rig_free(r);
}

static void
empw(void **state)
{
	struct rig *r = new_sq(64);
	struct rig_wqe w;
	uint8_t data[90];
	unsigned int i;

	rig_pattern(data, sizeof(data), 3);
	rig_wqe_start(r, &w, 0, EMPW, ALWAYS);
	rig_wqe_eth(&w, 0, 0, NULL, 0);
	for (i = 0; i < 10; i++)
		rig_wqe_ptr(&w, 60 + i, r->memic_key.key, 1000 * i);
	rig_wqe_inline(&w, data, 90);
	rig_wqe_ptr(&w, 61, r->host_key.key, host_va(r, 11));
	rig_wqe_ptr(&w, 70, r->memic_key.key, 2);
	rig_wqe_post(r, &w);
	assert_true(emu_sq_run(&r->sq, 1));
	assert_int_equal(r->wire.n, 13);
	for (i = 0; i < 10; i++) {
		assert_int_equal(r->wire.len[i], 60 + i);
		assert_memory_equal(r->wire.frame[i], r->memic + 1000 * i, 60 + i);
	}
	assert_int_equal(r->wire.len[10], 90);
	assert_memory_equal(r->wire.frame[10], data, 90);
	assert_memory_equal(r->wire.frame[11], r->host + 11, 61);
	assert_int_equal(rig_cqe_opcode(rig_cqe(r, 0)), EMU_CQE_REQ);
	assert_null(rig_cqe(r, 1));
	assert_int_equal(r->devs[0].stats.tx_frames, 13);
	assert_int_equal(r->devs[0].stats.host_read_bytes, 61);
	assert_int_equal(r->devs[0].stats.inline_bytes, 90);
	check_conservation(r);
	rig_free(r);
}

static void
legacy_mpw(void **state)
{
	struct rig *r = new_sq(64);
	struct rig_wqe w;
	uint8_t data[210];

	rig_pattern(data, sizeof(data), 3);
	rig_wqe_start(r, &w, 1, TSO, ALWAYS);
	rig_wqe_eth(&w, 0, 64, NULL, 0);
	rig_wqe_ptr(&w, 64, r->memic_key.key, 0);
	rig_wqe_ptr(&w, 64, r->host_key.key, host_va(r, 0));
	rig_wqe_post(r, &w);
	rig_wqe_start(r, &w, 1, TSO, ALWAYS);
	rig_wqe_eth(&w, 0, 70, NULL, 0);
	rig_wqe_inline(&w, data, 210);
	rig_wqe_post(r, &w);
	assert_true(emu_sq_run(&r->sq, 2));
	assert_int_equal(r->wire.n, 5);
	assert_memory_equal(r->wire.frame[1], r->host, 64);
	assert_int_equal(r->wire.len[4], 70);
	assert_memory_equal(r->wire.frame[4], data + 140, 70);
	check_conservation(r);
	/* Packets of another length. */
	r->sq.state = EMU_Q_RDY;
	rig_wqe_start(r, &w, 1, TSO, ALWAYS);
	rig_wqe_eth(&w, 0, 64, NULL, 0);
	rig_wqe_ptr(&w, 64, r->memic_key.key, 0);
	rig_wqe_ptr(&w, 65, r->memic_key.key, 0);
	rig_wqe_post(r, &w);
	assert_true(emu_sq_run(&r->sq, 1));
	assert_int_equal(r->sq.state, EMU_Q_ERR);
	assert_int_equal(rig_cqe(r, 2)[55], EMU_SYND_LOCAL_QP_OP);
	rig_free(r);
}

struct bad {
	const char *what;
	void (*make)(struct rig *r, struct rig_wqe *w);
	uint8_t syndrome;
};

static void
bad_start(struct rig *r, struct rig_wqe *w)
{
	rig_wqe_start(r, w, 0, SEND, FIRST_ERROR);
	rig_wqe_eth(w, 0, 0, NULL, 0);
	rig_wqe_ptr(w, 64, r->memic_key.key, 0);
	w->bytes[7] = (uint8_t)(w->len / 16);
}

static void bad_qpn(struct rig *r, struct rig_wqe *w) { bad_start(r, w); w->bytes[6] ^= 1; }
static void bad_index(struct rig *r, struct rig_wqe *w) { bad_start(r, w); w->bytes[2] ^= 1; }
static void bad_ds0(struct rig *r, struct rig_wqe *w) { bad_start(r, w); w->bytes[7] = 0; }
static void bad_ds_more(struct rig *r, struct rig_wqe *w) { bad_start(r, w); w->bytes[7] = 5; }
static void bad_ds1(struct rig *r, struct rig_wqe *w) { bad_start(r, w); w->bytes[7] = 1; }
static void bad_ds2(struct rig *r, struct rig_wqe *w) { bad_start(r, w); w->bytes[7] = 2; }
static void bad_opcode(struct rig *r, struct rig_wqe *w) { bad_start(r, w); w->bytes[3] = 8; }
static void bad_opmod(struct rig *r, struct rig_wqe *w) { bad_start(r, w); w->bytes[0] = 1; }
static void bad_tso(struct rig *r, struct rig_wqe *w) { bad_start(r, w); w->bytes[3] = TSO; }
static void bad_mss(struct rig *r, struct rig_wqe *w) { bad_start(r, w); w->bytes[23] = 9; }
static void bad_inner(struct rig *r, struct rig_wqe *w) { bad_start(r, w); w->bytes[20] = 0x10; }
static void bad_swp(struct rig *r, struct rig_wqe *w) { bad_start(r, w); w->bytes[21] = 1; }
static void bad_vlan(struct rig *r, struct rig_wqe *w) { bad_start(r, w); w->bytes[28] = 0x80; }
static void bad_hdr(struct rig *r, struct rig_wqe *w) { bad_start(r, w); w->bytes[29] = 60; }
static void bad_pd(struct rig *r, struct rig_wqe *w) { bad_start(r, w); r->memic_key.pdn++; }
static void bad_key(struct rig *r, struct rig_wqe *w) { bad_start(r, w); w->bytes[36] ^= 1; }
static void bad_short(struct rig *r, struct rig_wqe *w) { bad_start(r, w); w->bytes[35] = 13; }
static void bad_long(struct rig *r, struct rig_wqe *w) { bad_start(r, w); w->bytes[34] = 0x28; }
static void bad_inl(struct rig *r, struct rig_wqe *w) { bad_start(r, w); w->bytes[32] = 0x80; }

/* All of it posted, so that only the number is wrong. */
static void
bad_ds64(struct rig *r, struct rig_wqe *w)
{
	bad_start(r, w);
	w->bytes[7] = 64;
	w->len = sizeof(w->bytes);
}

static void
bad_zero(struct rig *r, struct rig_wqe *w)
{
	bad_start(r, w);
	w->bytes[35] = 0;
	rig_wqe_ptr(w, 64, r->memic_key.key, 0);
	w->bytes[7]++;
}

static void
bad_second_pointer(struct rig *r, struct rig_wqe *w)
{
	bad_start(r, w);
	rig_wqe_ptr(w, 64, r->memic_key.key, RIG_MEM - 63);
	w->bytes[7]++;
}

static void
bad_mpw_off(struct rig *r, struct rig_wqe *w)
{
	bad_start(r, w);
	w->bytes[3] = EMPW;
	r->sq.allow_mpw = false;
}

static void
bad_mpw_inline_header(struct rig *r, struct rig_wqe *w)
{
	bad_start(r, w);
	w->bytes[3] = EMPW;
	w->bytes[29] = 2;
}

static void
bad_wqes(void **state)
{
	static const struct bad cases[] = {
		{ "other queue", bad_qpn, EMU_SYND_LOCAL_QP_OP },
		{ "other index", bad_index, EMU_SYND_LOCAL_QP_OP },
		{ "no segments", bad_ds0, EMU_SYND_LOCAL_QP_OP },
		{ "too many segments", bad_ds64, EMU_SYND_LOCAL_QP_OP },
		{ "more than posted", bad_ds_more, EMU_SYND_LOCAL_QP_OP },
		{ "no Ethernet segment", bad_ds1, EMU_SYND_LOCAL_QP_OP },
		{ "no data", bad_ds2, EMU_SYND_LOCAL_LENGTH },
		{ "opcode", bad_opcode, EMU_SYND_LOCAL_QP_OP },
		{ "opcode modifier", bad_opmod, EMU_SYND_LOCAL_QP_OP },
		{ "TSO", bad_tso, EMU_SYND_LOCAL_QP_OP },
		{ "mss", bad_mss, EMU_SYND_LOCAL_QP_OP },
		{ "inner checksum", bad_inner, EMU_SYND_LOCAL_QP_OP },
		{ "software parser", bad_swp, EMU_SYND_LOCAL_QP_OP },
		{ "VLAN insertion", bad_vlan, EMU_SYND_LOCAL_QP_OP },
		{ "inline header past the end", bad_hdr, EMU_SYND_LOCAL_QP_OP },
		{ "inline data past the end", bad_inl, EMU_SYND_LOCAL_QP_OP },
		{ "other PD", bad_pd, EMU_SYND_LOCAL_PROT },
		{ "unknown key", bad_key, EMU_SYND_LOCAL_PROT },
		{ "second pointer past the end", bad_second_pointer, EMU_SYND_LOCAL_PROT },
		{ "pointer of 0 bytes", bad_zero, EMU_SYND_LOCAL_LENGTH },
		{ "13 bytes", bad_short, EMU_SYND_LOCAL_LENGTH },
		{ "10304 bytes", bad_long, EMU_SYND_LOCAL_LENGTH },
		{ "MPW not enabled", bad_mpw_off, EMU_SYND_LOCAL_QP_OP },
		{ "MPW with inline header", bad_mpw_inline_header, EMU_SYND_LOCAL_QP_OP },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig *r = new_sq(16);
		struct rig_wqe w;

		cases[i].make(r, &w);
		rig_wqe_post_raw(r, &w);
		assert_true(emu_sq_run(&r->sq, 1));
		check_failed(r, cases[i].what, cases[i].syndrome, 0);
		assert_int_equal(r->wire.n, 0);
		assert_int_equal(r->devs[0].stats.tx_bytes, 0);
		check_conservation(r);
		assert_int_equal(r->devs[0].stats.protection_errors,
				 cases[i].syndrome == EMU_SYND_LOCAL_PROT);
		rig_free(r);
	}
}

static void
post_send(struct rig *r, unsigned int ce, uint32_t key)
{
	struct rig_wqe w;

	rig_wqe_start(r, &w, 0, SEND, ce);
	rig_wqe_eth(&w, 0, 0, NULL, 0);
	rig_wqe_ptr(&w, 64, key, 0);
	rig_wqe_post(r, &w);
}

static void
flush_after_an_error(void **state)
{
	struct rig *r = new_sq(16);
	const uint8_t *cqe;

	post_send(r, FIRST_ERROR, r->memic_key.key);
	post_send(r, FIRST_ERROR, 0xdead00);
	post_send(r, FIRST_ERROR, r->memic_key.key); /* no CQE: not the first */
	post_send(r, ALWAYS, r->memic_key.key);
	post_send(r, ON_ERROR, r->memic_key.key);
	while (emu_sq_run(&r->sq, 1))
		;
	assert_int_equal(r->wire.n, 1);
	cqe = rig_cqe(r, 0);
	assert_int_equal(cqe[55], EMU_SYND_LOCAL_PROT);
	assert_int_equal(rig_cqe_counter(cqe), 1);
	cqe = rig_cqe(r, 1);
	assert_int_equal(rig_cqe_opcode(cqe), EMU_CQE_REQ_ERR);
	assert_int_equal(cqe[55], EMU_SYND_WR_FLUSH);
	assert_int_equal(rig_cqe_counter(cqe), 3);
	cqe = rig_cqe(r, 2);
	assert_int_equal(cqe[55], EMU_SYND_WR_FLUSH);
	assert_int_equal(rig_cqe_counter(cqe), 4);
	assert_null(rig_cqe(r, 3));
	/* What is posted to a queue in error is flushed as well. */
	post_send(r, ALWAYS, r->memic_key.key);
	assert_true(emu_sq_run(&r->sq, 1));
	assert_int_equal(rig_cqe(r, 3)[55], EMU_SYND_WR_FLUSH);
	assert_int_equal(r->wire.n, 1);
	rig_free(r);
}

/* DPDK's tx_recover_qp() leaves the record as it was and starts at index 0. */
static void
reset_forgets_the_old_index(void **state)
{
	struct rig *r = new_sq(16);

	post_send(r, FIRST_ERROR, 0xdead00);
	post_send(r, FIRST_ERROR, r->memic_key.key);
	while (emu_sq_run(&r->sq, 1))
		;
	emu_sq_reset(&r->sq);
	assert_false(emu_sq_run(&r->sq, 4));
	r->sq.state = EMU_Q_RDY;
	assert_false(emu_sq_run(&r->sq, 4));
	post_send(r, ALWAYS, r->memic_key.key);
	post_send(r, ALWAYS, r->memic_key.key);
	assert_true(emu_sq_run(&r->sq, 4));
	assert_int_equal(r->wire.n, 2);
	assert_int_equal(rig_cqe_opcode(rig_cqe(r, 1)), EMU_CQE_REQ);
	rig_free(r);
}

static void
producer_index_beyond_the_ring(void **state)
{
	struct rig *r = new_sq(16);

	rig_set_db(&r->sq_db, 17);
	assert_true(emu_sq_run(&r->sq, 4));
	check_failed(r, "producer index", EMU_SYND_LOCAL_QP_OP, 0);
	assert_false(emu_sq_run(&r->sq, 4));
	rig_free(r);
}

static void
full_ring(void **state)
{
	struct rig *r = new_sq(16);
	int i;

	for (i = 0; i < 16; i++)
		post_send(r, ON_ERROR, r->memic_key.key);
	assert_true(emu_sq_run(&r->sq, 100));
	assert_int_equal(r->wire.n, 16);
	assert_int_equal(r->sq.state, EMU_Q_RDY);
	assert_int_equal(r->devs[0].stats.doorbells, 1);
	rig_free(r);
}

static void
dead_cq_stops_the_queue(void **state)
{
	struct rig *r = new_sq(16);
	int i;

	r->cq.entries = 2;
	for (i = 0; i < 5; i++)
		post_send(r, ALWAYS, r->memic_key.key);
	assert_true(emu_sq_run(&r->sq, 3));
	assert_false(emu_sq_run(&r->sq, 8));
	assert_int_equal(r->wire.n, 3);
	assert_int_equal(r->sq.state, EMU_Q_ERR);
	assert_int_equal(r->devs[0].stats.cq_overruns, 1);
	rig_free(r);
}

static void
checksums_are_inserted(void **state)
{
	const unsigned int protocols[] = { 6, 17 };
	size_t i;

	for (i = 0; i < 2; i++) {
		struct rig *r = new_sq(16);
		struct rig_wqe w;
		uint8_t good[200];

		rig_ip_frame(good, sizeof(good), protocols[i]);
		memcpy(r->memic, good, sizeof(good));
		memset(r->memic + 24, 0xee, 2);
		memset(r->memic + 34 + (protocols[i] == 6 ? 16 : 6), 0xdd, 2);
		rig_wqe_start(r, &w, 0, SEND, ALWAYS);
		rig_wqe_eth(&w, 0xc0, 0, NULL, 0);
		rig_wqe_ptr(&w, 200, r->memic_key.key, 0);
		rig_wqe_post(r, &w);
		rig_wqe_start(r, &w, 0, SEND, ALWAYS);
		rig_wqe_eth(&w, 0, 0, NULL, 0);
		rig_wqe_ptr(&w, 200, r->memic_key.key, 0);
		rig_wqe_post(r, &w);
		assert_true(emu_sq_run(&r->sq, 2));
		assert_memory_equal(r->wire.frame[0], good, 200);
		assert_memory_equal(r->wire.frame[1], r->memic, 200);
		rig_free(r);
	}
}

/* One device with two ports: frames leave by the one that the queue has a rule for. */
static void
no_rule_of_the_switch(void **state)
{
	struct rig *r = new_sq(16);
	struct rig_wqe w;

	r->cfg.one_device = true;
	r->devs[1].device = &r->devs[0];
	r->devs[1].wire = r->devs[0].wire;
	r->sq.no_rule = true;
	rig_wqe_start(r, &w, 0, SEND, ALWAYS);
	rig_wqe_eth(&w, 0, 0, NULL, 0);
	rig_wqe_ptr(&w, 200, r->memic_key.key, 0);
	rig_wqe_post(r, &w);
	assert_true(emu_sq_run(&r->sq, 2));
	assert_int_equal(r->wire.n, 0);
	assert_int_equal(r->devs[0].stats.tx_no_rule, 1);
	check_conservation(r);
	assert_int_equal(rig_cqe_opcode(rig_cqe(r, 0)), EMU_CQE_REQ);
	emu_eswitch_add_sq(&r->sq, &r->devs[1]);
	rig_wqe_start(r, &w, 0, SEND, ALWAYS);
	rig_wqe_eth(&w, 0, 0, NULL, 0);
	rig_wqe_ptr(&w, 200, r->memic_key.key, 0);
	rig_wqe_post(r, &w);
	assert_true(emu_sq_run(&r->sq, 2));
	assert_int_equal(r->wire.n, 1);
	assert_memory_equal(r->wire.frame[0], r->memic, 200);
	assert_int_equal(r->devs[1].stats.tx_frames, 1);
	assert_int_equal(r->devs[1].stats.memic_read_bytes, 200);
	assert_int_equal(r->devs[1].stats.tx_no_rule, 0);
	assert_int_equal(r->devs[0].stats.tx_frames, 1);
	rig_free(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(send_of_pointers),
		cmocka_unit_test(inline_header_of_every_size),
		cmocka_unit_test(wrap_at_every_position),
		cmocka_unit_test(index_of_16_bits_wraps),
		cmocka_unit_test(empw),
		cmocka_unit_test(legacy_mpw),
		cmocka_unit_test(bad_wqes),
		cmocka_unit_test(flush_after_an_error),
		cmocka_unit_test(reset_forgets_the_old_index),
		cmocka_unit_test(producer_index_beyond_the_ring),
		cmocka_unit_test(full_ring),
		cmocka_unit_test(dead_cq_stops_the_queue),
		cmocka_unit_test(checksums_are_inserted),
		cmocka_unit_test(no_rule_of_the_switch),
	};

	return cmocka_run_group_tests_name("mlx5emu sq", tests, NULL, NULL);
}
