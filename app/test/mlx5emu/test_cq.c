/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <string.h>

#include "rig.h"

static unsigned int events, errors;

static void
count_event(struct emu_cq *cq)
{
	events++;
}

static void
count_error(struct emu_cq *cq)
{
	errors++;
}

static void
push(struct rig *r, uint8_t mark)
{
	uint8_t cqe[64] = { mark };

	assert_true(emu_cq_push(&r->cq, cqe, EMU_CQE_REQ));
}

static void
owner_bit_over_wraps(void **state)
{
	const uint32_t sizes[] = { 64, 128 };
	size_t s;

	for (s = 0; s < 2; s++) {
		struct rig *r = rig_new();
		uint32_t i;

		rig_make_cq(r, 8, sizes[s]);
		for (i = 0; i < 3 * 8 + 3; i++) {
			const uint8_t *cqe;

			assert_null(rig_cqe(r, i));
			push(r, (uint8_t)i);
			cqe = rig_cqe(r, i);
			assert_non_null(cqe);
			assert_int_equal(cqe[0], (uint8_t)i);
			assert_int_equal(rig_cqe_opcode(cqe), EMU_CQE_REQ);
			rig_set_db(&r->cq_db[0], i + 1);
		}
		assert_int_equal(r->devs[0].stats.cqe_bytes, (uint64_t)i * sizes[s]);
		assert_int_equal(r->devs[0].stats.errors, 0);
		rig_free(r);
	}
}

/* Only with padding does the card write to the first half of an entry. */
static void
padding(void **state)
{
	unsigned int padded, i;

	for (padded = 0; padded < 2; padded++) {
		struct rig *r = rig_new();

		rig_make_cq(r, 4, 128);
		r->cq.padded = padded;
		memset(r->cq.buf, 0x5a, 64);
		memset(r->cq.buf + 128, 0x5a, 64);
		push(r, 7);
		assert_int_equal(rig_cqe(r, 0)[0], 7);
		for (i = 0; i < 64; i++) {
			assert_int_equal(r->cq.buf[i], padded ? 0 : 0x5a);
			assert_int_equal(r->cq.buf[128 + i], 0x5a);
		}
		rig_free(r);
	}
}

static void
overrun_kills_the_cq(void **state)
{
	struct rig *r = rig_new();
	uint8_t cqe[64] = { 0 }, before[4 * 64];
	uint32_t i;

	errors = 0;
	rig_make_cq(r, 4, 64);
	r->cq.error = count_error;
	for (i = 0; i < 4; i++)
		push(r, (uint8_t)(i + 1));
	memcpy(before, r->cq.buf, sizeof(before));
	assert_false(emu_cq_push(&r->cq, cqe, EMU_CQE_REQ));
	assert_memory_equal(r->cq.buf, before, sizeof(before));
	assert_true(r->cq.overrun);
	/* Room that comes later does not bring it back. */
	rig_set_db(&r->cq_db[0], 4);
	assert_false(emu_cq_push(&r->cq, cqe, EMU_CQE_REQ));
	assert_int_equal(r->devs[0].stats.cq_overruns, 1);
	assert_int_equal(r->devs[0].stats.cqe_bytes, 4 * 64);
	assert_int_equal(errors, 1);
	rig_free(r);
}

static void
overrun_ignored(void **state)
{
	struct rig *r = rig_new();
	uint32_t i;

	rig_make_cq(r, 4, 64);
	r->cq.ignore_overrun = true;
	for (i = 0; i < 11; i++)
		push(r, (uint8_t)i);
	assert_false(r->cq.overrun);
	assert_int_equal(rig_cqe(r, 10)[0], 10);
	rig_free(r);
}

static void
consumer_index_of_24_bits(void **state)
{
	struct rig *r = rig_new();
	uint32_t i;

	rig_make_cq(r, 4, 64);
	r->cq.pi = 0xfffffe;
	rig_set_db(&r->cq_db[0], 0xfffffe);
	for (i = 0; i < 4; i++)
		push(r, (uint8_t)i);
	rig_set_db(&r->cq_db[0], (0xfffffe + 4) & 0xffffff);
	for (i = 0; i < 4; i++)
		push(r, (uint8_t)i);
	rig_free(r);
}

