/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "abi.h"

/* Firmware commands through DevX. */

uint32_t
abi_umem(struct emu_file *file, const void *addr, size_t len, uint32_t *id)
{
	struct abi_call c;

	abi_begin(&c, MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG);
	abi_obj(&c, ABI_NEW, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, 0, 0);
	abi_val(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, (uintptr_t)addr, 8, 0);
	abi_val(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, len, 8, 0);
	abi_val(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, IBV_ACCESS_LOCAL_WRITE, 4, 0);
	abi_out(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, id, 4, 0);
	assert_int_equal(abi_run(&c, file), 0);
	return abi_got(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE);
}

int
abi_devx_create(struct emu_file *file, const void *in, size_t in_len, void *out,
		uint32_t *handle)
{
	struct abi_call c;
	int err;

	abi_begin(&c, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE);
	abi_obj(&c, ABI_NEW, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, 0, 0);
	abi_in(&c, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, in, in_len, 0);
	abi_out(&c, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, out, 16, 0);
	err = abi_run(&c, file);
	if (err == 0 && handle != NULL)
		*handle = abi_got(&c, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE);
	return err;
}

int
abi_devx_free(struct emu_file *file, uint32_t handle)
{
	return abi_destroy(file, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY,
			   MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, handle);
}

int
abi_devx_general(struct emu_file *file, const void *in, size_t in_len, void *out, size_t out_len)
{
	struct abi_call c;

	abi_begin(&c, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER);
	abi_in(&c, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, in, in_len, 0);
	abi_out(&c, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, out, out_len, 0);
	return abi_run(&c, file);
}

int
abi_devx_modify(struct emu_file *file, uint32_t handle, const void *in, size_t in_len,
		void *out, size_t out_len)
{
	struct abi_call c;

	abi_begin(&c, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY);
	abi_obj(&c, ABI_OBJ, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, handle, 0);
	abi_in(&c, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, in, in_len, 0);
	abi_out(&c, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, out, out_len, 0);
	return abi_run(&c, file);
}

int
abi_devx_query(struct emu_file *file, uint32_t handle, const void *in, size_t in_len, void *out,
	       size_t out_len)
{
	struct abi_call c;

	abi_begin(&c, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY);
	abi_obj(&c, ABI_OBJ, MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, handle, 0);
	abi_in(&c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, in, in_len, 0);
	abi_out(&c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, out, out_len, 0);
	return abi_run(&c, file);
}

uint32_t
abi_devx_simple(struct emu_file *file, uint16_t opcode, size_t in_len, uint32_t *num)
{
	uint8_t in[1024] = { 0 }, out[16];
	uint32_t handle;

	assert_true(in_len <= sizeof(in));
	prm_set(in, PRM_IN_OPCODE, opcode);
	assert_int_equal(abi_devx_create(file, in, in_len, out, &handle), 0);
	if (num != NULL)
		*num = prm_get(out, PRM_OUT_OBJECT);
	return handle;
}
