/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <linux/capability.h>
#include <sys/mman.h>

#include "abi.h"

/* Completion, work and raw packet queues: sizes, flags, states, who may. */

#define EX IB_USER_VERBS_CMD_FLAG_EXTENDED

/* Run the call and let what it made go. */
static int
once(struct abi *abi, struct abi_call *c, uint16_t id, int (*release)(struct emu_file *, uint32_t))
{
	int err = abi_run(c, abi->file);

	if (err == 0)
		assert_int_equal(release(abi->file, abi_got(c, id)), 0);
	return err;
}

/* ---- CQ ---- */

static void
cq_sizes(void **state)
{
	static const struct {
		uint32_t cqe, want;
		int err;
	} cases[] = {
		{ 1, 1, 0 }, { 2, 3, 0 }, { 3, 3, 0 }, { 4, 7, 0 }, { 63, 63, 0 }, { 33, 63, 0 },
		{ 0, 0, -EINVAL }, { 1 << 22, 0, -EINVAL }, { UINT32_MAX, 0, -EINVAL },
		{ 64, 0, -EFAULT },             /* 128 entries do not fit the strip */
		{ (1 << 22) - 1, 0, -EFAULT },
	};
	struct abi *abi = *state;
	uint8_t *strip = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0);
	struct mlx5_ib_create_cq req;
	struct abi_call c;

	munmap(strip + 4096, 4096);
	for (unsigned int i = 0; i < EMU_COUNT(cases); i++) {
		abi_cq_call(abi, &c, &req);
		abi_attr(&c, UVERBS_ATTR_CREATE_CQ_CQE)->data = cases[i].cqe;
		req.buf_addr = (uintptr_t)strip;
		if (once(abi, &c, UVERBS_ATTR_CREATE_CQ_HANDLE, abi_cq_free) != cases[i].err)
			fail_msg("cqe %u", cases[i].cqe);
		if (cases[i].err == 0)
			assert_int_equal(*(uint32_t *)(uintptr_t)
				abi_got(&c, UVERBS_ATTR_CREATE_CQ_RESP_CQE), cases[i].want);
	}
	munmap(strip, 4096);
}

static void
cq_requests(void **state)
{
	struct abi *abi = *state;
	uint8_t *ro = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct mlx5_ib_create_cq req;
	struct abi_call c;

#define CQ(change, want) do { \
	abi->used = 0; \
	abi_cq_call(abi, &c, &req); \
	change; \
	assert_int_equal(once(abi, &c, UVERBS_ATTR_CREATE_CQ_HANDLE, abi_cq_free), want); \
} while (0)
	CQ(req.cqe_size = 128, 0);
	CQ(req.cqe_size = 0, -EINVAL);
	CQ(req.cqe_size = 256, -EINVAL);
	CQ(req.flags = 0, -EINVAL); /* no UAR of the kernel's in this kind of context */
	CQ(req.flags |= 0x80, -EINVAL);
	CQ(req.flags |= MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS, -EOPNOTSUPP);
	CQ(req.flags |= MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD, -EOPNOTSUPP);
	CQ(req.flags |= MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD; req.cqe_size = 128, 0);
	CQ(req.reserved0 = 1, -EINVAL);
	CQ(req.reserved1 = 1, -EINVAL);
	CQ(req.buf_addr = abi_hole(), -EFAULT);
	CQ(req.buf_addr = (uintptr_t)ro, -EFAULT);
	CQ(req.buf_addr = UINT64_MAX - 4095, -EINVAL);
	CQ(req.buf_addr += 32, -EINVAL);
	CQ(req.db_addr = abi_hole(), -EFAULT);
	CQ(req.db_addr += 4, -EINVAL);
	CQ(req.cqe_comp_en = 1; req.cqe_comp_res_format = MLX5_IB_CQE_RES_FORMAT_CSUM, 0);
	CQ(req.cqe_comp_en = 1; req.cqe_comp_res_format = MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX,
	   -EOPNOTSUPP);
	CQ(req.cqe_comp_en = 1; req.cqe_comp_res_format = 8, -EINVAL);
	CQ(abi_attr(&c, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR)->data = 15, 0);
	CQ(abi_attr(&c, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR)->data = 16, -EINVAL);
	CQ(abi_attr(&c, UVERBS_ATTR_CREATE_CQ_FLAGS)->data = 3, 0); /* timestamps, overrun */
	CQ(abi_attr(&c, UVERBS_ATTR_CREATE_CQ_FLAGS)->data = 4, -EINVAL);
	CQ(abi_attr(&c, UVERBS_ATTR_CREATE_CQ_FLAGS)->data = 1ull << 33, -EINVAL);
	/* descriptors that are no completion channel of this file */
	CQ(abi_obj(&c, ABI_FD, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, 0, 0), -EBADF);
	CQ(abi_obj(&c, ABI_FD, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, 9999, 0), -EBADF);
	CQ(abi_obj(&c, ABI_FD, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, 1ull << 40, 0), -EINVAL);
	CQ(abi_obj(&c, ABI_FD, UVERBS_ATTR_CREATE_CQ_EVENT_FD, 0, 0), -EBADF);
	munmap(ro, 4096);
}

