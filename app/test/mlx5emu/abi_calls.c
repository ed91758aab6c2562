/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "abi.h"

/*
 * A good call of every method but those of DevX. In each file handle 0 is a PD and
 * handle 1 a DM.
 */

static uint8_t out[16][256];

static uint32_t
base(struct emu_file *file)
{
	uint32_t pd = abi_pd(file, NULL);

	assert_int_equal(abi_dm(file, 4096), 1);
	return pd;
}

/* ---- device ---- */

static void
query_port(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	(void)abi;
	base(file);
	abi_begin(c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);
	abi_val(c, UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1, 8, 0);
	abi_out(c, UVERBS_ATTR_QUERY_PORT_RESP, out[0],
		sizeof(struct ib_uverbs_query_port_resp_ex), ABI_LONGER);
}

static void
query_vport(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	(void)abi;
	base(file);
	abi_begin(c, UVERBS_OBJECT_DEVICE, MLX5_IB_METHOD_QUERY_PORT);
	abi_val(c, MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, 1, 4, 0);
	abi_out(c, MLX5_IB_ATTR_QUERY_PORT, out[0], sizeof(struct mlx5_ib_uapi_query_port),
		ABI_LONGER);
}

static void
query_context(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	(void)abi;
	base(file);
	abi_begin(c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT);
	abi_out(c, UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, out[0], 4, ABI_OPT);
	abi_out(c, UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, out[1], 8, ABI_OPT);
	abi_out(c, MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, out[2],
		sizeof(struct mlx5_ib_alloc_ucontext_resp), ABI_LONGER);
}

