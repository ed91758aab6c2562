/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>

#include "thunk.h"

/** Bytes from one jump to the next; the address it leads to is at its end. */
#define STRIDE 32u

#if defined(RTE_ARCH_X86_64)
/* endbr64; jmp *0(%rip) */
static const uint8_t jump[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0, 0, 0, 0 };
#elif defined(RTE_ARCH_ARM64)
/* bti c; ldr x16, . + 8; br x16 */
static const uint32_t jump[] = { 0xd503245f, 0x58000050, 0xd61f0200 };
#else
static const uint8_t jump[] = { 0 };
#define NO_JUMP
#endif

static rte_mbuf_extbuf_free_callback_t functions[MPM_THUNKS];
static uint8_t *page;

void
mpm_thunk_set(enum mpm_thunk which, rte_mbuf_extbuf_free_callback_t fn)
{
	functions[which] = fn;
}

static void
write_jumps(uint8_t *to)
{
	uintptr_t target;
	unsigned int i;

	for (i = 0; i < MPM_THUNKS; i++, to += STRIDE) {
		target = (uintptr_t)functions[i];
		memcpy(to, jump, sizeof(jump));
		memcpy(to + sizeof(jump), &target, sizeof(target));
	}
}

int
mpm_thunk_make(uintptr_t addr)
{
	size_t size = sysconf(_SC_PAGESIZE);
	uint8_t *p;
	int err;

#ifdef NO_JUMP
	return -ENOTSUP;
#endif
	p = mmap((void *)addr, size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (p == MAP_FAILED)
		return -errno;
	/* kernels before 4.17 take the flag for a hint */
	if ((uintptr_t)p != addr) {
		munmap(p, size);
		return -EEXIST;
	}
	write_jumps(p);
	if (mprotect(p, size, PROT_READ | PROT_EXEC) != 0) {
		err = errno;
		munmap(p, size);
		return -err;
	}
	__builtin___clear_cache((char *)p, (char *)p + MPM_THUNKS * STRIDE);
	page = p;
	return 0;
}

rte_mbuf_extbuf_free_callback_t
mpm_thunk_get(enum mpm_thunk which)
{
	if (page == NULL)
		return functions[which];
	return (rte_mbuf_extbuf_free_callback_t)(uintptr_t)(page + which * STRIDE);
}
