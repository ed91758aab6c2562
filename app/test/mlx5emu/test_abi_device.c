/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <sys/mman.h>

#include "abi.h"

/* The call's head, contexts, what the device says, and what becomes of objects. */

#define EX IB_USER_VERBS_CMD_FLAG_EXTENDED

/* ---- the head: ib_uverbs_ioctl() and ib_uverbs_cmd_verbs() ---- */

static void
good_query(struct abi_call *c)
{
	static uint8_t out[sizeof(struct ib_uverbs_query_port_resp_ex)];

	abi_begin(c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);
	abi_val(c, UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1, 8, 0);
	abi_out(c, UVERBS_ATTR_QUERY_PORT_RESP, out, sizeof(out), 0);
}

static void
head(void **state)
{
	struct abi *abi = *state;
	struct abi_call c;

	good_query(&c);
	assert_int_equal(abi_run(&c, abi->file), 0);
	assert_int_equal(abi_attr(&c, UVERBS_ATTR_QUERY_PORT_RESP)->flags,
			 UVERBS_ATTR_F_MANDATORY | UVERBS_ATTR_F_VALID_OUTPUT);
	c.hdr.length++;
	assert_int_equal(abi_run(&c, abi->file), -EINVAL);
	c.hdr.length = 0;
	assert_int_equal(abi_run(&c, abi->file), -EINVAL);
	good_query(&c);
	c.hdr.num_attrs++;
	assert_int_equal(abi_run(&c, abi->file), -EINVAL);
	c.hdr.num_attrs = 255; /* longer than a page */
	c.hdr.length = sizeof(c.hdr) + 255 * sizeof(c.hdr.attrs[0]);
	assert_int_equal(abi_run(&c, abi->file), -EINVAL);
	good_query(&c);
	c.hdr.reserved1 = 1;
	assert_int_equal(abi_run(&c, abi->file), -EPROTONOSUPPORT);
	good_query(&c);
	c.hdr.reserved2 = 1;
	assert_int_equal(abi_run(&c, abi->file), -EPROTONOSUPPORT);
	good_query(&c);
	c.hdr.object_id = 0x7ff;
	assert_int_equal(abi_run(&c, abi->file), -EPROTONOSUPPORT);
	good_query(&c);
	c.hdr.method_id = 0x7f;
	assert_int_equal(abi_run(&c, abi->file), -EPROTONOSUPPORT);
	good_query(&c);
	c.hdr.driver_id = RDMA_DRIVER_UNKNOWN;
	assert_int_equal(abi_run(&c, abi->file), -EINVAL);
}

/* Head or attributes of which nothing is there, or where nothing can be written. */
static void
head_faults(void **state)
{
	struct abi *abi = *state;
	uint8_t *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int before = emu_objects_alive(NULL);
	struct ib_uverbs_ioctl_hdr *hdr;
	struct abi_call c;

	if (!abi_hole_is_noticed())
		skip();
	emu_lock();
	assert_int_equal(emu_uapi_ioctl(abi->file, (void *)(uintptr_t)abi_hole()), -EFAULT);
	emu_unlock();
	abi_begin(&c, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC);
	abi_obj(&c, ABI_NEW_FD, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0, 0);
	assert_int_equal(munmap(p + 4096, 4096), 0);
	hdr = memcpy(p + 4096 - sizeof(*hdr), &c.hdr, sizeof(*hdr));
	emu_lock();
	assert_int_equal(emu_uapi_ioctl(abi->file, hdr), -EFAULT);
	emu_unlock();
	memcpy(p, c.room, sizeof(*hdr) + sizeof(c.hdr.attrs[0]));
	assert_int_equal(mprotect(p, 4096, PROT_READ), 0);
	emu_lock();
	assert_int_equal(emu_uapi_ioctl(abi->file, (void *)p), -EFAULT);
	emu_unlock();
	assert_int_equal(emu_objects_alive(NULL), before);
	munmap(p, 4096);
}

/* ---- write commands in their ioctl ---- */

