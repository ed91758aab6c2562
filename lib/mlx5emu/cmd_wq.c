/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "emu.h"
#include "uapi.h"
#include "verbs.h"
#include "vma.h"

/* Receive queues of their own and the indirection tables over them. */

#define MAX_WQ_WQES (1u << 15)
#define MAX_LOG_IND_TBL 11      /* log_max_rqt_size */

/* ---- WQ ---- */

static int
wq_destroy(struct emu_obj *obj, bool forced)
{
	(void)forced;
	LIST_REMOVE(&((struct emu_verbs_wq *)obj)->rq, next);
	return 0;
}

const struct emu_class emu_wq_class = {
	.type = UVERBS_OBJECT_WQ, .name = "WQ", .destroy = wq_destroy,
};

/* enum ib_uverbs_wq_flags: known, none of them advertised */
#define KNOWN_WQ_FLAGS (IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING | IB_UVERBS_WQ_FLAGS_SCATTER_FCS | \
	IB_UVERBS_WQ_FLAGS_DELAY_DROP | IB_UVERBS_WQ_FLAGS_PCI_WRITE_END_PADDING)

/* UVERBS_METHOD_WQ_CREATE, then mlx5_ib_create_wq() */
static int
read_create(struct emu_call *call, struct mlx5_ib_create_wq *req)
{
	size_t room = emu_len(call, UVERBS_ATTR_UHW_OUT);
	uint64_t flags;
	int err = emu_in_flags(call, UVERBS_ATTR_CREATE_WQ_FLAGS, KNOWN_WQ_FLAGS, &flags);

	if (err != 0)
		return err;
	if (emu_in_u64(call, UVERBS_ATTR_CREATE_WQ_TYPE, 0) != IBV_WQT_RQ)
		return -EINVAL;
	if (room != 0 && room < sizeof(struct mlx5_ib_create_wq_resp))
		return -EINVAL;
	if (emu_len(call, UVERBS_ATTR_UHW_IN) <
	    offsetof(struct mlx5_ib_create_wq, single_stride_log_num_of_bytes) + 4)
		return -EINVAL;
	err = emu_in_rest_is_zero(call, UVERBS_ATTR_UHW_IN, sizeof(*req));
	if (err == 0)
		err = emu_in(call, UVERBS_ATTR_UHW_IN, req, sizeof(*req));
	if (err == 0 && flags != 0) {
		emu_trace("  WQ flags are not emulated and not advertised");
		return -EOPNOTSUPP;
	}
	return err;
}

/* prepare_user_rq() and create_user_rq() in hw/mlx5/qp.c */
static int
check_create(struct emu_call *call, struct mlx5_ib_create_wq *req)
{
	int err = read_create(call, req);

	if (err != 0)
		return err;
	if (req->comp_mask & ~(uint32_t)MLX5_IB_CREATE_WQ_STRIDING_RQ)
		return -EOPNOTSUPP;
	if (req->comp_mask & MLX5_IB_CREATE_WQ_STRIDING_RQ) {
		emu_trace("  striding RQs are not emulated and not advertised");
		return -EOPNOTSUPP;
	}
	if (req->flags & MLX5_WQ_FLAG_SIGNATURE)
		return -EOPNOTSUPP;
	if (req->rq_wqe_count == 0 || req->rq_wqe_count > MAX_WQ_WQES ||
	    (req->rq_wqe_count & (req->rq_wqe_count - 1)) != 0 ||
	    req->rq_wqe_shift < 4 || req->rq_wqe_shift > 9)
		return -EINVAL;
	if (emu_in_u64(call, UVERBS_ATTR_CREATE_WQ_MAX_WR, 0) > MAX_WQ_WQES)
		return -EINVAL;
	err = emu_pin_check(req->buf_addr,
			    (uint64_t)req->rq_wqe_count << req->rq_wqe_shift, false);
	if (err == 0)
		err = emu_pin_check(req->db_addr, EMU_DBREC_SIZE, false);
	if (err != 0)
		return err;
	return emu_queue_is_aligned(req->buf_addr, req->db_addr) ? 0 : -EINVAL;
}

