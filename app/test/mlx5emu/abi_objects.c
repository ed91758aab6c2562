/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "abi.h"

/* Good calls, one function an object. */

#define EX IB_USER_VERBS_CMD_FLAG_EXTENDED

uint32_t
abi_pd(struct emu_file *file, uint32_t *pdn)
{
	struct ib_uverbs_alloc_pd in = { 0 };
	struct ib_uverbs_alloc_pd_resp out;
	struct mlx5_ib_alloc_pd_resp mlx5;

	assert_int_equal(abi_write(file, &(struct abi_write){ .cmd = IB_USER_VERBS_CMD_ALLOC_PD,
		.in = &in, .in_len = sizeof(in), .out = &out, .out_len = sizeof(out),
		.uhw_out = &mlx5, .uhw_out_len = sizeof(mlx5) }), 0);
	if (pdn != NULL)
		*pdn = mlx5.pdn;
	return out.pd_handle;
}

int
abi_pd_free(struct emu_file *file, uint32_t handle)
{
	struct ib_uverbs_dealloc_pd in = { .pd_handle = handle };

	return abi_write(file, &(struct abi_write){ .cmd = IB_USER_VERBS_CMD_DEALLOC_PD,
						    .in = &in, .in_len = sizeof(in) });
}

/* ---- DM ---- */

int
abi_dm_try(struct emu_file *file, uint64_t len, uint32_t log_align, uint32_t *handle,
	   uint16_t *index, uint64_t *start)
{
	uint64_t offset;
	uint16_t page;
	struct abi_call c;
	int err;

	abi_begin(&c, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC);
	abi_obj(&c, ABI_NEW, UVERBS_ATTR_ALLOC_DM_HANDLE, 0, 0);
	abi_val(&c, UVERBS_ATTR_ALLOC_DM_LENGTH, len, 8, 0);
	abi_val(&c, UVERBS_ATTR_ALLOC_DM_ALIGNMENT, log_align, 4, 0);
	abi_out(&c, MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, &offset, 8, 0);
	abi_out(&c, MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, &page, 2, 0);
	err = abi_run(&c, file);
	if (err != 0)
		return err;
	*handle = abi_got(&c, UVERBS_ATTR_ALLOC_DM_HANDLE);
	if (index != NULL)
		*index = page;
	if (start != NULL)
		*start = offset;
	return 0;
}

uint32_t
abi_dm(struct emu_file *file, uint64_t len)
{
	uint32_t handle;

	assert_int_equal(abi_dm_try(file, len, 0, &handle, NULL, NULL), 0);
	return handle;
}

int
abi_dm_free(struct emu_file *file, uint32_t handle)
{
	return abi_destroy(file, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE,
			   UVERBS_ATTR_FREE_DM_HANDLE, handle);
}

/* ---- MR ---- */

int
abi_dm_mr_try(struct emu_file *file, uint32_t pd, uint32_t dm, uint64_t off, uint64_t len,
	      uint32_t access, uint32_t *handle, uint32_t *lkey)
{
	uint32_t keys[2];
	struct abi_call c;
	int err;

	abi_begin(&c, UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG);
	abi_obj(&c, ABI_NEW, UVERBS_ATTR_REG_DM_MR_HANDLE, 0, 0);
	abi_val(&c, UVERBS_ATTR_REG_DM_MR_OFFSET, off, 8, 0);
	abi_val(&c, UVERBS_ATTR_REG_DM_MR_LENGTH, len, 8, 0);
	abi_obj(&c, ABI_OBJ, UVERBS_ATTR_REG_DM_MR_PD_HANDLE, pd, 0);
	abi_val(&c, UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, access, 4, 0);
	abi_obj(&c, ABI_OBJ, UVERBS_ATTR_REG_DM_MR_DM_HANDLE, dm, 0);
	abi_out(&c, UVERBS_ATTR_REG_DM_MR_RESP_LKEY, &keys[0], 4, 0);
	abi_out(&c, UVERBS_ATTR_REG_DM_MR_RESP_RKEY, &keys[1], 4, 0);
	err = abi_run(&c, file);
	if (err == 0 && lkey != NULL)
		*lkey = keys[0];
	if (err == 0)
		*handle = abi_got(&c, UVERBS_ATTR_REG_DM_MR_HANDLE);
	return err;
}

