/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdlib.h>

#include "emu.h"
#include "inject.h"
#include "sw_icm.h"
#include "uapi.h"
#include "verbs.h"
#include "vma.h"

/* Device memory; hw/mlx5/dm.c is the model of all of it. */

#define GRANULE 64u             /* MLX5_MEMIC_BASE_SIZE */
#define LOG_GRANULE 6u          /* MLX5_MEMIC_BASE_ALIGN */

/* Pages of the window, taken until the object and every mapping let go. */
struct emu_memic_range {
	struct emu_mmap_entry entry; /* first: the release callback casts back */
	struct emu_dev *dev;
	unsigned int era;       /* of the device: what came back has its pages to itself */
	uint64_t size;
	uint32_t page;
};

static void
range_release(struct emu_mmap_entry *entry)
{
	struct emu_memic_range *range = (struct emu_memic_range *)entry;

	if (range->era == range->dev->era) {
		emu_trace("%s: %llu bytes of MEMIC are free again", range->dev->name,
			  (unsigned long long)range->size);
		emu_memic_give(&range->dev->memic, range->size, range->page);
	}
	free(range);
}

static int
dm_destroy(struct emu_obj *obj, bool forced)
{
	struct emu_dm *dm = (struct emu_dm *)obj;

	(void)forced;
	if (dm->range != NULL)
		emu_mmap_entry_put(&dm->range->entry);
	if (dm->icm != NULL)
		emu_sw_icm_free(dm->icm);
	return 0;
}

const struct emu_class emu_dm_class = {
	.type = UVERBS_OBJECT_DM, .name = "DM", .destroy = dm_destroy,
};

static int
range_take(struct emu_file *file, uint64_t size, struct emu_memic_range **out)
{
	struct emu_memic_range *range = calloc(1, sizeof(*range));
	int fd = emu_wc_fd(file->dev), err;

	if (range == NULL || fd < 0) {
		free(range);
		return -ENOMEM;
	}
	range->dev = file->dev;
	range->era = file->dev->era;
	range->size = size;
	err = emu_inject_dm_alloc(file->dev, size);
	if (err == 0)
		err = emu_memic_take(&file->dev->memic, size, &range->page);
	if (err != 0)
		goto err_free;
	range->entry = (struct emu_mmap_entry){
		.file = file,
		.len = (size + 4095) / 4096 * 4096,
		.fd = fd,
		.fd_off = (off_t)range->page * 4096,
		.device_memory = true,
		.release = range_release,
	};
	err = emu_mmap_entry_add(&range->entry, EMU_MMAP_DEVICE_MEM);
	if (err != 0)
		goto err_give;
	*out = range;
	return 0;

err_give:
	emu_memic_give(&file->dev->memic, size, range->page);
err_free:
	free(range);
	return err;
}

/* What firmware refuses with BAD_PARAM is EINVAL: cmd_status_to_err() in core/cmd.c. */
bool
emu_dm_length_refused(const struct emu_dev *dev, uint64_t length)
{
	uint64_t multiple = dev->cfg->fault.dm_multiple;

	return multiple != 0 && length % multiple != 0;
}

