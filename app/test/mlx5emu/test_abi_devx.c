/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <sys/mman.h>

#include "abi.h"

/* The ways into firmware: who may call what, and how an answer looks. hw/mlx5/devx.c */

static uint8_t in[2048], out[4096];

static void
command(uint16_t opcode)
{
	memset(in, 0, sizeof(in));
	memset(out, 0xee, sizeof(out));
	prm_set(in, PRM_IN_OPCODE, opcode);
}

#define STATUS() prm_get(out, PRM_OUT_STATUS)

/* ---- general commands ---- */

static void
general(void **state)
{
	static const struct {
		uint16_t opcode, op_mod;
		int err;
		uint8_t status;
	} cases[] = {
		{ 0x100, 0 << 1, 0, 0 }, { 0x100, 0 << 1 | 1, 0, 0 },
		{ 0x100, 1 << 1, 0, 0 }, { 0x100, 7 << 1, 0, 0 }, { 0x100, 0xf << 1, 0, 0 },
		{ 0x100, 0x3f << 1, -EREMOTEIO, PRM_STATUS_BAD_PARAM },
		{ 0x754, 0, 0, 0 },
		/* general, but this firmware has never heard of it */
		{ 0xb0c, 0, -EREMOTEIO, PRM_STATUS_BAD_OP },
		{ 0x842, 0, -EREMOTEIO, PRM_STATUS_BAD_OP },
		/* the kernel lets these through to nobody, or not by this door */
		{ 0x805, 0, -EINVAL, 0 },       /* ACCESS_REGISTER */
		{ 0x200, 0, -EINVAL, 0 }, { 0x816, 0, -EINVAL, 0 }, { 0x909, 0, -EINVAL, 0 },
		{ 0x915, 0, -EINVAL, 0 }, { 0, 0, -EINVAL, 0 }, { 0xffff, 0, -EINVAL, 0 },
		{ 0xd00, 0, -EINVAL, 0 },
	};
	struct abi *abi = *state;

	for (unsigned int i = 0; i < EMU_COUNT(cases); i++) {
		command(cases[i].opcode);
		prm_set(in, PRM_IN_OP_MOD, cases[i].op_mod);
		int err = abi_devx_general(abi->file, in, 16, out, 256);

		if (err != cases[i].err)
			fail_msg("opcode 0x%x op_mod 0x%x: %d", cases[i].opcode, cases[i].op_mod,
				 err);
		if (err != -EINVAL)
			assert_int_equal(STATUS(), cases[i].status);
		else
			assert_int_equal(STATUS(), 0xee); /* untouched */
		if (err == -EREMOTEIO)
			assert_int_not_equal(prm_get(out, PRM_OUT_SYNDROME), 0);
	}
}

/* devx_is_whitelist_cmd() */
static void
without_devx(void **state)
{
	struct abi *abi = *state;
	struct emu_file *plain = abi_open(&abi->devs[0], false);
	void *page = abi_pages(abi, 4096);
	uint32_t num;
	struct abi_call c;

	command(0x100);
	assert_int_equal(abi_devx_general(plain, in, 16, out, 256), 0);
	command(0x752);
	assert_int_equal(abi_devx_general(plain, in, 16, out, 256), -EREMOTEIO);
	command(0x754);
	assert_int_equal(abi_devx_general(plain, in, 16, out, 256), -EINVAL);
	command(PRM_CMD_ALLOC_TRANSPORT_DOMAIN);
	assert_int_equal(abi_devx_create(plain, in, 16, out, NULL), -EINVAL);
	command(0x100);
	assert_int_equal(abi_devx_create(plain, in, 16, out, NULL), -EINVAL);
	abi_begin(&c, MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG);
	abi_obj(&c, ABI_NEW, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, 0, 0);
	abi_val(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, (uintptr_t)page, 8, 0);
	abi_val(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, 4096, 8, 0);
	abi_out(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, &num, 4, 0);
	assert_int_equal(abi_run(&c, plain), -EINVAL);
	assert_int_equal(abi_pd(plain, NULL), 0); /* nothing was made */
	abi_close(plain);
}

/* ---- by way of objects ---- */