static void
invoke_write(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	static uint8_t in[24];

	(void)abi;
	base(file);
	abi_begin(c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	abi_val(c, UVERBS_ATTR_WRITE_CMD, IB_USER_VERBS_CMD_FLAG_EXTENDED |
		IB_USER_VERBS_CMD_QUERY_DEVICE, 8, 0);
	abi_in(c, UVERBS_ATTR_CORE_IN, in, sizeof(in), ABI_NO_SPACE | ABI_LONGER | ABI_SHORTER);
	abi_out(c, UVERBS_ATTR_CORE_OUT, out[0], 256, ABI_NO_SPACE | ABI_LONGER | ABI_SHORTER);
	abi_out(c, UVERBS_ATTR_UHW_OUT, out[1], 64, ABI_OPT | ABI_LONGER | ABI_SHORTER);
}

/* ---- PD, UAR ---- */

static void
pd_query(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	(void)abi;
	abi_begin(c, UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY);
	abi_obj(c, ABI_OBJ, MLX5_IB_ATTR_QUERY_PD_HANDLE, base(file), 0);
	abi_out(c, MLX5_IB_ATTR_QUERY_PD_RESP_PDN, out[0], 4, 0);
}

static void
pd_destroy(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	(void)abi;
	abi_begin(c, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY);
	abi_obj(c, ABI_DESTROY, UVERBS_ATTR_DESTROY_PD_HANDLE, base(file), 0);
}

static void
uar_alloc(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	(void)abi;
	base(file);
	abi_begin(c, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC);
	abi_obj(c, ABI_NEW, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0, 0);
	abi_val(c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF, 8, 0);
	abi_out(c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, out[0], 8, 0);
	abi_out(c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, out[1], 4, 0);
	abi_out(c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, out[2], 4, 0);
}

static void
uar_destroy(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	uar_alloc(abi, file, c);
	assert_int_equal(abi_run(c, file), 0);
	uint64_t handle = abi_got(c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE);

	abi_begin(c, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY);
	abi_obj(c, ABI_DESTROY, MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, handle, 0);
}

/* ---- DM, MR ---- */

static void
dm_alloc(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	(void)abi;
	base(file);
	abi_begin(c, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC);
	abi_obj(c, ABI_NEW, UVERBS_ATTR_ALLOC_DM_HANDLE, 0, 0);
	abi_val(c, UVERBS_ATTR_ALLOC_DM_LENGTH, 100, 8, 0);
	abi_val(c, UVERBS_ATTR_ALLOC_DM_ALIGNMENT, 0, 4, 0);
	abi_out(c, MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, out[0], 8, 0);
	abi_out(c, MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, out[1], 2, ABI_OPT);
	abi_val(c, MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE, MLX5_IB_UAPI_DM_TYPE_MEMIC, 8, ABI_OPT);
}

static void
dm_query(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	(void)abi;
	base(file);
	abi_begin(c, UVERBS_OBJECT_DM, MLX5_IB_METHOD_DM_QUERY);
	abi_obj(c, ABI_OBJ, MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE, 1, 0);
	abi_out(c, MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET, out[0], 8, 0);
	abi_out(c, MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX, out[1], 2, 0);
	abi_out(c, MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, out[2], 8, 0);
}

static void
dm_free(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	(void)abi;
	base(file);
	abi_begin(c, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE);
	abi_obj(c, ABI_DESTROY, UVERBS_ATTR_FREE_DM_HANDLE, 1, 0);
}

static void
dm_mr_reg(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	(void)abi;
	abi_begin(c, UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG);
	abi_obj(c, ABI_NEW, UVERBS_ATTR_REG_DM_MR_HANDLE, 0, 0);
	abi_val(c, UVERBS_ATTR_REG_DM_MR_OFFSET, 0, 8, 0);
	abi_val(c, UVERBS_ATTR_REG_DM_MR_LENGTH, 4096, 8, 0);
	abi_obj(c, ABI_OBJ, UVERBS_ATTR_REG_DM_MR_PD_HANDLE, base(file), 0);
	abi_val(c, UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, IBV_ACCESS_ZERO_BASED, 8, 0);
	abi_obj(c, ABI_OBJ, UVERBS_ATTR_REG_DM_MR_DM_HANDLE, 1, 0);
	abi_out(c, UVERBS_ATTR_REG_DM_MR_RESP_LKEY, out[0], 4, 0);
	abi_out(c, UVERBS_ATTR_REG_DM_MR_RESP_RKEY, out[1], 4, 0);
}

static uint32_t
some_mr(struct emu_file *file)
{
	uint32_t mr;

	assert_int_equal(abi_dm_mr_try(file, base(file), 1, 0, 4096, IBV_ACCESS_ZERO_BASED, &mr,
				       NULL), 0);
	return mr;
}

static void
mr_query(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	(void)abi;
	abi_begin(c, UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR);
	abi_obj(c, ABI_OBJ, UVERBS_ATTR_QUERY_MR_HANDLE, some_mr(file), 0);
	abi_out(c, UVERBS_ATTR_QUERY_MR_RESP_LKEY, out[0], 4, 0);
	abi_out(c, UVERBS_ATTR_QUERY_MR_RESP_RKEY, out[1], 4, 0);
	abi_out(c, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, out[2], 8, 0);
	abi_out(c, UVERBS_ATTR_QUERY_MR_RESP_IOVA, out[3], 8, ABI_OPT);
}

static void
mr_destroy(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	(void)abi;
	abi_begin(c, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY);
	abi_obj(c, ABI_DESTROY, UVERBS_ATTR_DESTROY_MR_HANDLE, some_mr(file), 0);
}

/* ---- queues ---- */

static void
cq_create(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	base(file);
	abi_cq_call(abi, c, abi_mem(abi, sizeof(struct mlx5_ib_create_cq)));
}

static void
cq_destroy(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	base(file);
	abi_begin(c, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY);
	abi_obj(c, ABI_DESTROY, UVERBS_ATTR_DESTROY_CQ_HANDLE, abi_cq(abi, file, NULL), 0);
	abi_out(c, UVERBS_ATTR_DESTROY_CQ_RESP, out[0],
		sizeof(struct ib_uverbs_destroy_cq_resp), 0);
}

static void
wq_create(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	uint32_t pd = base(file);

	abi_wq_call(abi, c, abi_mem(abi, sizeof(struct mlx5_ib_create_wq)), pd,
		    abi_cq(abi, file, NULL));
}

static uint32_t
some_wq(struct abi *abi, struct emu_file *file)
{
	uint32_t pd = base(file);

	return abi_wq(abi, file, pd, abi_cq(abi, file, NULL), NULL);
}

static void
wq_destroy(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	abi_begin(c, UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY);
	abi_obj(c, ABI_DESTROY, UVERBS_ATTR_DESTROY_WQ_HANDLE, some_wq(abi, file), 0);
	abi_out(c, UVERBS_ATTR_DESTROY_WQ_RESP, out[0], 4, 0);
}

static void
ind_tbl_destroy(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	uint32_t wq = some_wq(abi, file);

	abi_begin(c, UVERBS_OBJECT_RWQ_IND_TBL, UVERBS_METHOD_RWQ_IND_TBL_DESTROY);
	abi_obj(c, ABI_DESTROY, UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE, abi_ind_tbl(file, wq), 0);
}

static void
qp_create(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	uint32_t pd = base(file);

	abi_qp_call(abi, c, abi_mem(abi, sizeof(struct abi_qp)), pd, abi_cq(abi, file, NULL));
}

static void
rss_create(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	uint32_t wq = some_wq(abi, file);

	abi_rss_call(c, abi_mem(abi, sizeof(struct abi_qp)), 0, abi_ind_tbl(file, wq));
	/* without the table it is another QP, which lacks its CQs and has other UHW data */
	for (unsigned int i = 0; i < c->hdr.num_attrs; i++)
		if (c->hdr.attrs[i].attr_id == UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE)
			c->kinds[i].flags = ABI_NEEDED;
}

static void
qp_destroy(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	uint32_t pd = base(file), qp = abi_qp(abi, file, pd, abi_cq(abi, file, NULL));

	abi_begin(c, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY);
	abi_obj(c, ABI_DESTROY, UVERBS_ATTR_DESTROY_QP_HANDLE, qp, 0);
	abi_out(c, UVERBS_ATTR_DESTROY_QP_RESP, out[0],
		sizeof(struct ib_uverbs_destroy_qp_resp), 0);
}

/* ---- flows ---- */

static void
matcher_create(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	uint8_t *mask = abi_mem(abi, 64);

	base(file);
	abi_begin(c, MLX5_IB_OBJECT_FLOW_MATCHER, MLX5_IB_METHOD_FLOW_MATCHER_CREATE);
	abi_obj(c, ABI_NEW, MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE, 0, 0);
	abi_in(c, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, mask, 64, ABI_LONGER | ABI_SHORTER);
	abi_enum(c, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, MLX5_IB_FLOW_TYPE_NORMAL, 3, 2);
	abi_val(c, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA, 1, 1, 0);
	abi_val(c, MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX, 8,
		ABI_OPT);
}

static uint32_t
some_matcher(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	matcher_create(abi, file, c);
	assert_int_equal(abi_run(c, file), 0);
	return abi_got(c, MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE);
}

static void
matcher_destroy(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	uint32_t m = some_matcher(abi, file, c);

	abi_begin(c, MLX5_IB_OBJECT_FLOW_MATCHER, MLX5_IB_METHOD_FLOW_MATCHER_DESTROY);
	abi_obj(c, ABI_DESTROY, MLX5_IB_ATTR_FLOW_MATCHER_DESTROY_HANDLE, m, 0);
}

static void
flow_create(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	uint32_t m = some_matcher(abi, file, c);
	uint32_t qp = abi_qp(abi, file, 0, abi_cq(abi, file, NULL));

	abi_begin(c, UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_CREATE_FLOW);
	abi_obj(c, ABI_NEW, MLX5_IB_ATTR_CREATE_FLOW_HANDLE, 0, 0);
	abi_in(c, MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, abi_mem(abi, 64), 64,
	       ABI_LONGER | ABI_SHORTER);
	abi_obj(c, ABI_OBJ, MLX5_IB_ATTR_CREATE_FLOW_MATCHER, m, 0);
	abi_obj(c, ABI_OBJ, MLX5_IB_ATTR_CREATE_FLOW_DEST_QP, qp, 0);
	abi_val(c, MLX5_IB_ATTR_CREATE_FLOW_TAG, 7, 4, ABI_OPT);
	abi_val(c, MLX5_IB_ATTR_CREATE_FLOW_FLAGS, 0, 8, ABI_OPT);
}

static void
flow_destroy_by(struct abi *abi, struct emu_file *file, struct abi_call *c, uint16_t method,
		uint16_t id)
{
	uint64_t handle;

	flow_create(abi, file, c);
	assert_int_equal(abi_run(c, file), 0);
	handle = abi_got(c, MLX5_IB_ATTR_CREATE_FLOW_HANDLE);
	abi_begin(c, UVERBS_OBJECT_FLOW, method);
	abi_obj(c, ABI_DESTROY, id, handle, 0);
}

static void
flow_destroy(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	flow_destroy_by(abi, file, c, UVERBS_METHOD_FLOW_DESTROY, UVERBS_ATTR_DESTROY_FLOW_HANDLE);
}

static void
mlx5_flow_destroy(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	flow_destroy_by(abi, file, c, MLX5_IB_METHOD_DESTROY_FLOW,
			MLX5_IB_ATTR_DESTROY_FLOW_HANDLE);
}

static void
async_alloc(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	(void)abi;
	base(file);
	abi_begin(c, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC);
	abi_obj(c, ABI_NEW_FD, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0, 0);
}

#define GOOD(f) { #f, f }
const struct abi_good abi_verbs_calls[] = {
	GOOD(query_port), GOOD(query_vport), GOOD(query_context), GOOD(invoke_write),
	GOOD(pd_query),
	GOOD(pd_destroy), GOOD(uar_alloc), GOOD(uar_destroy), GOOD(dm_alloc), GOOD(dm_query),
	GOOD(dm_free), GOOD(dm_mr_reg), GOOD(mr_query), GOOD(mr_destroy), GOOD(cq_create),
	GOOD(cq_destroy), GOOD(wq_create), GOOD(wq_destroy), GOOD(ind_tbl_destroy),
	GOOD(qp_create), GOOD(rss_create), GOOD(qp_destroy), GOOD(matcher_create),
	GOOD(matcher_destroy), GOOD(flow_create), GOOD(flow_destroy), GOOD(mlx5_flow_destroy),
	GOOD(async_alloc),
};
const unsigned int abi_n_verbs_calls = EMU_COUNT(abi_verbs_calls);
