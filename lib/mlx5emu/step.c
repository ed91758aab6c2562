/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "step.h"

/* Encodings: Arm Architecture Reference Manual, C4.1 "A64 instruction set encoding". */

#define A64_LOAD (1u << 22)     /* bit of nearly all of them */

static bool
is(uint32_t insn, uint32_t mask, uint32_t bits)
{
	return (insn & mask) == bits;
}

bool
emu_a64_writes(uint32_t insn)
{
	if (is(insn, 0xffffffe0, 0xd50b7420) || /* dc zva */
	    is(insn, 0xfe000000, 0xe4000000) || /* stores of SVE */
	    is(insn, 0x3fa00000, 0x08a00000))   /* cas */
		return true;
	if (is(insn, 0x3b000000, 0x18000000) || /* ldr of a literal */
	    is(insn, 0x3ffffc00, 0x38bfc000) || /* ldapr */
	    is(insn, 0x1e000000, 0x04000000))   /* loads of SVE */
		return false;
	if (is(insn, 0x3b200c00, 0x38200000))   /* ldadd, swp and the like */
		return true;
	/* of one general register: bit 23 tells signed loads, which have no bit 22 */
	if (is(insn, 0x3e000000, 0x38000000) || is(insn, 0x3f000000, 0x19000000))
		return (insn & (A64_LOAD | A64_LOAD << 1)) == 0;
	return (insn & A64_LOAD) == 0;
}

/* Not what finds its address by its own, nor half of what is undone by any fault. */
bool
emu_a64_moves(uint32_t insn)
{
	return !is(insn, 0x3b000000, 0x18000000) &&
	       !(is(insn, 0x3f800000, 0x08000000) && !is(insn, 0xbfa00000, 0x08200000));
}

#if defined(__x86_64__)

#define TRAP_FLAG 0x100         /* EFLAGS.TF */
#define ERR_WRITE 2             /* bit of the page fault's error code */

int
emu_step_init(void)
{
	return 0;
}

uintptr_t
emu_step_pc(const ucontext_t *context)
{
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}

bool
emu_step_writes(const ucontext_t *context)
{
	return context->uc_mcontext.gregs[REG_ERR] & ERR_WRITE;
}

bool
emu_step_begin(ucontext_t *context)
{
	context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
	return true;
}

void
emu_step_end(ucontext_t *context)
{
	context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

#elif defined(__aarch64__)

#define BREAKPOINT 0xd4200000u  /* brk #0 */
#define PLACES 256              /* threads that execute one at a time */

struct place {
	uint32_t insn;
	uint32_t breakpoint;
};

static struct place *places;
static uintptr_t home[PLACES];  /* where the instruction is from; 0 where none is */

int
emu_step_init(void)
{
	void *at;

	if (places != NULL)
		return 0;
	at = mmap(NULL, PLACES * sizeof(*places), PROT_READ | PROT_WRITE | PROT_EXEC,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return errno;
	places = at;
	return 0;
}

uintptr_t
emu_step_pc(const ucontext_t *context)
{
	return context->uc_mcontext.pc;
}

static uint32_t
insn_at(const ucontext_t *context)
{
	return *(const uint32_t *)(uintptr_t)context->uc_mcontext.pc;
}

bool
emu_step_writes(const ucontext_t *context)
{
	return emu_a64_writes(insn_at(context));
}

static unsigned int
take_place(uintptr_t pc)
{
	uintptr_t none;
	unsigned int i;

	for (i = 0;; i = (i + 1) % PLACES) {
		none = 0;
		if (__atomic_compare_exchange_n(&home[i], &none, pc, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return i;
	}
}

bool
emu_step_begin(ucontext_t *context)
{
	uint32_t insn = insn_at(context);
	struct place *p;

	if (!emu_a64_moves(insn))
		return false;
	p = &places[take_place(context->uc_mcontext.pc)];
	*p = (struct place){ .insn = insn, .breakpoint = BREAKPOINT };
	__builtin___clear_cache((char *)p, (char *)(p + 1));
	context->uc_mcontext.pc = (uintptr_t)p;
	return true;
}

void
emu_step_end(ucontext_t *context)
{
	/* the breakpoint is in the middle of a place */
	size_t i = (context->uc_mcontext.pc - (uintptr_t)places) / sizeof(*places);

	context->uc_mcontext.pc = home[i] + sizeof(uint32_t);
	__atomic_store_n(&home[i], 0, __ATOMIC_RELEASE);
}

#endif
