/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu.h"
#include "guard.h"
#include "step.h"
#include "trap.h"

/*
 * A touch faults. The handler counts it, gives the rights back, and has the CPU execute
 * just that instruction; the trap after it takes the rights away again. Meanwhile a touch
 * by another thread goes unseen: counts are lower bounds where threads race, and 0 is exact.
 * System calls that are given such an address say EFAULT.
 */
#ifdef EMU_CAN_STEP

#define SITES 64
#define FRAMES 24

/* An instruction that touched device memory. */
struct site {
	uintptr_t pc;
	bool write;
	uint64_t count;
	int n_frames;
	void *frames[FRAMES];
};

static struct emu_trap_range ranges[EMU_TRAP_RANGES];
static unsigned int n_ranges;
static unsigned int watched;    /* EMU_TRAP_*; set before the first range */
static unsigned int steppers;   /* threads that execute a touch now */
static struct site sites[SITES];
static unsigned int n_sites;
static bool busy;               /* spin lock of all of the above */
static bool on;
static struct sigaction old_segv, old_trap;

static __thread bool stepping __attribute__((tls_model("initial-exec")));

/* Handlers take it, too: whoever holds it must not touch anything that can fault. */
static void
take(void)
{
	while (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE))
		;
}

static void
give(void)
{
	__atomic_clear(&busy, __ATOMIC_RELEASE);
}

static int
closed_rights(void)
{
	return watched & EMU_TRAP_READ ? PROT_NONE : PROT_READ;
}

static void
set_rights(int prot)
{
	for (unsigned int i = 0; i < n_ranges; i++)
		syscall(SYS_mprotect, ranges[i].start, ranges[i].end - ranges[i].start, prot);
}

static struct emu_dev *
dev_at(uintptr_t addr)
{
	for (unsigned int i = 0; i < n_ranges; i++)
		if (addr >= ranges[i].start && addr < ranges[i].end)
			return ranges[i].dev;
	return NULL;
}

static void
note_site(uintptr_t pc, bool write, void *const *frames, int n)
{
	int first = 0;

	for (unsigned int i = 0; i < n_sites; i++) {
		if (sites[i].pc != pc || sites[i].write != write)
			continue;
		sites[i].count++;
		return;
	}
	if (n_sites == SITES)
		return;
	/* the handler's own frames come before the instruction's */
	while (first < n - 1 && (uintptr_t)frames[first] != pc)
		first++;
	sites[n_sites] = (struct site){ .pc = pc, .write = write, .count = 1,
					.n_frames = n - first };
	memcpy(sites[n_sites].frames, frames + first, (size_t)(n - first) * sizeof(*frames));
	n_sites++;
}

static void
count(struct emu_dev *dev, uintptr_t pc, bool write)
{
	void *frames[FRAMES];
	int n;

	if (!(watched & (write ? EMU_TRAP_WRITE : EMU_TRAP_READ)))
		return;
	__atomic_add_fetch(write ? &dev->inject.cpu_writes : &dev->inject.cpu_reads, 1,
			   __ATOMIC_RELAXED);
	n = backtrace(frames, FRAMES);
	take();
	note_site(pc, write, frames, n);
	give();
}

/* The rights stay: the step that was begun with the last fault never ends. */
static void
stop(struct emu_dev *dev, uintptr_t pc)
{
	emu_report("%s: --fault trap: the instruction at 0x%lx cannot be watched (half of an "
		   "atomic access, which device memory does not take): counting ends here",
		   dev->name, pc);
}

static void
on_segv(int sig, siginfo_t *info, void *context)
{
	uintptr_t pc = emu_step_pc(context);
	struct emu_dev *dev = NULL;
	int saved = errno;

	if (info->si_code == SEGV_ACCERR && !stepping) {
		take();
		dev = dev_at((uintptr_t)info->si_addr);
		if (dev != NULL && steppers++ == 0)
			set_rights(PROT_READ | PROT_WRITE);
		give();
	}
	if (dev == NULL) {
		emu_signal_pass_on(&old_segv, sig, info, context);
		return;
	}
	count(dev, pc, emu_step_writes(context));
	stepping = emu_step_begin(context);
	if (!stepping)
		stop(dev, pc);
	errno = saved;
}

static void
on_trap(int sig, siginfo_t *info, void *context)
{
	int saved = errno;

	if (!stepping) {
		emu_signal_pass_on(&old_trap, sig, info, context);
		return;
	}
	stepping = false;
	emu_step_end(context);
	take();
	if (--steppers == 0)
		set_rights(closed_rights());
	give();
	errno = saved;
}

static void
install(unsigned int which)
{
	struct sigaction segv = { .sa_sigaction = on_segv, .sa_flags = SA_SIGINFO | SA_NODEFER };
	struct sigaction trap = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	void *frame[1];
	int err;

	err = emu_step_init();
	if (err != 0) {
		emu_report("--fault trap: no page to step in: %s", strerrorname_np(err));
		return;
	}
	backtrace(frame, 1); /* loads what it needs, which a handler should not */
	watched = which;
	sigaction(SIGSEGV, &segv, &old_segv);
	sigaction(SIGTRAP, &trap, &old_trap);
	__atomic_store_n(&on, true, __ATOMIC_RELEASE);
}

bool
emu_trap_on(void)
{
	return __atomic_load_n(&on, __ATOMIC_ACQUIRE);
}

void
emu_trap_start(struct emu_dev *dev)
{
	if (dev->cfg->fault.trap != 0 && !emu_trap_on())
		install(dev->cfg->fault.trap);
}

void
emu_trap_set(const struct emu_trap_range *new, unsigned int n)
{
	take();
	memcpy(ranges, new, n * sizeof(*new));
	n_ranges = n;
	if (steppers == 0)
		set_rights(closed_rights());
	give();
}

void
emu_trap_print(FILE *out)
{
	fflush(out);
	for (unsigned int i = 0; i < n_sites; i++) {
		fprintf(out, "mlx5emu: --fault trap: %llu CPU %s of device memory at\n",
			(unsigned long long)sites[i].count,
			sites[i].write ? "writes" : "reads");
		fflush(out);
		backtrace_symbols_fd(sites[i].frames, sites[i].n_frames, fileno(out));
	}
}

#else

bool
emu_trap_on(void)
{
	return false;
}

void
emu_trap_start(struct emu_dev *dev)
{
	if (dev->cfg->fault.trap != 0)
		emu_report("%s: --fault trap works on x86-64 and arm64 only", dev->name);
}

void
emu_trap_set(const struct emu_trap_range *new, unsigned int n)
{
	(void)new;
	(void)n;
}

void
emu_trap_print(FILE *out)
{
	(void)out;
}

#endif
