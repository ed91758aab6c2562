/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "devx.h"
#include "emu.h"
#include "inject.h"
#include "prm.h"

/* The ways into firmware: hw/mlx5/devx.c. */

#define EQN 7
#define MAX_MAILBOX 16384

static const struct emu_devx_table *const tables[] = {
	&emu_devx_caps, &emu_devx_mkeys, &emu_devx_queues, &emu_devx_receive,
	&emu_devx_counters,
};

static const struct emu_devx_cmd *
find_cmd(uint16_t opcode)
{
	for (unsigned int t = 0; t < EMU_COUNT(tables); t++)
		for (unsigned int i = 0; i < tables[t]->n; i++)
			if (tables[t]->cmds[i].opcode == opcode)
				return &tables[t]->cmds[i];
	return NULL;
}

static int
devx_destroy(struct emu_obj *obj, bool forced)
{
	struct emu_devx_obj *devx = (struct emu_devx_obj *)obj;
	const struct emu_devx_cmd *cmd = find_cmd(devx->opcode);

	(void)forced;
	if (cmd->destroy != NULL)
		cmd->destroy(devx);
	return 0;
}

/* Firmware refuses with BAD_RES_STATE, which cmd_status_to_err() makes EINVAL. */
const struct emu_class emu_devx_class = {
	.type = MLX5_IB_OBJECT_DEVX_OBJ, .name = "DevX object", .destroy = devx_destroy,
	.busy = -EINVAL,
};

/* ---- what commands name ---- */

struct emu_devx_obj *
emu_devx_find(struct emu_file *file, uint16_t opcode, uint32_t num)
{
	struct emu_obj *obj;
	struct emu_devx_obj *devx;

	TAILQ_FOREACH(obj, &file->objects, next) {
		devx = (struct emu_devx_obj *)obj;
		if (obj->class == &emu_devx_class && devx->opcode == opcode && devx->num == num)
			return devx;
	}
	return NULL;
}

struct emu_pd *
emu_devx_use_pd(struct emu_devx_obj *devx, uint32_t pdn)
{
	struct emu_obj *obj;

	TAILQ_FOREACH(obj, &devx->obj.file->objects, next) {
		if (obj->class != &emu_pd_class || ((struct emu_pd *)obj)->pdn != pdn)
			continue;
		emu_obj_use(&devx->obj, obj);
		return (struct emu_pd *)obj;
	}
	return NULL;
}

struct emu_rq *
emu_devx_rq(struct emu_obj *obj)
{
	if (obj->class == &emu_wq_class)
		return &((struct emu_verbs_wq *)obj)->rq;
	if (obj->class == &emu_qp_class)
		return &((struct emu_verbs_qp *)obj)->rq;
	return &((struct emu_devx_obj *)obj)->rq;
}

struct emu_sq *
emu_devx_sq(struct emu_obj *obj)
{
	if (obj->class == &emu_qp_class)
		return &((struct emu_verbs_qp *)obj)->sq;
	return &((struct emu_devx_obj *)obj)->sq;
}

static bool
qp_has_number(const struct emu_verbs_qp *qp, uint16_t creator, uint32_t num)
{
	switch (creator) {
	case PRM_CMD_CREATE_RQ: return qp->has_rq && qp->rq.num == num;
	case PRM_CMD_CREATE_SQ: return qp->has_sq && qp->sq.num == num;
	case PRM_CMD_CREATE_TIR: return qp->has_rq && qp->tir.num == num;
	case PRM_CMD_CREATE_TIS: return qp->has_sq && qp->tisn == num;
	default: return false;
	}
}

