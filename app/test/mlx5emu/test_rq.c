/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <string.h>

#include "rig.h"

static struct rig *
new_rq(uint32_t entries, uint32_t segs)
{
	struct rig *r = rig_new();

	rig_make_cq(r, 64, 64);
	rig_make_rq(r, entries, segs);
	emu_flow_add(&r->flow);
	return r;
}

/* Post entries of one segment of n bytes in device memory each. */
static void
post(struct rig *r, uint32_t first, uint32_t count, uint32_t n)
{
	uint32_t i;

	for (i = first; i < first + count; i++)
		rig_rq_seg(r, i, 0, n, r->memic_key.key, (i & (r->rq.entries - 1)) * 2048ull);
	rig_set_db(&r->rq_db, (uint16_t)(first + count));
}

static void
receive(struct rig *r, const uint8_t *frame, size_t n)
{
	emu_steer_receive(&r->devs[0], frame, n);
}

static void
check_conservation(const struct rig *r)
{
	const struct emu_stats *s = &r->devs[0].stats;

	assert_int_equal(s->host_write_bytes + s->memic_write_bytes, s->rx_bytes);
}

static void
cqe_of_a_good_frame(void **state)
{
	struct rig *r = new_rq(8, 1);
	uint8_t frame[100];
	const uint8_t *cqe;

	rig_ip_frame(frame, sizeof(frame), 17);
	post(r, 0, 2, 2048);
	receive(r, frame, sizeof(frame));
	assert_memory_equal(r->memic, frame, 100);
	cqe = rig_cqe(r, 0);
	assert_non_null(cqe);
	assert_null(rig_cqe(r, 1));
	assert_int_equal(rig_cqe_opcode(cqe), EMU_CQE_RESP_SEND);
	assert_int_equal(rig_get32(cqe + 44), 100);
	assert_int_equal(rig_get32(cqe + 32), RIG_UIDX);
	assert_int_equal(rig_get32(cqe + 56), 0xabcdef);
	assert_int_equal(rig_cqe_counter(cqe), 0);
	assert_int_equal(cqe[28], 7);
	assert_int_equal(cqe[29], 2 << 2 | 2 << 4);
	assert_true(rig_get32(cqe + 48) != 0 || rig_get32(cqe + 52) != 0);
	assert_int_equal(r->devs[0].stats.memic_write_bytes, 100);
	assert_int_equal(r->devs[0].stats.wqe_bytes, 16);
	assert_int_equal(r->devs[0].stats.doorbells, 1);
	assert_int_equal(r->flow.count.packets, 1);
	assert_int_equal(r->flow.count.bytes, 100);
	check_conservation(r);
	rig_free(r);
}

static void
wrong_checksums_are_told(void **state)
{
	const struct {
		unsigned int protocol;
		size_t off;
		uint8_t ok, types;
	} cases[] = {
		{ 17, 26, 1, 0x28 },    /* source address: both checksums wrong */
		{ 17, 22, 5, 0x28 },    /* TTL: header only */
		{ 17, 60, 3, 0x28 },    /* data: UDP only */
		{ 6, 60, 3, 0x48 },     /* TCP with ACK and data */
		{ 6, 0, 7, 0x48 },      /* destination MAC: in none */
		{ 1, 0, 3, 0x08 },      /* ICMP: no L4 that the card checks */
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig *r = new_rq(8, 1);
		uint8_t frame[100];

		rig_ip_frame(frame, sizeof(frame), cases[i].protocol);
		frame[cases[i].off] ^= 0x40;
		post(r, 0, 1, 2048);
		receive(r, frame, sizeof(frame));
		assert_int_equal(rig_cqe(r, 0)[28], cases[i].ok);
		assert_int_equal(rig_cqe(r, 0)[29], cases[i].types);
		rig_free(r);
	}
}

