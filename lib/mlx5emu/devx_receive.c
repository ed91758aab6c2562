/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "devx.h"
#include "emu.h"
#include "prm.h"

/* RQ tables, TIRs and TISes, transport domains and queue counters. */

#define MAX_RQT (1u << 11)

enum { DISP_DIRECT = 0, DISP_INDIRECT = 1 };
enum { HASH_NONE = 0, HASH_TOEPLITZ = 2 };

/* ---- RQT ---- */

/* The RQs of an rqtc; free the array when done. */
static int
read_list(struct emu_devx_call *call, struct emu_devx_obj *obj, unsigned int *n,
	  struct emu_rq ***rqs)
{
	const uint8_t *rqtc = call->in + PRM_CTX_AT, *p = rqtc + PRM_RQTC_LIST_AT;
	struct emu_devx_obj *rq;

	*n = prm_get(rqtc, PRM_RQTC_ACTUAL_SIZE);
	if (*n == 0 || *n > MAX_RQT)
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "size of the RQT");
	if (call->in_len < PRM_CTX_AT + PRM_RQTC_LIST_AT + *n * 4)
		return emu_devx_refuse(call, PRM_STATUS_BAD_INPUT_LEN, "RQ numbers missing");
	*rqs = calloc(*n, sizeof(**rqs));
	if (*rqs == NULL)
		return emu_devx_refuse(call, PRM_STATUS_LIMIT, "out of memory");
	for (unsigned int i = 0; i < *n; i++, p += 4) {
		rq = emu_devx_find(call->file, PRM_CMD_CREATE_RQ,
				   prm_get(p, PRM_FIELD(8, 24)));
		if (rq == NULL) {
			free(*rqs);
			*rqs = NULL;
			return emu_devx_refuse(call, PRM_STATUS_BAD_RESOURCE, "no such RQ");
		}
		emu_obj_use(&obj->obj, &rq->obj);
		(*rqs)[i] = &rq->rq;
	}
	return PRM_STATUS_OK;
}

static int
create_rqt(struct emu_devx_call *call, struct emu_devx_obj *obj)
{
	int status = read_list(call, obj, &obj->rqt.n, &obj->rqt.rqs);

	if (status != PRM_STATUS_OK)
		return status;
	obj->num = emu_next_num(call->dev);
	prm_set(call->out, PRM_OUT_OBJECT, obj->num);
	return PRM_STATUS_OK;
}

/* TIRs over the table follow: they hold its array's place, not its contents. */
static void
retarget_tirs(struct emu_devx_obj *rqt, struct emu_rq **old)
{
	struct emu_obj *obj;
	struct emu_devx_obj *tir;

	TAILQ_FOREACH(obj, &rqt->obj.file->objects, next) {
		tir = (struct emu_devx_obj *)obj;
		if (obj->class != &emu_devx_class || tir->opcode != PRM_CMD_CREATE_TIR ||
		    tir->tir.rqs != old)
			continue;
		tir->tir.rqs = rqt->rqt.rqs;
		tir->tir.n = rqt->rqt.n;
	}
}

static int
modify_rqt(struct emu_devx_call *call, struct emu_obj *obj)
{
	struct emu_devx_obj *rqt = (struct emu_devx_obj *)obj;
	struct emu_rq **old, **rqs;
	unsigned int n;
	int status;

	if (obj->class != &emu_devx_class || rqt->opcode != PRM_CMD_CREATE_RQT ||
	    rqt->num != prm_get(call->in, PRM_IN_OBJECT))
		return -EINVAL;
	status = read_list(call, rqt, &n, &rqs);
	if (status != PRM_STATUS_OK)
		return status;
	old = rqt->rqt.rqs;
	rqt->rqt.rqs = rqs;
	rqt->rqt.n = n;
	retarget_tirs(rqt, old);
	free(old);
	return PRM_STATUS_OK;
}

static void
destroy_rqt(struct emu_devx_obj *obj)
{
	free(obj->rqt.rqs);
}

/*
 * Domain 0 is assumed to be the function's own: the PMD makes the TIR of its drop
 * queue with it (mlx5_devx_tir_attr_set() before any Tx queue exists).
 */
static bool
domain_is_known(struct emu_devx_call *call, uint32_t domain)
{
	return domain == 0 || domain == EMU_KERNEL_DOMAIN ||
	       emu_devx_find(call->file, PRM_CMD_ALLOC_TRANSPORT_DOMAIN, domain) != NULL;
}