/* devx_is_valid_obj_id(): numbers of different kinds may be equal, so the kind counts */
static bool
has_number(const struct emu_obj *obj, uint16_t creator, uint32_t num)
{
	const struct emu_devx_obj *devx = (const struct emu_devx_obj *)obj;

	if (obj->class == &emu_devx_class)
		return devx->opcode == creator && devx->num == num;
	if (obj->class == &emu_cq_class)
		return creator == PRM_CMD_CREATE_CQ &&
		       ((const struct emu_verbs_cq *)obj)->cq.num == num;
	if (obj->class == &emu_wq_class)
		return creator == PRM_CMD_CREATE_RQ &&
		       ((const struct emu_verbs_wq *)obj)->rq.num == num;
	if (obj->class == &emu_ind_tbl_class)
		return creator == PRM_CMD_CREATE_RQT &&
		       ((const struct emu_ind_tbl *)obj)->num == num;
	return obj->class == &emu_qp_class &&
	       qp_has_number((const struct emu_verbs_qp *)obj, creator, num);
}

struct emu_obj *
emu_devx_find_any(struct emu_file *file, uint16_t opcode, uint32_t num)
{
	struct emu_obj *obj;

	TAILQ_FOREACH(obj, &file->objects, next)
		if (!obj->dead && has_number(obj, opcode, num))
			return obj;
	return NULL;
}

/* ---- mailboxes ---- */

/* Read the input, make room for the output. 0 or a negative errno. */
static int
mailbox_open(struct emu_call *call, struct emu_devx_call *devx, uint16_t in_id, uint16_t out_id)
{
	size_t in_len = emu_len(call, in_id), out_len = emu_len(call, out_id);
	const struct emu_devx_cmd *cmd;
	uint8_t *in;
	int err;

	if (in_len > MAX_MAILBOX || out_len > MAX_MAILBOX)
		return -EINVAL;
	in = calloc(1, in_len);
	*devx = (struct emu_devx_call){
		.file = call->file, .dev = call->dev,
		.in = in, .in_len = in_len,
		.out = calloc(1, out_len), .out_len = out_len,
	};
	if (in == NULL || devx->out == NULL)
		return -ENOMEM;
	err = emu_in(call, in_id, in, in_len);
	if (err != 0)
		return err;
	/* devx_get_uid() */
	if (!call->file->devx && !emu_devx_is_open(prm_get(in, PRM_IN_OPCODE)))
		return -EINVAL;
	cmd = find_cmd(prm_get(in, PRM_IN_OPCODE));
	return cmd == NULL ? 0 : emu_inject_ioctl(call->dev, cmd->name, false);
}

static void
mailbox_close(struct emu_devx_call *devx)
{
	free((void *)(uintptr_t)devx->in);
	free(devx->out);
}

/* Status into the output and the output to the user; EREMOTEIO where firmware refused. */
static int
mailbox_answer(struct emu_call *call, struct emu_devx_call *devx, uint16_t out_id, int status)
{
	uint16_t opcode = prm_get(devx->in, PRM_IN_OPCODE);
	int err;

	prm_set(devx->out, PRM_OUT_STATUS, status);
	if (status != PRM_STATUS_OK) {
		prm_set(devx->out, PRM_OUT_SYNDROME, (uint32_t)opcode << 8 | status);
		emu_trace("  firmware command 0x%x: status 0x%x: %s", opcode, status,
			  devx->why == NULL ? "unknown command" : devx->why);
	}
	err = emu_out(call, out_id, devx->out, devx->out_len);
	return err != 0 ? err : status == PRM_STATUS_OK ? 0 : -EREMOTEIO;
}

static int
check_lengths(struct emu_devx_call *devx, const struct emu_devx_cmd *cmd)
{
	emu_trace("  %s", cmd->name);
	if (devx->in_len < cmd->in_min)
		return emu_devx_refuse(devx, PRM_STATUS_BAD_INPUT_LEN, "input too short");
	if (devx->out_len < cmd->out_min)
		return emu_devx_refuse(devx, PRM_STATUS_BAD_OUTPUT_LEN, "output too short");
	return PRM_STATUS_OK;
}

/* ---- methods ---- */