static void
scatter_over_segments(void **state)
{
	struct rig *r = new_rq(4, 4);
	uint8_t frame[300];
	uint32_t i;

	rig_pattern(frame, sizeof(frame), 12);
	for (i = 0; i < 8; i++) {
		uint64_t at = 4096ull * (i & 3);

		rig_rq_seg(r, i, 0, 100, r->memic_key.key, at);
		rig_rq_seg(r, i, 1, 1, r->host_key.key, (uintptr_t)r->host + at);
		rig_rq_seg(r, i, 2, 500, r->memic_key.key, at + 1000);
		rig_rq_seg(r, i, 3, 0, 0x100, 0);
		rig_set_db(&r->rq_db, i + 1);
		frame[0] = (uint8_t)(2 * i);
		receive(r, frame, sizeof(frame));
		assert_memory_equal(r->memic + at, frame, 100);
		assert_int_equal(r->host[at], frame[100]);
		assert_memory_equal(r->memic + at + 1000, frame + 101, 199);
		assert_int_equal(r->memic[at + 1000 + 199], 0);
		assert_int_equal(rig_cqe_counter(rig_cqe(r, i)), i);
	}
	assert_int_equal(r->devs[0].stats.wqe_bytes, 8 * 64);
	assert_int_equal(r->devs[0].stats.host_write_bytes, 8);
	check_conservation(r);
	rig_free(r);
}

static void
no_wqe_drops(void **state)
{
	struct rig *r = new_rq(4, 1);
	uint8_t frame[60] = { 2 };

	assert_false(emu_rq_ready(&r->rq));
	assert_int_equal(emu_steer_offer(&r->devs[0], frame, 60), EMU_OFFER_NO_WQE);
	assert_int_equal(r->devs[0].stats.rx_no_wqe, 0);
	receive(r, frame, 60);
	assert_int_equal(r->devs[0].stats.rx_no_wqe, 1);
	assert_null(rig_cqe(r, 0));
	post(r, 0, 1, 2048);
	assert_true(emu_rq_ready(&r->rq));
	assert_int_equal(emu_steer_offer(&r->devs[0], frame, 60), EMU_OFFER_TAKEN);
	assert_false(emu_rq_ready(&r->rq));
	r->rq.state = EMU_Q_RST;
	post(r, 1, 1, 2048);
	assert_false(emu_rq_ready(&r->rq));
	receive(r, frame, 60);
	assert_int_equal(r->devs[0].stats.rx_no_wqe, 2);
	assert_int_equal(r->devs[0].stats.rx_frames, 1);
	rig_free(r);
}

/* Error CQE at index 0, then the rest flushed. */
static void
check_error_and_flush(struct rig *r, uint8_t syndrome, uint32_t posted)
{
	uint32_t i;

	assert_int_equal(rig_cqe_opcode(rig_cqe(r, 0)), EMU_CQE_RESP_ERR);
	assert_int_equal(rig_cqe(r, 0)[55], syndrome);
	assert_int_equal(rig_cqe_counter(rig_cqe(r, 0)), 0);
	assert_int_equal(rig_get32(rig_cqe(r, 0) + 32), RIG_UIDX);
	assert_null(rig_cqe(r, 1));
	assert_int_equal(r->rq.state, EMU_Q_ERR);
	while (emu_rq_run(&r->rq, 2))
		;
	for (i = 1; i < posted; i++) {
		assert_int_equal(rig_cqe_opcode(rig_cqe(r, i)), EMU_CQE_RESP_ERR);
		assert_int_equal(rig_cqe(r, i)[55], EMU_SYND_WR_FLUSH);
		assert_int_equal(rig_cqe_counter(rig_cqe(r, i)), i);
	}
	assert_null(rig_cqe(r, posted));
	assert_int_equal(r->devs[0].stats.rx_frames, 0);
	assert_int_equal(r->devs[0].stats.errors, posted);
	check_conservation(r);
}

static void
too_short_wqe(void **state)
{
	struct rig *r = new_rq(8, 1);
	uint8_t frame[101] = { 2 }, zero[101] = { 0 };

	post(r, 0, 5, 100);
	memset(frame + 1, 0xff, 100);
	receive(r, frame, 101);
	check_error_and_flush(r, EMU_SYND_LOCAL_LENGTH, 5);
	assert_memory_equal(r->memic, zero, 101);
	rig_free(r);
}

