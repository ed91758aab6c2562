/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>

#include "emu.h"
#include "prm.h"
#include "sw_icm.h"
#include "verbs.h"

/*
 * Models: handle_alloc_dm_sw_icm() in hw/mlx5/dm.c and mlx5_dm_sw_icm_alloc() in
 * net/ethernet/mellanox/mlx5/core/lib/dm.c.
 */
#define LOG_BLOCK 12            /* log_sw_icm_alloc_granularity */
#define LOG_AREA (LOG_BLOCK + 8)
#define BLOCK (UINT64_C(1) << LOG_BLOCK)
#define AREA_START(type) (UINT64_C(0x100000000) * ((type) + 1))
#define OBJ_SW_ICM 8            /* MLX5_OBJ_TYPE_SW_ICM */
/*
 * A steering format that no libmlx5 knows, so that its DR stays on root tables whatever
 * sw_owner_v2 says: dr_domain_caps_is_sw_owner_supported().
 */
#define UNKNOWN_FORMAT 15

_Static_assert(1 << (LOG_AREA - LOG_BLOCK) == EMU_SW_ICM_BLOCKS, "the map covers the area");

static const uint64_t kinds[EMU_SW_ICM_TYPES] = {
	MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM,
	MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_SW_ICM,
	MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_PATTERN_SW_ICM,
};

/* Multiple of the block, and a power of two; 0 when there is none. */
static uint64_t
area_size(uint64_t length)
{
	uint64_t size = BLOCK;

	while (size < length && size != 0)
		size <<= 1;
	return length == 0 ? 0 : size;
}

/* bitmap_find_next_zero_area() with the alignment's mask; blocks when there is none. */
static uint32_t
find_blocks(const uint8_t *used, uint64_t n, uint32_t log_align)
{
	uint64_t step = log_align > LOG_BLOCK && log_align < 64 ?
			UINT64_C(1) << (log_align - LOG_BLOCK) : 1;

	for (uint64_t first = 0; first + n <= EMU_SW_ICM_BLOCKS; first += step)
		if (memchr(used + first, 1, n) == NULL)
			return (uint32_t)first;
	return EMU_SW_ICM_BLOCKS;
}

static int
take_blocks(struct emu_sw_icm_area *area, uint64_t size, uint32_t log_align)
{
	uint8_t *used = area->dev->sw_icm.used[area->type];
	uint64_t n = size >> LOG_BLOCK;

	if (n > EMU_SW_ICM_BLOCKS)
		return -ENOMEM;
	area->block = find_blocks(used, n, log_align);
	if (area->block == EMU_SW_ICM_BLOCKS)
		return -ENOMEM;
	area->blocks = (uint32_t)n;
	area->mem = calloc(1, size);
	if (area->mem == NULL)
		return -ENOMEM;
	memset(used + area->block, 1, n);
	return 0;
}

static int
area_new(struct emu_dev *dev, uint64_t type, uint64_t length, uint32_t log_align,
	 struct emu_sw_icm_area **out)
{
	uint64_t size = area_size(length);
	struct emu_sw_icm_area *area;
	int err;

	if (size == 0)
		return -EINVAL;
	area = calloc(1, sizeof(*area));
	if (area == NULL)
		return -ENOMEM;
	area->dev = dev;
	while (kinds[area->type] != type)
		area->type++;
	err = take_blocks(area, size, log_align);
	if (err != 0) {
		free(area);
		return err;
	}
	*out = area;
	return 0;
}

void
emu_sw_icm_free(struct emu_sw_icm_area *area)
{
	memset(area->dev->sw_icm.used[area->type] + area->block, 0, area->blocks);
	free(area->mem);
	free(area);
}

int
emu_sw_icm_alloc(struct emu_call *call, uint64_t type, uint64_t length, uint32_t log_align)
{
	struct emu_dm *dm;
	uint64_t addr;
	int err;

	if (!emu_capable(CAP_SYS_RAWIO) || !emu_capable(CAP_NET_RAW))
		return -EPERM;
	if (!call->dev->cfg->fault.sw_icm)
		return -EOPNOTSUPP; /* no sw_owner */
	dm = emu_obj_new(call->file, &emu_dm_class, sizeof(*dm));
	if (dm == NULL)
		return -ENOMEM;
	err = area_new(call->dev, type, length, log_align, &dm->icm);
	if (err != 0)
		goto err_discard;
	dm->length = length;
	dm->size = (uint64_t)dm->icm->blocks << LOG_BLOCK;
	dm->base = dm->icm->mem;
	/* libmlx5 takes it for the address of the memory on the card, and maps nothing */
	addr = AREA_START(dm->icm->type) + ((uint64_t)dm->icm->block << LOG_BLOCK);
	err = emu_out(call, MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, &addr, sizeof(addr));
	if (err != 0)
		goto err_free;
	emu_trace("  %llu bytes of SW_ICM at 0x%llx", (unsigned long long)dm->size,
		  (unsigned long long)addr);
	return emu_out_obj(call, UVERBS_ATTR_ALLOC_DM_HANDLE, &dm->obj);

err_free:
	emu_sw_icm_free(dm->icm);
err_discard:
	emu_obj_discard(&dm->obj);
	return err;
}

/* ---- capabilities ---- */

void
emu_sw_icm_general_caps(const struct emu_dev *dev, uint8_t *cap)
{
	if (!dev->cfg->fault.sw_icm)
		return;
	prm_set(cap, PRM_CAP_GENERAL_OBJ_TYPES_LO, 1 << OBJ_SW_ICM);
	prm_set(cap, PRM_CAP_STEERING_FORMAT_VERSION, UNKNOWN_FORMAT);
	prm_set(cap, PRM_CAP_DEVICE_MEMORY, 1);
}

void
emu_sw_icm_flow_table_caps(const struct emu_dev *dev, uint8_t *cap)
{
	if (!dev->cfg->fault.sw_icm)
		return;
	prm_set(cap, PRM_FT_RX_SW_OWNER_V2, 1);
	prm_set(cap, PRM_FT_TX_SW_OWNER_V2, 1);
}

void
emu_sw_icm_memory_caps(const struct emu_dev *dev, uint8_t *cap)
{
	if (!dev->cfg->fault.sw_icm)
		return;
	prm_set(cap, PRM_DM_LOG_ICM_GRANULARITY, LOG_BLOCK);
	prm_set(cap, PRM_DM_LOG_STEERING_ICM_SIZE, LOG_AREA);
	prm_set(cap, PRM_DM_LOG_HEADER_MODIFY_ICM_SIZE, LOG_AREA);
	prm_set(cap, PRM_DM_LOG_PATTERN_ICM_SIZE, LOG_AREA);
	prm_set64(cap, PRM_DM_STEERING_ICM_START_AT, AREA_START(0));
	prm_set64(cap, PRM_DM_HEADER_MODIFY_ICM_START_AT, AREA_START(1));
	prm_set64(cap, PRM_DM_PATTERN_ICM_START_AT, AREA_START(2));
}