static int
devx_other(struct emu_call *call)
{
	struct emu_devx_call devx = { 0 };
	const struct emu_devx_cmd *cmd;
	int status, err;

	err = mailbox_open(call, &devx, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN,
			   MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT);
	if (err != 0)
		goto out;
	if (!emu_devx_is_general(prm_get(devx.in, PRM_IN_OPCODE))) {
		emu_trace("  firmware command 0x%x is not a general one",
			  prm_get(devx.in, PRM_IN_OPCODE));
		err = -EINVAL;
		goto out;
	}
	cmd = find_cmd(prm_get(devx.in, PRM_IN_OPCODE));
	status = cmd == NULL ? PRM_STATUS_BAD_OP : check_lengths(&devx, cmd);
	if (status == PRM_STATUS_OK)
		status = cmd->general(&devx);
	err = mailbox_answer(call, &devx, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, status);
out:
	mailbox_close(&devx);
	return err;
}

static int
create_obj(struct emu_call *call, struct emu_devx_call *devx, const struct emu_devx_cmd *cmd)
{
	struct emu_devx_obj *obj = emu_obj_new(call->file, &emu_devx_class, sizeof(*obj));
	int status, err;

	if (obj == NULL)
		return -ENOMEM;
	obj->opcode = cmd->opcode;
	status = check_lengths(devx, cmd);
	if (status == PRM_STATUS_OK)
		status = cmd->create(devx, obj);
	err = mailbox_answer(call, devx, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, status);
	if (status != PRM_STATUS_OK) {
		emu_obj_discard(&obj->obj);
		return err;
	}
	if (err == 0)
		err = emu_obj_commit(&obj->obj);
	if (err == 0)
		return emu_out_handle(call, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, &obj->obj);
	if (cmd->destroy != NULL)
		cmd->destroy(obj);
	emu_obj_discard(&obj->obj);
	return err;
}

/* What the kernel itself looks at, in MLX5_IB_METHOD_DEVX_OBJ_CREATE */
static int
check_create(const struct emu_devx_call *devx)
{
	uint16_t opcode = prm_get(devx->in, PRM_IN_OPCODE);

	if (prm_get(devx->in, PRM_IN_VHCA_TUNNEL_ID) != 0)
		return -EINVAL;
	if (!emu_devx_is_create(opcode, prm_get(devx->in, PRM_IN_OP_MOD))) {
		emu_trace("  firmware command 0x%x creates nothing", opcode);
		return -EINVAL;
	}
	/* devx_handle_mkey_create() */
	return opcode == PRM_CMD_CREATE_MKEY && devx->in_len < PRM_MKC_AT + PRM_MKC_SIZE ?
	       -EINVAL : 0;
}

static int
devx_obj_create(struct emu_call *call)
{
	struct emu_devx_call devx = { 0 };
	const struct emu_devx_cmd *cmd;
	int err;

	err = mailbox_open(call, &devx, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN,
			   MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT);
	if (err != 0)
		goto out;
	err = check_create(&devx);
	if (err != 0)
		goto out;
	cmd = find_cmd(prm_get(devx.in, PRM_IN_OPCODE));
	if (cmd == NULL) /* creating commands exist that this firmware does not know */
		err = mailbox_answer(call, &devx, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT,
				     PRM_STATUS_BAD_OP);
	else
		err = create_obj(call, &devx, cmd);
out:
	mailbox_close(&devx);
	return err;
}

/* What the kernel lets through to an object, in _OBJ_MODIFY and _OBJ_QUERY */
static int
check_on_object(const struct emu_devx_call *devx, bool query)
{
	uint16_t opcode = prm_get(devx->in, PRM_IN_OPCODE);

	if (prm_get(devx->in, PRM_IN_VHCA_TUNNEL_ID) != 0)
		return -EINVAL;
	if (query ? !emu_devx_is_query(opcode) :
	    !emu_devx_is_modify(opcode, prm_get(devx->in, PRM_IN_OP_MOD))) {
		emu_trace("  firmware command 0x%x does not %s", opcode,
			  query ? "query" : "modify");
		return -EINVAL;
	}
	return 0;
}

/*
 * Modify and query have the same attributes under other numbers. Of a command that this
 * firmware does not know it is not known which object it is about either.
 */