static void
write_commands(void **state)
{
	static const struct {
		uint32_t cmd;
		size_t in, out;
		int err;
	} cases[] = {
		{ EX | IB_USER_VERBS_CMD_QUERY_DEVICE, 16, 256, 0 },
		/* the kernel's response grew over time: this is its first form */
		{ EX | IB_USER_VERBS_CMD_QUERY_DEVICE, 16, 184, 0 },
		{ EX | IB_USER_VERBS_CMD_QUERY_DEVICE, 7, 256, -ENOSPC },
		{ EX | IB_USER_VERBS_CMD_QUERY_DEVICE, 16, 100, -ENOSPC },
		{ IB_USER_VERBS_CMD_QUERY_DEVICE, 8, 178, 0 },
		{ IB_USER_VERBS_CMD_QUERY_DEVICE, 7, 178, -ENOSPC },
		/* libibverbs asks so whether write commands come by ioctl: has_ioctl_write() */
		{ IB_USER_VERBS_CMD_GET_CONTEXT, 4, 4, -ENOSPC },
		{ IB_USER_VERBS_CMD_MODIFY_SRQ, 64, 64, -EOPNOTSUPP },
		{ IB_USER_VERBS_CMD_OPEN_QP, 64, 64, -EOPNOTSUPP },
		{ 0x77, 64, 64, -EOPNOTSUPP },
		{ EX | 0x77, 64, 64, -EOPNOTSUPP },
		{ 0x100, 64, 64, -EINVAL },
		{ 0x40000000, 64, 64, -EINVAL },
	};
	struct abi *abi = *state;
	struct ib_uverbs_ex_query_device_resp resp;
	struct mlx5_ib_query_device_resp mlx5;
	uint8_t in[64] = { 0 }, out[256];

	for (unsigned int i = 0; i < EMU_COUNT(cases); i++) {
		int err = abi_write(abi->file, &(struct abi_write){ .cmd = cases[i].cmd,
			.in = in, .in_len = cases[i].in, .out = out, .out_len = cases[i].out });

		if (err != cases[i].err)
			fail_msg("command 0x%x in %zu out %zu: %d", cases[i].cmd, cases[i].in,
				 cases[i].out, err);
	}
	/* what did not fit is not said to be there */
	assert_int_equal(abi_write(abi->file, &(struct abi_write){
		.cmd = EX | IB_USER_VERBS_CMD_QUERY_DEVICE, .in = in, .in_len = 16, .out = &resp,
		.out_len = 200, .uhw_out = &mlx5, .uhw_out_len = 40 }), 0);
	assert_int_equal(resp.response_length, 200);
	assert_int_equal(mlx5.response_length, 40);
	in[0] = 1; /* comp_mask */
	assert_int_equal(abi_write(abi->file, &(struct abi_write){
		.cmd = EX | IB_USER_VERBS_CMD_QUERY_DEVICE, .in = in, .in_len = 16, .out = out,
		.out_len = 256 }), -EINVAL);
}

static void
ports(void **state)
{
	struct abi *abi = *state;
	struct abi_call c;

	for (int port = 0; port < 4; port++) {
		good_query(&c);
		abi_attr(&c, UVERBS_ATTR_QUERY_PORT_PORT_NUM)->data = port;
		assert_int_equal(abi_run(&c, abi->file), port == 1 ? 0 : -EINVAL);
	}
	good_query(&c);
	abi_attr(&c, UVERBS_ATTR_QUERY_PORT_PORT_NUM)->data = 257; /* u8 */
	assert_int_equal(abi_run(&c, abi->file), -EINVAL);
}

/* ---- contexts: mlx5_ib_alloc_ucontext() ---- */

static int
get_context(struct emu_file *file, const void *req, size_t len, void *resp, size_t resp_len)
{
	struct abi_call c;

	abi_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	abi_in(&c, UVERBS_ATTR_UHW_IN, req, len, 0);
	abi_out(&c, UVERBS_ATTR_UHW_OUT, resp, resp_len, 0);
	return abi_run(&c, file);
}

static void
contexts(void **state)
{
	const struct mlx5_ib_alloc_ucontext_req_v2 good = {
		.total_num_bfregs = 16, .num_low_latency_bfregs = 4,
		.lib_caps = MLX5_LIB_CAP_DYN_UAR,
	};
	struct mlx5_ib_alloc_ucontext_req_v2 req;
	struct mlx5_ib_alloc_ucontext_resp resp;
	struct abi *abi = *state;
	struct emu_file *file = abi_open_bare(&abi->devs[0]);

#define TRY(change, want) do { \
	req = good; \
	change; \
	assert_int_equal(get_context(file, &req, sizeof(req), &resp, sizeof(resp)), want); \
	assert_int_equal(file->has_context, (want) == 0); \
} while (0)
	TRY(req.flags = 2, -EOPNOTSUPP);
	TRY(req.comp_mask = 1, -EOPNOTSUPP);
	TRY(req.reserved0 = 1, -EOPNOTSUPP);
	TRY(req.reserved1 = 1, -EOPNOTSUPP);
	TRY(req.reserved2 = 1, -EOPNOTSUPP);
	TRY(req.num_low_latency_bfregs = 16, -EINVAL);
	TRY(req.lib_caps = 0, -EOPNOTSUPP); /* static UARs: not emulated */
	assert_int_equal(get_context(file, &good, 7, &resp, sizeof(resp)), -EINVAL);
	assert_int_equal(get_context(file, &good, 12, &resp, sizeof(resp)), -EINVAL);
	if (abi_hole_is_noticed())
		assert_int_equal(get_context(file, &good, sizeof(good),
					     (void *)(uintptr_t)abi_hole(), sizeof(resp)), -EFAULT);
	assert_false(file->has_context);
	TRY(req.flags = 0, 0);
	assert_false(file->devx);
	assert_int_equal(get_context(file, &good, sizeof(good), &resp, sizeof(resp)), -EINVAL);
	assert_int_equal(resp.tot_bfregs, 0);
	assert_int_equal(resp.response_length, sizeof(resp));
	abi_close(file);
	/* an older library has room for less, and is told so */
	file = abi_open_bare(&abi->devs[0]);
	assert_int_equal(get_context(file, &good, sizeof(good), &resp, 64), 0);
	assert_int_equal(resp.response_length, 64);
	abi_close(file);
}

