/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_GUARD_H
#define MLX5EMU_GUARD_H

/*
 * The card touches memory of the process of which nobody told it that it went: unmapped
 * within libc (free(), pthread_join()), cut off a file, or closed by mprotect(2). A real
 * card would have the pages; here the touch faults, and instead of the process only what
 * used the memory ends.
 */

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Catch faults from now on; what handled them before still gets those that are not ours. */
void emu_guard_install(void);
/* ThreadSanitizer calls sigaction() while it starts, and can follow no function until then. */
#define EMU_NO_TSAN __attribute__((no_sanitize_thread))

/* sigaction(2) of a process that is not to notice: its handlers come after ours. */
int emu_guard_sigaction(int sig, const struct sigaction *action, struct sigaction *old);
/*
 * Around work under emu_lock(): sigsetjmp(*emu_guard_env(), 0), and when that returns 0,
 * emu_guard_enter(), the work, emu_guard_leave(). When it returns again the work was cut
 * short by a touch of pinned memory, and emu_guard_recover() reports it and sees to it that
 * it does not happen at that address again.
 */
sigjmp_buf *emu_guard_env(void);
void emu_guard_enter(void);
void emu_guard_leave(void);
void emu_guard_recover(void);

/* Store into memory of the process that may not be there. */
void emu_guard_store(volatile uint32_t *at, uint32_t value);

/* Let a signal take the way that it would have taken without us. */
void emu_signal_pass_on(const struct sigaction *old, int sig, siginfo_t *info, void *context);

#endif
