/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu.h"
#include "uapi.h"
#include "verbs.h"
#include "vma.h"

/*
 * Doorbell pages. What is written into them is not looked at: the doorbell records
 * in host memory say the same before, as the PRM requires of software.
 */

static void
page_release(struct emu_mmap_entry *entry)
{
	syscall(SYS_close, entry->fd);
	free(entry);
}

static int
uar_destroy(struct emu_obj *obj, bool forced)
{
	(void)forced;
	emu_mmap_entry_put(((struct emu_uar *)obj)->entry);
	return 0;
}

static const struct emu_class uar_class = {
	.type = MLX5_IB_OBJECT_UAR, .name = "UAR", .destroy = uar_destroy,
};

static struct emu_mmap_entry *
page_new(struct emu_file *file)
{
	struct emu_mmap_entry *entry = calloc(1, sizeof(*entry));

	if (entry == NULL)
		return NULL;
	*entry = (struct emu_mmap_entry){ .file = file, .len = 4096, .release = page_release };
	entry->fd = memfd_create("mlx5emu-uar", MFD_CLOEXEC);
	if (entry->fd >= 0 && ftruncate(entry->fd, 4096) == 0 &&
	    emu_mmap_entry_add(entry, EMU_MMAP_OFFSET_START) == 0)
		return entry;
	if (entry->fd >= 0)
		syscall(SYS_close, entry->fd);
	free(entry);
	return NULL;
}

/* MLX5_IB_METHOD_UAR_OBJ_ALLOC in hw/mlx5/main.c */
static int
uar_alloc(struct emu_call *call)
{
	uint64_t type = emu_in_u64(call, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, 0), offset;
	uint32_t len = 4096;
	struct emu_uar *uar;
	int err = -ENOMEM;

	if (type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF && type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC)
		return -EOPNOTSUPP;
	uar = emu_obj_new(call->file, &uar_class, sizeof(*uar));
	if (uar == NULL)
		return -ENOMEM;
	uar->entry = page_new(call->file);
	if (uar->entry == NULL)
		goto err_discard;
	uar->page_id = emu_next_num(call->dev);
	offset = emu_mmap_entry_offset(uar->entry);
	err = emu_out(call, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &offset, sizeof(offset));
	if (err == 0)
		err = emu_out(call, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &len, sizeof(len));
	if (err == 0)
		err = emu_out(call, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, &uar->page_id, 4);
	if (err != 0)
		goto err_put;
	return emu_out_obj(call, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, &uar->obj);

err_put:
	emu_mmap_entry_put(uar->entry);
err_discard:
	emu_obj_discard(&uar->obj);
	return err;
}

static const struct emu_method methods[] = {
	EMU_METHOD(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC, "UAR_ALLOC", uar_alloc,
		EMU_SPECS(
			EMU_OBJ(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, MLX5_IB_OBJECT_UAR,
				EMU_OBJ_NEW),
			EMU_CONST(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE),
			EMU_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, 8),
			EMU_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, 4),
			EMU_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, 4))),
	EMU_METHOD(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY, "UAR_DESTROY", NULL,
		EMU_SPECS(EMU_OBJ(MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, MLX5_IB_OBJECT_UAR,
				  EMU_OBJ_DESTROY))),
};

EMU_METHOD_TABLE(emu_uar_table, methods);