/* ---- TIR ---- */

static int
direct_tir(struct emu_devx_call *call, struct emu_devx_obj *obj, const uint8_t *tirc)
{
	struct emu_devx_obj *rq = emu_devx_find(call->file, PRM_CMD_CREATE_RQ,
						prm_get(tirc, PRM_TIRC_RQN));

	if (rq == NULL)
		return emu_devx_refuse(call, PRM_STATUS_BAD_RESOURCE, "no such RQ");
	obj->tir.rqs = malloc(sizeof(*obj->tir.rqs));
	if (obj->tir.rqs == NULL)
		return emu_devx_refuse(call, PRM_STATUS_LIMIT, "out of memory");
	obj->tir.rqs[0] = &rq->rq;
	obj->tir.n = 1;
	emu_obj_use(&obj->obj, &rq->obj);
	return PRM_STATUS_OK;
}

static int
indirect_tir(struct emu_devx_call *call, struct emu_devx_obj *obj, const uint8_t *tirc)
{
	struct emu_devx_obj *rqt = emu_devx_find(call->file, PRM_CMD_CREATE_RQT,
						 prm_get(tirc, PRM_TIRC_RQT));
	uint32_t fn = prm_get(tirc, PRM_TIRC_HASH_FN);

	if (rqt == NULL)
		return emu_devx_refuse(call, PRM_STATUS_BAD_RESOURCE, "no such RQT");
	if (fn != HASH_NONE && fn != HASH_TOEPLITZ)
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "hash function");
	obj->tir.rqs = rqt->rqt.rqs;
	obj->tir.n = rqt->rqt.n;
	obj->tir.toeplitz = fn == HASH_TOEPLITZ;
	obj->tir.symmetric = prm_get(tirc, PRM_TIRC_SYMMETRIC);
	obj->tir.fields = prm_get(tirc, PRM_TIRC_FIELDS_OUTER);
	memcpy(obj->tir.key, tirc + PRM_TIRC_KEY_AT, sizeof(obj->tir.key));
	emu_obj_use(&obj->obj, &rqt->obj);
	return PRM_STATUS_OK;
}

static int
create_tir(struct emu_devx_call *call, struct emu_devx_obj *obj)
{
	const uint8_t *tirc = call->in + PRM_CTX_AT;
	uint32_t disp = prm_get(tirc, PRM_TIRC_DISP_TYPE);
	int status;

	if (prm_get(tirc, PRM_TIRC_LRO_MASK))
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "LRO is not there");
	if (!domain_is_known(call, prm_get(tirc, PRM_TIRC_TRANSPORT_DOMAIN)))
		return emu_devx_refuse(call, PRM_STATUS_BAD_RESOURCE, "no such transport domain");
	obj->tir.dev = call->dev;
	if (disp == DISP_DIRECT)
		status = direct_tir(call, obj, tirc);
	else if (disp == DISP_INDIRECT)
		status = indirect_tir(call, obj, tirc);
	else
		status = emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "disp_type");
	if (status != PRM_STATUS_OK)
		return status;
	obj->num = obj->tir.num = emu_next_num(call->dev);
	prm_set(call->out, PRM_OUT_OBJECT, obj->num);
	return PRM_STATUS_OK;
}

static void
destroy_tir(struct emu_devx_obj *obj)
{
	/* a direct TIR owns its array of one; an indirect one borrows its table's */
	if (obj->obj.n_uses > 0 &&
	    ((struct emu_devx_obj *)obj->obj.uses[0])->opcode == PRM_CMD_CREATE_RQ)
		free(obj->tir.rqs);
}

/* ---- TIS, transport domains ---- */

static int
create_tis(struct emu_devx_call *call, struct emu_devx_obj *obj)
{
	obj->tis.transport_domain = prm_get(call->in + PRM_CTX_AT, PRM_TISC_TRANSPORT_DOMAIN);
	if (!domain_is_known(call, obj->tis.transport_domain))
		return emu_devx_refuse(call, PRM_STATUS_BAD_RESOURCE, "no such transport domain");
	obj->num = emu_next_num(call->dev);
	prm_set(call->out, PRM_OUT_OBJECT, obj->num);
	return PRM_STATUS_OK;
}