/* ---- WQ ---- */

static void
wq_requests(void **state)
{
	struct abi *abi = *state;
	struct mlx5_ib_create_wq req;
	struct abi_call c;
	uint32_t pd = abi_pd(abi->file, NULL), cq = abi_cq(abi, abi->file, NULL);
	const size_t used = abi->used;

#define WQ(change, want) do { \
	abi->used = used; \
	abi_wq_call(abi, &c, &req, pd, cq); \
	change; \
	assert_int_equal(once(abi, &c, UVERBS_ATTR_CREATE_WQ_HANDLE, abi_wq_free), want); \
} while (0)
	WQ((void)0, 0);
	WQ(req.rq_wqe_count = 1, 0);
	WQ(req.rq_wqe_count = 0, -EINVAL);
	WQ(req.rq_wqe_count = 3, -EINVAL);
	WQ(req.rq_wqe_count = 1 << 16, -EINVAL);
	WQ(req.rq_wqe_shift = 3, -EINVAL);
	WQ(req.rq_wqe_shift = 10, -EINVAL);
	WQ(req.rq_wqe_shift = 32, -EINVAL);
	WQ(req.comp_mask = MLX5_IB_CREATE_WQ_STRIDING_RQ, -EOPNOTSUPP);
	WQ(req.comp_mask = 2, -EOPNOTSUPP);
	WQ(req.flags = MLX5_WQ_FLAG_SIGNATURE, -EOPNOTSUPP);
	WQ(req.buf_addr = abi_hole(), -EFAULT);
	WQ(req.buf_addr += 16, -EINVAL);
	WQ(req.db_addr = abi_hole(), -EFAULT);
	WQ(req.db_addr += 4, -EINVAL);
	WQ(abi_attr(&c, UVERBS_ATTR_CREATE_WQ_TYPE)->data = 1, -EINVAL);
	WQ(abi_attr(&c, UVERBS_ATTR_CREATE_WQ_MAX_WR)->data = 40000, -EINVAL);
	WQ(abi_attr(&c, UVERBS_ATTR_CREATE_WQ_FLAGS)->data = 16, -EINVAL);
	for (uint64_t flag = 1; flag <= 8; flag <<= 1)
		WQ(abi_attr(&c, UVERBS_ATTR_CREATE_WQ_FLAGS)->data = flag, -EOPNOTSUPP);
}

static int
modify_wq(struct emu_file *file, uint32_t wq, uint32_t mask, uint32_t from, uint32_t to)
{
	struct ib_uverbs_ex_modify_wq in = {
		.attr_mask = mask, .wq_handle = wq, .wq_state = to, .curr_wq_state = from,
	};
	struct mlx5_ib_modify_wq mlx5 = { 0 };

	return abi_write(file, &(struct abi_write){ .cmd = EX | IB_USER_VERBS_EX_CMD_MODIFY_WQ,
		.in = &in, .in_len = sizeof(in), .uhw_in = &mlx5, .uhw_in_len = sizeof(mlx5) });
}