static void
make_read_only_second(struct rig *r)
{
	r->host_key.access = EMU_ACCESS_LR;
	rig_rq_seg(r, 0, 0, 32, r->memic_key.key, 0);
	rig_rq_seg(r, 0, 1, 64, r->host_key.key, (uintptr_t)r->host);
}

static void
protection_errors(void **state)
{
	uint8_t frame[64] = { 2 };
	unsigned int i;

	for (i = 0; i < 6; i++) {
		struct rig *r = new_rq(8, 2);
		uint32_t k = r->memic_key.key;

		rig_rq_seg(r, 0, 0, 64, k, 0);
		rig_rq_seg(r, 0, 1, 0, 0x100, 0);
		if (i == 0)
			r->memic_key.access = EMU_ACCESS_LR;
		else if (i == 1)
			r->memic_key.pdn = RIG_PD + 1;
		else if (i == 2)
			rig_rq_seg(r, 0, 0, 64, 0x100, 0);
		else if (i == 3) /* a tail that this frame does not need */
			rig_rq_seg(r, 0, 0, 2048, k, RIG_MEM - 2047);
		else if (i == 4) /* second segment, which it does not need either */
			rig_rq_seg(r, 0, 1, 2048, k, RIG_MEM - 2047);
		else /* second segment that is needed: the first stays as it is */
			make_read_only_second(r);
		rig_set_db(&r->rq_db, 3);
		receive(r, frame, 64);
		check_error_and_flush(r, EMU_SYND_LOCAL_PROT, 3);
		assert_int_equal(r->devs[0].stats.protection_errors, 1);
		assert_int_equal(r->memic[0], 0);
		rig_free(r);
	}
}

static void
byte_count_0_is_2_gib(void **state)
{
	struct rig *r = new_rq(8, 1);
	uint8_t frame[64] = { 2 };

	rig_rq_seg(r, 0, 0, 0, r->memic_key.key, 0);
	rig_set_db(&r->rq_db, 1);
	receive(r, frame, 64);
	check_error_and_flush(r, EMU_SYND_LOCAL_PROT, 1);
	r->memic_key.len = 1ull << 31;
	emu_rq_reset(&r->rq);
	rig_set_db(&r->rq_db, 0);
	r->rq.state = EMU_Q_RDY;
	rig_set_db(&r->rq_db, 1);
	receive(r, frame, 64);
	assert_int_equal(rig_cqe_opcode(rig_cqe(r, 1)), EMU_CQE_RESP_SEND);
	rig_free(r);
}

static void
producer_index_beyond_the_ring(void **state)
{
	struct rig *r = new_rq(8, 1);
	uint8_t frame[64] = { 2 };

	rig_set_db(&r->rq_db, 9);
	receive(r, frame, 64);
	assert_int_equal(rig_cqe(r, 0)[55], EMU_SYND_LOCAL_QP_OP);
	assert_int_equal(r->rq.state, EMU_Q_ERR);
	rig_free(r);
}

static void
index_wraps(void **state)
{
	struct rig *r = new_rq(8, 1);
	uint8_t frame[64];
	uint32_t i;

	r->rq.ci = 0xfff8;
	for (i = 0; i < 30; i++) {
		post(r, 0xfff8 + i, 3, 2048);
		rig_pattern(frame, sizeof(frame), i);
		frame[0] &= 0xfe;
		receive(r, frame, sizeof(frame));
		assert_memory_equal(r->memic + (i & 7) * 2048, frame, 64);
		assert_int_equal(rig_cqe_counter(rig_cqe(r, i)), (0xfff8 + i) & 0xffff);
	}
	rig_free(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cqe_of_a_good_frame),
		cmocka_unit_test(wrong_checksums_are_told),
		cmocka_unit_test(scatter_over_segments),
		cmocka_unit_test(no_wqe_drops),
		cmocka_unit_test(too_short_wqe),
		cmocka_unit_test(protection_errors),
		cmocka_unit_test(byte_count_0_is_2_gib),
		cmocka_unit_test(producer_index_beyond_the_ring),
		cmocka_unit_test(index_wraps),
	};

	return cmocka_run_group_tests_name("mlx5emu rq", tests, NULL, NULL);
}
