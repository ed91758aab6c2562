/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rig.h"
#include "inject.h"

/* Faults of the wire, of key use and of write combining, on a card built by hand. */

static int
setup(void **state)
{
	*state = rig_new();
	return 0;
}

static int
teardown(void **state)
{
	struct rig *r = *state;

	emu_wire_fault_close(&r->devs[0]);
	rig_free(r);
	return 0;
}

/* Send frames of one byte value each; 64 bytes long. */
static void
send(struct rig *r, unsigned int first, unsigned int n)
{
	uint8_t frame[64];

	for (unsigned int i = 0; i < n; i++) {
		memset(frame, (int)(first + i), sizeof(frame));
		emu_wire_transmit(&r->devs[0], frame, sizeof(frame));
	}
}

static void
expect_frames(const struct rig *r, const char *order)
{
	assert_int_equal(r->wire.n, strlen(order));
	for (unsigned int i = 0; i < r->wire.n; i++) {
		assert_int_equal(r->wire.len[i], 64);
		assert_int_equal(r->wire.frame[i][0], order[i]);
		assert_int_equal(r->wire.frame[i][63], order[i]);
	}
}

static uint64_t
counter(struct rig *r, const char *name)
{
	json_t *port = json_object();
	uint64_t value;

	emu_inject_stats(&r->devs[0], port);
	assert_non_null(json_object_get(port, name));
	value = (uint64_t)json_integer_value(json_object_get(port, name));
	json_decref(port);
	return value;
}

static void
test_none(void **state)
{
	struct rig *r = *state;
	json_t *port = json_object();

	send(r, 'a', 3);
	expect_frames(r, "abc");
	assert_false(emu_wire_fault_poll(&r->devs[0]));
	emu_inject_stats(&r->devs[0], port);
	assert_int_equal(json_object_size(port), 0);
	json_decref(port);
}

static void
test_drop(void **state)
{
	struct rig *r = *state;

	r->cfg.fault.drop = 3;
	send(r, 'a', 7);
	expect_frames(r, "abdeg");
	assert_int_equal(counter(r, "wire_dropped"), 2);
}

static void
test_reorder(void **state)
{
	struct rig *r = *state;

	r->cfg.fault.reorder = 3;
	send(r, 'a', 7);
	/* c waits for d, f for g */
	expect_frames(r, "abdcegf");
	assert_int_equal(counter(r, "wire_reordered"), 2);
}

/* The last one has nobody to change places with: it is late, not lost. */
static void
test_reorder_last(void **state)
{
	struct rig *r = *state;
	uint64_t start = emu_clock();

	r->cfg.fault.reorder = 2;
	send(r, 'a', 2);
	expect_frames(r, "a");
	while (r->wire.n < 2 && emu_clock() - start < 1000000000)
		emu_wire_poll(&r->devs[0]);
	expect_frames(r, "ab");
	assert_int_equal(counter(r, "wire_reordered"), 0);
}

static void
test_delay(void **state)
{
	struct rig *r = *state;
	uint64_t start = emu_clock();

	r->cfg.fault.delay_us = 5000;
	send(r, 'a', 3);
	assert_int_equal(r->wire.n, 0);
	while (r->wire.n < 3 && emu_clock() - start < 1000000000)
		emu_wire_poll(&r->devs[0]);
	assert_true(emu_clock() - start >= 5000000);
	expect_frames(r, "abc");
	assert_int_equal(counter(r, "wire_delayed"), 3);
}

/* What is on its way when the wire goes is freed: a leak checker's test. */
static void
test_close_with_frames(void **state)
{
	struct rig *r = *state;

	r->cfg.fault.delay_us = 1000000;
	r->cfg.fault.reorder = 2;
	send(r, 'a', 2);
	emu_wire_fault_close(&r->devs[0]);
	assert_null(r->devs[0].inject.wire);
	assert_int_equal(r->wire.n, 0);
}

static void
test_all_at_once(void **state)
{
	struct rig *r = *state;
	uint64_t start = emu_clock();

	r->cfg.fault.drop = 4;
	r->cfg.fault.reorder = 2;
	r->cfg.fault.delay_us = 1000;
	send(r, 'a', 8); /* d and h are lost; b, e and g wait, g in vain */
	while (r->wire.n < 6 && emu_clock() - start < 1000000000)
		emu_wire_poll(&r->devs[0]);
	expect_frames(r, "acbfeg");
}

/* ---- uses of keys ---- */

