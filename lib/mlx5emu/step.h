/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef EMU_STEP_H
#define EMU_STEP_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/*
 * For handlers of faults: execute the one instruction that faulted, then get SIGTRAP.
 * x86-64 has a flag for that. On arm64 the instruction is executed elsewhere, where a
 * breakpoint comes after it: memory is touched by instructions that go on to the next one.
 */
#if defined(__x86_64__) || defined(__aarch64__)
#define EMU_CAN_STEP
#endif

/* Once, before the first fault. 0 or errno. */
int emu_step_init(void);

/* The instruction that faulted, and whether it was about to write. */
uintptr_t emu_step_pc(const ucontext_t *context);
bool emu_step_writes(const ucontext_t *context);

/*
 * On return from the handler, execute that instruction alone. False where it must be left
 * as it is: one of a pair that is only executed together (ldxr and stxr of arm64).
 */
bool emu_step_begin(ucontext_t *context);

/* In the handler of SIGTRAP, once for each that has begun: go on as usual. */
void emu_step_end(ucontext_t *context);

/* Of an instruction of arm64 that touches memory: whether it writes, may be moved. */
bool emu_a64_writes(uint32_t insn);
bool emu_a64_moves(uint32_t insn);

#endif /* EMU_STEP_H */
