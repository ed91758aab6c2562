/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "devx.h"
#include "emu.h"
#include "prm.h"
#include "vma.h"

/* The ways into firmware: hw/mlx5/devx.c. */

#define EQN 7
#define MAX_MAILBOX 16384

static const struct emu_devx_table *const tables[] = {
	&emu_devx_caps, &emu_devx_mkeys, &emu_devx_queues, &emu_devx_receive,
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
const struct emu_class emu_umem_class = {
	.type = MLX5_IB_OBJECT_DEVX_UMEM, .name = "umem", .busy = -EINVAL,
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

void *
emu_devx_use_umem(struct emu_devx_obj *devx, uint32_t id, uint64_t offset, uint64_t len)
{
	struct emu_obj *obj;
	struct emu_umem *umem;

	TAILQ_FOREACH(obj, &devx->obj.file->objects, next) {
		umem = (struct emu_umem *)obj;
		if (obj->class != &emu_umem_class || umem->id != id)
			continue;
		if (offset > umem->len || len > umem->len - offset)
			return NULL;
		emu_obj_use(&devx->obj, obj);
		return (void *)(uintptr_t)(umem->addr + offset);
	}
	return NULL;
}

/* ---- mailboxes ---- */

/* Read the input, make room for the output. 0 or a negative errno. */
static int
mailbox_open(struct emu_call *call, struct emu_devx_call *devx, uint16_t in_id, uint16_t out_id)
{
	size_t in_len = emu_len(call, in_id), out_len = emu_len(call, out_id);
	uint8_t *in;

	if (!call->file->devx)
		return -EINVAL; /* devx_get_uid() */
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
	return emu_in(call, in_id, in, in_len);
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
	cmd = find_cmd(prm_get(devx.in, PRM_IN_OPCODE));
	if (cmd != NULL && cmd->general == NULL) {
		err = -EINVAL; /* devx_is_general_cmd() */
		goto out;
	}
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
	cmd = find_cmd(prm_get(devx.in, PRM_IN_OPCODE));
	if (cmd == NULL) /* creating commands exist that this firmware does not know */
		err = mailbox_answer(call, &devx, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT,
				     PRM_STATUS_BAD_OP);
	else
		err = cmd->create == NULL ? -EINVAL : create_obj(call, &devx, cmd);
out:
	mailbox_close(&devx);
	return err;
}

/* Modify and query have the same attributes under other numbers. */
static int
on_object(struct emu_call *call, uint16_t obj_id, uint16_t in_id, uint16_t out_id)
{
	struct emu_devx_call devx = { 0 };
	const struct emu_devx_cmd *cmd;
	int status, err;

	err = mailbox_open(call, &devx, in_id, out_id);
	if (err != 0)
		goto out;
	cmd = find_cmd(prm_get(devx.in, PRM_IN_OPCODE));
	if (cmd == NULL || cmd->modify == NULL) {
		emu_trace("  firmware command 0x%x on an object is unknown",
			  prm_get(devx.in, PRM_IN_OPCODE));
		err = -EINVAL; /* devx_is_obj_modify_cmd() */
		goto out;
	}
	status = check_lengths(&devx, cmd);
	if (status == PRM_STATUS_OK)
		status = cmd->modify(&devx, emu_obj(call, obj_id));
	if (status < 0)
		err = status; /* devx_is_valid_obj_id() */
	else
		err = mailbox_answer(call, &devx, out_id, status);
out:
	mailbox_close(&devx);
	return err;
}

static int
devx_obj_modify(struct emu_call *call)
{
	return on_object(call, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE,
			 MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN,
			 MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT);
}

static int
devx_obj_query(struct emu_call *call)
{
	return on_object(call, MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE,
			 MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN,
			 MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT);
}

static int
devx_query_eqn(struct emu_call *call)
{
	uint32_t eqn = EQN;

	if (!call->file->devx)
		return -EINVAL;
	return emu_out(call, MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, &eqn, sizeof(eqn));
}

static int
devx_query_uar(struct emu_call *call)
{
	uint32_t index = emu_in_u64(call, MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX, 0);

	if (!call->file->devx)
		return -EINVAL;
	return emu_out(call, MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX, &index, sizeof(index));
}

/* MLX5_IB_METHOD_DEVX_UMEM_REG */
static int
umem_reg(struct emu_call *call)
{
	uint64_t addr = emu_in_u64(call, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, 0);
	uint64_t len = emu_in_u64(call, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, 0);
	uint32_t access = emu_in_u64(call, MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, 0);
	struct emu_umem *umem;
	int err = emu_check_mr_access(access);

	if (!call->file->devx || len == 0 || addr + len < addr)
		return -EINVAL;
	if (err == 0)
		err = emu_user_range_check(addr, len, emu_mkey_access(access) & EMU_ACCESS_LW);
	if (err != 0)
		return err;
	umem = emu_obj_new(call->file, &emu_umem_class, sizeof(*umem));
	if (umem == NULL)
		return -ENOMEM;
	umem->id = emu_next_num(call->dev);
	umem->addr = addr;
	umem->len = len;
	err = emu_out(call, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, &umem->id, sizeof(umem->id));
	if (err != 0) {
		emu_obj_discard(&umem->obj);
		return err;
	}
	return emu_out_obj(call, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, &umem->obj);
}

/*
 * MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT. Of the event types only the completion event
 * of a CQ ever comes; the others may be waited for, as on a card where all is well.
 */
static int
devx_subscribe(struct emu_call *call)
{
	int fd = emu_in_fd(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE);
	struct emu_devx_obj *obj = emu_obj(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE);
	struct emu_channel *channel;

	channel = emu_channel_of_fd(call->file, fd, MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD);
	if (channel == NULL)
		return -EBADF;
	if (obj == NULL || obj->opcode != PRM_CMD_CREATE_CQ)
		return 0;
	emu_channel_watch(channel, &obj->cq,
			  emu_in_u64(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE, 0));
	return 0;
}

#define HDR_IN 16               /* general_obj_in_cmd_hdr */
#define HDR_OUT 16
#define ANY 0

static const struct emu_method methods[] = {
	EMU_METHOD(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, "DEVX_OTHER", devx_other,
		.driver = true,
		EMU_SPECS(
			EMU_IN_RANGE(MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, HDR_IN, UINT16_MAX),
			EMU_OUT_MIN(MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, HDR_OUT))),
	EMU_METHOD(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_EQN, "DEVX_QUERY_EQN",
		devx_query_eqn, .driver = true,
		EMU_SPECS(
			EMU_IN(MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, 4),
			EMU_OUT(MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, 4))),
	EMU_METHOD(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_UAR, "DEVX_QUERY_UAR",
		devx_query_uar, .driver = true,
		EMU_SPECS(
			EMU_IN(MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX, 4),
			EMU_OUT(MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX, 4))),
	EMU_METHOD(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT,
		"DEVX_SUBSCRIBE_EVENT", devx_subscribe, .driver = true,
		EMU_SPECS(
			EMU_FD(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE,
			       MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, EMU_OBJ_READ),
			EMU_OPT_OBJ(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE,
				    MLX5_IB_OBJECT_DEVX_OBJ, EMU_OBJ_READ),
			EMU_IN_RANGE(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, 2,
				     UINT16_MAX),
			EMU_OPT_IN(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE, 8),
			EMU_OPT_IN(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM, 4))),
	EMU_METHOD(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE, "DEVX_OBJ_CREATE",
		devx_obj_create, .driver = true,
		EMU_SPECS(
			EMU_OBJ(MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, MLX5_IB_OBJECT_DEVX_OBJ,
				EMU_OBJ_NEW),
			EMU_IN_RANGE(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, HDR_IN, UINT16_MAX),
			EMU_OUT_MIN(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, HDR_OUT))),
	EMU_METHOD(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY,
		"DEVX_OBJ_DESTROY", NULL, .driver = true,
		EMU_SPECS(EMU_OBJ(MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, MLX5_IB_OBJECT_DEVX_OBJ,
				  EMU_OBJ_DESTROY))),
	EMU_METHOD(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY, "DEVX_OBJ_MODIFY",
		devx_obj_modify, .driver = true,
		EMU_SPECS(
			EMU_OBJ(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, ANY, EMU_OBJ_READ),
			EMU_IN_RANGE(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, HDR_IN, UINT16_MAX),
			EMU_OUT_MIN(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, HDR_OUT))),
	EMU_METHOD(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY, "DEVX_OBJ_QUERY",
		devx_obj_query, .driver = true,
		EMU_SPECS(
			EMU_OBJ(MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, ANY, EMU_OBJ_READ),
			EMU_IN_RANGE(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, HDR_IN, UINT16_MAX),
			EMU_OUT_MIN(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, HDR_OUT))),
	EMU_METHOD(MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG, "DEVX_UMEM_REG",
		umem_reg, .driver = true,
		EMU_SPECS(
			EMU_OBJ(MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, MLX5_IB_OBJECT_DEVX_UMEM,
				EMU_OBJ_NEW),
			EMU_IN(MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, 8),
			EMU_IN(MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, 8),
			EMU_FLAGS(MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS),
			EMU_OPT_CONST(MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP),
			EMU_OUT(MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, 4))),
	EMU_METHOD(MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG, "DEVX_UMEM_DEREG",
		NULL, .driver = true,
		EMU_SPECS(EMU_OBJ(MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, MLX5_IB_OBJECT_DEVX_UMEM,
				  EMU_OBJ_DESTROY))),
};

EMU_METHOD_TABLE(emu_devx_table, methods);
