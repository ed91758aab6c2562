/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "prm.h"

/* Bytes as they go over the bus, so that the host's byte order cannot hide a mistake. */
static void
test_positions(void **state)
{
	uint32_t buf[4];
	const uint8_t *b = (const uint8_t *)buf;

	(void)state;
	memset(buf, 0, sizeof(buf));
	prm_set(buf, 0, PRM_FIELD(0, 16), 0x0200);
	prm_set(buf, 0, PRM_FIELD(0x30, 16), 0x1f);
	prm_set(buf, 0x40, PRM_FIELD(0x0d, 1), 1);
	prm_set(buf, 0x60, PRM_FIELD(0x08, 24), 0x123456);
	assert_int_equal(b[0], 0x02);
	assert_int_equal(b[7], 0x1f);
	assert_int_equal(b[9], 0x04);
	assert_int_equal(b[13], 0x12);
	assert_int_equal(b[15], 0x56);
	assert_int_equal(b[12], 0);
}

static void
test_wide(void **state)
{
	uint32_t buf[2] = { 0 };
	const uint8_t *b = (const uint8_t *)buf;

	(void)state;
	prm_set(buf, 0, PRM_FIELD(0, 64), UINT64_C(0x0102030405060708));
	assert_int_equal(b[0], 1);
	assert_int_equal(b[3], 4);
	assert_int_equal(b[4], 5);
	assert_int_equal(b[7], 8);
	assert_true(prm_get(buf, 0, PRM_FIELD(0, 64)) == UINT64_C(0x0102030405060708));
}

/* Every field of a dword: what was set comes back, and the neighbours keep their bits. */
static void
test_every_field(void **state)
{
	unsigned int bit, width, fill;
	uint32_t buf[3], mask, value;

	(void)state;
	for (bit = 0; bit < 32; bit++) {
		for (width = 1; width + bit <= 32; width++) {
			for (fill = 0; fill < 2; fill++) {
				struct prm_field f = PRM_FIELD(bit, width);

				memset(buf, fill ? 0xff : 0, sizeof(buf));
				mask = width == 32 ? UINT32_MAX : (1u << width) - 1;
				value = 0xa5c3f017 & mask;
				prm_set(buf, 32, f, 0xa5c3f017);
				assert_int_equal(prm_get(buf, 32, f), value);
				assert_int_equal(be32toh(buf[1]),
						 ((fill ? UINT32_MAX : 0) &
						  ~(mask << (32 - bit - width))) |
						 value << (32 - bit - width));
				assert_int_equal(buf[0], fill ? UINT32_MAX : 0);
				assert_int_equal(buf[2], fill ? UINT32_MAX : 0);
			}
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_positions),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_every_field),
	};

	return cmocka_run_group_tests_name("memic prm", tests, NULL, NULL) != 0;
}