/* As DPDK's Tx has it: the upper half of the record stays 0. */
static void
consumer_index_of_16_bits(void **state)
{
	struct rig *r = rig_new();
	uint32_t i;

	rig_make_cq(r, 4, 64);
	r->cq.pi = 0xfffe;
	rig_set_db(&r->cq_db[0], 0xfffe);
	for (i = 0xfffe; i < 0x10010; i++) {
		push(r, (uint8_t)i);
		rig_set_db(&r->cq_db[0], (uint16_t)(i + 1));
	}
	for (i = 0; i < 4; i++)
		push(r, (uint8_t)i);
	assert_false(emu_cq_push(&r->cq, (uint8_t[64]){ 0 }, EMU_CQE_REQ));
	rig_free(r);
}

static void
arming(void **state)
{
	struct rig *r = rig_new();

	events = 0;
	rig_make_cq(r, 8, 64);
	r->cq.event = count_event;
	rig_set_db(&r->cq_db[1], EMU_CQ_NOT_ARMED);
	push(r, 1);
	assert_false(emu_cq_poll_arm(&r->cq));
	/* The first arming of all: number 0, index 0. */
	rig_set_db(&r->cq_db[1], 0);
	assert_true(emu_cq_poll_arm(&r->cq));
	/* One event an arming, however many CQEs. */
	push(r, 2);
	assert_false(emu_cq_poll_arm(&r->cq));
	/* Armed behind what is there: waits for the next. */
	rig_set_db(&r->cq_db[1], 1u << 28 | 2);
	assert_false(emu_cq_poll_arm(&r->cq));
	push(r, 3);
	assert_true(emu_cq_poll_arm(&r->cq));
	/* Armed with CQEs pending: fires at once. */
	rig_set_db(&r->cq_db[1], 2u << 28 | 2);
	assert_true(emu_cq_poll_arm(&r->cq));
	assert_false(emu_cq_poll_arm(&r->cq));
	assert_int_equal(events, 3);
	rig_free(r);
}

static void
arming_for_solicited_only(void **state)
{
	struct rig *r = rig_new();

	events = 0;
	rig_make_cq(r, 8, 64);
	r->cq.event = count_event;
	rig_set_db(&r->cq_db[1], 1u << 28 | 1u << 24);
	push(r, 1);
	assert_false(emu_cq_poll_arm(&r->cq));
	assert_true(emu_cq_push_error(&r->cq, EMU_CQE_REQ_ERR, 1, 2, 3, EMU_SYND_LOCAL_PROT, 0));
	assert_true(emu_cq_poll_arm(&r->cq));
	assert_int_equal(events, 1);
	rig_free(r);
}

static void
error_cqe(void **state)
{
	struct rig *r = rig_new();
	const uint8_t *cqe;

	rig_make_cq(r, 8, 64);
	assert_true(emu_cq_push_error(&r->cq, EMU_CQE_RESP_ERR, 0x123, 0x0a000077, 0xbeef,
				      EMU_SYND_LOCAL_LENGTH, 0x42));
	cqe = rig_cqe(r, 0);
	assert_int_equal(rig_cqe_opcode(cqe), 14);
	assert_int_equal(rig_get32(cqe + 32), 0x123);
	assert_int_equal(cqe[54], 0x42);
	assert_int_equal(cqe[55], 0x01);
	assert_int_equal(rig_get32(cqe + 56), 0x0a000077);
	assert_int_equal(rig_cqe_counter(cqe), 0xbeef);
	assert_int_equal(r->devs[0].stats.errors, 1);
	rig_free(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owner_bit_over_wraps),
		cmocka_unit_test(padding),
		cmocka_unit_test(overrun_kills_the_cq),
		cmocka_unit_test(overrun_ignored),
		cmocka_unit_test(consumer_index_of_24_bits),
		cmocka_unit_test(consumer_index_of_16_bits),
		cmocka_unit_test(arming),
		cmocka_unit_test(arming_for_solicited_only),
		cmocka_unit_test(error_cqe),
	};

	return cmocka_run_group_tests_name("mlx5emu cq", tests, NULL, NULL);
}