/* ---- objects ---- */

static void
handles(void **state)
{
	struct abi *abi = *state;
	uint32_t h[200];

	for (unsigned int i = 0; i < 200; i++) {
		h[i] = abi_pd(abi->file, NULL);
		assert_int_equal(h[i], i);
	}
	/* the lowest free one is given again, as xa_alloc() does */
	assert_int_equal(abi_pd_free(abi->file, 150), 0);
	assert_int_equal(abi_pd_free(abi->file, 7), 0);
	assert_int_equal(abi_pd_free(abi->file, 7), -ENOENT);
	assert_int_equal(abi_pd(abi->file, NULL), 7);
	assert_int_equal(abi_pd(abi->file, NULL), 150);
	assert_int_equal(abi_pd(abi->file, NULL), 200);
}

static void
contexts_are_separate(void **state)
{
	struct abi *abi = *state;
	struct emu_file *other = abi_open(&abi->devs[0], false);
	uint32_t pdn1, pdn2, pdn3;

	assert_int_equal(abi_pd(abi->file, &pdn1), 0);
	assert_int_equal(abi_pd_free(other, 0), -ENOENT);
	assert_int_equal(abi_pd(other, &pdn2), 0);
	assert_int_not_equal(pdn1, pdn2); /* of one device */
	assert_int_equal(abi_pd_free(other, 0), 0);
	assert_int_equal(abi_pd(other, &pdn3), 0);
	assert_int_not_equal(pdn3, pdn1);
	abi_close(other);
	assert_int_equal(emu_objects_alive(NULL), 1);
}

/* What holds what: nothing goes while something stands on it. */
static void
references(void **state)
{
	struct abi *abi = *state;
	struct emu_file *f = abi->file;
	uint32_t pd = abi_pd(f, NULL), cq = abi_cq(abi, f, NULL);
	uint32_t wq = abi_wq(abi, f, pd, cq, NULL), tbl = abi_ind_tbl(f, wq), qp;
	struct abi_call c;
	struct abi_qp q;

	abi_rss_call(&c, &q, pd, tbl);
	assert_int_equal(abi_run(&c, f), 0);
	qp = abi_got(&c, UVERBS_ATTR_CREATE_QP_HANDLE);
#define TBL_FREE() abi_destroy(f, UVERBS_OBJECT_RWQ_IND_TBL, UVERBS_METHOD_RWQ_IND_TBL_DESTROY, \
		UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE, tbl)
	assert_int_equal(abi_pd_free(f, pd), -EBUSY);
	assert_int_equal(abi_cq_free(f, cq), -EBUSY);
	assert_int_equal(abi_wq_free(f, wq), -EBUSY);
	assert_int_equal(TBL_FREE(), -EBUSY);
	assert_int_equal(abi_qp_free(f, qp), 0);
	assert_int_equal(abi_wq_free(f, wq), -EBUSY);
	assert_int_equal(TBL_FREE(), 0);
	assert_int_equal(abi_cq_free(f, cq), -EBUSY);
	assert_int_equal(abi_wq_free(f, wq), 0);
	qp = abi_qp(abi, f, pd, cq);
	assert_int_equal(abi_cq_free(f, cq), -EBUSY);
	assert_int_equal(abi_pd_free(f, pd), -EBUSY);
	assert_int_equal(abi_qp_free(f, qp), 0);
	assert_int_equal(abi_cq_free(f, cq), 0);
	assert_int_equal(abi_pd_free(f, pd), 0);
}

/* Closing takes everything, whatever stands on what, and counts it. */
static void
close_cleans_up(void **state)
{
	struct abi *abi = *state;
	struct emu_file *f = abi_open(&abi->devs[0], true);
	uint32_t pd = abi_pd(f, NULL), cq = abi_cq(abi, f, NULL), dm = abi_dm(f, 4096), mr, id;
	uint32_t wq = abi_wq(abi, f, pd, cq, NULL);

	abi_ind_tbl(f, wq);
	abi_qp(abi, f, pd, cq);
	assert_int_equal(abi_dm_mr_try(f, pd, dm, 0, 64, IBV_ACCESS_ZERO_BASED, &mr, NULL), 0);
	abi_umem(f, abi_pages(abi, 4096), 4096, &id);
	assert_int_equal(emu_objects_alive(NULL), 8);
	emu_objects_reclaimed = 0;
	abi_close(f);
	assert_int_equal(emu_objects_reclaimed, 8);
	assert_int_equal(emu_objects_alive(NULL), 0);
	assert_int_equal(abi->devs[0].memic.bytes_used, 0);
	assert_true(LIST_EMPTY(&abi->devs[0].cqs));
	assert_true(LIST_EMPTY(&abi->devs[0].rqs));
	assert_true(LIST_EMPTY(&abi->devs[0].sqs));
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, abi_setup, abi_teardown)
	const struct CMUnitTest tests[] = {
		TEST(head), TEST(head_faults), TEST(write_commands), TEST(ports), TEST(contexts),
		TEST(handles), TEST(contexts_are_separate), TEST(references),
		TEST(close_cleans_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