static void
creating(void **state)
{
	static const struct {
		uint16_t opcode;
		size_t len;
		int err;
		uint8_t status;
	} cases[] = {
		{ PRM_CMD_ALLOC_TRANSPORT_DOMAIN, 16, 0, 0 },
		{ PRM_CMD_ALLOC_Q_COUNTER, 16, 0, 0 },
		{ PRM_CMD_CREATE_TIS, 192, 0, 0 },
		{ PRM_CMD_CREATE_TIS, 191, -EREMOTEIO, PRM_STATUS_BAD_INPUT_LEN },
		/* the kernel itself reads a mkey's context */
		{ PRM_CMD_CREATE_MKEY, 79, -EINVAL, 0 },
		{ PRM_CMD_CREATE_MKEY, 80, -EREMOTEIO, PRM_STATUS_BAD_INPUT_LEN },
		{ PRM_CMD_CREATE_CQ, 16, -EREMOTEIO, PRM_STATUS_BAD_INPUT_LEN },
		{ PRM_CMD_CREATE_SQ, 16, -EREMOTEIO, PRM_STATUS_BAD_INPUT_LEN },
		{ PRM_CMD_CREATE_RQ, 16, -EREMOTEIO, PRM_STATUS_BAD_INPUT_LEN },
		{ PRM_CMD_CREATE_RQT, 16, -EREMOTEIO, PRM_STATUS_BAD_INPUT_LEN },
		{ PRM_CMD_CREATE_TIR, 16, -EREMOTEIO, PRM_STATUS_BAD_INPUT_LEN },
		{ 0xa00, 256, -EREMOTEIO, PRM_STATUS_BAD_OP }, /* general objects */
		{ 0x800, 256, -EREMOTEIO, PRM_STATUS_BAD_OP }, /* PDs are from verbs here */
		{ 0x500, 256, -EREMOTEIO, PRM_STATUS_BAD_OP },
		/* these create nothing */
		{ 0x100, 256, -EINVAL, 0 }, { 0x909, 256, -EINVAL, 0 },
		{ 0x915, 256, -EINVAL, 0 }, { 0x202, 256, -EINVAL, 0 },
		{ 0xa08, 256, -EINVAL, 0 },     /* umems have a method of their own */
		{ 0x301, 256, -EINVAL, 0 }, { 0x802, 256, -EINVAL, 0 },
	};
	struct abi *abi = *state;
	uint32_t handle;

	for (unsigned int i = 0; i < EMU_COUNT(cases); i++) {
		command(cases[i].opcode);
		int err = abi_devx_create(abi->file, in, cases[i].len, out, &handle);

		if (err != cases[i].err)
			fail_msg("opcode 0x%x length %zu: %d", cases[i].opcode, cases[i].len, err);
		assert_int_equal(STATUS(), err == -EINVAL ? 0xee : cases[i].status);
		if (err == 0)
			assert_int_equal(abi_devx_free(abi->file, handle), 0);
	}
	/* commands for another function are not for this door */
	command(PRM_CMD_ALLOC_TRANSPORT_DOMAIN);
	prm_set(in, PRM_IN_VHCA_TUNNEL_ID, 1);
	assert_int_equal(abi_devx_create(abi->file, in, 16, out, NULL), -EINVAL);
	assert_int_equal(emu_objects_alive(NULL), 0);
}

/* An object that cannot be told of is taken back. */
static void
no_place_for_the_answer(void **state)
{
	struct abi *abi = *state;

	if (!abi_hole_is_noticed())
		skip();
	command(PRM_CMD_ALLOC_TRANSPORT_DOMAIN);
	assert_int_equal(abi_devx_create(abi->file, in, 16, (void *)(uintptr_t)abi_hole(), NULL),
			 -EFAULT);
	command(PRM_CMD_CREATE_TIS);
	assert_int_equal(abi_devx_create(abi->file, in, 20, (void *)(uintptr_t)abi_hole(), NULL),
			 -EFAULT);
	assert_int_equal(emu_objects_alive(NULL), 0);
}

