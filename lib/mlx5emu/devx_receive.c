/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

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

/* The RQs of an rqtc, which DevX or verbs made; free the array when done. */
static int
read_list(struct emu_devx_call *call, unsigned int *n, struct emu_obj ***rqs)
{
	const uint8_t *rqtc = call->in + PRM_CTX_AT, *p = rqtc + PRM_RQTC_LIST_AT;
	struct emu_obj *rq;

	*n = prm_get(rqtc, PRM_RQTC_ACTUAL_SIZE);
	if (*n == 0 || *n > MAX_RQT)
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "size of the RQT");
	if (call->in_len < PRM_CTX_AT + PRM_RQTC_LIST_AT + *n * 4)
		return emu_devx_refuse(call, PRM_STATUS_BAD_INPUT_LEN, "RQ numbers missing");
	*rqs = calloc(*n, sizeof(**rqs));
	if (*rqs == NULL)
		return emu_devx_refuse(call, PRM_STATUS_LIMIT, "out of memory");
	for (unsigned int i = 0; i < *n; i++, p += 4) {
		rq = emu_devx_find_any(call->file, PRM_CMD_CREATE_RQ,
				       prm_get(p, PRM_FIELD(8, 24)));
		if (rq == NULL) {
			free(*rqs);
			*rqs = NULL;
			return emu_devx_refuse(call, PRM_STATUS_BAD_RESOURCE, "no such RQ");
		}
		(*rqs)[i] = rq;
	}
	return PRM_STATUS_OK;
}

/* Point the table at what a command lists, standing on the new RQs and not on the old. */
static int
set_list(struct emu_devx_call *call, struct emu_devx_obj *rqt)
{
	struct emu_obj **listed;
	struct emu_rq **rqs;
	unsigned int n;
	int status = read_list(call, &n, &listed);

	if (status != PRM_STATUS_OK)
		return status;
	rqs = calloc(n, sizeof(*rqs));
	if (rqs == NULL) {
		free(listed);
		return emu_devx_refuse(call, PRM_STATUS_LIMIT, "out of memory");
	}
	while (rqt->obj.n_uses > 0)
		emu_obj_unuse(&rqt->obj, rqt->obj.uses[0]);
	for (unsigned int i = 0; i < n; i++) {
		rqs[i] = emu_devx_rq(listed[i]);
		emu_obj_use(&rqt->obj, listed[i]);
	}
	free(listed);
	rqt->rqt.rqs = rqs;
	rqt->rqt.n = n;
	return PRM_STATUS_OK;
}

static int
create_rqt(struct emu_devx_call *call, struct emu_devx_obj *obj)
{
	int status = set_list(call, obj);

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
	struct emu_rq **old;
	int status;

	if (obj->class != &emu_devx_class) /* the kernel would let it through */
		return emu_devx_refuse(call, PRM_STATUS_BAD_RESOURCE,
				       "changing a table of verbs is not emulated");
	old = rqt->rqt.rqs;
	status = set_list(call, rqt);
	if (status != PRM_STATUS_OK)
		return status;
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
 * Stand on a transport domain; false if there is none of that number. Domain 0 is assumed
 * to be the function's own: the PMD makes the TIR of its drop queue with it
 * (mlx5_devx_tir_attr_set() before any Tx queue exists).
 */
static bool
use_domain(struct emu_devx_call *call, struct emu_devx_obj *obj, uint32_t domain)
{
	struct emu_devx_obj *found;

	if (domain == 0 || domain == EMU_KERNEL_DOMAIN)
		return true;
	found = emu_devx_find(call->file, PRM_CMD_ALLOC_TRANSPORT_DOMAIN, domain);
	if (found != NULL)
		emu_obj_use(&obj->obj, &found->obj);
	return found != NULL;
}

/* ---- TIR ---- */

static int
direct_tir(struct emu_devx_call *call, struct emu_devx_obj *obj, const uint8_t *tirc)
{
	struct emu_obj *rq = emu_devx_find_any(call->file, PRM_CMD_CREATE_RQ,
					       prm_get(tirc, PRM_TIRC_RQN));

	if (rq == NULL)
		return emu_devx_refuse(call, PRM_STATUS_BAD_RESOURCE, "no such RQ");
	obj->direct = emu_devx_rq(rq);
	obj->tir.rqs = &obj->direct;
	obj->tir.n = 1;
	emu_obj_use(&obj->obj, rq);
	return PRM_STATUS_OK;
}

/* Point at the table's queues. */
static void
use_rqt(struct emu_devx_obj *obj, struct emu_obj *rqt)
{
	const struct emu_ind_tbl *tbl = (const struct emu_ind_tbl *)rqt;
	const struct emu_devx_obj *devx = (const struct emu_devx_obj *)rqt;
	bool verbs = rqt->class == &emu_ind_tbl_class;

	obj->tir.rqs = verbs ? tbl->rqs : devx->rqt.rqs;
	obj->tir.n = verbs ? tbl->n : devx->rqt.n;
	emu_obj_use(&obj->obj, rqt);
}

static int
indirect_tir(struct emu_devx_call *call, struct emu_devx_obj *obj, const uint8_t *tirc)
{
	struct emu_obj *rqt = emu_devx_find_any(call->file, PRM_CMD_CREATE_RQT,
						prm_get(tirc, PRM_TIRC_RQT));
	uint32_t fn = prm_get(tirc, PRM_TIRC_HASH_FN);

	if (rqt == NULL)
		return emu_devx_refuse(call, PRM_STATUS_BAD_RESOURCE, "no such RQT");
	if (fn != HASH_NONE && fn != HASH_TOEPLITZ)
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "hash function");
	use_rqt(obj, rqt);
	obj->tir.toeplitz = fn == HASH_TOEPLITZ;
	obj->tir.symmetric = prm_get(tirc, PRM_TIRC_SYMMETRIC);
	obj->tir.fields = prm_get(tirc, PRM_TIRC_FIELDS_OUTER);
	memcpy(obj->tir.key, tirc + PRM_TIRC_KEY_AT, sizeof(obj->tir.key));
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
	if (prm_get(tirc, PRM_TIRC_TUNNELED_OFFLOAD) || prm_get(tirc, PRM_TIRC_TLS_EN))
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM,
				       "offloads of tunnels and TLS are not there");
	if (!use_domain(call, obj, prm_get(tirc, PRM_TIRC_TRANSPORT_DOMAIN)))
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

