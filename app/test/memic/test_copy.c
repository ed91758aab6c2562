/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "memic.h"

#define MAX_LEN 200
#define MAX_ALIGN 16
#define GUARD 64
#define ROOM (GUARD + MAX_ALIGN + MAX_LEN + GUARD)

static uint8_t from[ROOM] __attribute__((aligned(64)));
static uint8_t to[ROOM] __attribute__((aligned(64)));
static uint8_t expected[ROOM];

static void
prepare(size_t dst, size_t src, size_t len)
{
	size_t i;

	for (i = 0; i < ROOM; i++)
		from[i] = (uint8_t)(i * 7 + 3);
	memset(to, 0xee, ROOM);
	memset(expected, 0xee, ROOM);
	for (i = 0; i < len; i++)
		expected[dst + i] = from[src + i];
}

/* Each byte right and no byte outside touched, for every length and pair of alignments. */
static void
each_way(void (*copy)(void *dst, const void *src, size_t len))
{
	size_t len, dst, src;

	for (len = 0; len <= MAX_LEN; len++) {
		for (dst = GUARD; dst < GUARD + MAX_ALIGN; dst++) {
			for (src = GUARD; src < GUARD + MAX_ALIGN; src++) {
				prepare(dst, src, len);
				copy(to + dst, from + src, len);
				if (memcmp(to, expected, ROOM) != 0)
					fail_msg("length %zu, destination %zu, source %zu", len,
						 dst % MAX_ALIGN, src % MAX_ALIGN);
			}
		}
	}
}

static void
test_copy_to(void **state)
{
	(void)state;
	each_way(memic_copy_to);
}

static void
test_copy_from(void **state)
{
	(void)state;
	each_way(memic_copy_from);
}

static void
test_fill(void **state)
{
	size_t len, dst;

	(void)state;
	for (len = 0; len <= MAX_LEN; len++) {
		for (dst = GUARD; dst < GUARD + MAX_ALIGN; dst++) {
			memset(to, 0xee, ROOM);
			memset(expected, 0xee, ROOM);
			memset(expected + dst, 0x5c, len);
			memic_fill(to + dst, 0x5c, len);
			if (memcmp(to, expected, ROOM) != 0)
				fail_msg("length %zu, destination %zu", len, dst % MAX_ALIGN);
		}
	}
}

static void
test_large(void **state)
{
	static uint8_t big[9000], device[9000], back[9000];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(big); i++)
		big[i] = (uint8_t)(i ^ i >> 8);
	memic_copy_to(device, big, sizeof(big));
	memic_copy_from(back, device, sizeof(back));
	assert_memory_equal(back, big, sizeof(big));
}

/* Not even a read strays past either end: the pages around are not there. */
static void
test_ends_of_mapping(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), len;
	uint8_t *area = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *first, *end;

	(void)state;
	assert_true(area != MAP_FAILED);
	first = area + page;
	end = first + page;
	assert_int_equal(mprotect(first, page, PROT_READ | PROT_WRITE), 0);
	for (len = 0; len <= MAX_LEN; len++) {
		memic_copy_to(first, from, len);
		memic_copy_to(end - len, from, len);
		assert_memory_equal(end - len, from, len);
		memic_copy_from(to, first, len);
		memic_copy_from(to, end - len, len);
		assert_memory_equal(to, from, len);
		memic_fill(first, 1, len);
		memic_fill(end - len, 1, len);
		/* host memory that ends where its page does */
		memic_copy_to(to, end - len, len);
		memic_copy_from(end - len, from, len);
		assert_memory_equal(end - len, from, len);
	}
	assert_int_equal(munmap(area, 3 * page), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copy_to),
		cmocka_unit_test(test_copy_from),
		cmocka_unit_test(test_fill),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_ends_of_mapping),
	};

	return cmocka_run_group_tests_name("memic copy", tests, NULL, NULL) != 0;
}