static void
on_objects(void **state)
{
	struct abi *abi = *state;
	struct emu_file *f = abi->file;
	uint32_t num, num2, cqn, wqn;
	uint32_t pd = abi_pd(f, NULL), cq = abi_cq(abi, f, &cqn);
	uint32_t wq = abi_wq(abi, f, pd, cq, &wqn);
	uint32_t tis = abi_devx_simple(f, PRM_CMD_CREATE_TIS, 192, &num);
	uint32_t tis2 = abi_devx_simple(f, PRM_CMD_CREATE_TIS, 192, &num2);
	uint32_t td = abi_devx_simple(f, PRM_CMD_ALLOC_TRANSPORT_DOMAIN, 16, NULL);

	command(PRM_CMD_QUERY_TIS);
	prm_set(in, PRM_IN_OBJECT, num);
	assert_int_equal(abi_devx_query(f, tis, in, 16, out, 176), 0);
	/* the handle and the number must agree, in kind, too: devx_is_valid_obj_id() */
	assert_int_equal(abi_devx_query(f, tis2, in, 16, out, 176), -EINVAL);
	assert_int_equal(abi_devx_query(f, td, in, 16, out, 176), -EINVAL);
	assert_int_equal(abi_devx_query(f, pd, in, 16, out, 176), -EINVAL);
	assert_int_equal(abi_devx_query(f, wq, in, 16, out, 176), -EINVAL);
	assert_int_equal(abi_devx_query(f, 99, in, 16, out, 176), -ENOENT);
	assert_int_equal(abi_devx_query(f, tis, in, 16, out, 16), -EREMOTEIO);
	assert_int_equal(STATUS(), PRM_STATUS_BAD_OUTPUT_LEN);
	/* a query does not modify, nor the other way round */
	assert_int_equal(abi_devx_modify(f, tis, in, 16, out, 176), -EINVAL);
	command(PRM_CMD_MODIFY_RQ);
	assert_int_equal(abi_devx_query(f, wq, in, 256, out, 16), -EINVAL);
	assert_int_equal(abi_devx_modify(f, wq, in, 16, out, 16), -EREMOTEIO);
	assert_int_equal(STATUS(), PRM_STATUS_BAD_INPUT_LEN);
	/* a verbs WQ is an RQ to firmware */
	prm_set(in, PRM_IN_OBJECT, wqn);
	prm_set(in + PRM_CTX_AT, PRM_QC_STATE, EMU_Q_RDY);
	assert_int_equal(abi_devx_modify(f, wq, in, 256, out, 16), 0);
	prm_set(in, PRM_IN_OBJECT, wqn + 1);
	assert_int_equal(abi_devx_modify(f, wq, in, 256, out, 16), -EINVAL);
	command(0x402); /* QUERY_CQ: firmware here does not know it */
	assert_int_equal(abi_devx_query(f, cq, in, 256, out, 256), -EREMOTEIO);
	assert_int_equal(STATUS(), PRM_STATUS_BAD_OP);
	command(PRM_CMD_QUERY_TIS);
	prm_set(in, PRM_IN_OBJECT, num);
	prm_set(in, PRM_IN_VHCA_TUNNEL_ID, 1);
	assert_int_equal(abi_devx_query(f, tis, in, 16, out, 176), -EINVAL);
}

/* 255 counter sets, each a number of its own, and then there is none. */
static void
q_counters(void **state)
{
	struct abi *abi = *state;
	uint32_t handle[256], num, same = 0, tis_num;
	bool seen[256] = { false };

	abi_devx_simple(abi->file, PRM_CMD_CREATE_TIS, 192, &tis_num);
	assert_true(tis_num >= 1 && tis_num <= 255);
	for (unsigned int i = 0; i < 255; i++) {
		command(PRM_CMD_ALLOC_Q_COUNTER);
		assert_int_equal(abi_devx_create(abi->file, in, 16, out, &handle[i]), 0);
		num = prm_get(out, PRM_Q_COUNTER_ID);
		assert_true(num >= 1 && num <= 255);
		assert_false(seen[num]);
		seen[num] = true;
		if (num == tis_num)
			same = handle[i];
	}
	/* the same number, of another kind */
	command(PRM_CMD_QUERY_TIS);
	prm_set(in, PRM_IN_OBJECT, tis_num);
	assert_int_equal(abi_devx_query(abi->file, same, in, 16, out, 176), -EINVAL);
	command(PRM_CMD_ALLOC_Q_COUNTER);
	assert_int_equal(abi_devx_create(abi->file, in, 16, out, &handle[255]), -EREMOTEIO);
	assert_int_equal(STATUS(), PRM_STATUS_LIMIT);
	assert_int_equal(abi_devx_free(abi->file, handle[100]), 0);
	assert_int_equal(abi_devx_create(abi->file, in, 16, out, &handle[100]), 0);
	num = prm_get(out, PRM_Q_COUNTER_ID);
	command(PRM_CMD_QUERY_Q_COUNTER);
	prm_set(in, PRM_QUERY_Q_COUNTER_ID, num);
	assert_int_equal(abi_devx_query(abi->file, handle[100], in, 32, out, 256), 0);
	assert_int_equal(abi_devx_query(abi->file, handle[101], in, 32, out, 256), -EINVAL);
}

