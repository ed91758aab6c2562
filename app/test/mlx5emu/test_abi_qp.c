/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <linux/capability.h>

#include "abi.h"

/* Raw packet QPs: of queues of their own, and over an indirection table. */

static uint32_t pd, cq;

static int
setup(void **state)
{
	struct abi *abi;

	abi_setup(state);
	abi = *state;
	pd = abi_pd(abi->file, NULL);
	cq = abi_cq(abi, abi->file, NULL);
	return 0;
}

static int
once(struct abi *abi, struct abi_call *c)
{
	int err = abi_run(c, abi->file);

	if (err == 0)
		assert_int_equal(abi_qp_free(abi->file,
					     abi_got(c, UVERBS_ATTR_CREATE_QP_HANDLE)), 0);
	return err;
}

static void
requests(void **state)
{
	struct abi *abi = *state;
	const size_t used = abi->used;
	struct abi_call c;
	struct abi_qp q;

#define QP(change, want) do { \
	abi->used = used; \
	abi_qp_call(abi, &c, &q, pd, cq); \
	change; \
	assert_int_equal(once(abi, &c), want); \
} while (0)
	QP((void)0, 0);
	QP(q.req.sq_wqe_count = 0, 0);
	QP(q.req.rq_wqe_count = 0, 0);
	QP(q.req.sq_wqe_count = q.req.rq_wqe_count = 0, -EINVAL);
	QP(q.req.sq_wqe_count = 3, -EINVAL);
	QP(q.req.sq_wqe_count = 1 << 16, -EINVAL);
	QP(q.req.rq_wqe_count = 3, -EINVAL);
	QP(q.req.rq_wqe_shift = 3, -EINVAL);
	QP(q.req.rq_wqe_shift = 10, -EINVAL);
	QP(q.req.sq_buf_addr = abi_hole(), -EFAULT);
	QP(q.req.buf_addr = abi_hole(), -EFAULT);
	QP(q.req.db_addr = abi_hole(), -EFAULT);
	QP(q.req.sq_buf_addr += 16, -EINVAL);
	QP(q.req.buf_addr += 16, -EINVAL);
	QP(q.req.db_addr += 4, -EINVAL);
	QP(q.req.flags |= MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC, 0);
	QP(q.req.flags |= MLX5_QP_FLAG_SCATTER_CQE, 0);
	QP(q.req.flags |= MLX5_QP_FLAG_SIGNATURE, -EINVAL);
	QP(q.req.flags |= MLX5_QP_FLAG_TUNNEL_OFFLOADS, -EINVAL);
	QP(q.req.flags |= MLX5_QP_FLAG_TYPE_DCI, -EINVAL);
	QP(q.req.flags |= 1u << 31, -EINVAL);
	/* flags of the verb: one is the library's own affair, some are not advertised */
	QP(abi_attr(&c, UVERBS_ATTR_CREATE_QP_FLAGS)->data = IB_UVERBS_QP_CREATE_SQ_SIG_ALL, 0);
	QP(abi_attr(&c, UVERBS_ATTR_CREATE_QP_FLAGS)->data = IB_UVERBS_QP_CREATE_SCATTER_FCS,
	   -EINVAL);
	QP(abi_attr(&c, UVERBS_ATTR_CREATE_QP_FLAGS)->data = 1, -EINVAL);
	QP(abi_attr(&c, UVERBS_ATTR_CREATE_QP_FLAGS)->data =
	   IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK, 0);
	/* types */
	QP(abi_attr(&c, UVERBS_ATTR_CREATE_QP_TYPE)->data = IBV_QPT_RC, -EOPNOTSUPP);
	QP(abi_attr(&c, UVERBS_ATTR_CREATE_QP_TYPE)->data = 0, -EINVAL);
	QP(abi_attr(&c, UVERBS_ATTR_CREATE_QP_TYPE)->data = 0x1000, -EINVAL);
	QP(abi_val(&c, UVERBS_ATTR_CREATE_QP_SOURCE_QPN, 5, 4, 0), -EINVAL);
	QP(q.cap.max_inline_data = 2000, -EINVAL);
	QP(abi_obj(&c, ABI_OBJ, UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, pd, 0), -EINVAL);
	QP(abi_obj(&c, ABI_OBJ, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, 99, 0), -ENOENT);
	QP(abi_obj(&c, ABI_FD, UVERBS_ATTR_CREATE_QP_EVENT_FD, 0, 0), -EBADF);
}

static void
capability(void **state)
{
	struct abi *abi = *state;
	struct abi_call c;
	struct abi_qp q;

	if (!abi_can_lose(CAP_NET_RAW))
		skip();
	abi_qp_call(abi, &c, &q, pd, cq);
	assert_int_equal(abi_run_without(&c, abi->file, CAP_NET_RAW), -EPERM);
	assert_int_equal(abi_run_without(&c, abi->file, CAP_NET_ADMIN), 0);
}

