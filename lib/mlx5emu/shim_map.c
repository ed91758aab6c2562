/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/* Or the headers make mmap() another name of mmap64(), and both are defined here. */
#undef _FILE_OFFSET_BITS

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "card.h"
#include "emu.h"
#include "pin.h"
#include "shim.h"
#include "vma.h"

/*
 * The calls that change the address space: device pages come and go by them, and pages that
 * the card works in. The lock is held around the system call and what goes before and after
 * it, or another thread or the card would see the address space in between.
 */

/* Nothing of ours is there that could be changed. */
static bool
unconcerned(void)
{
	/* an allocator that is not libc's may come here while we hold the lock */
	return emu_dev_count == 0 || !(emu_vma_any() || emu_pin_any()) || emu_locked_here();
}

/* mmap(2) over what is there already. */
static void *
map_over(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	void *va;

	emu_lock();
	emu_pin_going((uintptr_t)addr, len);
	emu_pin_hold(false);
	va = (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, off);
	emu_pin_settle(va != MAP_FAILED);
	if (va != MAP_FAILED)
		emu_vma_unmapped((uintptr_t)va, len);
	emu_unlock();
	return va;
}

static void *
do_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	struct emu_file *file = NULL;
	void *va;

	if (fd >= 0 && emu_dev_count > 0 && !(flags & MAP_ANONYMOUS) && !emu_locked_here()) {
		emu_lock();
		file = emu_file_of_fd(fd);
		va = file == NULL ? NULL : emu_vma_map(file, addr, len, prot, flags, off);
		emu_unlock();
		if (file != NULL)
			return va;
	}
	if (fd >= 0 && emu_forked && !(flags & MAP_ANONYMOUS) && emu_file_of_fd(fd) != NULL) {
		emu_refuse_child("mmap");
		return MAP_FAILED;
	}
	/* with MAP_FIXED_NOREPLACE the kernel makes no room */
	if (!(flags & MAP_FIXED) || unconcerned())
		return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, off);
	return map_over(addr, len, prot, flags, fd, off);
}

EXPORT void *
mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	return do_mmap(addr, len, prot, flags, fd, off);
}

EXPORT void *
mmap64(void *addr, size_t len, int prot, int flags, int fd, off64_t off)
{
	return do_mmap(addr, len, prot, flags, fd, off);
}

EXPORT int
munmap(void *addr, size_t len)
{
	int ret;

	if (unconcerned())
		return syscall(SYS_munmap, addr, len);
	emu_lock();
	emu_pin_going((uintptr_t)addr, len);
	emu_pin_hold(false);
	ret = syscall(SYS_munmap, addr, len);
	emu_pin_settle(ret == 0);
	if (ret == 0)
		emu_vma_unmapped((uintptr_t)addr, len);
	emu_unlock();
	return ret;
}

/* What mremap(2) unmaps on its way: the end that is cut off, and what was at the target. */
static void
hold_for_mremap(uintptr_t old, size_t old_len, size_t new_len, int flags, void *want)
{
	if (new_len < old_len)
		emu_pin_going(old + new_len, old_len - new_len);
	if (flags & MREMAP_FIXED)
		emu_pin_going((uintptr_t)want, new_len);
	emu_pin_hold(false);
}

static void *
do_mremap(void *old, size_t old_len, size_t new_len, int flags, void *want)
{
	size_t moved = new_len < old_len ? new_len : old_len;
	void *va;

	hold_for_mremap((uintptr_t)old, old_len, new_len, flags, want);
	va = (void *)syscall(SYS_mremap, old, old_len, new_len, flags, want);
	emu_pin_settle(va != MAP_FAILED);
	if (va == MAP_FAILED)
		return va;
	/* also with MREMAP_DONTUNMAP: it is the pages that move */
	if (va != old && moved > 0)
		emu_pin_moved((uintptr_t)old, (uintptr_t)va, moved);
	emu_vma_moved((uintptr_t)old, old_len, (uintptr_t)va, new_len);
	return va;
}

EXPORT void *
mremap(void *old, size_t old_len, size_t new_len, int flags, ...)
{
	void *want = NULL, *va;
	va_list ap;
	int err;

	va_start(ap, flags);
	if (flags & MREMAP_FIXED)
		want = va_arg(ap, void *);
	va_end(ap);
	if (unconcerned())
		return (void *)syscall(SYS_mremap, old, old_len, new_len, flags, want);
	emu_lock();
	err = emu_vma_remap_check((uintptr_t)old, old_len, new_len, flags);
	va = err != 0 ? MAP_FAILED : do_mremap(old, old_len, new_len, flags, want);
	emu_unlock();
	if (err != 0)
		errno = -err;
	return va;
}

/*
 * MADV_DONTNEED takes pages out of the page tables: pinned ones stay the card's, and the
 * process finds others, of zeros or of the file (zap_page_range_single() in mm/memory.c).
 */
EXPORT int
madvise(void *addr, size_t len, int advice)
{
	int ret;

	if (advice != MADV_DONTNEED || unconcerned())
		return syscall(SYS_madvise, addr, len, advice);
	emu_lock();
	emu_pin_going((uintptr_t)addr, len);
	emu_pin_hold(true);
	ret = syscall(SYS_madvise, addr, len, advice);
	emu_pin_settle(ret == 0);
	emu_unlock();
	return ret;
}