static int
wq_create(struct emu_call *call)
{
	struct emu_verbs_cq *cq = emu_obj(call, UVERBS_ATTR_CREATE_WQ_CQ_HANDLE);
	struct emu_pd *pd = emu_obj(call, UVERBS_ATTR_CREATE_WQ_PD_HANDLE);
	uint32_t max_wr = emu_in_u64(call, UVERBS_ATTR_CREATE_WQ_MAX_WR, 0);
	uint32_t max_sge = emu_in_u64(call, UVERBS_ATTR_CREATE_WQ_MAX_SGE, 0);
	struct mlx5_ib_create_wq_resp resp = { .response_length = sizeof(resp) };
	struct mlx5_ib_create_wq req;
	struct emu_verbs_wq *wq;
	int err = check_create(call, &req);

	if (err != 0)
		return err;
	wq = emu_obj_new(call->file, &emu_wq_class, sizeof(*wq));
	if (wq == NULL)
		return -ENOMEM;
	wq->rq = (struct emu_rq){
		.dev = call->dev,
		.num = emu_next_num(call->dev),
		.pdn = pd->pdn,
		.user_index = req.user_index,
		.entries = req.rq_wqe_count,
		.log_stride = req.rq_wqe_shift,
		.cq = &cq->cq,
	};
	emu_obj_use(&wq->obj, &pd->obj);
	emu_obj_use(&wq->obj, &cq->obj);
	err = emu_pin_memory(&wq->obj, req.buf_addr,
			     (uint64_t)req.rq_wqe_count << req.rq_wqe_shift, &wq->rq.buf,
			     &wq->rq.torn);
	if (err == 0)
		err = emu_pin_doorbell(&wq->obj, req.db_addr, &wq->rq.dbrec);
	if (err == 0)
		err = emu_out(call, UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, &max_wr, 4);
	if (err == 0)
		err = emu_out(call, UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, &max_sge, 4);
	if (err == 0)
		err = emu_out(call, UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, &wq->rq.num, 4);
	if (err == 0)
		err = emu_out(call, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	if (err != 0) {
		emu_obj_discard(&wq->obj);
		return err;
	}
	LIST_INSERT_HEAD(&call->dev->rqs, &wq->rq, next);
	return emu_out_obj(call, UVERBS_ATTR_CREATE_WQ_HANDLE, &wq->obj);
}

static int
wq_destroy_method(struct emu_call *call)
{
	uint32_t events = 0;

	return emu_out(call, UVERBS_ATTR_DESTROY_WQ_RESP, &events, sizeof(events));
}

/* enum ib_wq_state's numbers are not those of the queue context */
static const enum emu_queue_state wq_states[] = {
	[IBV_WQS_RESET] = EMU_Q_RST, [IBV_WQS_RDY] = EMU_Q_RDY, [IBV_WQS_ERR] = EMU_Q_ERR,
};

static int
check_modify_udata(struct emu_call *call)
{
	struct mlx5_ib_modify_wq req;
	int err;

	if (emu_len(call, UVERBS_ATTR_UHW_IN) < sizeof(req))
		return -EINVAL;
	err = emu_in_rest_is_zero(call, UVERBS_ATTR_UHW_IN, sizeof(req));
	if (err == 0)
		err = emu_in(call, UVERBS_ATTR_UHW_IN, &req, sizeof(req));
	if (err != 0)
		return err;
	return req.comp_mask || req.reserved ? -EOPNOTSUPP : 0;
}

/*
 * What firmware is told: from and to where. A queue that the engine took to ERR leaves it
 * through RST only; its owner may not have noticed yet.
 */
static int
move_state(struct emu_rq *rq, const struct ib_uverbs_ex_modify_wq *req)
{
	uint32_t mask = req->attr_mask;

	if (((mask & IBV_WQ_ATTR_STATE) && req->wq_state > IBV_WQS_ERR) ||
	    ((mask & IBV_WQ_ATTR_CURR_STATE) && req->curr_wq_state > IBV_WQS_ERR))
		return -EINVAL;
	if ((mask & IBV_WQ_ATTR_CURR_STATE) && wq_states[req->curr_wq_state] != rq->state &&
	    rq->state != EMU_Q_ERR)
		return -EINVAL;
	if (!(mask & IBV_WQ_ATTR_STATE))
		return 0;
	if (wq_states[req->wq_state] == EMU_Q_RDY && rq->state == EMU_Q_ERR)
		return -EINVAL;
	rq->state = wq_states[req->wq_state];
	if (rq->state == EMU_Q_RST)
		emu_rq_reset(rq);
	return 0;
}

/* ib_uverbs_ex_modify_wq(), then mlx5_ib_modify_wq() */
static int
write_modify_wq(struct emu_call *call, const void *in, size_t in_len)
{
	const struct ib_uverbs_ex_modify_wq *req = in;
	struct emu_verbs_wq *wq;
	int err;

	(void)in_len;
	if (req->attr_mask == 0 ||
	    req->attr_mask > (IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE | IBV_WQ_ATTR_FLAGS))
		return -EINVAL;
	wq = (struct emu_verbs_wq *)emu_obj_find(call->file, req->wq_handle, UVERBS_OBJECT_WQ,
						 &err);
	if (wq == NULL)
		return -EINVAL;
	err = check_modify_udata(call);
	if (err != 0)
		return err;
	return req->attr_mask & IBV_WQ_ATTR_FLAGS ? -EOPNOTSUPP : move_state(&wq->rq, req);
}

/* ---- indirection tables ---- */

static int
ind_tbl_destroy(struct emu_obj *obj, bool forced)
{
	(void)forced;
	free(((struct emu_ind_tbl *)obj)->rqs);
	return 0;
}

const struct emu_class emu_ind_tbl_class = {
	.type = UVERBS_OBJECT_RWQ_IND_TBL, .name = "RWQ_IND_TBL", .destroy = ind_tbl_destroy,
};

static int
fill_ind_tbl(struct emu_call *call, struct emu_ind_tbl *tbl, const uint32_t *handles)
{
	struct emu_obj *wq;
	int err;

	tbl->rqs = calloc(tbl->n, sizeof(*tbl->rqs));
	if (tbl->rqs == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < tbl->n; i++) {
		wq = emu_obj_find(call->file, handles[i], UVERBS_OBJECT_WQ, &err);
		if (wq == NULL)
			return -EINVAL;
		tbl->rqs[i] = &((struct emu_verbs_wq *)wq)->rq;
		emu_obj_use(&tbl->obj, wq);
	}
	return 0;
}

/* ib_uverbs_ex_create_rwq_ind_table() */
static int
write_create_ind_tbl(struct emu_call *call, const void *in, size_t in_len)
{
	const struct ib_uverbs_ex_create_rwq_ind_table *req = in;
	struct ib_uverbs_ex_create_rwq_ind_table_resp resp = { .response_length = sizeof(resp) };
	struct emu_ind_tbl *tbl;
	int err;

	if (req->comp_mask)
		return -EOPNOTSUPP;
	if (req->log_ind_tbl_size > MAX_LOG_IND_TBL ||
	    in_len < sizeof(*req) + (sizeof(uint32_t) << req->log_ind_tbl_size))
		return -EINVAL;
	tbl = emu_obj_new(call->file, &emu_ind_tbl_class, sizeof(*tbl));
	if (tbl == NULL)
		return -ENOMEM;
	tbl->n = 1u << req->log_ind_tbl_size;
	tbl->num = emu_next_num(call->dev);
	err = fill_ind_tbl(call, tbl, req->wq_handles);
	if (err == 0)
		err = emu_obj_commit(&tbl->obj);
	if (err != 0)
		goto err_discard;
	resp.ind_tbl_handle = tbl->obj.handle;
	resp.ind_tbl_num = tbl->num;
	err = emu_out(call, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	if (err != 0)
		emu_obj_destroy(&tbl->obj, true);
	return err;

err_discard:
	free(tbl->rqs);
	emu_obj_discard(&tbl->obj);
	return err;
}

static int
write_destroy_ind_tbl(struct emu_call *call, const void *in, size_t in_len)
{
	const struct ib_uverbs_ex_destroy_rwq_ind_table *req = in;
	struct emu_obj *tbl;
	int err;

	(void)in_len;
	if (req->comp_mask)
		return -EOPNOTSUPP;
	tbl = emu_obj_find(call->file, req->ind_tbl_handle, UVERBS_OBJECT_RWQ_IND_TBL, &err);
	return tbl == NULL ? err : emu_obj_destroy(tbl, false);
}

static const struct emu_method methods[] = {
	EMU_METHOD(UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE, "WQ_CREATE", wq_create,
		EMU_SPECS(
			EMU_OBJ(UVERBS_ATTR_CREATE_WQ_HANDLE, UVERBS_OBJECT_WQ, EMU_OBJ_NEW),
			EMU_OBJ(UVERBS_ATTR_CREATE_WQ_PD_HANDLE, UVERBS_OBJECT_PD, EMU_OBJ_READ),
			EMU_OBJ(UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, UVERBS_OBJECT_CQ, EMU_OBJ_READ),
			EMU_IN(UVERBS_ATTR_CREATE_WQ_USER_HANDLE, 8),
			EMU_CONST(UVERBS_ATTR_CREATE_WQ_TYPE),
			EMU_OPT_FD(UVERBS_ATTR_CREATE_WQ_EVENT_FD, UVERBS_OBJECT_ASYNC_EVENT,
				   EMU_OBJ_READ),
			EMU_IN(UVERBS_ATTR_CREATE_WQ_MAX_WR, 4),
			EMU_IN(UVERBS_ATTR_CREATE_WQ_MAX_SGE, 4),
			EMU_NEEDED_FLAGS(UVERBS_ATTR_CREATE_WQ_FLAGS),
			EMU_OUT(UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, 4),
			EMU_OUT(UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, 4),
			EMU_OPT_OUT(UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, 4),
			EMU_UHW)),
	EMU_METHOD(UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY, "WQ_DESTROY", wq_destroy_method,
		EMU_SPECS(
			EMU_OBJ(UVERBS_ATTR_DESTROY_WQ_HANDLE, UVERBS_OBJECT_WQ, EMU_OBJ_DESTROY),
			EMU_OUT(UVERBS_ATTR_DESTROY_WQ_RESP, 4))),
	EMU_METHOD(UVERBS_OBJECT_RWQ_IND_TBL, UVERBS_METHOD_RWQ_IND_TBL_DESTROY,
		"RWQ_IND_TBL_DESTROY", NULL,
		EMU_SPECS(EMU_OBJ(UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE,
				  UVERBS_OBJECT_RWQ_IND_TBL, EMU_OBJ_DESTROY))),
};

#define EX IB_USER_VERBS_CMD_FLAG_EXTENDED

static const struct emu_write writes[] = {
	{ EX | IB_USER_VERBS_EX_CMD_MODIFY_WQ, "EX_MODIFY_WQ",
	  sizeof(struct ib_uverbs_ex_modify_wq), 0, write_modify_wq },
	{ EX | IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL, "EX_CREATE_RWQ_IND_TBL",
	  sizeof(struct ib_uverbs_ex_create_rwq_ind_table) + sizeof(uint32_t),
	  sizeof(struct ib_uverbs_ex_create_rwq_ind_table_resp), write_create_ind_tbl },
	{ EX | IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL, "EX_DESTROY_RWQ_IND_TBL",
	  sizeof(struct ib_uverbs_ex_destroy_rwq_ind_table), 0, write_destroy_ind_tbl },
};

EMU_TABLE(emu_wq_table, methods, writes);