/* Numbers are told to contexts with DevX only. */
static void
numbers(void **state)
{
	struct abi *abi = *state;
	struct emu_file *plain = abi_open(&abi->devs[0], false);
	uint32_t pd2 = abi_pd(plain, NULL), cq2 = abi_cq(abi, plain, NULL);
	struct abi_call c;
	struct abi_qp q;

	abi_qp_call(abi, &c, &q, pd, cq);
	assert_int_equal(abi_run(&c, abi->file), 0);
	assert_int_equal(q.resp.comp_mask, MLX5_IB_CREATE_QP_RESP_MASK_TIRN |
			 MLX5_IB_CREATE_QP_RESP_MASK_TISN | MLX5_IB_CREATE_QP_RESP_MASK_RQN |
			 MLX5_IB_CREATE_QP_RESP_MASK_SQN);
	assert_int_equal(q.qpn, q.resp.sqn);
	abi_qp_call(abi, &c, &q, pd2, cq2);
	assert_int_equal(abi_run(&c, plain), 0);
	assert_int_equal(q.resp.comp_mask, 0);
	assert_int_equal(q.resp.sqn | q.resp.rqn | q.resp.tirn | q.resp.tisn, 0);
	abi_close(plain);
}

/* create_rss_raw_qp_tir() */
static void
rss(void **state)
{
	struct abi *abi = *state;
	uint32_t wq = abi_wq(abi, abi->file, pd, cq, NULL), tbl = abi_ind_tbl(abi->file, wq);
	struct abi_call c;
	struct abi_qp q;

#define RSS(change, want) do { \
	abi_rss_call(&c, &q, pd, tbl); \
	change; \
	assert_int_equal(once(abi, &c), want); \
} while (0)
	RSS((void)0, 0);
	RSS(q.rss.rx_hash_fields_mask |= MLX5_RX_HASH_SRC_PORT_UDP, 0);
	RSS(q.rss.rx_hash_fields_mask |= MLX5_RX_HASH_SRC_IPV6, -EINVAL);
	RSS(q.rss.rx_hash_fields_mask |= MLX5_RX_HASH_SRC_PORT_UDP | MLX5_RX_HASH_DST_PORT_TCP,
	    -EINVAL);
	RSS(q.rss.rx_hash_fields_mask |= MLX5_RX_HASH_INNER, -EOPNOTSUPP);
	RSS(q.rss.rx_hash_function = 0, -EOPNOTSUPP);
	RSS(q.rss.rx_hash_function = 2, -EOPNOTSUPP);
	RSS(q.rss.rx_key_len = 39, -EINVAL);
	RSS(q.rss.rx_key_len = 0, -EINVAL);
	RSS(q.rss.comp_mask = 1, -EOPNOTSUPP);
	RSS(q.rss.flags = MLX5_QP_FLAG_TUNNEL_OFFLOADS, -EINVAL);
	RSS(q.rss.flags = MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC, 0);
	/* a table of two needs a hash */
	RSS(q.rss.rx_hash_fields_mask = 0, -EINVAL);
	/* such a QP only receives, and through the table */
	RSS(q.cap.max_recv_wr = 1, -EINVAL);
	RSS(abi_attr(&c, UVERBS_ATTR_CREATE_QP_FLAGS)->data =
	    IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK, -EINVAL);
	RSS(q.cap.max_recv_sge = 1, -EINVAL);
	RSS(q.cap.max_send_wr = 1, -ENOENT);
	RSS(abi_obj(&c, ABI_OBJ, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, cq, 0), -EINVAL);
	RSS(q.cap.max_send_wr = 1;
	    abi_obj(&c, ABI_OBJ, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, cq, 0), -EINVAL);
}

/* ---- states ---- */

static int
modify(struct emu_file *file, uint32_t qp, uint32_t mask, uint8_t to, uint8_t port)
{
	struct ib_uverbs_modify_qp in = {
		.qp_handle = qp, .attr_mask = mask, .qp_state = to, .port_num = port,
	};

	return abi_write(file, &(struct abi_write){ .cmd = IB_USER_VERBS_CMD_MODIFY_QP,
						    .in = &in, .in_len = sizeof(in) });
}

static int
query(struct emu_file *file, uint32_t qp, uint8_t *state)
{
	struct ib_uverbs_query_qp in = { .qp_handle = qp };
	struct ib_uverbs_query_qp_resp out;
	int err = abi_write(file, &(struct abi_write){ .cmd = IB_USER_VERBS_CMD_QUERY_QP,
		.in = &in, .in_len = sizeof(in), .out = &out, .out_len = sizeof(out) });

	*state = out.qp_state;
	if (err == 0) {
		/* the kernel does not tell what a user's send queue holds */
		assert_int_equal(out.max_send_wr, 0);
		assert_int_equal(out.max_send_sge, 0);
		assert_int_equal(out.max_recv_wr, 64);
		assert_int_equal(out.max_recv_sge, 1);
		assert_int_equal(out.sq_sig_all, 0);
	}
	return err;
}

