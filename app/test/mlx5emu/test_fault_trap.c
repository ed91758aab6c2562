/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi.h"
#include "guard.h"
#include "trap.h"

/*
 * CPU touches of device memory. Handlers of a process are set once and stay, so each test
 * is a process of its own: the first argument names it.
 */

static volatile uint8_t *cpu;
static struct abi *abi;
static uint32_t dm;
static uint16_t dm_index;

/* As in the library, whose handlers come in the order that this makes of them. */
EMU_NO_TSAN int
sigaction(int sig, const struct sigaction *action, struct sigaction *old)
{
	return emu_guard_sigaction(sig, action, old);
}

static void
handle(int sig, void (*handler)(int))
{
	const struct sigaction action = { .sa_handler = handler };

	assert_int_equal(sigaction(sig, &action, NULL), 0);
}

static void
open_card(void)
{
	void *state = NULL;

	abi_setup(&state);
	abi = state;
}

static void
map_dm(unsigned int trap)
{
	abi->cfg.fault.trap = trap;
	assert_int_equal(abi_dm_try(abi->file, 8192, 0, &dm, &dm_index, NULL), 0);
	emu_lock();
	cpu = emu_vma_map(abi->file, NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED,
			  ((uint64_t)8 << 8 | dm_index) * 4096);
	emu_unlock();
	assert_ptr_not_equal(cpu, MAP_FAILED);
}

static void
map(unsigned int trap)
{
	open_card();
	map_dm(trap);
}

static void
unmap(void)
{
	void *state = abi;

	emu_lock();
	munmap((void *)(uintptr_t)cpu, 8192);
	emu_vma_unmapped((uintptr_t)cpu, 8192);
	emu_unlock();
	assert_int_equal(abi_dm_free(abi->file, dm), 0);
	abi_teardown(&state);
}

static void
expect(uint64_t reads, uint64_t writes)
{
	assert_int_equal(abi->devs[0].inject.cpu_reads, reads);
	assert_int_equal(abi->devs[0].inject.cpu_writes, writes);
}

/* What the trap lets through must do what it would have done. */
static void
test_all(void **state)
{
	(void)state;
	map(EMU_TRAP_READ | EMU_TRAP_WRITE);
	expect(0, 0);
	cpu[0] = 0x5a;
	expect(0, 1);
	assert_int_equal(cpu[0], 0x5a);
	expect(1, 1);
	for (unsigned int i = 0; i < 100; i++)
		cpu[4096 + i] = (uint8_t)i;
	expect(1, 101);
	assert_int_equal(cpu[4096 + 99], 99);
	expect(2, 101);
	/* the card's view is the same memory, and no touch */
	assert_int_equal(abi->devs[0].memic.va[4096], 0x5a);
	expect(2, 101);
	unmap();
}

static void
test_read_only(void **state)
{
	(void)state;
	map(EMU_TRAP_READ);
	cpu[0] = 1;
	expect(0, 0);
	assert_int_equal(cpu[0], 1);
	expect(1, 0);
	unmap();
}

static void
test_write_only(void **state)
{
	(void)state;
	map(EMU_TRAP_WRITE);
	cpu[0] = 1;
	assert_int_equal(cpu[0], 1);
	assert_int_equal(cpu[1], 0);
	expect(0, 1);
	unmap();
}

static void
test_off(void **state)
{
	struct sigaction before, now;

	(void)state;
	open_card(); /* its engine has a handler of its own, see guard.h */
	assert_int_equal(sigaction(SIGSEGV, NULL, &before), 0);
	map_dm(0);
	cpu[0] = 1;
	expect(0, 0);
	assert_int_equal(sigaction(SIGSEGV, NULL, &now), 0);
	assert_true(now.sa_handler == before.sa_handler);
	unmap();
}