static void
test_mkey_use(void **state)
{
	struct rig *r = *state;
	struct emu_access acc = { .dev = &r->devs[0], .pdn = RIG_PD };
	uint8_t buf[16] = { 0 };

	r->cfg.fault.mkey_use = 2;
	r->cfg.fault.mkey_use_kinds = EMU_MKEY_READ | EMU_MKEY_WRITE;
	assert_int_equal(emu_mkey_read(&acc, r->memic_key.key, 0, buf, 16), 0);
	memset(buf, 0x77, sizeof(buf));
	assert_int_equal(emu_mkey_write(&acc, r->memic_key.key, 0, buf, 16), -EACCES);
	assert_int_equal(r->memic[0], 0);
	assert_int_equal(r->devs[0].stats.protection_errors, 1);
	assert_int_equal(emu_mkey_write(&acc, r->memic_key.key, 0, buf, 16), 0);
	assert_int_equal(r->memic[0], 0x77);
}

static void
test_mkey_use_of_one_kind(void **state)
{
	struct rig *r = *state;
	struct emu_access acc = { .dev = &r->devs[0], .pdn = RIG_PD };
	uint8_t buf[16] = { 0 };

	r->cfg.fault.mkey_use = 2;
	r->cfg.fault.mkey_use_kinds = EMU_MKEY_WRITE;
	assert_int_equal(emu_mkey_write(&acc, r->memic_key.key, 0, buf, 16), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(emu_mkey_read(&acc, r->memic_key.key, 0, buf, 16), 0);
	assert_int_equal(emu_mkey_write(&acc, r->memic_key.key, 0, buf, 16), -EACCES);
}

static void
test_direct(void **state)
{
	struct rig *r = *state;
	struct emu_access acc = { .dev = &r->devs[0], .pdn = RIG_PD };
	struct emu_klm klm = { .bytes = 4096, .key = r->memic_key.key };
	struct emu_mkey key = { .dev = &r->devs[0], .pdn = RIG_PD, .mode = EMU_MKEY_KLM,
				.access = EMU_ACCESS_LR, .len = 4096, .n = 1, .entries = &klm };
	uint8_t buf[16];

	r->cfg.fault.direct = EMU_KEY_FAILS;
	assert_int_equal(emu_mkey_add(&key), 0);
	assert_int_equal(emu_mkey_read(&acc, r->memic_key.key, 0, buf, 16), -EACCES);
	assert_int_equal(emu_mkey_read(&acc, key.key, 0, buf, 16), 0);
	assert_int_equal(emu_mkey_read(&acc, r->host_key.key, (uintptr_t)r->host, buf, 16), 0);
	assert_int_equal(r->devs[0].stats.protection_errors, 1);
	emu_mkey_remove(&key);
}

static void
check_indirect(struct rig *r, enum emu_mkey_mode mode, uint32_t target, int want)
{
	struct emu_access acc = { .dev = &r->devs[0], .pdn = RIG_PD };
	struct emu_klm klm = { .bytes = 4096, .key = target,
			       .addr = target == r->host_key.key ? (uintptr_t)r->host : 0 };
	struct emu_mkey key = { .dev = &r->devs[0], .pdn = RIG_PD, .mode = mode,
				.access = EMU_ACCESS_LR | EMU_ACCESS_LW, .len = 4096, .n = 1,
				.entries = &klm, .log_entry = 12 };
	uint8_t buf[16] = { 0 };

	assert_int_equal(emu_mkey_add(&key), 0);
	assert_int_equal(emu_mkey_read(&acc, key.key, 0, buf, 16), want);
	assert_int_equal(emu_mkey_write(&acc, key.key, 0, buf, 16), want);
	emu_mkey_remove(&key);
}

static void
test_indirect_use(void **state)
{
	struct rig *r = *state;

	r->cfg.fault.klm = EMU_KEY_FAILS;
	check_indirect(r, EMU_MKEY_KLM, r->memic_key.key, -EACCES);
	assert_int_equal(r->devs[0].stats.protection_errors, 2);
	check_indirect(r, EMU_MKEY_KSM, r->memic_key.key, 0);
	check_indirect(r, EMU_MKEY_KLM, r->host_key.key, 0);
	r->cfg.fault.klm = EMU_KEY_WORKS;
	r->cfg.fault.ksm = EMU_KEY_FAILS;
	check_indirect(r, EMU_MKEY_KLM, r->memic_key.key, 0);
	check_indirect(r, EMU_MKEY_KSM, r->memic_key.key, -EACCES);
	/* refusal at creation is not a matter of use */
	r->cfg.fault.ksm = EMU_KEY_REFUSED;
	check_indirect(r, EMU_MKEY_KSM, r->memic_key.key, 0);
}

/* ---- write combining ---- */

/* A page of real MEMIC with a key, and the CPU's own view of it. */
struct wc {
	struct emu_mkey key;
	uint8_t *cpu;
	uint32_t page;
};

static void
wc_start(struct rig *r, struct wc *wc)
{
	struct emu_dev *dev = &r->devs[0];

	r->cfg.fault.write_combining = true;
	assert_int_equal(emu_memic_init(&dev->memic, 8192), 0);
	assert_int_equal(emu_memic_take(&dev->memic, 4096, &wc->page), 0);
	assert_true(emu_wc_fd(dev) >= 0);
	assert_int_equal(emu_wc_fd(dev), dev->memic.shadow_fd);
	wc->cpu = dev->memic.shadow + (size_t)wc->page * EMU_MEMIC_PAGE;
	wc->key = (struct emu_mkey){
		.dev = dev, .pdn = RIG_PD, .access = EMU_ACCESS_LR | EMU_ACCESS_LW,
		.mode = EMU_MKEY_MEMIC, .len = 4096,
		.base = dev->memic.va + (size_t)wc->page * EMU_MEMIC_PAGE,
	};
	assert_int_equal(emu_mkey_add(&wc->key), 0);
}

static void
wc_stop(struct rig *r, struct wc *wc)
{
	struct emu_memic *m = &r->devs[0].memic;

	emu_mkey_remove(&wc->key);
	emu_wc_close(&r->devs[0]);
	munmap(m->va, (size_t)m->pages * EMU_MEMIC_PAGE);
	close(m->fd);
	free(m->page_used);
}

static uint8_t
card_reads(struct rig *r, struct wc *wc, uint64_t at)
{
	struct emu_access acc = { .dev = &r->devs[0], .pdn = RIG_PD };
	uint8_t byte = 0;

	assert_int_equal(emu_mkey_read(&acc, wc->key.key, at, &byte, 1), 0);
	return byte;
}

static void
test_write_combining(void **state)
{
	struct rig *r = *state;
	struct wc wc;

	wc_start(r, &wc);
	rig_make_cq(r, 8, 64);
	rig_make_rq(r, 8, 1);
	wc.cpu[100] = 1;
	assert_int_equal(card_reads(r, &wc, 100), 0);
	emu_rq_run(&r->rq, 8); /* the record did not move */
	assert_int_equal(card_reads(r, &wc, 100), 0);
	rig_set_db(&r->rq_db, 1);
	emu_rq_run(&r->rq, 8);
	assert_int_equal(card_reads(r, &wc, 100), 1);
	wc.cpu[101] = 2; /* after the doorbell */
	assert_int_equal(card_reads(r, &wc, 101), 0);
	wc_stop(r, &wc);
}

static void
test_write_combining_sq(void **state)
{
	struct rig *r = *state;
	struct rig_wqe w;
	struct wc wc;

	wc_start(r, &wc);
	rig_make_cq(r, 8, 64);
	rig_make_sq(r, 8);
	memset(wc.cpu, 0x11, 64);
	rig_wqe_start(r, &w, 0, 0x0a, 2);
	rig_wqe_eth(&w, 0, 0, NULL, 0);
	rig_wqe_ptr(&w, 64, wc.key.key, 0);
	rig_wqe_post(r, &w);
	memset(wc.cpu, 0x11, 64);
	emu_sq_run(&r->sq, 8);
	assert_int_equal(r->wire.n, 1);
	assert_int_equal(r->wire.frame[0][0], 0x11);
	assert_int_equal(r->wire.frame[0][63], 0x11);
	wc_stop(r, &wc);
}

/* The CPU sees what the card wrote, and pending stores of the CPU to other bytes stay. */
static void
test_write_combining_receive(void **state)
{
	struct rig *r = *state;
	struct emu_access acc = { .dev = &r->devs[0], .pdn = RIG_PD };
	uint8_t frame[32];
	struct wc wc;

	wc_start(r, &wc);
	memset(frame, 0x22, sizeof(frame));
	wc.cpu[40] = 3;
	wc.cpu[7] = 4;
	assert_int_equal(emu_mkey_write(&acc, wc.key.key, 0, frame, sizeof(frame)), 0);
	assert_int_equal(wc.cpu[0], 0x22);
	assert_int_equal(wc.cpu[31], 0x22);
	assert_int_equal(wc.cpu[40], 3);
	emu_wc_doorbell(&r->devs[0]);
	assert_int_equal(card_reads(r, &wc, 40), 3);
	assert_int_equal(card_reads(r, &wc, 7), 0x22);
	wc_stop(r, &wc);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_none),
		TEST(test_drop),
		TEST(test_reorder),
		TEST(test_reorder_last),
		TEST(test_delay),
		TEST(test_close_with_frames),
		TEST(test_all_at_once),
		TEST(test_mkey_use),
		TEST(test_mkey_use_of_one_kind),
		TEST(test_direct),
		TEST(test_indirect_use),
		TEST(test_write_combining),
		TEST(test_write_combining_sq),
		TEST(test_write_combining_receive),
	};

	return cmocka_run_group_tests_name("fault card", tests, NULL, NULL);
}
