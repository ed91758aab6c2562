/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>

#include "devx.h"
#include "emu.h"
#include "prm.h"
#include "vma.h"

/* CQs, SQs and RQs that a process makes in its own memory through DevX. */

#define EQN 7
#define MAX_LOG_CQ 22
#define MAX_LOG_WQ 15
#define WQ_CYCLIC 1             /* wq.wq_type */
#define LOG_WQEBB 6

/* cqc.cqe_sz: CQEs of 64 bytes in entries of 128, the other half untouched or written */
enum { CQE_STRIDE_64 = 0, CQE_STRIDE_128 = 1, CQE_STRIDE_128_PADDED = 2 };

/* ---- CQ ---- */

static int
create_cq(struct emu_devx_call *call, struct emu_devx_obj *obj)
{
	const uint8_t *cqc = call->in + PRM_CQC_AT;
	uint32_t log_size = prm_get(cqc, PRM_CQC_LOG_SIZE), cqe_sz = prm_get(cqc, PRM_CQC_CQE_SZ);
	uint32_t entry_size = cqe_sz == CQE_STRIDE_64 ? 64 : 128;
	struct emu_umem_part buf, dbrec;

	if (log_size > MAX_LOG_CQ || cqe_sz > CQE_STRIDE_128_PADDED)
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "size of CQ or CQE");
	if (prm_get(cqc, PRM_CQC_EQN) != EQN)
		return emu_devx_refuse(call, PRM_STATUS_BAD_RESOURCE, "no such EQ");
	if (!emu_devx_use_umem(obj, prm_get(call->in, PRM_CREATE_CQ_UMEM_ID),
			       prm_get64(call->in, PRM_CREATE_CQ_UMEM_OFFSET_AT),
			       (uint64_t)entry_size << log_size, true, &buf) ||
	    !emu_devx_use_umem(obj, prm_get(cqc, PRM_CQC_DBR_UMEM_ID),
			       prm_get64(cqc, PRM_CQC_DBR_ADDR_AT), EMU_DBREC_SIZE, false, &dbrec))
		return emu_devx_refuse(call, PRM_STATUS_BAD_RESOURCE, "umem unknown or too short");
	if (!emu_devx_is_aligned(&buf, &dbrec))
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "CQ or record not aligned");
	obj->num = emu_next_num(call->dev);
	obj->cq = (struct emu_cq){
		.dev = call->dev,
		.num = obj->num,
		.entries = 1u << log_size,
		.entry_size = entry_size,
		.padded = cqe_sz == CQE_STRIDE_128_PADDED,
		.ignore_overrun = prm_get(cqc, PRM_CQC_OI),
	};
	emu_pin_view(&obj->obj, buf.pin, buf.off, buf.len, &obj->cq.buf, &obj->cq.torn);
	emu_pin_view(&obj->obj, dbrec.pin, dbrec.off, dbrec.len, &obj->cq.dbrec, NULL);
	emu_cq_disarm(&obj->cq);
	LIST_INSERT_HEAD(&call->dev->cqs, &obj->cq, next);
	prm_set(call->out, PRM_OUT_OBJECT, obj->num);
	return PRM_STATUS_OK;
}

static void
destroy_cq(struct emu_devx_obj *obj)
{
	LIST_REMOVE(&obj->cq, next);
}

/* ---- what SQs and RQs share ---- */

struct wq_memory {
	uint32_t pdn, log_size, log_stride;
	struct emu_umem_part buf, dbrec;
	struct emu_cq *cq;
};

static struct emu_cq *
use_cq(struct emu_devx_obj *obj, uint32_t cqn)
{
	struct emu_devx_obj *devx = emu_devx_find(obj->obj.file, PRM_CMD_CREATE_CQ, cqn);
	struct emu_obj *o;

	if (devx != NULL) {
		emu_obj_use(&obj->obj, &devx->obj);
		return &devx->cq;
	}
	TAILQ_FOREACH(o, &obj->obj.file->objects, next) {
		if (o->class != &emu_cq_class || ((struct emu_verbs_cq *)o)->cq.num != cqn)
			continue;
		emu_obj_use(&obj->obj, o);
		return &((struct emu_verbs_cq *)o)->cq;
	}
	return NULL;
}

/* The work queue inside an SQ or RQ context. */
static int
parse_wq(struct emu_devx_call *call, struct emu_devx_obj *obj, const uint8_t *ctx,
	 struct wq_memory *m)
{
	const uint8_t *wq = ctx + PRM_QC_WQ_AT;

