/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <unistd.h>

#include <sys/mman.h>

#include "thunk.h"

/* Jumps in a page at a given address. */

#define PLACE UINT64_C(0x2f0000000000)

static void *got_addr, *got_opaque;
static enum mpm_thunk got;

static void
pinned(void *addr, void *opaque)
{
	got = MPM_THUNK_PINNED;
	got_addr = addr;
	got_opaque = opaque;
}

static void
orphan(void *addr, void *opaque)
{
	got = MPM_THUNK_ORPHAN;
	got_addr = addr;
	got_opaque = opaque;
}

/* Without a page the functions themselves are called. */
static void
no_page(void **state)
{
	long page = sysconf(_SC_PAGESIZE);
	void *taken = mmap((void *)PLACE, page, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	(void)state;
	assert_ptr_equal(taken, (void *)PLACE);
	mpm_thunk_set(MPM_THUNK_PINNED, pinned);
	mpm_thunk_set(MPM_THUNK_ORPHAN, orphan);
	assert_int_equal(mpm_thunk_make(PLACE), -EEXIST);
	assert_true(mpm_thunk_get(MPM_THUNK_PINNED) == pinned);
	assert_true(mpm_thunk_get(MPM_THUNK_ORPHAN) == orphan);
	munmap(taken, page);
}

static void
jumps(void **state)
{
	int a, b;

	(void)state;
	assert_int_equal(mpm_thunk_make(PLACE), 0);
	assert_true(mpm_thunk_get(MPM_THUNK_PINNED) != mpm_thunk_get(MPM_THUNK_ORPHAN));
	assert_int_equal((uintptr_t)mpm_thunk_get(MPM_THUNK_PINNED), PLACE);
	mpm_thunk_get(MPM_THUNK_ORPHAN)(&a, &b);
	assert_int_equal(got, MPM_THUNK_ORPHAN);
	mpm_thunk_get(MPM_THUNK_PINNED)(&a, &b);
	assert_int_equal(got, MPM_THUNK_PINNED);
	assert_ptr_equal(got_addr, &a);
	assert_ptr_equal(got_opaque, &b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_page),
		cmocka_unit_test(jumps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
