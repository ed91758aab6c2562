/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>

#include <infiniband/verbs.h>

#include "devx.h"
#include "emu.h"
#include "vma.h"

/* User memory for firmware commands: MLX5_IB_OBJECT_DEVX_UMEM in hw/mlx5/devx.c. */

/* Firmware refuses with BAD_RES_STATE while it is used. */
static const struct emu_class umem_class = {
	.type = MLX5_IB_OBJECT_DEVX_UMEM, .name = "umem", .busy = -EINVAL,
};

bool
emu_devx_use_umem(struct emu_devx_obj *devx, uint32_t id, uint64_t offset, uint64_t len,
		  bool write, struct emu_umem_part *part)
{
	struct emu_obj *obj;
	struct emu_umem *umem;

	TAILQ_FOREACH(obj, &devx->obj.file->objects, next) {
		umem = (struct emu_umem *)obj;
		if (obj->class != &umem_class || umem->id != id)
			continue;
		if (offset > umem->len || len > umem->len - offset || (write && !umem->writable))
			return false;
		emu_obj_use(&devx->obj, obj);
		*part = (struct emu_umem_part){ umem->pin, umem->addr % 4096 + offset, len };
		return true;
	}
	return false;
}

bool
emu_devx_is_aligned(const struct emu_umem_part *buf, const struct emu_umem_part *dbrec)
{
	/* pins begin on a page */
	return emu_queue_is_aligned(buf->off, dbrec->off);
}

/* devx_umem_find_best_pgsize(): pages no larger than the memory and no smaller than 4 KiB */
static bool
has_page_size(uint64_t bitmap, uint64_t len)
{
	unsigned int largest = 12;

	while (largest < 63 && 1ull << largest < len)
		largest++;
	/* larger pages than 4 KiB need memory that is contiguous, which user memory is not */
	return bitmap & ((2ull << largest) - 1) & ~4095ull && bitmap & 4096;
}

/* devx_umem_get(), devx_umem_reg_cmd_alloc() */
static int
check_umem(struct emu_call *call, uint64_t addr, uint64_t len)
{
	uint64_t access;
	int err;

	if (!call->file->devx)
		return -EINVAL;
	err = emu_in_flags(call, MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, IBV_ACCESS_LOCAL_WRITE |
			   IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ, &access);
	if (err == 0)
		err = emu_check_mr_access(access);
	if (err != 0)
		return err;
	if (len == 0)
		return -EINVAL;
	err = emu_pin_check(addr, len, access & IBV_ACCESS_LOCAL_WRITE);
	if (err != 0)
		return err;
	return has_page_size(emu_in_u64(call, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, UINT64_MAX),
			     len) ? 0 : -EINVAL;
}

/* MLX5_IB_METHOD_DEVX_UMEM_REG */
static int
umem_reg(struct emu_call *call)
{
	uint64_t addr = emu_in_u64(call, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, 0);
	uint64_t len = emu_in_u64(call, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, 0);
	struct emu_umem *umem;
	int err = check_umem(call, addr, len);

	if (err != 0)
		return err;
	umem = emu_obj_new(call->file, &umem_class, sizeof(*umem));
	if (umem == NULL)
		return -ENOMEM;
	umem->id = emu_next_num(call->dev);
	umem->addr = addr;
	umem->len = len;
	umem->writable = emu_in_u64(call, MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, 0) &
			 IBV_ACCESS_LOCAL_WRITE;
	umem->pin = emu_pin_add(&umem->obj, addr, len, &err);
	if (err == 0)
		err = emu_out(call, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, &umem->id,
			      sizeof(umem->id));
	if (err != 0) {
		emu_obj_discard(&umem->obj);
		return err;
	}
	return emu_out_obj(call, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, &umem->obj);
}

static const struct emu_method methods[] = {
	EMU_METHOD(MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG, "DEVX_UMEM_REG",
		umem_reg,
		EMU_SPECS(
			EMU_OBJ(MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, MLX5_IB_OBJECT_DEVX_UMEM,
				EMU_OBJ_NEW),
			EMU_IN(MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, 8),
			EMU_IN(MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, 8),
			EMU_FLAGS(MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS),
			EMU_OPT_CONST(MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP),
			EMU_OUT(MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, 4))),
	EMU_METHOD(MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG, "DEVX_UMEM_DEREG",
		NULL,
		EMU_SPECS(EMU_OBJ(MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, MLX5_IB_OBJECT_DEVX_UMEM,
				  EMU_OBJ_DESTROY))),
};

EMU_METHOD_TABLE(emu_umem_table, methods);