/* Of a TIS made here, or of the one that the kernel made for a raw packet QP. */
static int
query_tis(struct emu_devx_call *call, struct emu_obj *obj)
{
	uint32_t num = prm_get(call->in, PRM_IN_OBJECT), domain;
	struct emu_devx_obj *tis = (struct emu_devx_obj *)obj;
	struct emu_verbs_qp *qp = (struct emu_verbs_qp *)obj;

	if (obj->class == &emu_devx_class && tis->opcode == PRM_CMD_CREATE_TIS && tis->num == num)
		domain = tis->tis.transport_domain;
	else if (obj->class == &emu_qp_class && qp->has_sq && qp->tisn == num)
		domain = EMU_KERNEL_DOMAIN;
	else
		return -EINVAL;
	if (call->out_len < PRM_QUERY_TIS_CTX_AT + 0x40)
		return emu_devx_refuse(call, PRM_STATUS_BAD_OUTPUT_LEN, "no room for the context");
	prm_set(call->out + PRM_QUERY_TIS_CTX_AT, PRM_TISC_TRANSPORT_DOMAIN, domain);
	return PRM_STATUS_OK;
}

static int
alloc_transport_domain(struct emu_devx_call *call, struct emu_devx_obj *obj)
{
	obj->num = emu_next_num(call->dev);
	prm_set(call->out, PRM_OUT_OBJECT, obj->num);
	return PRM_STATUS_OK;
}

/* ---- queue counters ---- */

static int
alloc_q_counter(struct emu_devx_call *call, struct emu_devx_obj *obj)
{
	obj->num = emu_next_num(call->dev) & 0xff;
	prm_set(call->out, PRM_Q_COUNTER_ID, obj->num);
	return PRM_STATUS_OK;
}

/* One count serves all counter sets of a function: queues do not tell theirs apart. */
static int
query_q_counter(struct emu_devx_call *call, struct emu_obj *obj)
{
	struct emu_devx_obj *counter = (struct emu_devx_obj *)obj;

	if (obj->class != &emu_devx_class || counter->opcode != PRM_CMD_ALLOC_Q_COUNTER ||
	    counter->num != prm_get(call->in, PRM_QUERY_Q_COUNTER_ID))
		return -EINVAL;
	prm_set(call->out, PRM_QUERY_Q_COUNTER_OUT_OF_BUFFER, call->dev->stats.rx_no_wqe);
	return PRM_STATUS_OK;
}

static const struct emu_devx_cmd cmds[] = {
	{ .opcode = PRM_CMD_CREATE_RQT, .name = "CREATE_RQT",
	  .in_min = PRM_CTX_AT + PRM_RQTC_LIST_AT, .out_min = 16, .create = create_rqt,
	  .destroy = destroy_rqt },
	{ .opcode = PRM_CMD_MODIFY_RQT, .name = "MODIFY_RQT",
	  .in_min = PRM_CTX_AT + PRM_RQTC_LIST_AT, .out_min = 16, .modify = modify_rqt },
	{ .opcode = PRM_CMD_CREATE_TIR, .name = "CREATE_TIR", .in_min = PRM_CTX_AT + 0xf0,
	  .out_min = 16, .create = create_tir, .destroy = destroy_tir },
	{ .opcode = PRM_CMD_CREATE_TIS, .name = "CREATE_TIS", .in_min = PRM_CTX_AT + 0xa0,
	  .out_min = 16, .create = create_tis },
	{ .opcode = PRM_CMD_QUERY_TIS, .name = "QUERY_TIS", .in_min = 16, .out_min = 16,
	  .modify = query_tis },
	{ .opcode = PRM_CMD_ALLOC_TRANSPORT_DOMAIN, .name = "ALLOC_TRANSPORT_DOMAIN",
	  .in_min = 16, .out_min = 16, .create = alloc_transport_domain },
	{ .opcode = PRM_CMD_ALLOC_Q_COUNTER, .name = "ALLOC_Q_COUNTER", .in_min = 16,
	  .out_min = 16, .create = alloc_q_counter },
	{ .opcode = PRM_CMD_QUERY_Q_COUNTER, .name = "QUERY_Q_COUNTER", .in_min = 32,
	  .out_min = 0x100, .modify = query_q_counter },
};

EMU_DEVX_TABLE(emu_devx_receive, cmds);
