/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "emu.h"
#include "eswitch.h"
#include "uapi.h"
#include "verbs.h"
#include "vma.h"

/* Raw packet QPs: an SQ, an RQ of its own or both; or a TIR over an indirection table. */

#define MAX_SQ_WQEBBS (1u << 15)
#define MAX_INLINE 956          /* of a 1 KiB send WQE */

bool
emu_capable(int cap)
{
	struct __user_cap_header_struct hdr = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &hdr, data) != 0)
		return false;
	return data[CAP_TO_INDEX(cap)].effective & CAP_TO_MASK(cap);
}

static int
qp_destroy(struct emu_obj *obj, bool forced)
{
	struct emu_verbs_qp *qp = (struct emu_verbs_qp *)obj;

	(void)forced;
	if (qp->tir.self_lb)
		obj->file->dev->self_lb--;
	if (qp->has_sq)
		LIST_REMOVE(&qp->sq, next);
	if (qp->has_rq)
		LIST_REMOVE(&qp->rq, next);
	return 0;
}

const struct emu_class emu_qp_class = {
	.type = UVERBS_OBJECT_QP, .name = "QP", .destroy = qp_destroy,
};

/* ---- RSS ---- */

#define HASH_V4 (MLX5_RX_HASH_SRC_IPV4 | MLX5_RX_HASH_DST_IPV4)
#define HASH_V6 (MLX5_RX_HASH_SRC_IPV6 | MLX5_RX_HASH_DST_IPV6)
#define HASH_TCP (MLX5_RX_HASH_SRC_PORT_TCP | MLX5_RX_HASH_DST_PORT_TCP)
#define HASH_UDP (MLX5_RX_HASH_SRC_PORT_UDP | MLX5_RX_HASH_DST_PORT_UDP)

static uint32_t
hash_fields(uint64_t mask)
{
	return (mask & (MLX5_RX_HASH_SRC_IPV4 | MLX5_RX_HASH_SRC_IPV6) ? EMU_HASH_SRC_IP : 0) |
	       (mask & (MLX5_RX_HASH_DST_IPV4 | MLX5_RX_HASH_DST_IPV6) ? EMU_HASH_DST_IP : 0) |
	       (mask & (MLX5_RX_HASH_SRC_PORT_TCP | MLX5_RX_HASH_SRC_PORT_UDP) ?
		EMU_HASH_L4_SPORT : 0) |
	       (mask & (MLX5_RX_HASH_DST_PORT_TCP | MLX5_RX_HASH_DST_PORT_UDP) ?
		EMU_HASH_L4_DPORT : 0);
}

/* create_rss_raw_qp_tir() in hw/mlx5/qp.c */
static int
check_rss(const struct mlx5_ib_create_qp_rss *req, unsigned int queues)
{
	const uint32_t flags = MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC |
			       MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC;
	uint64_t mask = req->rx_hash_fields_mask;

	if (req->flags & ~flags)
		return -EINVAL; /* process_vendor_flags(); tunnel offloads are not advertised */
	if (req->comp_mask)
		return -EOPNOTSUPP;
	if (mask & ~(uint64_t)(HASH_V4 | HASH_V6 | HASH_TCP | HASH_UDP))
		return -EOPNOTSUPP;
	if (req->rx_hash_function != MLX5_RX_HASH_FUNC_TOEPLITZ)
		return -EOPNOTSUPP;
	if (req->rx_key_len != 40)
		return -EINVAL;
	if (mask == 0)
		return queues == 1 ? 0 : -EINVAL;
	if (((mask & HASH_V4) && (mask & HASH_V6)) || ((mask & HASH_TCP) && (mask & HASH_UDP)))
		return -EINVAL;
	return 0;
}

/* process_udata_size() and check_ucmd_data(): nothing but zeros from some byte on */
static int
read_udata(struct emu_call *call, void *req, size_t size, size_t zero_from)
{
	int err = emu_in_rest_is_zero(call, UVERBS_ATTR_UHW_IN, zero_from);

	if (err != 0)
		return err == -EFAULT ? err : -EINVAL;
	return emu_in(call, UVERBS_ATTR_UHW_IN, req, size);
}

static int
setup_rss(struct emu_call *call, struct emu_verbs_qp *qp, struct emu_ind_tbl *tbl)
{
	struct mlx5_ib_create_qp_rss req;
	int err;

	if (emu_len(call, UVERBS_ATTR_UHW_IN) < offsetof(struct mlx5_ib_create_qp_rss, flags) + 4 ||
	    emu_len(call, UVERBS_ATTR_UHW_OUT) <
	    offsetof(struct mlx5_ib_create_qp_resp, bfreg_index) + 4)
		return -EINVAL;
	err = read_udata(call, &req, sizeof(req), sizeof(req));
	if (err == 0)
		err = check_rss(&req, tbl->n);
	if (err != 0)
		return err;
	qp->tir = (struct emu_tir){
		.dev = call->dev,
		.num = emu_next_num(call->dev),
		.n = tbl->n,
		.rqs = tbl->rqs,
		.toeplitz = req.rx_hash_fields_mask != 0,
		.fields = hash_fields(req.rx_hash_fields_mask),
		.self_lb = req.flags & MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC,
	};
	memcpy(qp->tir.key, req.rx_hash_key, sizeof(qp->tir.key));
	emu_obj_use(&qp->obj, &tbl->obj);
	return 0;
}

