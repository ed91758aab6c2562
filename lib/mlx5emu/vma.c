/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu.h"
#include "share.h"
#include "trap.h"
#include "vma.h"

#define PAGE 4096ull

static inline size_t
page_up(size_t len)
{
	return (len + PAGE - 1) & ~(PAGE - 1);
}

struct vma {
	LIST_ENTRY(vma) next;
	uintptr_t start, end;
	struct emu_mmap_entry *entry;
};

static LIST_HEAD(, vma) vmas = LIST_HEAD_INITIALIZER(vmas);
static LIST_HEAD(, emu_mmap_entry) entries = LIST_HEAD_INITIALIZER(entries);
static atomic_uint n_vmas;

/* ---- entries ---- */

static bool
index_is_free(const struct emu_file *file, uint32_t index, size_t pages)
{
	const struct emu_mmap_entry *e;

	LIST_FOREACH(e, &entries, next)
		if (e->file == file && index < e->index + e->len / PAGE && e->index < index + pages)
			return false;
	return true;
}

int
emu_mmap_entry_add(struct emu_mmap_entry *entry, unsigned int command)
{
	uint32_t first = command << 16, pages = entry->len / PAGE;

	/* rdma_user_mmap_entry_insert_range(): the lowest run that is free */
	for (uint32_t i = first; i + pages <= first + 0x10000; i++) {
		if (!index_is_free(entry->file, i, pages))
			continue;
		entry->index = i;
		entry->refs = 1;
		LIST_INSERT_HEAD(&entries, entry, next);
		return 0;
	}
	return -ENOMEM;
}

void
emu_mmap_entry_put(struct emu_mmap_entry *entry)
{
	if (--entry->refs > 0)
		return;
	LIST_REMOVE(entry, next);
	entry->release(entry);
}

uint64_t
emu_mmap_entry_offset(const struct emu_mmap_entry *entry)
{
	uint32_t command = entry->index >> 16, index = entry->index & 0xffff;

	return ((uint64_t)(index >> 8) << 16 | command << 8 | (index & 0xff)) * PAGE;
}

/* mlx5_vma_to_pgoff() */
static struct emu_mmap_entry *
entry_at(const struct emu_file *file, uint64_t offset)
{
	uint64_t pgoff = offset / PAGE;
	uint64_t index = (pgoff >> 8 & 0xff) << 16 | (pgoff >> 16 & 0xff) << 8 | (pgoff & 0xff);
	struct emu_mmap_entry *e;

	LIST_FOREACH(e, &entries, next)
		if (e->file == file && e->index == index)
			return e;
	return NULL;
}

/* ---- mappings ---- */

static int
vma_add(struct emu_mmap_entry *entry, uintptr_t start, uintptr_t end)
{
	struct vma *vma = malloc(sizeof(*vma));

	if (vma == NULL)
		return -ENOMEM;
	*vma = (struct vma){ .start = start, .end = end, .entry = entry };
	entry->refs++;
	entry->file->vmas++;
	n_vmas++;
	LIST_INSERT_HEAD(&vmas, vma, next);
	return 0;
}

static void
vma_remove(struct vma *vma)
{
	struct emu_file *file = vma->entry->file;

	LIST_REMOVE(vma, next);
	n_vmas--;
	file->vmas--;
	emu_mmap_entry_put(vma->entry);
	free(vma);
	emu_file_put(file);
}

/* Tell the trap where device memory is mapped now. */
static void
tell_trap(void)
{
	struct emu_trap_range ranges[EMU_TRAP_RANGES];
	unsigned int n = 0;
	struct vma *vma;

	if (!emu_trap_on())
		return;
	LIST_FOREACH(vma, &vmas, next) {
		if (!vma->entry->device_memory || vma->entry->gone || n == EMU_TRAP_RANGES)
			continue;
		ranges[n++] = (struct emu_trap_range){ vma->start, vma->end,
						       vma->entry->file->dev };
	}
	emu_trap_set(ranges, n);
}

