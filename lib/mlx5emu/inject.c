/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <string.h>

#include "inject.h"

int
emu_inject_ioctl(struct emu_dev *dev, const char *kind, bool first)
{
	const struct emu_faults *f = &dev->cfg->fault;
	bool any = f->ioctl_kind[0] == '\0';

	if (f->ioctl_n == 0 || (any ? !first : strcmp(f->ioctl_kind, kind) != 0))
		return 0;
	dev->inject.ioctls++;
	if (f->ioctl_on ? dev->inject.ioctls < f->ioctl_n : dev->inject.ioctls != f->ioctl_n)
		return 0;
	emu_report("%s: --fault ioctl: %s fails with %s", dev->name, kind,
		   strerrorname_np(f->ioctl_errno));
	return -f->ioctl_errno;
}

bool
emu_inject_mkey_use(struct emu_dev *dev, enum emu_mkey_use use)
{
	const struct emu_faults *f = &dev->cfg->fault;

	return (f->mkey_use_kinds & use) != 0 && ++dev->inject.mkey_uses == f->mkey_use;
}

int
emu_inject_dm_alloc(struct emu_dev *dev, uint64_t size)
{
	const struct emu_faults *f = &dev->cfg->fault;
	uint64_t held = f->memic_held;

	dev->inject.dm_allocs++;
	if (f->memic_returned != 0 && dev->inject.dm_allocs >= f->memic_returned)
		held = 0;
	if (size > dev->memic.bytes - dev->memic.bytes_used ||
	    held > dev->memic.bytes - dev->memic.bytes_used - size)
		return -ENOMEM;
	return f->memic_run != 0 && size > f->memic_run ? -ENOMEM : 0;
}

/*
 * Firmware has to find the memory inside the pages that mlx5_cmd_alloc_memic() offers
 * with range_size, which are no more than the length takes. So only an allocation that
 * leaves room in its last page can start elsewhere than at 0.
 */
uint64_t
emu_inject_start_offset(const struct emu_dev *dev, uint64_t size)
{
	uint64_t offset = dev->cfg->fault.start_offset;
	uint64_t pages = (size + EMU_MEMIC_PAGE - 1) / EMU_MEMIC_PAGE;

	return offset + size <= pages * EMU_MEMIC_PAGE ? offset : 0;
}

/* A card that starts there cannot promise more than what the offset is a multiple of. */
unsigned int
emu_inject_log_max_align(const struct emu_dev *dev)
{
	uint64_t offset = dev->cfg->fault.start_offset;
	unsigned int log = offset == 0 ? EMU_MEMIC_LOG_MAX_ALIGN :
			   (unsigned int)__builtin_ctzll(offset / 64);

	return log < EMU_MEMIC_LOG_MAX_ALIGN ? log : EMU_MEMIC_LOG_MAX_ALIGN;
}

static void
add(json_t *port, const char *name, uint64_t value)
{
	json_object_set_new(port, name, json_integer((json_int_t)value));
}

void
emu_inject_stats(const struct emu_dev *dev, json_t *port)
{
	const struct emu_faults *f = &dev->cfg->fault;

	if (f->trap != 0) {
		add(port, "cpu_reads", __atomic_load_n(&dev->inject.cpu_reads, __ATOMIC_RELAXED));
		add(port, "cpu_writes",
		    __atomic_load_n(&dev->inject.cpu_writes, __ATOMIC_RELAXED));
	}
	if (f->remove_frames != 0 || f->remove_ms != 0)
		json_object_set_new(port, "removed", json_boolean(dev->inject.removed_at != 0));
	emu_wire_fault_stats(dev, port);
}
