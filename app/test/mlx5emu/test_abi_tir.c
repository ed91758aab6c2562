/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <endian.h>

#include "abi.h"

/* TIRs of DevX over queues and tables of verbs, and flows that count in DevX' counters. */

static uint32_t pd, cq, wq, wqn;

static int
setup(void **state)
{
	struct abi *abi;
	int ret = abi_setup(state);

	abi = *state;
	pd = abi_pd(abi->file, NULL);
	cq = abi_cq(abi, abi->file, NULL);
	wq = abi_wq(abi, abi->file, pd, cq, &wqn);
	return ret;
}

/* ---- TIR and RQT ---- */

static int
direct_tir(struct emu_file *file, uint32_t rqn, uint32_t *tir)
{
	uint8_t in[PRM_CTX_AT + 0xf0] = { 0 }, out[16];

	prm_set(in, PRM_IN_OPCODE, PRM_CMD_CREATE_TIR);
	prm_set(in + PRM_CTX_AT, PRM_TIRC_RQN, rqn);
	return abi_devx_create(file, in, sizeof(in), out, tir);
}

static int
indirect_tir(struct emu_file *file, uint32_t rqt, uint32_t *tir)
{
	uint8_t in[PRM_CTX_AT + 0xf0] = { 0 }, out[16];

	prm_set(in, PRM_IN_OPCODE, PRM_CMD_CREATE_TIR);
	prm_set(in + PRM_CTX_AT, PRM_TIRC_DISP_TYPE, 1);
	prm_set(in + PRM_CTX_AT, PRM_TIRC_RQT, rqt);
	return abi_devx_create(file, in, sizeof(in), out, tir);
}

static int
make_rqt(struct emu_file *file, uint32_t rqn, uint32_t *rqt, uint32_t *num)
{
	uint8_t in[PRM_CTX_AT + PRM_RQTC_LIST_AT + 4] = { 0 }, out[16];
	int err;

	prm_set(in, PRM_IN_OPCODE, PRM_CMD_CREATE_RQT);
	prm_set(in + PRM_CTX_AT, PRM_RQTC_ACTUAL_SIZE, 1);
	prm_set(in + PRM_CTX_AT + PRM_RQTC_LIST_AT, PRM_FIELD(8, 24), rqn);
	err = abi_devx_create(file, in, sizeof(in), out, rqt);
	*num = prm_get(out, PRM_OUT_OBJECT);
	return err;
}

static void
over_verbs_wq(void **state)
{
	struct abi *abi = *state;
	struct emu_file *other = abi_open(&abi->devs[0], true);
	uint32_t tir, rqt, num;

	assert_int_equal(direct_tir(abi->file, wqn, &tir), 0);
	assert_int_equal(abi_wq_free(abi->file, wq), -EBUSY);
	assert_int_equal(abi_devx_free(abi->file, tir), 0);
	assert_int_equal(make_rqt(abi->file, wqn, &rqt, &num), 0);
	assert_int_equal(indirect_tir(abi->file, num, &tir), 0);
	assert_int_equal(abi_wq_free(abi->file, wq), -EBUSY);
	assert_int_equal(abi_devx_free(abi->file, rqt), -EINVAL);
	assert_int_equal(abi_devx_free(abi->file, tir), 0);
	assert_int_equal(abi_devx_free(abi->file, rqt), 0);
	/* numbers of another context, and of nothing */
	assert_int_equal(direct_tir(other, wqn, &tir), -EREMOTEIO);
	assert_int_equal(make_rqt(other, wqn, &rqt, &num), -EREMOTEIO);
	assert_int_equal(direct_tir(abi->file, 0xffffff, &tir), -EREMOTEIO);
	assert_int_equal(abi_wq_free(abi->file, wq), 0);
	assert_int_equal(direct_tir(abi->file, wqn, &tir), -EREMOTEIO);
	abi_close(other);
}

static void
over_verbs_table(void **state)
{
	struct abi *abi = *state;
	uint32_t handle = abi_ind_tbl(abi->file, wq), tir;
	struct emu_obj *obj;
	int err;

	obj = emu_obj_find(abi->file, handle, UVERBS_OBJECT_RWQ_IND_TBL, &err);
	assert_non_null(obj);
	assert_int_equal(indirect_tir(abi->file, ((struct emu_ind_tbl *)obj)->num, &tir), 0);
	assert_int_equal(abi_destroy(abi->file, UVERBS_OBJECT_RWQ_IND_TBL,
				     UVERBS_METHOD_RWQ_IND_TBL_DESTROY,
				     UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE, handle), -EBUSY);
	assert_int_equal(abi_devx_free(abi->file, tir), 0);
}

/* ---- counters ---- */

static uint32_t
make_counter(struct emu_file *file, uint32_t *num)
{
	uint8_t in[16] = { 0 }, out[16];
	uint32_t handle;

	prm_set(in, PRM_IN_OPCODE, PRM_CMD_ALLOC_FLOW_COUNTER);
	assert_int_equal(abi_devx_create(file, in, sizeof(in), out, &handle), 0);
	*num = prm_get(out, PRM_FIELD(0x40, 32));
	return handle;
}

static int
read_counter(struct emu_file *file, uint32_t handle, uint32_t num, bool clear, uint64_t out[4])
{
	uint8_t in[32] = { 0 };
	int err;

	prm_set(in, PRM_IN_OPCODE, PRM_CMD_QUERY_FLOW_COUNTER);
	prm_set(in, PRM_FIELD(0xe0, 32), num);
	prm_set(in, PRM_FIELD(0xc0, 1), clear);
	err = abi_devx_query(file, handle, in, sizeof(in), out, 4 * sizeof(*out));
	out[2] = be64toh(out[2]);
	out[3] = be64toh(out[3]);
	return err;
}

