/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

#define LR EMU_ACCESS_LR
#define LW EMU_ACCESS_LW

static int
read_as(struct rig *r, unsigned int dev, uint32_t pdn, uint32_t key, uint64_t addr, size_t len,
	uint8_t *buf)
{
	struct emu_access acc = { .dev = &r->devs[dev], .pdn = pdn };
	int ret = emu_mkey_read(&acc, key, addr, buf, len);

	assert_int_equal(acc.host_bytes + acc.memic_bytes, ret == 0 ? len : 0);
	return ret;
}

static void
refused_uses(void **state)
{
	struct rig *r = rig_new();
	uint64_t va = (uintptr_t)r->host;
	const struct {
		const char *what;
		unsigned int dev;
		uint32_t pdn, key;
		uint64_t addr;
		size_t len;
		bool ok;
	} cases[] = {
		{ "all of a VA key", 0, RIG_PD, r->host_key.key, va, RIG_MEM, true },
		{ "last byte", 0, RIG_PD, r->host_key.key, va + RIG_MEM - 1, 1, true },
		{ "all of a zero-based key", 0, RIG_PD, r->memic_key.key, 0, RIG_MEM, true },
		{ "no such key", 0, RIG_PD, 0x00777700, va, 1, false },
		{ "the invalid lkey", 0, RIG_PD, 0x100, va, 1, false },
		{ "other variant", 0, RIG_PD, r->host_key.key ^ 1, va, 1, false },
		{ "other device", 1, RIG_PD, r->host_key.key, va, 1, false },
		{ "other PD", 0, RIG_PD + 1, r->host_key.key, va, 1, false },
		{ "no PD", 0, 0, r->host_key.key, va, 1, false },
		{ "one byte before", 0, RIG_PD, r->host_key.key, va - 1, 2, false },
		{ "one byte past", 0, RIG_PD, r->host_key.key, va, RIG_MEM + 1, false },
		{ "tail past", 0, RIG_PD, r->host_key.key, va + RIG_MEM - 4, 5, false },
		{ "just behind", 0, RIG_PD, r->host_key.key, va + RIG_MEM, 1, false },
		{ "wrap of the end", 0, RIG_PD, r->host_key.key, UINT64_MAX - 3, 8, false },
		{ "length that wraps back", 0, RIG_PD, r->host_key.key, va + 16, SIZE_MAX - 7,
		  false },
		{ "zero-based: wrap", 0, RIG_PD, r->memic_key.key, UINT64_MAX - 3, 8, false },
		{ "zero-based: VA", 0, RIG_PD, r->memic_key.key, (uintptr_t)r->memic, 1, false },
		{ "VA key: offset", 0, RIG_PD, r->host_key.key, 0, 1, false },
	};
	static uint8_t buf[RIG_MEM];
	uint64_t refused = 0;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned int dev = cases[i].dev;
		int ret = read_as(r, dev, cases[i].pdn, cases[i].key, cases[i].addr,
				  cases[i].len, buf);

		if (ret != (cases[i].ok ? 0 : -EACCES))
			fail_msg("%s: %d", cases[i].what, ret);
		refused += !cases[i].ok;
	}
	assert_int_equal(r->devs[0].stats.protection_errors +
			 r->devs[1].stats.protection_errors, refused);
	assert_int_equal(r->devs[1].stats.protection_errors, 1);
	rig_free(r);
}

static void
access_bits(void **state)
{
	struct rig *r = rig_new();
	struct emu_access acc = { .dev = &r->devs[0], .pdn = RIG_PD };
	uint8_t byte = 0x5a;
	uint32_t bits;

	for (bits = 0; bits < 16; bits++) {
		r->memic_key.access = bits;
		assert_int_equal(emu_mkey_read(&acc, r->memic_key.key, 0, &byte, 1),
				 bits & LR ? 0 : -EACCES);
		assert_int_equal(emu_mkey_write(&acc, r->memic_key.key, 0, &byte, 1),
				 bits & LW ? 0 : -EACCES);
	}
	rig_free(r);
}