/* ---- raw packet queues ---- */

static int
setup_sq(struct emu_call *call, struct emu_verbs_qp *qp, const struct mlx5_ib_create_qp *req,
	 struct emu_pd *pd, struct emu_pin *db)
{
	struct emu_verbs_cq *cq = emu_obj(call, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE);
	int err;

	if (req->sq_wqe_count > MAX_SQ_WQEBBS || (req->sq_wqe_count & (req->sq_wqe_count - 1)) != 0)
		return -EINVAL;
	err = emu_pin_check(req->sq_buf_addr, (uint64_t)req->sq_wqe_count * 64, false);
	if (err != 0)
		return err;
	if (!emu_queue_is_aligned(req->sq_buf_addr, req->db_addr))
		return -EINVAL;
	qp->sq = (struct emu_sq){
		.dev = call->dev,
		.num = qp->qpn,
		.pdn = pd->pdn,
		.user_index = req->uidx,
		.wqebbs = req->sq_wqe_count,
		.no_rule = emu_eswitch_on(call->dev), /* until it has a port */
		.allow_mpw = true, /* create_raw_packet_qp_sq() sets it where the device can */
		.cq = &cq->cq,
	};
	emu_obj_use(&qp->obj, &cq->obj);
	qp->has_sq = true;
	emu_pin_view(&qp->obj, db, req->db_addr % 4096 + 4, 4, &qp->sq.dbrec, NULL);
	return emu_pin_memory(&qp->obj, req->sq_buf_addr, (uint64_t)req->sq_wqe_count * 64,
			      &qp->sq.buf, &qp->sq.torn);
}

static int
setup_rq(struct emu_call *call, struct emu_verbs_qp *qp, const struct mlx5_ib_create_qp *req,
	 struct emu_pd *pd, struct emu_pin *db)
{
	struct emu_verbs_cq *cq = emu_obj(call, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE);
	int err;

	if (req->rq_wqe_count > MAX_SQ_WQEBBS ||
	    (req->rq_wqe_count & (req->rq_wqe_count - 1)) != 0 ||
	    req->rq_wqe_shift < 4 || req->rq_wqe_shift > 9)
		return -EINVAL;
	err = emu_pin_check(req->buf_addr,
			    (uint64_t)req->rq_wqe_count << req->rq_wqe_shift, false);
	if (err != 0)
		return err;
	if (!emu_queue_is_aligned(req->buf_addr, req->db_addr))
		return -EINVAL;
	qp->rq = (struct emu_rq){
		.dev = call->dev,
		.num = emu_next_num(call->dev),
		.pdn = pd->pdn,
		.user_index = req->uidx,
		.entries = req->rq_wqe_count,
		.log_stride = req->rq_wqe_shift,
		.cq = &cq->cq,
	};
	qp->own_rq = &qp->rq;
	qp->tir = (struct emu_tir){
		.dev = call->dev, .num = emu_next_num(call->dev), .n = 1, .rqs = &qp->own_rq,
		.self_lb = req->flags & MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC,
	};
	emu_obj_use(&qp->obj, &cq->obj);
	qp->has_rq = true;
	emu_pin_view(&qp->obj, db, req->db_addr % 4096, 4, &qp->rq.dbrec, NULL);
	return emu_pin_memory(&qp->obj, req->buf_addr,
			      (uint64_t)req->rq_wqe_count << req->rq_wqe_shift, &qp->rq.buf,
			      &qp->rq.torn);
}