/* handle_alloc_dm_memic(), mlx5_cmd_alloc_memic() */
static int
alloc_memic(struct emu_call *call, uint64_t length, uint32_t log_align)
{
	uint64_t size = (length + GRANULE - 1) / GRANULE * GRANULE, start_offset;
	uint32_t align = log_align < LOG_GRANULE ? 0 : log_align - LOG_GRANULE;
	struct emu_dm *dm;
	uint16_t index;
	int err;

	if (call->dev->memic.bytes == 0)
		return -EOPNOTSUPP; /* the device_mem_cap.memic bit is clear */
	if (size == 0 || size < length || align > emu_inject_log_max_align(call->dev))
		return -EINVAL;
	if (emu_dm_length_refused(call->dev, length))
		return -EINVAL;
	dm = emu_obj_new(call->file, &emu_dm_class, sizeof(*dm));
	if (dm == NULL)
		return -ENOMEM;
	err = range_take(call->file, size, &dm->range);
	if (err != 0)
		goto err_discard;
	dm->length = length;
	dm->size = size;
	start_offset = emu_inject_start_offset(call->dev, size);
	dm->base = call->dev->memic.va + (size_t)dm->range->page * 4096 + start_offset;
	index = dm->range->entry.index & 0xffff;
	err = emu_out(call, MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, &index, sizeof(index));
	if (err == 0)
		err = emu_out(call, MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, &start_offset,
			      sizeof(start_offset));
	if (err != 0)
		goto err_put;
	emu_trace("  %llu bytes of MEMIC at page %u, mmap index %u",
		  (unsigned long long)size, dm->range->page, index);
	return emu_out_obj(call, UVERBS_ATTR_ALLOC_DM_HANDLE, &dm->obj);

err_put:
	emu_mmap_entry_put(&dm->range->entry);
err_discard:
	emu_obj_discard(&dm->obj);
	return err;
}

static int
dm_alloc(struct emu_call *call)
{
	uint64_t length = emu_in_u64(call, UVERBS_ATTR_ALLOC_DM_LENGTH, 0);
	uint32_t log_align = emu_in_u64(call, UVERBS_ATTR_ALLOC_DM_ALIGNMENT, 0);
	uint64_t type = emu_in_u64(call, MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE,
				   MLX5_IB_UAPI_DM_TYPE_MEMIC);

	if (type > UINT32_MAX)
		return -EINVAL; /* uverbs_get_const_default() */

	emu_trace("  DM type %llu length %llu log_align %u", (unsigned long long)type,
		  (unsigned long long)length, log_align);
	switch (type) {
	case MLX5_IB_UAPI_DM_TYPE_MEMIC:
		return alloc_memic(call, length, log_align);
	case MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM:
	case MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_SW_ICM:
	case MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_PATTERN_SW_ICM:
		return emu_sw_icm_alloc(call, type, length, log_align);
	default:
		return -EOPNOTSUPP;
	}
}

static int
dm_query(struct emu_call *call)
{
	struct emu_dm *dm = emu_obj(call, MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE);
	uint64_t start_offset;
	uint16_t index;
	int err;

	if (dm->range == NULL)
		return -EOPNOTSUPP;
	index = dm->range->entry.index & 0xffff;
	start_offset = (uintptr_t)dm->base & 4095; /* the engine's mapping starts on a page */
	err = emu_out(call, MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX, &index, sizeof(index));
	if (err == 0)
		err = emu_out(call, MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET, &start_offset, 8);
	if (err == 0)
		err = emu_out(call, MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, &dm->length, 8);
	return err;
}

static const struct emu_method methods[] = {
	EMU_METHOD(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC, "DM_ALLOC", dm_alloc,
		EMU_SPECS(
			EMU_OBJ(UVERBS_ATTR_ALLOC_DM_HANDLE, UVERBS_OBJECT_DM, EMU_OBJ_NEW),
			EMU_IN(UVERBS_ATTR_ALLOC_DM_LENGTH, 8),
			EMU_IN(UVERBS_ATTR_ALLOC_DM_ALIGNMENT, 4),
			EMU_OUT(MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, 8),
			EMU_OPT_OUT(MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, 2),
			EMU_OPT_CONST(MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE))),
	EMU_METHOD(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE, "DM_FREE", NULL,
		EMU_SPECS(EMU_OBJ(UVERBS_ATTR_FREE_DM_HANDLE, UVERBS_OBJECT_DM,
				  EMU_OBJ_DESTROY))),
	EMU_METHOD(UVERBS_OBJECT_DM, MLX5_IB_METHOD_DM_QUERY, "DM_QUERY", dm_query,
		EMU_SPECS(
			EMU_OBJ(MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE, UVERBS_OBJECT_DM, EMU_OBJ_READ),
			EMU_OUT(MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET, 8),
			EMU_OUT(MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX, 2),
			EMU_OUT(MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, 8))),
};

EMU_METHOD_TABLE(emu_dm_table, methods);