static void
bytes_are_counted_by_memory(void **state)
{
	struct rig *r = rig_new();
	struct emu_access acc = { .dev = &r->devs[0], .pdn = RIG_PD };
	uint8_t in[100], out[100];

	rig_pattern(in, sizeof(in), 3);
	assert_int_equal(emu_mkey_write(&acc, r->memic_key.key, 500, in, 100), 0);
	assert_memory_equal(r->memic + 500, in, 100);
	assert_int_equal(emu_mkey_write(&acc, r->host_key.key, (uintptr_t)r->host + 9, in, 60), 0);
	assert_int_equal(acc.memic_bytes, 100);
	assert_int_equal(acc.host_bytes, 60);
	assert_int_equal(emu_mkey_read(&acc, r->memic_key.key, 500, out, 100), 0);
	assert_memory_equal(out, in, 100);
	assert_int_equal(acc.memic_bytes, 200);
	rig_free(r);
}

/* An indirect key over the rig's keys; ends with what n entries say. */
static struct emu_mkey
make_indirect(struct rig *r, enum emu_mkey_mode mode, struct emu_klm *entries, uint32_t n,
	      uint64_t start, uint64_t len)
{
	struct emu_mkey key = {
		.dev = &r->devs[0], .pdn = RIG_PD, .access = LR | LW, .mode = mode,
		.start = start, .len = len, .n = n, .entries = entries, .log_entry = 12,
	};

	return key;
}

static void
klm(void **state)
{
	struct rig *r = rig_new();
	uint64_t va = (uintptr_t)r->host;
	struct emu_klm entries[] = {
		{ 100, r->memic_key.key, 1000 },
		{ 50, r->host_key.key, va + 64 },
		{ 10, r->memic_key.key, RIG_MEM - 8 }, /* 2 bytes past its target */
		{ 5, r->memic_key.key, UINT64_MAX - 2 }, /* wraps to its start */
	};
	struct emu_mkey key = make_indirect(r, EMU_MKEY_KLM, entries, 4, 0x10000, 165);
	uint8_t buf[200], want[200];

	rig_pattern(r->memic, RIG_MEM, 5);
	rig_pattern(r->host, RIG_MEM, 99);
	assert_int_equal(emu_mkey_add(&key), 0);
	assert_int_equal(read_as(r, 0, RIG_PD, key.key, 0x10000, 158, buf), 0);
	memcpy(want, r->memic + 1000, 100);
	memcpy(want + 100, r->host + 64, 50);
	memcpy(want + 150, r->memic + RIG_MEM - 8, 8);
	assert_memory_equal(buf, want, 158);
	/* A part that crosses both ends of an entry. */
	assert_int_equal(read_as(r, 0, RIG_PD, key.key, 0x10000 + 99, 52, buf), 0);
	assert_memory_equal(buf, want + 99, 52);
	/* Entry past its target, wrapping entry, end of the key, before it. */
	assert_int_equal(read_as(r, 0, RIG_PD, key.key, 0x10000, 159, buf), -EACCES);
	assert_int_equal(read_as(r, 0, RIG_PD, key.key, 0x10000 + 160, 5, buf), -EACCES);
	assert_int_equal(read_as(r, 0, RIG_PD, key.key, 0x10000 + 163, 2, buf), -EACCES);
	assert_int_equal(read_as(r, 0, RIG_PD, key.key, 0x10000 + 160, 6, buf), -EACCES);
	assert_int_equal(read_as(r, 0, RIG_PD, key.key, 0xffff, 2, buf), -EACCES);
	emu_mkey_remove(&key);
	rig_free(r);
}

static void
klm_entries_must_cover_the_key(void **state)
{
	struct rig *r = rig_new();
	struct emu_klm entries[] = {
		{ 10, r->memic_key.key, 0 }, { 0, r->memic_key.key, 0 },
		{ 10, r->memic_key.key, 0 },
	};
	struct emu_mkey key = make_indirect(r, EMU_MKEY_KLM, entries, 3, 0, 20);
	struct emu_mkey longer = make_indirect(r, EMU_MKEY_KLM, entries, 1, 0, 20);
	uint8_t buf[20];

	assert_int_equal(emu_mkey_add(&key), 0);
	assert_int_equal(emu_mkey_add(&longer), 0);
	assert_int_equal(read_as(r, 0, RIG_PD, key.key, 0, 10, buf), 0);
	assert_int_equal(read_as(r, 0, RIG_PD, key.key, 0, 11, buf), -EACCES);
	assert_int_equal(read_as(r, 0, RIG_PD, longer.key, 0, 10, buf), 0);
	assert_int_equal(read_as(r, 0, RIG_PD, longer.key, 9, 2, buf), -EACCES);
	emu_mkey_remove(&key);
	emu_mkey_remove(&longer);
	rig_free(r);
}

