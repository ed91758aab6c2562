/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "emu.h"
#include "sw_icm.h"
#include "uapi.h"
#include "verbs.h"
#include "vma.h"

/* Memory regions over host memory and over device memory. */

struct mr {
	struct emu_obj obj;
	struct emu_mkey mkey;
};

static int
mr_destroy(struct emu_obj *obj, bool forced)
{
	(void)forced;
	emu_mkey_remove(&((struct mr *)obj)->mkey);
	return 0;
}

const struct emu_class emu_mr_class = {
	.type = UVERBS_OBJECT_MR, .name = "MR", .destroy = mr_destroy,
};

/* IB_ACCESS_SUPPORTED in the kernel's ib_verbs.h */
#define ACCESS_KNOWN (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
	IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | \
	IBV_ACCESS_ZERO_BASED | IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB | \
	IBV_ACCESS_OPTIONAL_RANGE)
/*
 * MLX5_IB_DM_MEMIC_ALLOWED_ACCESS in hw/mlx5/mlx5_ib.h: without the optional bits, which
 * libmlx5 lets through (MLX5_DM_ALLOWED_ACCESS in its verbs.c).
 */
#define ACCESS_MEMIC (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
	IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED)

int
emu_check_mr_access(uint32_t access)
{
	if (access & ~ACCESS_KNOWN)
		return -EINVAL;
	if ((access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) &&
	    !(access & IBV_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	return access & IBV_ACCESS_ON_DEMAND ? -EOPNOTSUPP : 0; /* no ODP capability */
}

/* IBV_ACCESS_* to the key's bits. */
static uint32_t
mkey_access(uint32_t access)
{
	return EMU_ACCESS_LR |
	       (access & IBV_ACCESS_LOCAL_WRITE ? EMU_ACCESS_LW : 0) |
	       (access & IBV_ACCESS_REMOTE_READ ? EMU_ACCESS_RR : 0) |
	       (access & IBV_ACCESS_REMOTE_WRITE ? EMU_ACCESS_RW : 0);
}

/* A new MR on a PD with its key usable; NULL with *err. */
static struct mr *
mr_new(struct emu_file *file, struct emu_pd *pd, const struct emu_mkey *mkey, int *err)
{
	struct mr *mr = emu_obj_new(file, &emu_mr_class, sizeof(*mr));

	*err = -ENOMEM;
	if (mr == NULL)
		return NULL;
	mr->mkey = *mkey;
	mr->mkey.dev = file->dev;
	mr->mkey.pdn = pd->pdn;
	*err = emu_mkey_add(&mr->mkey);
	if (*err != 0) {
		emu_obj_discard(&mr->obj);
		return NULL;
	}
	emu_obj_use(&mr->obj, &pd->obj);
	return mr;
}

static void
mr_undo(struct mr *mr)
{
	emu_mkey_remove(&mr->mkey);
	emu_obj_discard(&mr->obj);
}

/* ---- host memory ---- */

/* ib_uverbs_reg_mr() in core/uverbs_cmd.c, then ib_umem_get() */
static int
check_reg_mr(const struct ib_uverbs_reg_mr *req)
{
	int err;

	if ((req->start & 4095) != (req->hca_va & 4095))
		return -EINVAL;
	err = emu_check_mr_access(req->access_flags);
	if (err != 0)
		return err;
	if (req->length == 0 || req->start + req->length < req->start)
		return -EINVAL;
	return emu_pin_check(req->start, req->length,
		req->access_flags & (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				     IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND));
}

static int
write_reg_mr(struct emu_call *call, const void *in, size_t in_len)
{
	const struct ib_uverbs_reg_mr *req = in;
	struct ib_uverbs_reg_mr_resp resp;
	struct emu_pd *pd;
	struct mr *mr;
	int err = check_reg_mr(req);

	(void)in_len;
	if (err != 0)
		return err;
	pd = (struct emu_pd *)emu_obj_find(call->file, req->pd_handle, UVERBS_OBJECT_PD, &err);
	if (pd == NULL)
		return -EINVAL;
	mr = mr_new(call->file, pd, &(struct emu_mkey){
		.mode = EMU_MKEY_MTT,
		.access = mkey_access(req->access_flags),
		/* ZERO_BASED makes no difference here: create_real_mr() in hw/mlx5/mr.c */
		.start = req->hca_va,
		.len = req->length,
		.base = (uint8_t *)(uintptr_t)req->start,
	}, &err);
	if (mr == NULL)
		return err;
	err = emu_pin_memory(&mr->obj, req->start, req->length, &mr->mkey.base, &mr->mkey.torn);
	if (err == 0)
		err = emu_obj_commit(&mr->obj);
	if (err != 0) {
		mr_undo(mr);
		return err;
	}
	resp = (struct ib_uverbs_reg_mr_resp){ mr->obj.handle, mr->mkey.key, mr->mkey.key };
	emu_trace("  MR key 0x%x over 0x%llx + %llu", mr->mkey.key,
		  (unsigned long long)req->start, (unsigned long long)req->length);
	err = emu_out(call, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	if (err != 0)
		emu_obj_destroy(&mr->obj, true);
	return err;
}

static int
write_dereg_mr(struct emu_call *call, const void *in, size_t in_len)
{
	const struct ib_uverbs_dereg_mr *req = in;
	struct emu_obj *mr;
	int err;

	(void)in_len;
	mr = emu_obj_find(call->file, req->mr_handle, UVERBS_OBJECT_MR, &err);
	return mr == NULL ? err : emu_obj_destroy(mr, false);
}

/* ---- device memory ---- */

/* UVERBS_METHOD_DM_MR_REG in core/uverbs_std_types_mr.c, mlx5_ib_reg_dm_mr() */
static int
check_dm_mr(const struct emu_dm *dm, uint64_t offset, uint64_t length, uint32_t access)
{
	int err;

	if (!(access & IBV_ACCESS_ZERO_BASED))
		return -EINVAL;
	err = emu_check_mr_access(access);
	if (err != 0)
		return err;
	/* no length is one, too: test_create_dm_mr of rdma-core's tests/test_mr.py wants it */
	if (offset > dm->length || length > dm->length || length > dm->length - offset)
		return -EINVAL;
	if (dm->icm != NULL)
		return access & ~EMU_SW_ICM_ACCESS ? -EINVAL : 0;
	/* a kernel for firmware that demands ordering attributes would have to let them through */
	if (dm->obj.file->dev->cfg->fault.ordering == EMU_ORDERING_DEMANDED)
		access &= ~IBV_ACCESS_RELAXED_ORDERING;
	if (emu_dm_length_refused(dm->obj.file->dev, length))
		return -EINVAL;
	return access & ~ACCESS_MEMIC ? -EINVAL : 0;
}

static int
reg_dm_mr(struct emu_call *call)
{
	uint64_t offset = emu_in_u64(call, UVERBS_ATTR_REG_DM_MR_OFFSET, 0);
	uint64_t length = emu_in_u64(call, UVERBS_ATTR_REG_DM_MR_LENGTH, 0);
	struct emu_dm *dm = emu_obj(call, UVERBS_ATTR_REG_DM_MR_DM_HANDLE);
	uint64_t access;
	struct mr *mr;
	int err = emu_in_flags(call, UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, ACCESS_KNOWN, &access);

	if (err == 0)
		err = check_dm_mr(dm, offset, length, access);
	if (err != 0)
		return err;
	mr = mr_new(call->file, emu_obj(call, UVERBS_ATTR_REG_DM_MR_PD_HANDLE),
		&(struct emu_mkey){
			.mode = dm->icm != NULL ? EMU_MKEY_MTT : EMU_MKEY_MEMIC,
			/* that queues cannot post SW_ICM is an assumption */
			.access = dm->icm != NULL ? 0 : mkey_access(access),
			.start = 0,
			.len = length,
			.base = dm->base + offset,
		}, &err);
	if (mr == NULL)
		return err;
	emu_obj_use(&mr->obj, &dm->obj);
	emu_trace("  DM MR key 0x%x, offset %llu length %llu", mr->mkey.key,
		  (unsigned long long)offset, (unsigned long long)length);
	err = emu_out(call, UVERBS_ATTR_REG_DM_MR_RESP_LKEY, &mr->mkey.key, 4);
	if (err == 0)
		err = emu_out(call, UVERBS_ATTR_REG_DM_MR_RESP_RKEY, &mr->mkey.key, 4);
	if (err != 0) {
		mr_undo(mr);
		return err;
	}
	return emu_out_obj(call, UVERBS_ATTR_REG_DM_MR_HANDLE, &mr->obj);
}

static int
query_mr(struct emu_call *call)
{
	struct mr *mr = emu_obj(call, UVERBS_ATTR_QUERY_MR_HANDLE);
	int err;

	err = emu_out(call, UVERBS_ATTR_QUERY_MR_RESP_LKEY, &mr->mkey.key, 4);
	if (err == 0)
		err = emu_out(call, UVERBS_ATTR_QUERY_MR_RESP_RKEY, &mr->mkey.key, 4);
	if (err == 0)
		err = emu_out(call, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, &mr->mkey.len, 8);
	if (err == 0)
		err = emu_out(call, UVERBS_ATTR_QUERY_MR_RESP_IOVA, &mr->mkey.start, 8);
	return err;
}

static const struct emu_method methods[] = {
	EMU_METHOD(UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG, "DM_MR_REG", reg_dm_mr,
		EMU_SPECS(
			EMU_OBJ(UVERBS_ATTR_REG_DM_MR_HANDLE, UVERBS_OBJECT_MR, EMU_OBJ_NEW),
			EMU_IN(UVERBS_ATTR_REG_DM_MR_OFFSET, 8),
			EMU_IN(UVERBS_ATTR_REG_DM_MR_LENGTH, 8),
			EMU_OBJ(UVERBS_ATTR_REG_DM_MR_PD_HANDLE, UVERBS_OBJECT_PD, EMU_OBJ_READ),
			EMU_FLAGS(UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS),
			EMU_OBJ(UVERBS_ATTR_REG_DM_MR_DM_HANDLE, UVERBS_OBJECT_DM, EMU_OBJ_READ),
			EMU_OUT(UVERBS_ATTR_REG_DM_MR_RESP_LKEY, 4),
			EMU_OUT(UVERBS_ATTR_REG_DM_MR_RESP_RKEY, 4))),
	EMU_METHOD(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, "MR_DESTROY", NULL,
		EMU_SPECS(EMU_OBJ(UVERBS_ATTR_DESTROY_MR_HANDLE, UVERBS_OBJECT_MR,
				  EMU_OBJ_DESTROY))),
	EMU_METHOD(UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, "QUERY_MR", query_mr,
		EMU_SPECS(
			EMU_OBJ(UVERBS_ATTR_QUERY_MR_HANDLE, UVERBS_OBJECT_MR, EMU_OBJ_READ),
			EMU_OUT(UVERBS_ATTR_QUERY_MR_RESP_LKEY, 4),
			EMU_OUT(UVERBS_ATTR_QUERY_MR_RESP_RKEY, 4),
			EMU_OUT(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, 8),
			EMU_OPT_OUT(UVERBS_ATTR_QUERY_MR_RESP_IOVA, 8))),
};

static const struct emu_write writes[] = {
	{ IB_USER_VERBS_CMD_REG_MR, "REG_MR", sizeof(struct ib_uverbs_reg_mr),
	  sizeof(struct ib_uverbs_reg_mr_resp), write_reg_mr },
	{ IB_USER_VERBS_CMD_DEREG_MR, "DEREG_MR", sizeof(struct ib_uverbs_dereg_mr), 0,
	  write_dereg_mr },
};

EMU_TABLE(emu_mr_table, methods, writes);
