/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ioctl.h"

static size_t taken;            /* of the part for calls */

static uint8_t *
arena(void)
{
	static uint8_t *at;

	if (at != NULL)
		return at;
	at = mmap((void *)(uintptr_t)ARENA_AT, ARENA_USER + ARENA_CALL, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	fuzz_expect(at == (void *)(uintptr_t)ARENA_AT, "the arena cannot be mapped");
	return at;
}

void
arena_clear(void)
{
	memset(arena(), 0, ARENA_USER);
}

void
arena_call_begin(void)
{
	taken = 0;
}

uint8_t *
arena_take(size_t len)
{
	uint8_t *at = arena() + ARENA_USER + taken;

	len = (len + 7) / 8 * 8;
	fuzz_expect(len <= ARENA_CALL - taken, "a call's arguments exceed the arena");
	taken += len;
	return at;
}

static bool
in_arena(uint64_t addr, uint64_t len, uint64_t size)
{
	return addr >= ARENA_AT && addr - ARENA_AT <= size && len <= size - (addr - ARENA_AT);
}

/* ---- instead of what asks the kernel which memory there is; linked by --wrap ---- */

ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *local, unsigned long n_local,
				const struct iovec *remote, unsigned long n_remote,
				unsigned long flags);
ssize_t __wrap_process_vm_writev(pid_t pid, const struct iovec *local, unsigned long n_local,
				 const struct iovec *remote, unsigned long n_remote,
				 unsigned long flags);
int __wrap_emu_user_range_check(uint64_t addr, uint64_t len, bool writable);

static ssize_t
copy(const struct iovec *to, const struct iovec *from, const struct iovec *user)
{
	if (!in_arena((uintptr_t)user->iov_base, user->iov_len, ARENA_USER + ARENA_CALL)) {
		errno = EFAULT;
		return -1;
	}
	memmove(to->iov_base, from->iov_base, user->iov_len);
	return (ssize_t)user->iov_len;
}

ssize_t
__wrap_process_vm_readv(pid_t pid, const struct iovec *local, unsigned long n_local,
			const struct iovec *remote, unsigned long n_remote, unsigned long flags)
{
	(void)flags;
	fuzz_expect(pid == getpid() && n_local == 1 && n_remote == 1, "an unusual copy");
	return copy(local, remote, remote);
}

ssize_t
__wrap_process_vm_writev(pid_t pid, const struct iovec *local, unsigned long n_local,
			 const struct iovec *remote, unsigned long n_remote,
			 unsigned long flags)
{
	(void)flags;
	fuzz_expect(pid == getpid() && n_local == 1 && n_remote == 1, "an unusual copy");
	return copy(remote, local, remote);
}

/* Nothing but the program's part can be pinned, or the card would write into ourselves. */
int
__wrap_emu_user_range_check(uint64_t addr, uint64_t len, bool writable)
{
	(void)writable;
	if (addr + len < addr)
		return -EINVAL;
	return in_arena(addr, len, ARENA_USER) ? 0 : -EFAULT;
}