/* ---- others ---- */

static int
umem(struct abi *abi, uint64_t addr, uint64_t len, uint64_t access, int64_t pages)
{
	uint32_t id;
	struct abi_call c;
	int err;

	abi_begin(&c, MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG);
	abi_obj(&c, ABI_NEW, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, 0, 0);
	abi_val(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, addr, 8, 0);
	abi_val(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, len, 8, 0);
	abi_val(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, access, 8, 0);
	if (pages >= 0)
		abi_val(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, pages, 8, 0);
	abi_out(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, &id, 4, 0);
	err = abi_run(&c, abi->file);
	if (err == 0)
		assert_int_equal(abi_destroy(abi->file, MLX5_IB_OBJECT_DEVX_UMEM,
			MLX5_IB_METHOD_DEVX_UMEM_DEREG, MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE,
			abi_got(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE)), 0);
	return err;
}

static void
umems(void **state)
{
	const uint64_t lw = IBV_ACCESS_LOCAL_WRITE;
	struct abi *abi = *state;
	uint64_t p = (uintptr_t)abi_pages(abi, 8192);
	void *ro = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_int_equal(umem(abi, p, 8192, lw, -1), 0);
	assert_int_equal(umem(abi, p + 3, 5, 0, -1), 0);
	assert_int_equal(umem(abi, p, 64, lw | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
			      -1), 0);
	assert_int_equal(umem(abi, p, 64, IBV_ACCESS_REMOTE_WRITE, -1), -EINVAL);
	assert_int_equal(umem(abi, p, 64, lw | IBV_ACCESS_REMOTE_ATOMIC, -1), -EINVAL);
	assert_int_equal(umem(abi, p, 64, IBV_ACCESS_RELAXED_ORDERING, -1), -EINVAL);
	assert_int_equal(umem(abi, p, 0, lw, -1), -EINVAL);
	assert_int_equal(umem(abi, p, UINT64_MAX, lw, -1), -EINVAL);
	assert_int_equal(umem(abi, abi_hole(), 64, lw, -1), -EFAULT);
	assert_int_equal(umem(abi, (uintptr_t)ro, 64, 0, -1), 0);
	assert_int_equal(umem(abi, (uintptr_t)ro, 64, lw, -1), -EFAULT);
	assert_int_equal(umem(abi, p, 8192, lw, 4096), 0);
	assert_int_equal(umem(abi, p, 8192, lw, 0), -EINVAL);
	assert_int_equal(umem(abi, p, 8192, lw, 2048), -EINVAL);
	assert_int_equal(umem(abi, p, 8192, lw, 1 << 20), -EINVAL);
	munmap(ro, 4096);
}

static int
one_number(struct abi *abi, uint16_t method, uint16_t in_id, uint16_t out_id, uint32_t value)
{
	uint32_t answer;
	struct abi_call c;

	abi_begin(&c, MLX5_IB_OBJECT_DEVX, method);
	abi_val(&c, in_id, value, 4, 0);
	abi_out(&c, out_id, &answer, 4, 0);
	return abi_run(&c, abi->file);
}

static void
queries(void **state)
{
#define EQN(v) one_number(*state, MLX5_IB_METHOD_DEVX_QUERY_EQN, \
	MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, v)
#define UAR(v) one_number(*state, MLX5_IB_METHOD_DEVX_QUERY_UAR, \
	MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX, MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX, v)
	assert_int_equal(EQN(0), 0);
	assert_int_equal(EQN(15), 0);
	assert_int_equal(EQN(16), -ENOENT);
	assert_int_equal(EQN(UINT32_MAX), -ENOENT);
	assert_int_equal(UAR(0), -EINVAL); /* the context has no UARs of the kernel's */
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, abi_setup, abi_teardown)
	const struct CMUnitTest tests[] = {
		TEST(general), TEST(without_devx), TEST(creating), TEST(no_place_for_the_answer),
		TEST(on_objects), TEST(q_counters), TEST(umems), TEST(queries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
