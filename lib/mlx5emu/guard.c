/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <stddef.h>

#include "guard.h"
#include "pin.h"

#define TLS __thread __attribute__((tls_model("initial-exec")))

static TLS sigjmp_buf env;
static TLS bool inside;         /* this thread works for the card, under the lock */
static TLS uintptr_t fault_addr;
static struct sigaction old_segv, old_bus; /* what the process wants of them */
static bool installed;

/* sigaction(2), also where the name is the shim's: glibc exports this one, too. */
int __sigaction(int sig, const struct sigaction *action, struct sigaction *old);

void
emu_signal_pass_on(const struct sigaction *old, int sig, siginfo_t *info, void *context)
{
	if (old->sa_flags & SA_SIGINFO) {
		old->sa_sigaction(sig, info, context);
	} else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN) {
		old->sa_handler(sig);
	} else {
		/* happens again on return, and ends the process as it would have */
		__sigaction(sig, &(struct sigaction){ 0 }, NULL);
		if (info->si_code <= 0)
			raise(sig);
	}
}

/* Nothing does so on the way out by a jump. */
static void
unmask(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	sigaddset(&set, SIGBUS);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void
on_fault(int sig, siginfo_t *info, void *context)
{
	struct sigaction theirs;

	/* the lock is ours, so the pins can be looked at */
	if (inside && info->si_code > 0 && emu_pin_covers((uintptr_t)info->si_addr)) {
		inside = false;
		fault_addr = (uintptr_t)info->si_addr;
		unmask();
		siglongjmp(env, 1);
	}
	theirs = sig == SIGBUS ? old_bus : old_segv;
	if (theirs.sa_flags & SA_RESETHAND)
		*(sig == SIGBUS ? &old_bus : &old_segv) = (struct sigaction){ 0 };
	emu_signal_pass_on(&theirs, sig, info, context);
}

/* Get the signal before the process's own handler, with what that asks for. */
static int
stand_before(int sig, const struct sigaction *theirs)
{
	struct sigaction action = *theirs;

	action.sa_sigaction = on_fault;
	action.sa_flags &= ~SA_RESETHAND;
	action.sa_flags |= SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
	return __sigaction(sig, &action, NULL);
}

void
emu_guard_install(void)
{
	if (installed)
		return;
	__sigaction(SIGSEGV, NULL, &old_segv);
	__sigaction(SIGBUS, NULL, &old_bus);
	stand_before(SIGSEGV, &old_segv);
	stand_before(SIGBUS, &old_bus);
	installed = true;
}

EMU_NO_TSAN int
emu_guard_sigaction(int sig, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction *theirs = sig == SIGBUS ? &old_bus : &old_segv, last = *theirs;
	int ret;

	if (!installed || (sig != SIGSEGV && sig != SIGBUS))
		return __sigaction(sig, action, old);
	if (action != NULL) {
		ret = stand_before(sig, action);
		if (ret != 0)
			return ret;
		*theirs = *action;
	}
	if (old != NULL)
		*old = last;
	return 0;
}

sigjmp_buf *
emu_guard_env(void)
{
	return &env;
}

void
emu_guard_enter(void)
{
	inside = true;
}

void
emu_guard_leave(void)
{
	inside = false;
}

void
emu_guard_recover(void)
{
	emu_pin_lost(fault_addr);
}

void
emu_guard_store(volatile uint32_t *at, uint32_t value)
{
	if (sigsetjmp(env, 0) != 0) {
		emu_guard_recover();
		return;
	}
	emu_guard_enter();
	__atomic_store_n(at, value, __ATOMIC_RELEASE);
	emu_guard_leave();
}