/* A moved mapping is still device memory; an unmapped one's place is nobody's. */
static void
test_moved(void **state)
{
	uint8_t *there = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *moved;
	volatile uint8_t *old = cpu;

	(void)state;
	map(EMU_TRAP_READ | EMU_TRAP_WRITE);
	old = cpu;
	emu_lock();
	moved = mremap((void *)(uintptr_t)cpu, 8192, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, there);
	assert_ptr_equal(moved, there);
	emu_vma_moved((uintptr_t)cpu, 8192, (uintptr_t)moved, 8192);
	emu_unlock();
	cpu = moved;
	cpu[3] = 4;
	expect(0, 1);
	there = mmap((void *)(uintptr_t)old, 4096, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	assert_ptr_equal(there, (void *)(uintptr_t)old);
	there[0] = 1;
	expect(0, 1);
	munmap(there, 4096);
	unmap();
}

static void *
toucher(void *arg)
{
	(void)arg;
	for (unsigned int i = 0; i < 500; i++) {
		/* the threads touch the same bytes, which is no race when it is meant */
		__atomic_store_n(&cpu[64], (uint8_t)i, __ATOMIC_RELAXED);
		(void)__atomic_load_n(&cpu[4096], __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Touches that race may go unseen, but nothing gets stuck and rights come back. */
static void
test_threads(void **state)
{
	pthread_t threads[3];
	uint64_t before;

	(void)state;
	map(EMU_TRAP_READ | EMU_TRAP_WRITE);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, toucher, NULL), 0);
	for (unsigned int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	before = abi->devs[0].inject.cpu_writes;
	assert_true(before >= 1 && before <= 1500);
	cpu[0] = 1;
	assert_int_equal(abi->devs[0].inject.cpu_writes, before + 1);
	unmap();
}

/* One instruction, however the caller's loop is compiled. */
static void __attribute__((noinline))
touch(void)
{
	cpu[0] = 1;
}

static void
test_report(void **state)
{
	char *text = NULL;
	FILE *out = tmpfile();
	size_t len;

	(void)state;
	assert_non_null(out);
	map(EMU_TRAP_READ | EMU_TRAP_WRITE);
	for (unsigned int i = 0; i < 7; i++)
		touch();
	emu_trap_print(out);
	len = (size_t)lseek(fileno(out), 0, SEEK_END);
	text = calloc(1, len + 1);
	assert_int_equal(pread(fileno(out), text, len, 0), len);
	assert_non_null(strstr(text, "7 CPU writes"));
	assert_null(strstr(text, "reads"));
	/* its first frame is in this program, not in the handler */
	assert_non_null(strstr(strchr(text, '\n'), "test_mlx5emu_fault_trap"));
	free(text);
	fclose(out);
	unmap();
}

static volatile sig_atomic_t foreign;
static void *foreign_page;

static void
on_foreign(int sig)
{
	(void)sig;
	foreign++;
	mprotect(foreign_page, 4096, PROT_READ | PROT_WRITE);
}

/* Faults that are not the trap's go to the handler that was there before. */
static void
test_chain(void **state)
{
	(void)state;
	foreign_page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(foreign_page, MAP_FAILED);
	handle(SIGSEGV, on_foreign);
	map(EMU_TRAP_READ | EMU_TRAP_WRITE);
	*(volatile uint8_t *)foreign_page = 1;
	assert_int_equal(foreign, 1);
	cpu[0] = 1;
	expect(0, 1);
	assert_int_equal(foreign, 1);
	munmap(foreign_page, 4096);
	unmap();
}

/* And without one they end the process as before. */
static void
test_real_fault(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	handle(SIGSEGV, SIG_DFL); /* cmocka has one */
	map(EMU_TRAP_READ | EMU_TRAP_WRITE);
	cpu[0] = 1;
	pid = fork();
	if (pid == 0) {
		*(volatile uint8_t *)(uintptr_t)abi_hole() = 1;
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSEGV);
	unmap();
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_read_only),
		cmocka_unit_test(test_write_only),
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_real_fault),
	};

	if (argc != 2)
		return 2;
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		const struct CMUnitTest one[] = { tests[i] };

		if (strcmp(tests[i].name + strlen("test_"), argv[1]) == 0)
			return cmocka_run_group_tests_name("fault trap", one, NULL, NULL);
	}
	return 2;
}