int
emu_vma_entry(const struct emu_file *file, uint64_t offset, size_t len, int prot, int flags,
	      struct emu_mmap_entry **entry)
{
	*entry = entry_at(file, offset);
	if (file->gone)
		return -EIO; /* ib_uverbs_get_ucontext_file() */
	/* rdma_user_mmap_pre(): shared, and exactly the entry's size */
	if (*entry == NULL || offset % PAGE != 0 || !(flags & MAP_SHARED) ||
	    page_up(len) != (*entry)->len || (prot & PROT_EXEC))
		return -EINVAL;
	return 0;
}

/* --fault one-page: the same page of the card at each of an entry's addresses. */
static void
show_one_page(const struct emu_mmap_entry *entry, uintptr_t va, int prot)
{
	if (!entry->device_memory || !entry->file->dev->cfg->fault.one_page)
		return;
	for (uintptr_t at = va + PAGE; at < va + entry->len; at += PAGE)
		if (syscall(SYS_mmap, at, PAGE, prot, MAP_SHARED | MAP_FIXED, entry->fd,
			    entry->fd_off) == -1)
			abort(); /* replaces a page of a mapping that is there */
}

static void *
entry_map(struct emu_mmap_entry *entry, void *addr, int prot, int flags)
{
	void *va;

	if (flags & MAP_FIXED)
		emu_pin_going((uintptr_t)addr, entry->len);
	emu_pin_hold(false);
	va = (void *)syscall(SYS_mmap, addr, entry->len, prot, flags, entry->fd, entry->fd_off);
	emu_pin_settle(va != MAP_FAILED);
	if (va == MAP_FAILED)
		return va;
	if (flags & MAP_FIXED)
		emu_vma_unmapped((uintptr_t)va, entry->len);
	if (vma_add(entry, (uintptr_t)va, (uintptr_t)va + entry->len) != 0) {
		syscall(SYS_munmap, va, entry->len);
		errno = ENOMEM;
		return MAP_FAILED;
	}
	show_one_page(entry, (uintptr_t)va, prot);
	if (entry->device_memory)
		emu_trap_start(entry->file->dev);
	tell_trap();
	emu_trace("%s: mmap index 0x%x len %zu -> %p", entry->file->dev->name, entry->index,
		  entry->len, va);
	return va;
}

void *
emu_vma_map(struct emu_file *file, void *addr, size_t len, int prot, int flags, uint64_t offset)
{
	struct emu_mmap_entry *entry;
	void *va;
	int err;

	if (file->peer != NULL)
		err = emu_share_ask(file, offset, len, prot, flags, &entry);
	else
		err = emu_vma_entry(file, offset, len, prot, flags, &entry);
	if (err != 0) {
		emu_trace("%s: mmap offset 0x%llx len %zu refused", file->dev->name,
			  (unsigned long long)offset, len);
		errno = -err;
		return MAP_FAILED;
	}
	va = entry_map(entry, addr, prot, flags);
	err = errno;
	if (file->peer != NULL)
		emu_mmap_entry_put(entry); /* the mapping holds it, if it was made */
	errno = err;
	return va;
}

void
emu_vma_unmapped(uintptr_t addr, size_t len)
{
	uintptr_t end = addr + page_up(len);
	struct vma *vma, *next;

	for (vma = LIST_FIRST(&vmas); vma != NULL; vma = next) {
		next = LIST_NEXT(vma, next);
		if (end <= vma->start || vma->end <= addr)
			continue;
		if (addr > vma->start && end < vma->end) {
			if (vma_add(vma->entry, end, vma->end) != 0)
				abort();
			vma->end = addr;
		} else if (addr > vma->start) {
			vma->end = addr;
		} else if (end < vma->end) {
			vma->start = end;
		} else {
			vma_remove(vma);
		}
	}
	tell_trap();
}

