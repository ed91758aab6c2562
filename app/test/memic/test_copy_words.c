/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * Watch each access that the copies make to device memory: the page is not accessible,
 * the fault handler notes the address, opens the page for one instruction and shuts it
 * again. So a store that the compiler split, merged, repeated or
 * moved is seen, which comparing bytes does not show.
 */

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "memic.h"
#include "step.h"

#ifdef EMU_CAN_STEP

#define MAX_ACCESSES 512
#define PAGE 4096

static uint8_t *page;
static struct {
	size_t offset;
	int write;
} seen[MAX_ACCESSES];
static volatile size_t count;

static void
on_fault(int sig, siginfo_t *info, void *data)
{
	uintptr_t at = (uintptr_t)info->si_addr - (uintptr_t)page;

	(void)sig;
	if (at >= PAGE || count == MAX_ACCESSES)
		_exit(1);
	seen[count].offset = at;
	seen[count].write = emu_step_writes(data);
	count++;
	mprotect(page, PAGE, PROT_READ | PROT_WRITE);
	if (!emu_step_begin(data))
		_exit(1);
}

static void
on_step(int sig, siginfo_t *info, void *data)
{
	(void)sig;
	(void)info;
	emu_step_end(data);
	mprotect(page, PAGE, PROT_NONE);
}

/* From inside a test, since cmocka puts a SIGSEGV handler of its own around each. */
static void
watch(void)
{
	struct sigaction fault = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	struct sigaction step = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };

	page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(page != MAP_FAILED);
	assert_int_equal(emu_step_init(), 0);
	assert_int_equal(sigaction(SIGSEGV, &fault, NULL), 0);
	assert_int_equal(sigaction(SIGTRAP, &step, NULL), 0);
}

/*
 * The accesses must be aligned words in ascending order, back to back, from the first to
 * the last byte: each as wide as address, rest and @p widest allow.
 */
static void
check(size_t offset, size_t len, size_t widest, int write)
{
	size_t i, word, end = offset + len;

	for (i = 0; i < count; i++) {
		assert_int_equal(seen[i].write, write);
		assert_int_equal(seen[i].offset, offset);
		for (word = widest; offset % word != 0 || word > end - offset; word /= 2)
			;
		offset += word;
	}
	assert_int_equal(offset, end);
}

/* Case 44: of any length, no byte twice and no access wider than its alignment. */
static void
test_words(void **state)
{
	uint8_t host[300] = { 1, 2, 3 };
	size_t len, offset;

	(void)state;
	watch();
	for (len = 0; len <= 140; len += 5) {
		for (offset = 0; offset < 64; offset += 9) {
			count = 0;
			memic_copy_to(page + offset, host, len);
			check(offset, len, 16, 1);
			count = 0;
			memic_fill(page + offset, 7, len);
			check(offset, len, 16, 1);
			count = 0;
			memic_copy_from(host, page + offset, len);
			check(offset, len, 8, 0);
		}
	}
}

/* A line of 64 bytes is four full-width stores one after the other. */
static void
test_lines(void **state)
{
	uint8_t host[256] = { 0 };

	(void)state;
	watch();
	count = 0;
	memic_copy_to(page + 64, host + 1, 192);
	assert_int_equal(count, 12);
	check(64, 192, 16, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_lines),
	};
	const char *preload = getenv("LD_PRELOAD");

	if (preload != NULL && strstr(preload, "vgpreload") != NULL) {
		puts("skipped: valgrind has no trap flag");
		return 77;
	}
	return cmocka_run_group_tests_name("memic copy words", tests, NULL, NULL) != 0;
}

#else

int
main(void)
{
	puts("skipped: single accesses can be watched on x86-64 and arm64 only");
	return 77;
}

#endif