static void
every_level_is_checked(void **state)
{
	struct rig *r = rig_new();
	struct emu_klm entry = { 64, r->memic_key.key, 0 };
	struct emu_mkey key = make_indirect(r, EMU_MKEY_KLM, &entry, 1, 0, 64);
	struct emu_access acc = { .dev = &r->devs[0], .pdn = RIG_PD };
	uint8_t buf[64] = { 0 };

	assert_int_equal(emu_mkey_add(&key), 0);
	r->memic_key.pdn = RIG_PD + 1;
	assert_int_equal(emu_mkey_read(&acc, key.key, 0, buf, 64), -EACCES);
	r->memic_key.pdn = RIG_PD;
	r->memic_key.access = LR;
	assert_int_equal(emu_mkey_write(&acc, key.key, 0, buf, 64), -EACCES);
	assert_int_equal(emu_mkey_read(&acc, key.key, 0, buf, 64), 0);
	r->memic_key.access = LR | LW;
	key.access = LW;
	assert_int_equal(emu_mkey_read(&acc, key.key, 0, buf, 64), -EACCES);
	assert_int_equal(emu_mkey_write(&acc, key.key, 0, buf, 64), 0);
	entry.key = 0x00999900;
	assert_int_equal(emu_mkey_write(&acc, key.key, 0, buf, 64), -EACCES);
	emu_mkey_remove(&key);
	rig_free(r);
}

static void
ksm(void **state)
{
	struct rig *r = rig_new();
	uint64_t va = (uintptr_t)r->host;
	struct emu_klm entries[] = {
		{ 0, r->memic_key.key, 8192 }, { 0, r->host_key.key, va },
		{ 0, r->memic_key.key, RIG_MEM - 4095 }, /* one byte too far */
		{ 0, r->memic_key.key, 0 }, /* not of the key */
	};
	struct emu_mkey key = make_indirect(r, EMU_MKEY_KSM, entries, 3, 0x5000, 4 * 4096);
	static uint8_t buf[4 * 4096];

	rig_pattern(r->memic, RIG_MEM, 5);
	rig_pattern(r->host, RIG_MEM, 99);
	assert_int_equal(emu_mkey_add(&key), 0);
	assert_int_equal(read_as(r, 0, RIG_PD, key.key, 0x5000 + 4000, 8192 - 4000, buf), 0);
	assert_memory_equal(buf, r->memic + 8192 + 4000, 96);
	assert_memory_equal(buf + 96, r->host, 4096);
	assert_int_equal(read_as(r, 0, RIG_PD, key.key, 0x5000 + 8192, 4095, buf), 0);
	assert_int_equal(read_as(r, 0, RIG_PD, key.key, 0x5000 + 8192, 4096, buf), -EACCES);
	/* The key is longer than its entries. */
	assert_int_equal(read_as(r, 0, RIG_PD, key.key, 0x5000 + 3 * 4096, 1, buf), -EACCES);
	emu_mkey_remove(&key);
	rig_free(r);
}

static void
nesting_has_a_limit(void **state)
{
	struct rig *r = rig_new();
	struct emu_klm e[3];
	struct emu_mkey key[3];
	uint8_t buf[64];
	int i;

	for (i = 0; i < 3; i++) {
		e[i] = (struct emu_klm){ 64, i > 0 ? key[i - 1].key : r->memic_key.key, 0 };
		key[i] = make_indirect(r, EMU_MKEY_KLM, &e[i], 1, 0, 64);
		assert_int_equal(emu_mkey_add(&key[i]), 0);
		assert_int_equal(read_as(r, 0, RIG_PD, key[i].key, 0, 64, buf),
				 i < EMU_MAX_INDIRECTION ? 0 : -EACCES);
	}
	/* A key that leads to itself ends, too. */
	e[0].key = key[0].key;
	assert_int_equal(read_as(r, 0, RIG_PD, key[0].key, 0, 64, buf), -EACCES);
	for (i = 0; i < 3; i++)
		emu_mkey_remove(&key[i]);
	rig_free(r);
}