static void
wq_states(void **state)
{
	enum { RESET = IBV_WQS_RESET, RDY = IBV_WQS_RDY, ERR = IBV_WQS_ERR };
	const uint32_t st = IBV_WQ_ATTR_STATE, cur = IBV_WQ_ATTR_CURR_STATE;
	struct abi *abi = *state;
	struct emu_file *f = abi->file;
	uint32_t pd = abi_pd(f, NULL), cq = abi_cq(abi, f, NULL);
	uint32_t wq = abi_wq(abi, f, pd, cq, NULL);
	struct ib_uverbs_ex_modify_wq in = { .attr_mask = st, .wq_handle = wq };

	assert_int_equal(modify_wq(f, wq, 0, 0, RDY), -EINVAL);
	assert_int_equal(modify_wq(f, wq, 8, 0, RDY), -EINVAL);
	assert_int_equal(modify_wq(f, 99, st, 0, RDY), -EINVAL);
	assert_int_equal(modify_wq(f, cq, st, 0, RDY), -EINVAL);
	assert_int_equal(modify_wq(f, wq, st, 0, 3), -EINVAL);
	assert_int_equal(modify_wq(f, wq, cur, 3, 0), -EINVAL);
	assert_int_equal(modify_wq(f, wq, st | IBV_WQ_ATTR_FLAGS, 0, RDY), -EOPNOTSUPP);
	assert_int_equal(modify_wq(f, wq, st | cur, RDY, ERR), -EINVAL); /* it is in RESET */
	assert_int_equal(modify_wq(f, wq, st | cur, RESET, RDY), 0);
	assert_int_equal(modify_wq(f, wq, st | cur, RESET, RDY), -EINVAL);
	assert_int_equal(modify_wq(f, wq, st, 0, ERR), 0);
	assert_int_equal(modify_wq(f, wq, st, 0, RDY), -EINVAL);
	assert_int_equal(modify_wq(f, wq, st, 0, RESET), 0);
	assert_int_equal(modify_wq(f, wq, st, 0, RDY), 0);
	/* mlx5 wants its part, which says nothing */
	assert_int_equal(abi_write(f, &(struct abi_write){
		.cmd = EX | IB_USER_VERBS_EX_CMD_MODIFY_WQ, .in = &in, .in_len = sizeof(in) }),
		-EINVAL);
	assert_int_equal(abi_write(f, &(struct abi_write){
		.cmd = EX | IB_USER_VERBS_EX_CMD_MODIFY_WQ, .in = &in, .in_len = sizeof(in),
		.uhw_in = "\1\0\0\0\0\0\0", .uhw_in_len = 8 }), -EOPNOTSUPP);
}

/* ---- indirection table ---- */

static int
make_tbl(struct emu_file *file, uint32_t log_size, const uint32_t *wqs, unsigned int n,
	 uint32_t comp_mask)
{
	union {
		struct ib_uverbs_ex_create_rwq_ind_table req;
		uint32_t words[2 + 8];  /* comp_mask, size, handles */
	} in = { .words = { comp_mask, log_size } };
	struct ib_uverbs_ex_create_rwq_ind_table_resp out;
	int err;

	memcpy(in.words + 2, wqs, n * 4);
	err = abi_write(file, &(struct abi_write){
		.cmd = EX | IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL, .in = &in,
		.in_len = sizeof(in.req) + n * 4, .out = &out, .out_len = sizeof(out) });
	if (err == 0)
		assert_int_equal(abi_destroy(file, UVERBS_OBJECT_RWQ_IND_TBL,
			UVERBS_METHOD_RWQ_IND_TBL_DESTROY,
			UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE, out.ind_tbl_handle), 0);
	return err;
}

static void
tables(void **state)
{
	struct abi *abi = *state;
	struct emu_file *f = abi->file;
	uint32_t pd = abi_pd(f, NULL), cq = abi_cq(abi, f, NULL);
	uint32_t wq = abi_wq(abi, f, pd, cq, NULL);
	const uint32_t wqs[] = { wq, wq, wq, wq }, bad[] = { wq, cq }, none[] = { wq, 99 };

	assert_int_equal(make_tbl(f, 1, wqs, 2, 0), 0);
	assert_int_equal(make_tbl(f, 2, wqs, 4, 0), 0);
	assert_int_equal(make_tbl(f, 2, wqs, 3, 0), -EINVAL);
	assert_int_equal(make_tbl(f, 12, wqs, 4, 0), -EINVAL);
	assert_int_equal(make_tbl(f, 0xffffffff, wqs, 4, 0), -EINVAL);
	assert_int_equal(make_tbl(f, 1, bad, 2, 0), -EINVAL);
	assert_int_equal(make_tbl(f, 1, none, 2, 0), -EINVAL);
	assert_int_equal(make_tbl(f, 1, wqs, 2, 1), -EOPNOTSUPP);
	assert_int_equal(make_tbl(f, 0, wqs, 0, 0), -ENOSPC);
	/* nothing of the refused ones holds the WQ */
	assert_int_equal(abi_wq_free(f, wq), 0);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, abi_setup, abi_teardown)
	const struct CMUnitTest tests[] = {
		TEST(cq_sizes), TEST(cq_requests), TEST(wq_requests), TEST(wq_states),
		TEST(tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