static struct vma *
vma_at(uintptr_t addr)
{
	struct vma *vma;

	LIST_FOREACH(vma, &vmas, next)
		if (addr >= vma->start && addr < vma->end)
			return vma;
	return NULL;
}

int
emu_vma_remap_check(uintptr_t addr, size_t old_len, size_t new_len, int flags)
{
	const struct vma *vma = vma_at(addr);

	if (vma == NULL)
		return 0;
	if (flags & MREMAP_DONTUNMAP)
		return -EINVAL;
	/* a length of 0 asks for a second mapping, which is a growing one, too */
	if (page_up(old_len) > vma->end - addr || page_up(new_len) > page_up(old_len))
		return -EFAULT;
	return 0;
}

void
emu_vma_moved(uintptr_t old_addr, size_t old_len, uintptr_t new_addr, size_t new_len)
{
	struct vma *vma = vma_at(old_addr);
	struct emu_mmap_entry *entry = vma != NULL ? vma->entry : NULL;

	old_len = page_up(old_len);
	new_len = page_up(new_len);
	if (entry != NULL) {
		entry->refs++; /* the last mapping may be the one that moves */
		entry->file->vmas++;
	}
	emu_vma_unmapped(new_addr, new_len);
	emu_vma_unmapped(old_addr, old_len);
	if (entry == NULL)
		return;
	if (vma_add(entry, new_addr, new_addr + new_len) != 0)
		abort();
	entry->file->vmas--;
	emu_mmap_entry_put(entry);
	tell_trap();
	emu_trace("mremap 0x%lx -> 0x%lx len %zu", old_addr, new_addr, new_len);
}

/*
 * uverbs_user_mmap_disassociate() takes the pages away, and rdma_umap_fault() answers with
 * one zeroed page of the file (disassociate_page), the same for all addresses.
 */
void
emu_vma_disassociate(struct emu_file *file)
{
	int fd = memfd_create("mlx5emu-gone", MFD_CLOEXEC);
	struct vma *vma;

	if (fd < 0 || ftruncate(fd, PAGE) != 0)
		abort(); /* the mappings would go on to show a device */
	LIST_FOREACH(vma, &vmas, next) {
		if (vma->entry->file != file)
			continue;
		vma->entry->gone = true;
		for (uintptr_t at = vma->start; at < vma->end; at += PAGE)
			if (syscall(SYS_mmap, at, PAGE, PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_FIXED, fd, (off_t)0) == -1)
				abort();
	}
	syscall(SYS_close, fd);
	emu_share_disassociate(file);
	tell_trap();
}

bool
emu_vma_overlaps(uint64_t addr, uint64_t len)
{
	const struct vma *vma;

	LIST_FOREACH(vma, &vmas, next)
		if (addr < vma->end && vma->start < addr + len)
			return true;
	return false;
}

bool
emu_vma_any(void)
{
	return n_vmas > 0;
}

/* ---- user memory ---- */

int
emu_user_range_check(uint64_t addr, uint64_t len, bool writable)
{
	uint64_t start, end, at = addr & ~(PAGE - 1), last = addr + len;
	char line[512], perm[5];
	FILE *maps;

	if (last < addr || last + PAGE - 1 < last)
		return -EINVAL; /* ib_umem_get() */
	if (emu_vma_overlaps(addr, len))
		return -EFAULT; /* VM_IO: check_vma_flags() in mm/gup.c */
	maps = fopen("/proc/self/maps", "re");
	if (maps == NULL)
		return 0; /* no /proc: trust the caller, as there is no other way to know */
	while (at < last && fgets(line, sizeof(line), maps) != NULL) {
		if (sscanf(line, "%lx-%lx %4s", &start, &end, perm) != 3 || end <= at)
			continue;
		if (start > at || perm[0] != 'r' || (writable && perm[1] != 'w'))
			break;
		at = end;
	}
	fclose(maps);
	return at < last ? -EFAULT : 0;
}