	m->pdn = prm_get(wq, PRM_WQ_PD);
	m->log_size = prm_get(wq, PRM_WQ_LOG_SIZE);
	m->log_stride = prm_get(wq, PRM_WQ_LOG_STRIDE);
	if (prm_get(ctx, PRM_QC_STATE) != EMU_Q_RST)
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "a queue starts in RST");
	if (prm_get(wq, PRM_WQ_TYPE) != WQ_CYCLIC || prm_get(wq, PRM_WQ_SIGNATURE))
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "only cyclic work queues");
	if (m->log_size > MAX_LOG_WQ || m->log_stride < 4 || m->log_stride > 10)
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "size or stride of the queue");
	if (emu_devx_use_pd(obj, m->pdn) == NULL)
		return emu_devx_refuse(call, PRM_STATUS_BAD_RESOURCE, "no such PD");
	m->cq = use_cq(obj, prm_get(ctx, PRM_QC_CQN));
	if (m->cq == NULL)
		return emu_devx_refuse(call, PRM_STATUS_BAD_RESOURCE, "no such CQ");
	if (!emu_devx_use_umem(obj, prm_get(wq, PRM_WQ_UMEM_ID),
			       prm_get64(wq, PRM_WQ_UMEM_OFFSET_AT),
			       1ull << (m->log_size + m->log_stride), false, &m->buf) ||
	    !emu_devx_use_umem(obj, prm_get(wq, PRM_WQ_DBR_UMEM_ID),
			       prm_get64(wq, PRM_WQ_DBR_ADDR_AT), EMU_DBREC_SIZE, false,
			       &m->dbrec))
		return emu_devx_refuse(call, PRM_STATUS_BAD_RESOURCE, "umem unknown or too short");
	if (!emu_devx_is_aligned(&m->buf, &m->dbrec))
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "queue or record not aligned");
	return PRM_STATUS_OK;
}

/* RST to RDY, anything to ERR and to RST; the old state must be as the caller thinks. */
static int
move_state(struct emu_devx_call *call, enum emu_queue_state *state)
{
	uint32_t from = prm_get(call->in, PRM_IN_QUEUE_STATE);
	uint32_t to = prm_get(call->in + PRM_CTX_AT, PRM_QC_STATE);

	if (from != *state && *state != EMU_Q_ERR) /* the engine may have moved it to ERR */
		return emu_devx_refuse(call, PRM_STATUS_BAD_RES_STATE, "state is another");
	if (to == EMU_Q_RDY && *state == EMU_Q_ERR)
		return emu_devx_refuse(call, PRM_STATUS_BAD_RES_STATE, "ERR cannot become RDY");
	if (to != EMU_Q_RST && to != EMU_Q_RDY && to != EMU_Q_ERR)
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "no such state");
	*state = to;
	return PRM_STATUS_OK;
}

/* ---- SQ ---- */

static int
check_sqc(struct emu_devx_call *call, const uint8_t *sqc)
{
	if (prm_get(sqc, PRM_SQC_HAIRPIN) || prm_get(sqc, PRM_SQC_NON_WIRE) ||
	    prm_get(sqc, PRM_SQC_ALLOW_SWP))
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM,
				       "hairpin, loopback and SWP queues are not there");
	if (prm_get(sqc, PRM_SQC_TIS_LIST_SIZE) != 1 ||
	    emu_devx_find(call->file, PRM_CMD_CREATE_TIS, prm_get(sqc, PRM_SQC_TIS)) == NULL)
		return emu_devx_refuse(call, PRM_STATUS_BAD_RESOURCE, "no such TIS");
	return PRM_STATUS_OK;
}

static int
create_sq(struct emu_devx_call *call, struct emu_devx_obj *obj)
{
	const uint8_t *sqc = call->in + PRM_CTX_AT;
	struct wq_memory m;
	int status = check_sqc(call, sqc);

	if (status == PRM_STATUS_OK)
		status = parse_wq(call, obj, sqc, &m);
	if (status != PRM_STATUS_OK)
		return status;
	if (m.log_stride != LOG_WQEBB)
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "stride of an SQ is 64 bytes");
	emu_obj_use(&obj->obj, &emu_devx_find(call->file, PRM_CMD_CREATE_TIS,
					      prm_get(sqc, PRM_SQC_TIS))->obj);
	obj->num = emu_next_num(call->dev);
	obj->sq = (struct emu_sq){
		.dev = call->dev,
		.num = obj->num,
		.pdn = m.pdn,
		.user_index = prm_get(sqc, PRM_QC_USER_INDEX),
		.wqebbs = 1u << m.log_size,
		/* create_flow_rule_vport_sq() in hw/mlx5/ib_rep.c is for QPs only */
		.no_rule = call->dev->cfg->one_device,
		.allow_mpw = prm_get(sqc, PRM_SQC_ALLOW_MPW),
		.cq = m.cq,
	};
	emu_pin_view(&obj->obj, m.buf.pin, m.buf.off, m.buf.len, &obj->sq.buf, &obj->sq.torn);
	emu_pin_view(&obj->obj, m.dbrec.pin, m.dbrec.off + 4, 4, &obj->sq.dbrec, NULL);
	if (emu_user_range_check((uintptr_t)obj->sq.dbrec, 4, true) != 0)
		return emu_devx_refuse(call, PRM_STATUS_BAD_RESOURCE,
				       "doorbell record not writable, see emu_sq_reset()");
	LIST_INSERT_HEAD(&call->dev->sqs, &obj->sq, next);
	prm_set(call->out, PRM_OUT_OBJECT, obj->num);
	return PRM_STATUS_OK;
}

