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

/* Jumps in a page at a given address, which is free at the start. */

static uintptr_t place;
static size_t page_size;
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

/* Wherever the system has room: runtimes of sanitizers keep whole ranges to themselves. */
static int
find_place(void **state)
{
	void *room;

	(void)state;
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	room = mmap(NULL, page_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room == MAP_FAILED)
		return -1;
	munmap(room, page_size);
	place = (uintptr_t)room;
	return 0;
}

/* Without a page the functions themselves are called. */
static void
no_page(void **state)
{
	void *taken = mmap((void *)place, page_size, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	(void)state;
	assert_ptr_equal(taken, (void *)place);
	mpm_thunk_set(MPM_THUNK_PINNED, pinned);
	mpm_thunk_set(MPM_THUNK_ORPHAN, orphan);
	assert_int_equal(mpm_thunk_make(place), -EEXIST);
	assert_true(mpm_thunk_get(MPM_THUNK_PINNED) == pinned);
	assert_true(mpm_thunk_get(MPM_THUNK_ORPHAN) == orphan);
	munmap(taken, page_size);
}

static void
jumps(void **state)
{
	int a, b;

	(void)state;
	assert_int_equal(mpm_thunk_make(place), 0);
	assert_true(mpm_thunk_get(MPM_THUNK_PINNED) != mpm_thunk_get(MPM_THUNK_ORPHAN));
	assert_int_equal((uintptr_t)mpm_thunk_get(MPM_THUNK_PINNED), place);
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

	return cmocka_run_group_tests(tests, find_place, NULL);
}