static uint32_t
make_matcher(struct emu_file *file, unsigned int table)
{
	static const uint8_t mask[64];
	struct abi_call c;

	abi_begin(&c, MLX5_IB_OBJECT_FLOW_MATCHER, MLX5_IB_METHOD_FLOW_MATCHER_CREATE);
	abi_obj(&c, ABI_NEW, MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE, 0, 0);
	abi_in(&c, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, mask, 64, 0);
	abi_enum(&c, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, MLX5_IB_FLOW_TYPE_NORMAL, 0, 2);
	abi_val(&c, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA, 1, 1, 0);
	abi_val(&c, MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, table, 8, 0);
	assert_int_equal(abi_run(&c, file), 0);
	return abi_got(&c, MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE);
}

/* Count and drop; offsets are an array of n. */
static int
counting_flow(struct emu_file *file, uint32_t matcher, uint32_t counter, unsigned int n,
	      uint32_t offset, uint32_t *flow)
{
	static const uint8_t value[64];
	const uint32_t offsets[2] = { offset, offset };
	struct abi_call c;
	int err;

	abi_begin(&c, UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_CREATE_FLOW);
	abi_obj(&c, ABI_NEW, MLX5_IB_ATTR_CREATE_FLOW_HANDLE, 0, 0);
	abi_in(&c, MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, value, 64, 0);
	abi_obj(&c, ABI_OBJ, MLX5_IB_ATTR_CREATE_FLOW_MATCHER, matcher, 0);
	abi_val(&c, MLX5_IB_ATTR_CREATE_FLOW_FLAGS, MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP, 8, 0);
	abi_in(&c, MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX, &counter, sizeof(counter), 0);
	if (n > 0)
		abi_in(&c, MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET, offsets, n * 4, 0);
	err = abi_run(&c, file);
	*flow = abi_got(&c, MLX5_IB_ATTR_CREATE_FLOW_HANDLE);
	return err;
}

static void
counters(void **state)
{
	struct abi *abi = *state;
	struct emu_file *f = abi->file;
	uint32_t matcher = make_matcher(f, MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX);
	uint32_t num, counter = make_counter(f, &num), flow, td;
	uint8_t frame[100] = { 2 };
	uint64_t out[4];

	td = abi_devx_simple(f, PRM_CMD_ALLOC_TRANSPORT_DOMAIN, 16, NULL);
	assert_int_equal(counting_flow(f, matcher, td, 0, 0, &flow), -EINVAL);
	assert_int_equal(counting_flow(f, matcher, counter, 1, 1, &flow), -EINVAL);
	assert_int_equal(counting_flow(f, matcher, counter, 2, 0, &flow), -EINVAL);
	assert_int_equal(counting_flow(f, matcher, 999, 0, 0, &flow), -ENOENT);
	assert_int_equal(counting_flow(f, matcher, counter, 1, 0, &flow), 0);
	assert_int_equal(read_counter(f, counter, num, false, out), 0);
	assert_int_equal(out[2], 0);
	emu_lock();
	emu_steer_receive(&abi->devs[0], frame, 100);
	emu_steer_receive(&abi->devs[0], frame, 60);
	emu_unlock();
	assert_int_equal(read_counter(f, counter, num, true, out), 0);
	assert_int_equal(out[2], 2);
	assert_int_equal(out[3], 160);
	assert_int_equal(read_counter(f, counter, num, false, out), 0);
	assert_int_equal(out[2], 0);
	assert_int_equal(read_counter(f, counter, num + 1, false, out), -EINVAL);
	assert_int_equal(abi_devx_free(f, counter), -EINVAL); /* BAD_RES_STATE */
	assert_int_equal(abi_destroy(f, UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_DESTROY_FLOW,
				     MLX5_IB_ATTR_DESTROY_FLOW_HANDLE, flow), 0);
	assert_int_equal(abi_devx_free(f, counter), 0);
}

/* A rule on the way out drops what a queue sends before it reaches the wire. */
static void
egress(void **state)
{
	struct abi *abi = *state;
	struct emu_file *f = abi->file;
	uint32_t matcher = make_matcher(f, MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX), num, flow;
	uint32_t counter = make_counter(f, &num);
	uint8_t frame[100] = { 2 };
	uint64_t out[4];

	assert_int_equal(counting_flow(f, matcher, counter, 0, 0, &flow), 0);
	emu_lock();
	assert_false(emu_steer_transmit(&abi->devs[0], frame, 100));
	assert_true(emu_steer_transmit(&abi->devs[1], frame, 100));
	emu_steer_receive(&abi->devs[0], frame, 100);
	emu_unlock();
	assert_int_equal(read_counter(f, counter, num, false, out), 0);
	assert_int_equal(out[2], 1);
	assert_int_equal(abi_destroy(f, UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_DESTROY_FLOW,
				     MLX5_IB_ATTR_DESTROY_FLOW_HANDLE, flow), 0);
	emu_lock();
	assert_true(emu_steer_transmit(&abi->devs[0], frame, 100));
	emu_unlock();
}

static void
bulk(void **state)
{
	struct abi *abi = *state;
	uint8_t in[16] = { 0 }, out[16];
	uint32_t handle;

	prm_set(in, PRM_IN_OPCODE, PRM_CMD_ALLOC_FLOW_COUNTER);
	in[15] = 1;
	assert_int_equal(abi_devx_create(abi->file, in, sizeof(in), out, &handle), -EREMOTEIO);
	assert_int_equal(prm_get(out, PRM_OUT_STATUS), PRM_STATUS_BAD_PARAM);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, abi_teardown)
	const struct CMUnitTest tests[] = {
		TEST(over_verbs_wq), TEST(over_verbs_table), TEST(counters), TEST(egress),
		TEST(bulk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