static int
on_object(struct emu_call *call, bool query, uint16_t obj_id, uint16_t in_id, uint16_t out_id)
{
	struct emu_obj *obj = emu_obj(call, obj_id);
	struct emu_devx_call devx = { 0 };
	const struct emu_devx_cmd *cmd;
	int status, err;

	err = mailbox_open(call, &devx, in_id, out_id);
	if (err != 0)
		goto out;
	err = check_on_object(&devx, query);
	if (err != 0)
		goto out;
	cmd = find_cmd(prm_get(devx.in, PRM_IN_OPCODE));
	status = cmd == NULL ? PRM_STATUS_BAD_OP : check_lengths(&devx, cmd);
	if (status == PRM_STATUS_OK && !has_number(obj, cmd->target, prm_get(devx.in, cmd->id))) {
		emu_trace("  the handle names another object");
		err = -EINVAL;
		goto out;
	}
	if (status == PRM_STATUS_OK)
		status = cmd->on_object(&devx, obj);
	err = mailbox_answer(call, &devx, out_id, status);
out:
	mailbox_close(&devx);
	return err;
}

static int
devx_obj_modify(struct emu_call *call)
{
	return on_object(call, false, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE,
			 MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN,
			 MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT);
}

static int
devx_obj_query(struct emu_call *call)
{
	return on_object(call, true, MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE,
			 MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN,
			 MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT);
}

static int
devx_query_eqn(struct emu_call *call)
{
	uint32_t eqn = EQN;

	/* mlx5_vector2eqn() */
	if (emu_in_u64(call, MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, 0) >= EMU_COMP_VECTORS)
		return -ENOENT;
	return emu_out(call, MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, &eqn, sizeof(eqn));
}

/* bfregn_to_uar_index(): of a context whose library allocates its UARs itself there is none */
static int
devx_query_uar(struct emu_call *call)
{
	(void)call;
	return -EINVAL;
}

#define HDR_IN 16               /* general_obj_in_cmd_hdr */
#define HDR_OUT 16
#define ANY 0

static const struct emu_method methods[] = {
	EMU_METHOD(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, "DEVX_OTHER", devx_other,
		EMU_SPECS(
			EMU_IN_RANGE(MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, HDR_IN, UINT16_MAX),
			EMU_OUT_MIN(MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, HDR_OUT))),
	EMU_METHOD(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_EQN, "DEVX_QUERY_EQN",
		devx_query_eqn,
		EMU_SPECS(
			EMU_IN(MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, 4),
			EMU_OUT(MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, 4))),
	EMU_METHOD(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_UAR, "DEVX_QUERY_UAR",
		devx_query_uar,
		EMU_SPECS(
			EMU_IN(MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX, 4),
			EMU_OUT(MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX, 4))),
	EMU_METHOD(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE, "DEVX_OBJ_CREATE",
		devx_obj_create,
		EMU_SPECS(
			EMU_OBJ(MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, MLX5_IB_OBJECT_DEVX_OBJ,
				EMU_OBJ_NEW),
			EMU_IN_RANGE(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, HDR_IN, UINT16_MAX),
			EMU_OUT_MIN(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, HDR_OUT))),
	EMU_METHOD(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY,
		"DEVX_OBJ_DESTROY", NULL,
		EMU_SPECS(EMU_OBJ(MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, MLX5_IB_OBJECT_DEVX_OBJ,
				  EMU_OBJ_DESTROY))),
	EMU_METHOD(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY, "DEVX_OBJ_MODIFY",
		devx_obj_modify,
		EMU_SPECS(
			EMU_OBJ(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, ANY, EMU_OBJ_READ),
			EMU_IN_RANGE(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, HDR_IN, UINT16_MAX),
			EMU_OUT_MIN(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, HDR_OUT))),
	EMU_METHOD(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY, "DEVX_OBJ_QUERY",
		devx_obj_query,
		EMU_SPECS(
			EMU_OBJ(MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, ANY, EMU_OBJ_READ),
			EMU_IN_RANGE(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, HDR_IN, UINT16_MAX),
			EMU_OUT_MIN(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, HDR_OUT))),
};

EMU_METHOD_TABLE(emu_devx_table, methods);