int
abi_mr_try(struct emu_file *file, uint32_t pd, uint64_t start, uint64_t len, uint64_t va,
	   uint32_t access, uint32_t *handle)
{
	struct ib_uverbs_reg_mr in = {
		.start = start, .length = len, .hca_va = va, .pd_handle = pd,
		.access_flags = access,
	};
	struct ib_uverbs_reg_mr_resp out;
	int err = abi_write(file, &(struct abi_write){ .cmd = IB_USER_VERBS_CMD_REG_MR,
		.in = &in, .in_len = sizeof(in), .out = &out, .out_len = sizeof(out) });

	if (err == 0)
		*handle = out.mr_handle;
	return err;
}

int
abi_mr_free(struct emu_file *file, uint32_t handle)
{
	return abi_destroy(file, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY,
			   UVERBS_ATTR_DESTROY_MR_HANDLE, handle);
}

/* ---- CQ ---- */

void
abi_cq_call(struct abi *abi, struct abi_call *c, struct mlx5_ib_create_cq *req)
{
	uint32_t *cqe = abi_mem(abi, 64);

	*req = (struct mlx5_ib_create_cq){
		.buf_addr = (uintptr_t)abi_mem(abi, 64 * 64),
		.db_addr = (uintptr_t)abi_mem(abi, 8),
		.cqe_size = 64,
		.flags = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX,
	};
	abi_begin(c, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
	abi_obj(c, ABI_NEW, UVERBS_ATTR_CREATE_CQ_HANDLE, 0, 0);
	abi_val(c, UVERBS_ATTR_CREATE_CQ_CQE, 63, 4, 0);
	abi_val(c, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 0x1234, 8, 0);
	abi_val(c, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0, 4, 0);
	abi_val(c, UVERBS_ATTR_CREATE_CQ_FLAGS, 0, 8, ABI_OPT);
	abi_out(c, UVERBS_ATTR_CREATE_CQ_RESP_CQE, cqe, 4, 0);
	abi_in(c, UVERBS_ATTR_UHW_IN, req, sizeof(*req), ABI_LONGER | ABI_SHORTER);
	abi_out(c, UVERBS_ATTR_UHW_OUT, cqe + 2, 8, ABI_OPT | ABI_LONGER | ABI_SHORTER);
}

uint32_t
abi_cq(struct abi *abi, struct emu_file *file, uint32_t *cqn)
{
	struct mlx5_ib_create_cq req;
	struct abi_call c;

	abi_cq_call(abi, &c, &req);
	assert_int_equal(abi_run(&c, file), 0);
	if (cqn != NULL)
		*cqn = *(uint32_t *)(uintptr_t)abi_got(&c, UVERBS_ATTR_UHW_OUT);
	return abi_got(&c, UVERBS_ATTR_CREATE_CQ_HANDLE);
}

int
abi_cq_free(struct emu_file *file, uint32_t handle)
{
	struct ib_uverbs_destroy_cq_resp resp;
	struct abi_call c;

	abi_begin(&c, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY);
	abi_obj(&c, ABI_DESTROY, UVERBS_ATTR_DESTROY_CQ_HANDLE, handle, 0);
	abi_out(&c, UVERBS_ATTR_DESTROY_CQ_RESP, &resp, sizeof(resp), 0);
	return abi_run(&c, file);
}

/* ---- WQ and table ---- */

void
abi_wq_call(struct abi *abi, struct abi_call *c, struct mlx5_ib_create_wq *req, uint32_t pd,
	    uint32_t cq)
{
	uint32_t *out = abi_mem(abi, 64);

	*req = (struct mlx5_ib_create_wq){
		.buf_addr = (uintptr_t)abi_mem(abi, 64 * 16),
		.db_addr = (uintptr_t)abi_mem(abi, 8),
		.rq_wqe_count = 64, .rq_wqe_shift = 4, .user_index = 5,
	};
	abi_begin(c, UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE);
	abi_obj(c, ABI_NEW, UVERBS_ATTR_CREATE_WQ_HANDLE, 0, 0);
	abi_obj(c, ABI_OBJ, UVERBS_ATTR_CREATE_WQ_PD_HANDLE, pd, 0);
	abi_obj(c, ABI_OBJ, UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, cq, 0);
	abi_val(c, UVERBS_ATTR_CREATE_WQ_USER_HANDLE, 1, 8, 0);
	abi_val(c, UVERBS_ATTR_CREATE_WQ_TYPE, IBV_WQT_RQ, 8, 0);
	abi_val(c, UVERBS_ATTR_CREATE_WQ_MAX_WR, 64, 4, 0);
	abi_val(c, UVERBS_ATTR_CREATE_WQ_MAX_SGE, 1, 4, 0);
	abi_val(c, UVERBS_ATTR_CREATE_WQ_FLAGS, 0, 8, 0);
	abi_out(c, UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, &out[0], 4, 0);
	abi_out(c, UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, &out[1], 4, 0);
	abi_out(c, UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, &out[2], 4, ABI_OPT);
	abi_in(c, UVERBS_ATTR_UHW_IN, req, sizeof(*req), ABI_ZERO_TAIL | ABI_SHORTER);
	abi_out(c, UVERBS_ATTR_UHW_OUT, &out[4], sizeof(struct mlx5_ib_create_wq_resp),
		ABI_OPT | ABI_LONGER);
}

uint32_t
abi_wq(struct abi *abi, struct emu_file *file, uint32_t pd, uint32_t cq, uint32_t *wqn)
{
	struct mlx5_ib_create_wq req;
	struct abi_call c;

	abi_wq_call(abi, &c, &req, pd, cq);
	assert_int_equal(abi_run(&c, file), 0);
	if (wqn != NULL)
		*wqn = *(uint32_t *)(uintptr_t)abi_got(&c, UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM);
	return abi_got(&c, UVERBS_ATTR_CREATE_WQ_HANDLE);
}

int
abi_wq_free(struct emu_file *file, uint32_t handle)
{
	uint32_t events;
	struct abi_call c;

	abi_begin(&c, UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY);
	abi_obj(&c, ABI_DESTROY, UVERBS_ATTR_DESTROY_WQ_HANDLE, handle, 0);
	abi_out(&c, UVERBS_ATTR_DESTROY_WQ_RESP, &events, 4, 0);
	return abi_run(&c, file);
}

uint32_t
abi_ind_tbl(struct emu_file *file, uint32_t wq)
{
	union {
		struct ib_uverbs_ex_create_rwq_ind_table req;
		uint32_t words[4];      /* comp_mask, size, handles */
	} in = { .words = { 0, 1, wq, wq } };
	struct ib_uverbs_ex_create_rwq_ind_table_resp out;

	assert_int_equal(abi_write(file, &(struct abi_write){
		.cmd = EX | IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL, .in = &in,
		.in_len = sizeof(in), .out = &out, .out_len = sizeof(out) }), 0);
	return out.ind_tbl_handle;
}

/* ---- QP ---- */

static void
qp_begin(struct abi_call *c, struct abi_qp *q, uint32_t pd)
{
	abi_begin(c, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE);
	abi_obj(c, ABI_NEW, UVERBS_ATTR_CREATE_QP_HANDLE, 0, 0);
	abi_obj(c, ABI_OBJ, UVERBS_ATTR_CREATE_QP_PD_HANDLE, pd, ABI_NEEDED);
	abi_val(c, UVERBS_ATTR_CREATE_QP_USER_HANDLE, 1, 8, 0);
	abi_in(c, UVERBS_ATTR_CREATE_QP_CAP, &q->cap, sizeof(q->cap), ABI_ZERO_TAIL);
	abi_val(c, UVERBS_ATTR_CREATE_QP_TYPE, IBV_QPT_RAW_PACKET, 8, 0);
	abi_val(c, UVERBS_ATTR_CREATE_QP_FLAGS, 0, 8, ABI_OPT);
	abi_out(c, UVERBS_ATTR_CREATE_QP_RESP_CAP, &q->got, sizeof(q->got), ABI_LONGER);
	abi_out(c, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &q->qpn, 4, 0);
}

void
abi_qp_call(struct abi *abi, struct abi_call *c, struct abi_qp *q, uint32_t pd, uint32_t cq)
{
	*q = (struct abi_qp){
		.cap = { .max_send_wr = 64, .max_recv_wr = 64, .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.req = {
			.buf_addr = (uintptr_t)abi_mem(abi, 64 * 16),
			.sq_buf_addr = (uintptr_t)abi_mem(abi, 64 * 64),
			.db_addr = (uintptr_t)abi_mem(abi, 8),
			.sq_wqe_count = 64, .rq_wqe_count = 64, .rq_wqe_shift = 4,
			.flags = MLX5_QP_FLAG_UAR_PAGE_INDEX,
		},
	};
	qp_begin(c, q, pd);
	abi_obj(c, ABI_OBJ, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, cq, ABI_NEEDED);
	abi_obj(c, ABI_OBJ, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, cq, ABI_NEEDED);
	abi_in(c, UVERBS_ATTR_UHW_IN, &q->req, sizeof(q->req), ABI_EINVAL_TAIL | ABI_SHORTER);
	abi_out(c, UVERBS_ATTR_UHW_OUT, &q->resp, sizeof(q->resp),
		ABI_OPT | ABI_LONGER | ABI_SHORTER);
}

uint32_t
abi_qp(struct abi *abi, struct emu_file *file, uint32_t pd, uint32_t cq)
{
	struct abi_call c;
	struct abi_qp q;

	abi_qp_call(abi, &c, &q, pd, cq);
	assert_int_equal(abi_run(&c, file), 0);
	return abi_got(&c, UVERBS_ATTR_CREATE_QP_HANDLE);
}

void
abi_rss_call(struct abi_call *c, struct abi_qp *q, uint32_t pd, uint32_t tbl)
{
	*q = (struct abi_qp){
		.rss = {
			.rx_hash_fields_mask = MLX5_RX_HASH_SRC_IPV4 | MLX5_RX_HASH_DST_IPV4,
			.rx_hash_function = MLX5_RX_HASH_FUNC_TOEPLITZ,
			.rx_key_len = 40,
		},
	};
	qp_begin(c, q, pd);
	abi_obj(c, ABI_OBJ, UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE, tbl, 0);
	abi_in(c, UVERBS_ATTR_UHW_IN, &q->rss, sizeof(q->rss), ABI_EINVAL_TAIL);
	abi_out(c, UVERBS_ATTR_UHW_OUT, &q->resp, sizeof(q->resp), ABI_LONGER | ABI_SHORTER);
}

int
abi_qp_free(struct emu_file *file, uint32_t handle)
{
	struct ib_uverbs_destroy_qp_resp resp;
	struct abi_call c;

	abi_begin(&c, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY);
	abi_obj(&c, ABI_DESTROY, UVERBS_ATTR_DESTROY_QP_HANDLE, handle, 0);
	abi_out(&c, UVERBS_ATTR_DESTROY_QP_RESP, &resp, sizeof(resp), 0);
	return abi_run(&c, file);
}