static void
nothing_moves_when_a_part_is_refused(void **state)
{
	struct rig *r = rig_new();
	struct emu_klm entries[] = {
		{ 64, r->memic_key.key, 0 }, { 64, r->memic_key.key, RIG_MEM - 10 },
	};
	struct emu_mkey key = make_indirect(r, EMU_MKEY_KLM, entries, 2, 0, 128);
	struct emu_access acc = { .dev = &r->devs[0], .pdn = RIG_PD };
	uint8_t in[128], zero[RIG_MEM] = { 0 };

	memset(in, 0xff, sizeof(in));
	assert_int_equal(emu_mkey_add(&key), 0);
	assert_int_equal(emu_mkey_write(&acc, key.key, 0, in, 128), -EACCES);
	assert_memory_equal(r->memic, zero, RIG_MEM);
	assert_int_equal(acc.memic_bytes, 0);
	emu_mkey_remove(&key);
	rig_free(r);
}

static void
an_ended_key_stays_refused(void **state)
{
	struct rig *r = rig_new();
	uint32_t old = r->memic_key.key;
	struct emu_mkey next[2000];
	uint8_t byte;
	int i;

	emu_mkey_remove(&r->memic_key);
	for (i = 0; i < 2000; i++) {
		next[i] = r->host_key;
		assert_int_equal(emu_mkey_add(&next[i]), 0);
		assert_int_not_equal(next[i].key, old);
		assert_ptr_equal(emu_mkey_find(&r->devs[0], next[i].key), &next[i]);
	}
	assert_int_equal(read_as(r, 0, RIG_PD, old, 0, 1, &byte), -EACCES);
	for (i = 0; i < 2000; i++)
		emu_mkey_remove(&next[i]);
	assert_int_equal(emu_mkey_add(&r->memic_key), 0);
	rig_free(r);
}

static void
many_klm_entries(void **state)
{
	struct rig *r = rig_new();
	static struct emu_klm entries[4096];
	struct emu_mkey key = make_indirect(r, EMU_MKEY_KLM, entries, 4096, 0, 4096 * 16);
	uint8_t buf[48], want[48];
	uint32_t i;

	rig_pattern(r->memic, RIG_MEM, 8);
	/* 16-byte pieces in reverse order. */
	for (i = 0; i < 4096; i++)
		entries[i] = (struct emu_klm){ 16, r->memic_key.key, (4095 - i) * 16 };
	assert_int_equal(emu_mkey_add(&key), 0);
	for (i = 0; i + 3 <= 4096; i += 37) {
		assert_int_equal(read_as(r, 0, RIG_PD, key.key, i * 16ull, 48, buf), 0);
		memcpy(want, r->memic + (4095 - i) * 16, 16);
		memcpy(want + 16, r->memic + (4094 - i) * 16, 16);
		memcpy(want + 32, r->memic + (4093 - i) * 16, 16);
		assert_memory_equal(buf, want, 48);
	}
	emu_mkey_remove(&key);
	rig_free(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused_uses),
		cmocka_unit_test(access_bits),
		cmocka_unit_test(bytes_are_counted_by_memory),
		cmocka_unit_test(klm),
		cmocka_unit_test(klm_entries_must_cover_the_key),
		cmocka_unit_test(every_level_is_checked),
		cmocka_unit_test(ksm),
		cmocka_unit_test(nesting_has_a_limit),
		cmocka_unit_test(nothing_moves_when_a_part_is_refused),
		cmocka_unit_test(an_ended_key_stays_refused),
		cmocka_unit_test(many_klm_entries),
	};

	return cmocka_run_group_tests_name("mlx5emu mkey", tests, NULL, NULL);
}