/* ---- TIS, transport domains ---- */

static int
create_tis(struct emu_devx_call *call, struct emu_devx_obj *obj)
{
	obj->tis.transport_domain = prm_get(call->in + PRM_CTX_AT, PRM_TISC_TRANSPORT_DOMAIN);
	if (!use_domain(call, obj, obj->tis.transport_domain))
		return emu_devx_refuse(call, PRM_STATUS_BAD_RESOURCE, "no such transport domain");
	obj->num = emu_next_num(call->dev);
	prm_set(call->out, PRM_OUT_OBJECT, obj->num);
	return PRM_STATUS_OK;
}

/* Of a TIS made here, or of the one that the kernel made for a raw packet QP. */
static int
query_tis(struct emu_devx_call *call, struct emu_obj *obj)
{
	uint32_t domain = EMU_KERNEL_DOMAIN;

	if (obj->class == &emu_devx_class)
		domain = ((struct emu_devx_obj *)obj)->tis.transport_domain;
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

/* Counter set numbers have 8 bits, and 0 means none; one function's files share them. */
static uint32_t
free_counter(const struct emu_dev *dev)
{
	const struct emu_file *file = NULL;
	uint32_t num;

	for (num = 1; num < 256; num++) {
		while ((file = emu_file_next(file)) != NULL)
			if (file->dev == dev && emu_devx_find((struct emu_file *)(uintptr_t)file,
							      PRM_CMD_ALLOC_Q_COUNTER, num))
				break;
		if (file == NULL)
			return num;
		file = NULL;
	}
	return 0;
}

static int
alloc_q_counter(struct emu_devx_call *call, struct emu_devx_obj *obj)
{
	obj->num = free_counter(call->dev);
	if (obj->num == 0)
		return emu_devx_refuse(call, PRM_STATUS_LIMIT, "no counter set left");
	call->dev->out_of_buffer[obj->num] = 0;
	prm_set(call->out, PRM_Q_COUNTER_ID, obj->num);
	return PRM_STATUS_OK;
}

static int
query_q_counter(struct emu_devx_call *call, struct emu_obj *obj)
{
	uint64_t *count = &call->dev->out_of_buffer[((struct emu_devx_obj *)obj)->num];

	prm_set(call->out, PRM_QUERY_Q_COUNTER_OUT_OF_BUFFER, (uint32_t)*count);
	if (prm_get(call->in, PRM_QUERY_Q_COUNTER_CLEAR))
		*count = 0;
	return PRM_STATUS_OK;
}

static const struct emu_devx_cmd cmds[] = {
	{ .opcode = PRM_CMD_CREATE_RQT, .name = "CREATE_RQT",
	  .in_min = PRM_CTX_AT + PRM_RQTC_LIST_AT, .out_min = 16, .create = create_rqt,
	  .destroy = destroy_rqt },
	{ .opcode = PRM_CMD_MODIFY_RQT, .name = "MODIFY_RQT",
	  .in_min = PRM_CTX_AT + PRM_RQTC_LIST_AT, .out_min = 16, .on_object = modify_rqt,
	  .target = PRM_CMD_CREATE_RQT, .id = PRM_IN_OBJECT },
	{ .opcode = PRM_CMD_CREATE_TIR, .name = "CREATE_TIR", .in_min = PRM_CTX_AT + 0xf0,
	  .out_min = 16, .create = create_tir },
	{ .opcode = PRM_CMD_CREATE_TIS, .name = "CREATE_TIS", .in_min = PRM_CTX_AT + 0xa0,
	  .out_min = 16, .create = create_tis },
	{ .opcode = PRM_CMD_QUERY_TIS, .name = "QUERY_TIS", .in_min = 16, .out_min = 16,
	  .on_object = query_tis, .target = PRM_CMD_CREATE_TIS, .id = PRM_IN_OBJECT },
	{ .opcode = PRM_CMD_ALLOC_TRANSPORT_DOMAIN, .name = "ALLOC_TRANSPORT_DOMAIN",
	  .in_min = 16, .out_min = 16, .create = alloc_transport_domain },
	{ .opcode = PRM_CMD_ALLOC_Q_COUNTER, .name = "ALLOC_Q_COUNTER", .in_min = 16,
	  .out_min = 16, .create = alloc_q_counter },
	{ .opcode = PRM_CMD_QUERY_Q_COUNTER, .name = "QUERY_Q_COUNTER", .in_min = 32,
	  .out_min = 0x100, .on_object = query_q_counter, .target = PRM_CMD_ALLOC_Q_COUNTER,
	  .id = PRM_QUERY_Q_COUNTER_ID },
};

EMU_DEVX_TABLE(emu_devx_receive, cmds);
