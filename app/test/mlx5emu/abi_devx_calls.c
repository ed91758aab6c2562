/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "abi.h"

/* A good call of every DevX method. In each file handle 0 is a PD and handle 1 a DM. */

static uint8_t out[4][256];

static void
base(struct emu_file *file)
{
	assert_int_equal(abi_pd(file, NULL), 0);
	assert_int_equal(abi_dm(file, 4096), 1);
}

static uint8_t *
mailbox(struct abi *abi, uint16_t opcode)
{
	uint8_t *in = abi_mem(abi, 1024);

	prm_set(in, PRM_IN_OPCODE, opcode);
	return in;
}

static void
other(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	base(file);
	abi_begin(c, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER);
	abi_in(c, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, mailbox(abi, PRM_CMD_QUERY_HCA_CAP), 16,
	       ABI_LONGER);
	abi_out(c, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, out[0], 16, ABI_LONGER);
}

static void
obj_create(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	base(file);
	abi_begin(c, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE);
	abi_obj(c, ABI_NEW, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, 0, 0);
	abi_in(c, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN,
	       mailbox(abi, PRM_CMD_ALLOC_TRANSPORT_DOMAIN), 16, ABI_LONGER);
	abi_out(c, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, out[0], 16, ABI_LONGER);
}

static void
obj_destroy(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	uint32_t handle;

	(void)abi;
	base(file);
	handle = abi_devx_simple(file, PRM_CMD_ALLOC_TRANSPORT_DOMAIN, 16, NULL);
	abi_begin(c, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY);
	abi_obj(c, ABI_DESTROY, MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, handle, 0);
}

static void
obj_query(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	uint8_t *in = mailbox(abi, PRM_CMD_QUERY_TIS);
	uint32_t handle, num;

	base(file);
	handle = abi_devx_simple(file, PRM_CMD_CREATE_TIS, PRM_CTX_AT + 0xa0, &num);
	prm_set(in, PRM_IN_OBJECT, num);
	abi_begin(c, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY);
	abi_obj(c, ABI_OBJ, MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, handle, ABI_ANY_TYPE);
	abi_in(c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, in, 16, ABI_LONGER);
	abi_out(c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, out[0], 128, ABI_LONGER | ABI_SHORTER);
}

static void
obj_modify(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	uint8_t *in = mailbox(abi, PRM_CMD_MODIFY_RQ);
	uint32_t wq, wqn;

	base(file);
	wq = abi_wq(abi, file, 0, abi_cq(abi, file, NULL), &wqn);
	prm_set(in, PRM_IN_OBJECT, wqn);
	prm_set(in + PRM_CTX_AT, PRM_QC_STATE, EMU_Q_RDY);
	abi_begin(c, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY);
	abi_obj(c, ABI_OBJ, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, wq, ABI_ANY_TYPE);
	abi_in(c, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, in, 256, ABI_LONGER | ABI_SHORTER);
	abi_out(c, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, out[0], 16, ABI_LONGER);
}

static void
umem_reg(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	base(file);
	abi_begin(c, MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG);
	abi_obj(c, ABI_NEW, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, 0, 0);
	abi_val(c, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, (uintptr_t)abi_pages(abi, 4096), 8, 0);
	abi_val(c, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, 4096, 8, 0);
	abi_val(c, MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, IBV_ACCESS_LOCAL_WRITE, 8, ABI_OPT);
	abi_val(c, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, UINT64_MAX << 12, 8, ABI_OPT);
	abi_out(c, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, out[0], 4, 0);
}

static void
umem_dereg(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	uint32_t id, handle;

	base(file);
	handle = abi_umem(file, abi_pages(abi, 4096), 4096, &id);
	abi_begin(c, MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG);
	abi_obj(c, ABI_DESTROY, MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, handle, 0);
}

static void
query_eqn(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	(void)abi;
	base(file);
	abi_begin(c, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_EQN);
	abi_val(c, MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, 0, 4, 0);
	abi_out(c, MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, out[0], 4, 0);
}

static void
cmd_fd(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	(void)abi;
	base(file);
	abi_begin(c, MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC);
	abi_obj(c, ABI_NEW_FD, MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE, 0, 0);
}

static void
event_fd(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	(void)abi;
	base(file);
	abi_begin(c, MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD,
		  MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC);
	abi_obj(c, ABI_NEW_FD, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE, 0, 0);
	abi_val(c, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS, 1, 8, 0);
}

/* Each call leaves a descriptor open; there are a few dozen. */
static void
subscribe(struct abi *abi, struct emu_file *file, struct abi_call *c)
{
	uint16_t port_change[5] = { 9, 9, 9, 9, 9 };
	uint16_t *list = abi_mem(abi, sizeof(port_change));
	uint64_t fd;

	event_fd(abi, file, c);
	assert_int_equal(abi_run(c, file), 0);
	fd = abi_got(c, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE);
	memcpy(list, port_change, sizeof(port_change));
	abi_begin(c, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT);
	abi_obj(c, ABI_FD, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE, fd, 0);
	abi_in(c, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, list, 10, 0);
	abi_val(c, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE, 1, 8, ABI_OPT);
}

#define GOOD(f) { #f, f }
const struct abi_good abi_devx_calls[] = {
	GOOD(other), GOOD(obj_create), GOOD(obj_destroy), GOOD(obj_query), GOOD(obj_modify),
	GOOD(umem_reg), GOOD(umem_dereg), GOOD(query_eqn), GOOD(cmd_fd), GOOD(event_fd),
	GOOD(subscribe),
};
const unsigned int abi_n_devx_calls = EMU_COUNT(abi_devx_calls);