static int
setup_raw(struct emu_call *call, struct emu_verbs_qp *qp)
{
	/* SCATTER_CQE is a permission that create_raw_packet_qp() does not look at */
	const uint32_t flags = MLX5_QP_FLAG_BFREG_INDEX | MLX5_QP_FLAG_UAR_PAGE_INDEX |
			       MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC |
			       MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC;
	struct emu_pd *pd = emu_obj(call, UVERBS_ATTR_CREATE_QP_PD_HANDLE);
	struct mlx5_ib_create_qp req;
	struct emu_pin *db = NULL;
	int err;

	if (emu_len(call, UVERBS_ATTR_UHW_IN) < offsetof(struct mlx5_ib_create_qp, ece_options))
		return -EINVAL;
	err = read_udata(call, &req, sizeof(req), offsetof(struct mlx5_ib_create_qp, reserved));
	if (err != 0)
		return err;
	if (req.flags & ~flags) { /* process_vendor_flags() */
		emu_trace("  QP flags 0x%x are not emulated", req.flags & ~flags);
		return -EINVAL;
	}
	if (req.sq_wqe_count == 0 && req.rq_wqe_count == 0)
		return -EINVAL;
	/* writable, as the card clears the send counter: emu_sq_reset() */
	err = emu_pin_check(req.db_addr, EMU_DBREC_SIZE, true);
	if (err == 0)
		db = emu_pin_add_doorbell(&qp->obj, req.db_addr, &err);
	if (err == 0 && req.sq_wqe_count > 0)
		err = setup_sq(call, qp, &req, pd, db);
	if (err == 0 && req.rq_wqe_count > 0)
		err = setup_rq(call, qp, &req, pd, db);
	if (err == 0)
		emu_obj_use(&qp->obj, &pd->obj);
	return err;
}

/* ---- create ---- */

/* enum ib_uverbs_qp_create_flags: known */
#define KNOWN_QP_FLAGS (IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK | \
	IB_UVERBS_QP_CREATE_SCATTER_FCS | IB_UVERBS_QP_CREATE_CVLAN_STRIPPING | \
	IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING | IB_UVERBS_QP_CREATE_SQ_SIG_ALL)

/* Which objects a QP stands on: UVERBS_METHOD_QP_CREATE, check_qp_attr() */
static int
check_parts(struct emu_call *call, const struct ib_uverbs_qp_cap *cap)
{
	bool send = emu_has(call, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE);
	bool receive = emu_has(call, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE);

	if (emu_has(call, UVERBS_ATTR_CREATE_QP_XRCD_HANDLE))
		return -EINVAL;
	if (!emu_has(call, UVERBS_ATTR_CREATE_QP_PD_HANDLE))
		return -ENOENT;
	if (!emu_has(call, UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE))
		return send && receive ? 0 : -ENOENT;
	if (cap->max_recv_wr != 0 || cap->max_recv_sge != 0 || receive ||
	    emu_has(call, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE))
		return -EINVAL;
	if (cap->max_send_wr != 0)
		return send ? -EINVAL : -ENOENT;
	return 0;
}

static int
check_create(struct emu_call *call)
{
	uint64_t type = emu_in_u64(call, UVERBS_ATTR_CREATE_QP_TYPE, 0), flags;
	struct ib_uverbs_qp_cap cap;
	int err = emu_in(call, UVERBS_ATTR_CREATE_QP_CAP, &cap, sizeof(cap));

	if (err != 0)
		return err;
	if (type != IBV_QPT_RAW_PACKET) {
		emu_trace("  only raw packet QPs are emulated");
		return type == 0 || type > IBV_QPT_DRIVER ? -EINVAL : -EOPNOTSUPP;
	}
	if (!emu_capable(CAP_NET_RAW))
		return -EPERM;
	err = check_parts(call, &cap);
	if (err == 0)
		err = emu_in_flags(call, UVERBS_ATTR_CREATE_QP_FLAGS, KNOWN_QP_FLAGS, &flags);
	if (err != 0)
		return err;
	/*
	 * process_create_flags(): all cards block a multicast loopback (block_lb_mc), but
	 * create_raw_packet_qp() has no use for that; the others are not advertised.
	 */
	flags &= ~(uint64_t)IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
	if (!emu_has(call, UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE))
		flags &= ~(uint64_t)IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	if (flags != 0)
		return -EINVAL;
	if (emu_has(call, UVERBS_ATTR_CREATE_QP_SOURCE_QPN) ||
	    emu_has(call, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE))
		return -EINVAL;
	return 0;
}

