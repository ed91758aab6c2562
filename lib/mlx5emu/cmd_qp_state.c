/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>

#include <infiniband/verbs.h>

#include "emu.h"
#include "eswitch.h"
#include "uapi.h"
#include "verbs.h"

/* States of raw packet QPs: modify and query. */

/*
 * ib_modify_qp_is_ok() and qp_state_table in core/verbs.c, the part on raw packet QPs:
 * the port is needed to get to INIT and nothing else may come with a change of state. The
 * rate limit, which may be set from RTR on, is not advertised.
 */
static bool
transition_is_ok(uint32_t from, uint32_t to, uint32_t mask)
{
	bool to_init = from == IBV_QPS_RESET && to == IBV_QPS_INIT;
	uint32_t with = mask & ~(uint32_t)IBV_QP_STATE;

	if (with != (to_init ? IBV_QP_PORT : 0))
		return false;
	switch (to) {
	case IBV_QPS_RESET:
		return true;
	case IBV_QPS_ERR:
		return from != IBV_QPS_RESET;
	case IBV_QPS_INIT:
		return from == IBV_QPS_RESET || from == IBV_QPS_INIT;
	case IBV_QPS_RTR:
		return from == IBV_QPS_INIT;
	case IBV_QPS_RTS:
		return from == IBV_QPS_RTR || from == IBV_QPS_RTS;
	default:
		return false;
	}
}

/* modify_raw_packet_qp(): the RQ is ready from INIT on, the SQ from RTS on */
static void
enter_state(struct emu_verbs_qp *qp, uint32_t to)
{
	qp->state = to;
	if (to == IBV_QPS_RESET) {
		if (qp->has_rq)
			emu_rq_reset(&qp->rq);
		if (qp->has_sq)
			emu_sq_reset(&qp->sq);
	} else if (to == IBV_QPS_INIT) {
		qp->rq.state = EMU_Q_RDY;
	} else if (to == IBV_QPS_RTS) {
		qp->sq.state = EMU_Q_RDY;
	} else if (to == IBV_QPS_ERR) {
		qp->rq.state = qp->sq.state = EMU_Q_ERR;
	}
}

/* modify_raw_packet_qp(): in switchdev mode the SQ gets its rule, here with the port */
static void
set_port(struct emu_verbs_qp *qp, struct emu_dev *port)
{
	qp->port = (uint8_t)emu_port_number(port);
	if (qp->has_sq)
		emu_eswitch_add_sq(&qp->sq, port);
}

#define SEGMENT_SIZE 16         /* of struct mlx5_wqe_data_seg */

/* IB_QP_ATTR_STANDARD_BITS and the rate limit in the kernel's ib_verbs.h */
#define KNOWN_QP_ATTRS ((uint32_t)((IBV_QP_RATE_LIMIT << 1) - 1))

/* mlx5_ib_modify_qp() */
static int
write_modify_qp(struct emu_call *call, const void *in, size_t in_len)
{
	const struct ib_uverbs_modify_qp *req = in;
	struct emu_dev *port = NULL;
	struct emu_verbs_qp *qp;
	uint32_t to;
	int err;

	(void)in_len;
	qp = (struct emu_verbs_qp *)emu_obj_find(call->file, req->qp_handle, UVERBS_OBJECT_QP,
						 &err);
	if (qp == NULL)
		return -EINVAL;
	if (req->attr_mask & ~KNOWN_QP_ATTRS)
		return -EOPNOTSUPP;
	if (!qp->has_sq && !qp->has_rq)
		return -ENOSYS; /* an RSS QP has no state */
	to = req->attr_mask & IBV_QP_STATE ? req->qp_state : qp->state;
	if (!transition_is_ok(qp->state, to, req->attr_mask))
		return -EINVAL;
	if (req->attr_mask & IBV_QP_PORT) {
		port = emu_port_find(call->dev, req->port_num);
		if (port == NULL)
			return -EINVAL;
		set_port(qp, port);
	}
	if (to != qp->state)
		enter_state(qp, to);
	return 0;
}

/* mlx5_ib_query_qp(), set_rq_size() */
static int
write_query_qp(struct emu_call *call, const void *in, size_t in_len)
{
	const struct ib_uverbs_query_qp *req = in;
	struct ib_uverbs_query_qp_resp resp = { 0 };
	struct emu_verbs_qp *qp;
	int err;

	(void)in_len;
	qp = (struct emu_verbs_qp *)emu_obj_find(call->file, req->qp_handle, UVERBS_OBJECT_QP,
						 &err);
	if (qp == NULL)
		return -EINVAL;
	if (!qp->has_sq && !qp->has_rq)
		return -ENOSYS;
	resp.qp_state = resp.cur_qp_state =
		qp->sq.state == EMU_Q_ERR || qp->rq.state == EMU_Q_ERR ? IBV_QPS_ERR : qp->state;
	resp.port_num = qp->port;
	resp.sq_sig_all = qp->sig_all;
	/* of the send queue of a user's QP the kernel tells nothing: the library knows it */
	resp.max_recv_wr = qp->rq.entries;
	resp.max_recv_sge = qp->has_rq ? (1u << qp->rq.log_stride) / SEGMENT_SIZE : 0;
	return emu_out(call, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
}

static const struct emu_write writes[] = {
	{ IB_USER_VERBS_CMD_MODIFY_QP, "MODIFY_QP", sizeof(struct ib_uverbs_modify_qp), 0,
	  write_modify_qp },
	/* the extended request begins with the plain one */
	{ IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_CMD_MODIFY_QP, "EX_MODIFY_QP",
	  offsetof(struct ib_uverbs_ex_modify_qp, rate_limit), 0, write_modify_qp },
	{ IB_USER_VERBS_CMD_QUERY_QP, "QUERY_QP", sizeof(struct ib_uverbs_query_qp),
	  sizeof(struct ib_uverbs_query_qp_resp), write_query_qp },
};

EMU_WRITE_TABLE(emu_qp_state_table, writes);