/* Bring a QP that is in RESET to a state by the way of all QPs. */
static void
bring(struct emu_file *f, uint32_t qp, unsigned int state)
{
	if (state == IBV_QPS_ERR) {
		bring(f, qp, IBV_QPS_INIT);
		assert_int_equal(modify(f, qp, IBV_QP_STATE, IBV_QPS_ERR, 0), 0);
		return;
	}
	if (state >= IBV_QPS_INIT)
		assert_int_equal(modify(f, qp, IBV_QP_STATE | IBV_QP_PORT, IBV_QPS_INIT, 1), 0);
	if (state >= IBV_QPS_RTR)
		assert_int_equal(modify(f, qp, IBV_QP_STATE, IBV_QPS_RTR, 0), 0);
	if (state >= IBV_QPS_RTS)
		assert_int_equal(modify(f, qp, IBV_QP_STATE, IBV_QPS_RTS, 0), 0);
}

/* qp_state_table in core/verbs.c */
static void
transitions(void **state)
{
	enum { RESET = IBV_QPS_RESET, INIT, RTR, RTS, SQD, SQE, ERR };
	static const bool allowed[ERR + 1][ERR + 1] = {
		[RESET] = { [RESET] = true, [INIT] = true },
		[INIT] = { [RESET] = true, [INIT] = true, [RTR] = true, [ERR] = true },
		[RTR] = { [RESET] = true, [RTS] = true, [ERR] = true },
		[RTS] = { [RESET] = true, [RTS] = true, [ERR] = true }, /* SQD: not emulated */
		[ERR] = { [RESET] = true, [ERR] = true },
	};
	struct abi *abi = *state;
	struct emu_file *f = abi->file;
	uint32_t qp = abi_qp(abi, f, pd, cq);
	uint8_t got;

	for (unsigned int from = RESET; from <= ERR; from++) {
		for (unsigned int to = RESET; to <= ERR + 1; to++) {
			bool init = from == RESET && to == INIT, want;
			int err;

			if (from == SQD || from == SQE)
				continue;
			bring(f, qp, from);
			want = to <= ERR && allowed[from][to];
			err = modify(f, qp, IBV_QP_STATE | (init ? IBV_QP_PORT : 0), to, init);
			if (err != (want ? 0 : -EINVAL))
				fail_msg("%u to %u: %d", from, to, err);
			assert_int_equal(query(f, qp, &got), 0);
			assert_int_equal(got, want ? to : from);
			assert_int_equal(modify(f, qp, IBV_QP_STATE, RESET, 0), 0);
		}
	}
}

static void
masks(void **state)
{
	struct abi *abi = *state;
	struct emu_file *f = abi->file;
	uint32_t qp = abi_qp(abi, f, pd, cq);
	uint32_t wq = abi_wq(abi, f, pd, cq, NULL), rss_qp;
	struct abi_call c;
	struct abi_qp q;
	uint8_t got;

	assert_int_equal(modify(f, 99, IBV_QP_STATE, IBV_QPS_RESET, 0), -EINVAL);
	assert_int_equal(modify(f, cq, IBV_QP_STATE, IBV_QPS_RESET, 0), -EINVAL);
	assert_int_equal(query(f, 99, &got), -EINVAL);
	/* the port is needed, and must be one */
	assert_int_equal(modify(f, qp, IBV_QP_STATE, IBV_QPS_INIT, 1), -EINVAL);
	assert_int_equal(modify(f, qp, IBV_QP_STATE | IBV_QP_PORT, IBV_QPS_INIT, 0), -EINVAL);
	assert_int_equal(modify(f, qp, IBV_QP_STATE | IBV_QP_PORT, IBV_QPS_INIT, 2), -EINVAL);
	/* what other kinds of QP have */
	assert_int_equal(modify(f, qp, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_QKEY, IBV_QPS_INIT, 1),
			 -EINVAL);
	assert_int_equal(modify(f, qp, 1u << 28, 0, 0), -EOPNOTSUPP);
	assert_int_equal(query(f, qp, &got), 0);
	assert_int_equal(got, IBV_QPS_RESET);
	assert_int_equal(modify(f, qp, IBV_QP_STATE | IBV_QP_PORT, IBV_QPS_INIT, 1), 0);
	assert_int_equal(modify(f, qp, IBV_QP_PORT, 0, 1), -EINVAL);
	assert_int_equal(modify(f, qp, IBV_QP_STATE | IBV_QP_RATE_LIMIT, IBV_QPS_RTR, 0), -EINVAL);
	/* a QP that is a TIR has no state */
	abi_rss_call(&c, &q, pd, abi_ind_tbl(f, wq));
	assert_int_equal(abi_run(&c, f), 0);
	rss_qp = abi_got(&c, UVERBS_ATTR_CREATE_QP_HANDLE);
	assert_int_equal(modify(f, rss_qp, IBV_QP_STATE, IBV_QPS_RESET, 0), -ENOSYS);
	assert_int_equal(query(f, rss_qp, &got), -ENOSYS);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, abi_teardown)
	const struct CMUnitTest tests[] = {
		TEST(requests), TEST(capability), TEST(numbers), TEST(rss), TEST(transitions),
		TEST(masks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
