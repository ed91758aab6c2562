/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_VMA_H
#define MLX5EMU_VMA_H

/*
 * Device pages in the process's address space. A page range that may be mapped is
 * an entry (rdma_user_mmap_entry in the kernel): the object that made it holds it,
 * and so does each mapping, so that what it stands for is freed with the last of
 * them. Mappings of entries are IO memory: they cannot be registered (EFAULT).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "objects.h"

/* Commands in an mmap offset: enum mlx5_ib_mmap_cmd and MLX5_IB_MMAP_OFFSET_START. */
enum { EMU_MMAP_DEVICE_MEM = 8, EMU_MMAP_OFFSET_START = 9 };

struct emu_mmap_entry {
	LIST_ENTRY(emu_mmap_entry) next;
	struct emu_file *file;
	uint32_t index;         /* command << 16 | first page index */
	size_t len;             /* bytes, whole pages */
	int fd;                 /* memory behind it */
	off_t fd_off;
	unsigned int refs;
	bool device_memory;     /* MEMIC: CPU touches may be trapped */
	bool gone;              /* the device was removed */
	void (*release)(struct emu_mmap_entry *entry);
};

/*
 * Give an entry an index under a command and its first reference. The index counts
 * mmap pages and has nothing to do with where the memory is on the card. 0 or -ENOMEM.
 */
int emu_mmap_entry_add(struct emu_mmap_entry *entry, unsigned int command);
void emu_mmap_entry_put(struct emu_mmap_entry *entry);
/* Byte offset for mmap(2) of an entry, as mlx5_entry_to_mmap_offset(). */
uint64_t emu_mmap_entry_offset(const struct emu_mmap_entry *entry);

/* Entry that mmap(2) of a file would map: 0, or the refusal. */
int emu_vma_entry(const struct emu_file *file, uint64_t offset, size_t len, int prot, int flags,
		  struct emu_mmap_entry **entry);
/* mmap(2) of a file: the address, or MAP_FAILED with errno. */
void *emu_vma_map(struct emu_file *file, void *addr, size_t len, int prot, int flags,
		  uint64_t offset);
/* After munmap(2), or a fixed mapping over the range: mappings shrink, split or go. */
void emu_vma_unmapped(uintptr_t addr, size_t len);
/*
 * Before mremap(2): 0, or the refusal that device pages get there, being VM_DONTEXPAND and
 * VM_PFNMAP (vma_to_resize() in mm/mremap.c): EFAULT to grow or to cross into another
 * mapping, EINVAL for MREMAP_DONTUNMAP.
 */
int emu_vma_remap_check(uintptr_t addr, size_t old_len, size_t new_len, int flags);
/* After mremap(2). */
void emu_vma_moved(uintptr_t old_addr, size_t old_len, uintptr_t new_addr, size_t new_len);
/* The device went: all pages that the file's mappings show become one page of zeros. */
void emu_vma_disassociate(struct emu_file *file);
/* Whether device pages lie in the range. */
bool emu_vma_overlaps(uint64_t addr, uint64_t len);
/* Whether any mapping exists; lets munmap() of others pass without the lock. */
bool emu_vma_any(void);

/*
 * Whether user memory can be pinned: 0, -EFAULT as pin_user_pages() would say, or -EINVAL
 * for a range that wraps around the end of the address space.
 */
int emu_user_range_check(uint64_t addr, uint64_t len, bool writable);

#endif
