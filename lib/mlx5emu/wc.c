/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject.h"

/*
 * Write combining, made strict. The CPU maps device memory write-combining
 * (mlx5_ib_mmap()), so its stores may stay in the core for as long as nothing forces them
 * out. Here they stay until the next doorbell record of the device moves: the CPU works on
 * a copy, and what differs then is what it stored. The card writes into both, so that the
 * CPU's loads see what arrived, and its own stores at once. A program whose stores are
 * still on their way when the card reads sends old bytes.
 *
 * Stores that come late are found so; a store fence that is missing in front of a doorbell
 * is not.
 */
#define LINE 64u

static int
start(struct emu_memic *m)
{
	size_t size = (size_t)m->pages * EMU_MEMIC_PAGE;
	void *va;
	int fd;

	fd = memfd_create("mlx5emu-memic-cpu", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)size) != 0)
		goto err_close;
	va = (void *)syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			     (off_t)0);
	if (va == MAP_FAILED)
		goto err_close;
	memcpy(va, m->va, size);
	m->shadow = va;
	m->shadow_fd = fd;
	return 0;

err_close:
	syscall(SYS_close, fd);
	return -ENOMEM;
}

static bool
has_copy(const struct emu_faults *f)
{
	return f->write_combining || f->lose_stores != 0 || f->lose_loads != 0;
}

/* Whether a fault that begins with a doorbell has begun. */
static bool
begun(const struct emu_dev *dev, uint64_t doorbell)
{
	return doorbell != 0 && dev->stats.doorbells >= doorbell;
}

int
emu_wc_fd(struct emu_dev *dev)
{
	struct emu_memic *m = &dev->memic;
	int err;

	if (!has_copy(&dev->cfg->fault))
		return m->fd;
	err = m->shadow == NULL ? start(m) : 0;
	return err < 0 ? err : m->shadow_fd;
}

static void
take_page(struct emu_memic *m, size_t page)
{
	size_t at = page * EMU_MEMIC_PAGE, end = at + EMU_MEMIC_PAGE;

	for (; at < end; at += LINE)
		if (memcmp(m->va + at, m->shadow + at, LINE) != 0)
			memcpy(m->va + at, m->shadow + at, LINE);
}

void
emu_wc_doorbell(struct emu_dev *dev)
{
	struct emu_memic *m = &dev->memic;

	if (m->shadow == NULL || begun(dev, dev->cfg->fault.lose_stores))
		return;
	for (uint32_t page = 0; page < m->pages; page++)
		if (m->page_used[page])
			take_page(m, page);
}

void
emu_wc_written(struct emu_dev *dev, const uint8_t *p, size_t len)
{
	struct emu_memic *m = &dev->memic;

	if (m->shadow != NULL && !begun(dev, dev->cfg->fault.lose_loads))
		memcpy(m->shadow + (p - m->va), p, len);
}

void
emu_wc_close(struct emu_dev *dev)
{
	struct emu_memic *m = &dev->memic;

	if (m->shadow == NULL)
		return;
	syscall(SYS_munmap, m->shadow, (size_t)m->pages * EMU_MEMIC_PAGE);
	syscall(SYS_close, m->shadow_fd);
	m->shadow = NULL;
}