static int
qp_answer(struct emu_call *call, struct emu_verbs_qp *qp)
{
	struct mlx5_ib_create_qp_resp resp = { .bfreg_index = 0 };
	struct ib_uverbs_qp_cap cap;
	int err;

	emu_in(call, UVERBS_ATTR_CREATE_QP_CAP, &cap, sizeof(cap));
	if (qp->has_sq && cap.max_inline_data > MAX_INLINE)
		return -EINVAL;
	if (call->file->devx) { /* numbers are of use to DevX only */
		if (qp->tir.rqs != NULL) {
			resp.comp_mask |= MLX5_IB_CREATE_QP_RESP_MASK_TIRN;
			resp.tirn = qp->tir.num;
		}
		if (qp->has_rq) {
			resp.comp_mask |= MLX5_IB_CREATE_QP_RESP_MASK_RQN;
			resp.rqn = qp->rq.num;
		}
		if (qp->has_sq) {
			resp.comp_mask |= MLX5_IB_CREATE_QP_RESP_MASK_SQN |
					  MLX5_IB_CREATE_QP_RESP_MASK_TISN;
			resp.sqn = qp->sq.num;
			resp.tisn = qp->tisn = emu_next_num(call->dev);
		}
	}
	err = emu_out(call, UVERBS_ATTR_CREATE_QP_RESP_CAP, &cap, sizeof(cap));
	if (err == 0)
		err = emu_out(call, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &qp->qpn, 4);
	if (err == 0)
		err = emu_out(call, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	return err;
}

static int
qp_create(struct emu_call *call)
{
	struct emu_ind_tbl *tbl = emu_obj(call, UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE);
	struct emu_verbs_qp *qp;
	int err = check_create(call);

	if (err != 0)
		return err;
	qp = emu_obj_new(call->file, &emu_qp_class, sizeof(*qp));
	if (qp == NULL)
		return -ENOMEM;
	/* of a raw packet QP the number is that of its SQ: create_raw_packet_qp() */
	qp->qpn = emu_next_num(call->dev);
	qp->port = 1;
	qp->sig_all = emu_in_u64(call, UVERBS_ATTR_CREATE_QP_FLAGS, 0) &
		      IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
	err = tbl != NULL ? setup_rss(call, qp, tbl) : setup_raw(call, qp);
	if (err == 0 && qp->tir.self_lb && call->dev->cfg->fault.loopback == EMU_LOOP_REFUSED)
		err = -EREMOTEIO;
	if (err == 0)
		err = qp_answer(call, qp);
	if (err != 0) {
		emu_obj_discard(&qp->obj);
		return err;
	}
	if (qp->has_sq)
		LIST_INSERT_HEAD(&call->dev->sqs, &qp->sq, next);
	if (qp->has_rq)
		LIST_INSERT_HEAD(&call->dev->rqs, &qp->rq, next);
	/* create_raw_packet_qp_tir(): mlx5_ib_enable_lb(), for the whole function */
	if (qp->tir.self_lb)
		call->dev->self_lb++;
	return emu_out_obj(call, UVERBS_ATTR_CREATE_QP_HANDLE, &qp->obj);
}

static int
qp_destroy_method(struct emu_call *call)
{
	uint32_t events = 0;

	return emu_out(call, UVERBS_ATTR_DESTROY_QP_RESP, &events, sizeof(events));
}

static const struct emu_method methods[] = {
	EMU_METHOD(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, "QP_CREATE", qp_create,
		EMU_SPECS(
			EMU_OBJ(UVERBS_ATTR_CREATE_QP_HANDLE, UVERBS_OBJECT_QP, EMU_OBJ_NEW),
			EMU_OPT_OBJ(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, UVERBS_OBJECT_XRCD,
				    EMU_OBJ_READ),
			EMU_OPT_OBJ(UVERBS_ATTR_CREATE_QP_PD_HANDLE, UVERBS_OBJECT_PD,
				    EMU_OBJ_READ),
			EMU_OPT_OBJ(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, UVERBS_OBJECT_SRQ,
				    EMU_OBJ_READ),
			EMU_OPT_OBJ(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, UVERBS_OBJECT_CQ,
				    EMU_OBJ_READ),
			EMU_OPT_OBJ(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, UVERBS_OBJECT_CQ,
				    EMU_OBJ_READ),
			EMU_OPT_OBJ(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE,
				    UVERBS_OBJECT_RWQ_IND_TBL, EMU_OBJ_READ),
			EMU_IN(UVERBS_ATTR_CREATE_QP_USER_HANDLE, 8),
			EMU_IN_STRUCT(UVERBS_ATTR_CREATE_QP_CAP, sizeof(struct ib_uverbs_qp_cap),
				      sizeof(struct ib_uverbs_qp_cap)),
			EMU_CONST(UVERBS_ATTR_CREATE_QP_TYPE),
			EMU_FLAGS(UVERBS_ATTR_CREATE_QP_FLAGS),
			EMU_OPT_IN(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, 4),
			EMU_OPT_FD(UVERBS_ATTR_CREATE_QP_EVENT_FD, UVERBS_OBJECT_ASYNC_EVENT,
				   EMU_OBJ_READ),
			EMU_OUT_MIN(UVERBS_ATTR_CREATE_QP_RESP_CAP,
				    sizeof(struct ib_uverbs_qp_cap)),
			EMU_OUT(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4),
			EMU_UHW)),
	EMU_METHOD(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, "QP_DESTROY", qp_destroy_method,
		EMU_SPECS(
			EMU_OBJ(UVERBS_ATTR_DESTROY_QP_HANDLE, UVERBS_OBJECT_QP, EMU_OBJ_DESTROY),
			EMU_OUT(UVERBS_ATTR_DESTROY_QP_RESP,
				sizeof(struct ib_uverbs_destroy_qp_resp)))),
};

EMU_METHOD_TABLE(emu_qp_table, methods);
