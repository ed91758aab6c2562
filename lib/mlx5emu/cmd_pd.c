/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <string.h>

#include "emu.h"
#include "uapi.h"
#include "verbs.h"

const struct emu_class emu_pd_class = { .type = UVERBS_OBJECT_PD, .name = "PD" };

/* ib_uverbs_alloc_pd() in core/uverbs_cmd.c */
static int
write_alloc_pd(struct emu_call *call, const void *in, size_t in_len)
{
	struct emu_pd *pd = emu_obj_new(call->file, &emu_pd_class, sizeof(*pd));
	struct ib_uverbs_alloc_pd_resp resp;
	struct mlx5_ib_alloc_pd_resp mlx5;
	int err;

	(void)in;
	(void)in_len;
	if (pd == NULL)
		return -ENOMEM;
	pd->pdn = emu_next_num(call->dev);
	err = emu_obj_commit(&pd->obj);
	if (err != 0) {
		emu_obj_discard(&pd->obj);
		return err;
	}
	resp.pd_handle = pd->obj.handle;
	mlx5.pdn = pd->pdn;
	err = emu_out(call, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	if (err == 0)
		err = emu_out(call, UVERBS_ATTR_UHW_OUT, &mlx5, sizeof(mlx5));
	if (err != 0)
		emu_obj_destroy(&pd->obj, true);
	return err;
}

static int
write_dealloc_pd(struct emu_call *call, const void *in, size_t in_len)
{
	const struct ib_uverbs_dealloc_pd *req = in;
	struct emu_obj *pd;
	int err;

	(void)in_len;
	pd = emu_obj_find(call->file, req->pd_handle, UVERBS_OBJECT_PD, &err);
	return pd == NULL ? err : emu_obj_destroy(pd, false);
}

static int
query_pd(struct emu_call *call)
{
	struct emu_pd *pd = emu_obj(call, MLX5_IB_ATTR_QUERY_PD_HANDLE);

	return emu_out(call, MLX5_IB_ATTR_QUERY_PD_RESP_PDN, &pd->pdn, sizeof(pd->pdn));
}

static const struct emu_method methods[] = {
	EMU_METHOD(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, "PD_DESTROY", NULL,
		EMU_SPECS(EMU_OBJ(UVERBS_ATTR_DESTROY_PD_HANDLE, UVERBS_OBJECT_PD,
				  EMU_OBJ_DESTROY))),
	EMU_METHOD(UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY, "PD_QUERY", query_pd,
		EMU_SPECS(
			EMU_OBJ(MLX5_IB_ATTR_QUERY_PD_HANDLE, UVERBS_OBJECT_PD, EMU_OBJ_READ),
			EMU_OUT(MLX5_IB_ATTR_QUERY_PD_RESP_PDN, 4))),
};

static const struct emu_write writes[] = {
	{ IB_USER_VERBS_CMD_ALLOC_PD, "ALLOC_PD", sizeof(struct ib_uverbs_alloc_pd),
	  sizeof(struct ib_uverbs_alloc_pd_resp), write_alloc_pd },
	{ IB_USER_VERBS_CMD_DEALLOC_PD, "DEALLOC_PD", sizeof(struct ib_uverbs_dealloc_pd), 0,
	  write_dealloc_pd },
};

EMU_TABLE(emu_pd_table, methods, writes);