static int
modify_sq(struct emu_devx_call *call, struct emu_obj *obj)
{
	struct emu_sq *sq = emu_devx_sq(obj);
	int status = move_state(call, &sq->state);

	if (status == PRM_STATUS_OK && sq->state == EMU_Q_RST)
		emu_sq_reset(sq);
	return status;
}

static void
destroy_sq(struct emu_devx_obj *obj)
{
	LIST_REMOVE(&obj->sq, next);
}

/* ---- RQ ---- */

static int
check_rqc(struct emu_devx_call *call, const uint8_t *rqc)
{
	if (prm_get(rqc, PRM_RQC_SCATTER_FCS))
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "scatter FCS is not there");
	if (!prm_get(rqc, PRM_RQC_VLAN_STRIP_DISABLE))
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "VLAN strip is not there");
	if (prm_get(rqc, PRM_RQC_MEM_TYPE) != 0 || prm_get(rqc, PRM_RQC_HAIRPIN) ||
	    prm_get(rqc, PRM_RQC_DELAY_DROP_EN))
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM,
				       "RMP, hairpin and delay drop are not there");
	return PRM_STATUS_OK;
}

static int
create_rq(struct emu_devx_call *call, struct emu_devx_obj *obj)
{
	const uint8_t *rqc = call->in + PRM_CTX_AT;
	struct wq_memory m;
	int status = check_rqc(call, rqc);

	if (status == PRM_STATUS_OK)
		status = parse_wq(call, obj, rqc, &m);
	if (status != PRM_STATUS_OK)
		return status;
	obj->num = emu_next_num(call->dev);
	obj->rq = (struct emu_rq){
		.dev = call->dev,
		.num = obj->num,
		.pdn = m.pdn,
		.user_index = prm_get(rqc, PRM_QC_USER_INDEX),
		.entries = 1u << m.log_size,
		.log_stride = m.log_stride,
		.cq = m.cq,
		.counters = (uint8_t)prm_get(rqc, PRM_RQC_COUNTER_SET),
	};
	emu_pin_view(&obj->obj, m.buf.pin, m.buf.off, m.buf.len, &obj->rq.buf, &obj->rq.torn);
	emu_pin_view(&obj->obj, m.dbrec.pin, m.dbrec.off, m.dbrec.len, &obj->rq.dbrec, NULL);
	LIST_INSERT_HEAD(&call->dev->rqs, &obj->rq, next);
	prm_set(call->out, PRM_OUT_OBJECT, obj->num);
	return PRM_STATUS_OK;
}

static int
modify_rq(struct emu_devx_call *call, struct emu_obj *obj)
{
	struct emu_rq *rq = emu_devx_rq(obj);
	int status = move_state(call, &rq->state);

	if (status == PRM_STATUS_OK && rq->state == EMU_Q_RST)
		emu_rq_reset(rq);
	return status;
}

static void
destroy_rq(struct emu_devx_obj *obj)
{
	LIST_REMOVE(&obj->rq, next);
}

static const struct emu_devx_cmd cmds[] = {
	{ .opcode = PRM_CMD_CREATE_CQ, .name = "CREATE_CQ", .in_min = PRM_CREATE_CQ_SIZE,
	  .out_min = 16, .create = create_cq, .destroy = destroy_cq },
	{ .opcode = PRM_CMD_CREATE_SQ, .name = "CREATE_SQ", .in_min = PRM_CREATE_WQ_SIZE,
	  .out_min = 16, .create = create_sq, .destroy = destroy_sq },
	{ .opcode = PRM_CMD_MODIFY_SQ, .name = "MODIFY_SQ", .in_min = PRM_CREATE_WQ_SIZE,
	  .out_min = 16, .on_object = modify_sq, .target = PRM_CMD_CREATE_SQ,
	  .id = PRM_IN_OBJECT },
	{ .opcode = PRM_CMD_CREATE_RQ, .name = "CREATE_RQ", .in_min = PRM_CREATE_WQ_SIZE,
	  .out_min = 16, .create = create_rq, .destroy = destroy_rq },
	{ .opcode = PRM_CMD_MODIFY_RQ, .name = "MODIFY_RQ", .in_min = PRM_CREATE_WQ_SIZE,
	  .out_min = 16, .on_object = modify_rq, .target = PRM_CMD_CREATE_RQ,
	  .id = PRM_IN_OBJECT },
};

EMU_DEVX_TABLE(emu_devx_queues, cmds);
