/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hw.h"

#define PAGE 4096u
/*
 * The BAR window has 256 pages whatever the memory behind it (dm.c in the kernel's
 * mlx5_ib divides memic_bar_size by the page size). Its first page is never given
 * out, so that page numbers differ from mmap indices, which start at 0.
 */
#define BAR_PAGES 256u
#define FIRST_PAGE 1u

int
emu_memic_init(struct emu_memic *m, uint64_t bytes)
{
	uint32_t pages = FIRST_PAGE + bytes / PAGE;

	m->bytes = bytes;
	m->pages = pages > BAR_PAGES ? pages : BAR_PAGES;
	m->page_used = calloc(m->pages, 1);
	m->fd = memfd_create("mlx5emu-memic", MFD_CLOEXEC);
	if (m->page_used == NULL || m->fd < 0 || ftruncate(m->fd, (off_t)m->pages * PAGE) != 0)
		return -ENOMEM;
	m->va = (uint8_t *)syscall(SYS_mmap, NULL, (size_t)m->pages * PAGE,
				   PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, (off_t)0);
	return m->va == MAP_FAILED ? -ENOMEM : 0;
}

static bool
run_is_free(const struct emu_memic *m, uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (m->page_used[first + i])
			return false;
	return true;
}

int
emu_memic_take(struct emu_memic *m, uint64_t size, uint32_t *page)
{
	uint32_t n = (size + PAGE - 1) / PAGE;

	if (size > m->bytes - m->bytes_used)
		return -ENOMEM; /* firmware says EAGAIN for each page: mlx5_cmd_alloc_memic() */
	for (uint32_t i = FIRST_PAGE; i + n <= m->pages; i++) {
		if (!run_is_free(m, i, n))
			continue;
		for (uint32_t k = 0; k < n; k++)
			m->page_used[i + k] = 1;
		m->bytes_used += size;
		*page = i;
		return 0;
	}
	return -ENOMEM;
}

void
emu_memic_clear(struct emu_memic *m)
{
	memset(m->page_used, 0, m->pages);
	m->bytes_used = 0;
}

void
emu_memic_give(struct emu_memic *m, uint64_t size, uint32_t page)
{
	for (uint32_t i = 0; i < (size + PAGE - 1) / PAGE; i++)
		m->page_used[page + i] = 0;
	m->bytes_used -= size;
}
