/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <sys/mman.h>

#include "abi.h"

/* Host memory: ib_uverbs_reg_mr() in core/uverbs_cmd.c and ib_umem_get() below it. */

#define PAGE 4096ul
#define LW IBV_ACCESS_LOCAL_WRITE

/* Writable, read-only, not there, writable again: a page each. */
static uintptr_t
strip(void)
{
	uint8_t *p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(mprotect(p + PAGE, PAGE, PROT_READ), 0);
	assert_int_equal(munmap(p + 2 * PAGE, PAGE), 0);
	return (uintptr_t)p;
}

static void
memory(void **state)
{
	const uintptr_t p = strip();
	const struct {
		uint64_t start, len, va;
		uint32_t access;
		int err;
	} cases[] = {
		{ p, PAGE, p, LW, 0 },
		{ p, 1, p, 0, 0 },
		{ p + 100, 10, p + 100, LW, 0 },
		/* another address with the same place in the page is fine */
		{ p + 100, 10, 0x7000064, LW, 0 },
		{ p + 100, 10, 0x64, LW, 0 },
		{ p + 100, 10, 0x65, LW, -EINVAL },
		{ p + 100, 10, 0, LW, -EINVAL },
		/* read-only memory may be read */
		{ p, 2 * PAGE, p, 0, 0 },
		{ p, 2 * PAGE, p, IBV_ACCESS_REMOTE_READ, 0 },
		{ p, 2 * PAGE, p, LW, -EFAULT },
		{ p + PAGE, 1, p + PAGE, LW, -EFAULT },
		{ p + PAGE, 1, p + PAGE, IBV_ACCESS_MW_BIND, -EFAULT },
		/* a hole */
		{ p, 4 * PAGE, p, 0, -EFAULT },
		{ p + 2 * PAGE, 1, p + 2 * PAGE, 0, -EFAULT },
		{ p + 2 * PAGE - 1, 2, p + 2 * PAGE - 1, 0, -EFAULT },
		{ p + 3 * PAGE - 1, 2, p + 3 * PAGE - 1, 0, -EFAULT },
		{ 0, PAGE, 0, LW, -EFAULT },
		{ UINT64_MAX & ~4095ul, PAGE, 0, 0, -EINVAL },
		{ p, UINT64_MAX, p, 0, -EINVAL },
		{ p, UINT64_MAX - p, p, 0, -EINVAL },
		{ p, 0, p, LW, -EINVAL },
		{ UINT64_MAX & ~4095ul, 0, 0, 0, -EINVAL },
	};
	struct abi *abi = *state;
	uint32_t pd = abi_pd(abi->file, NULL), mr;

	for (unsigned int i = 0; i < EMU_COUNT(cases); i++) {
		int err = abi_mr_try(abi->file, pd, cases[i].start, cases[i].len, cases[i].va,
				     cases[i].access, &mr);

		if (err != cases[i].err)
			fail_msg("case %u: %s, not %s", i, strerrorname_np(-err),
				 strerrorname_np(-cases[i].err));
		if (err == 0)
			assert_int_equal(abi_mr_free(abi->file, mr), 0);
	}
	munmap((void *)p, 2 * PAGE);
	munmap((void *)(p + 3 * PAGE), PAGE);
}

static void
access_flags(void **state)
{
	static const struct {
		uint32_t access;
		int err;
	} cases[] = {
		{ 0, 0 },
		{ LW, 0 },
		{ LW | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		  IBV_ACCESS_REMOTE_ATOMIC, 0 },
		{ LW | IBV_ACCESS_RELAXED_ORDERING, 0 },
		{ LW | IBV_ACCESS_HUGETLB, 0 },
		{ LW | 1u << 25, 0 },           /* optional flags may be ignored */
		{ IBV_ACCESS_REMOTE_WRITE, -EINVAL },
		{ IBV_ACCESS_REMOTE_ATOMIC, -EINVAL },
		{ LW | IBV_ACCESS_ON_DEMAND, -EOPNOTSUPP },
		{ LW | 1u << 10, -EINVAL },
		{ LW | 1u << 30, -EINVAL },
	};
	struct abi *abi = *state;
	uint32_t pd = abi_pd(abi->file, NULL), mr;
	uint64_t p = (uintptr_t)abi_pages(abi, PAGE);

	for (unsigned int i = 0; i < EMU_COUNT(cases); i++) {
		int err = abi_mr_try(abi->file, pd, p, PAGE, p, cases[i].access, &mr);

		if (err != cases[i].err)
			fail_msg("access 0x%x: %d", cases[i].access, err);
		if (err == 0)
			assert_int_equal(abi_mr_free(abi->file, mr), 0);
	}
}

/* create_real_mr() in hw/mlx5/mr.c takes the address it is given, zero-based or not. */
static void
zero_based(void **state)
{
	struct abi *abi = *state;
	uint32_t pd = abi_pd(abi->file, NULL), mr, keys[2];
	uint64_t p = (uintptr_t)abi_pages(abi, PAGE), iova, len;
	struct abi_call c;

	assert_int_equal(abi_mr_try(abi->file, pd, p, 64, p, LW | IBV_ACCESS_ZERO_BASED, &mr), 0);
	abi_begin(&c, UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR);
	abi_obj(&c, ABI_OBJ, UVERBS_ATTR_QUERY_MR_HANDLE, mr, 0);
	abi_out(&c, UVERBS_ATTR_QUERY_MR_RESP_LKEY, &keys[0], 4, 0);
	abi_out(&c, UVERBS_ATTR_QUERY_MR_RESP_RKEY, &keys[1], 4, 0);
	abi_out(&c, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, &len, 8, 0);
	abi_out(&c, UVERBS_ATTR_QUERY_MR_RESP_IOVA, &iova, 8, 0);
	assert_int_equal(abi_run(&c, abi->file), 0);
	assert_int_equal(iova, p);
	assert_int_equal(len, 64);
	assert_int_equal(abi_mr_free(abi->file, mr), 0);
}

static void
handles(void **state)
{
	struct abi *abi = *state;
	struct emu_file *other = abi_open(&abi->devs[0], false);
	uint32_t pd = abi_pd(abi->file, NULL), dm = abi_dm(abi->file, 64), mr;
	uint64_t p = (uintptr_t)abi_pages(abi, PAGE);
	struct ib_uverbs_dereg_mr in;

	assert_int_equal(abi_mr_try(abi->file, 99, p, PAGE, p, 0, &mr), -EINVAL);
	assert_int_equal(abi_mr_try(abi->file, dm, p, PAGE, p, 0, &mr), -EINVAL);
	assert_int_equal(abi_mr_try(other, pd, p, PAGE, p, 0, &mr), -EINVAL);
	assert_int_equal(abi_mr_try(abi->file, pd, p, PAGE, p, 0, &mr), 0);
	assert_int_equal(abi_pd_free(abi->file, pd), -EBUSY);
	/* the write command's way, wrong and right */
	in.mr_handle = pd;
	assert_int_equal(abi_write(abi->file, &(struct abi_write){
		.cmd = IB_USER_VERBS_CMD_DEREG_MR, .in = &in, .in_len = sizeof(in) }), -EINVAL);
	in.mr_handle = 99;
	assert_int_equal(abi_write(abi->file, &(struct abi_write){
		.cmd = IB_USER_VERBS_CMD_DEREG_MR, .in = &in, .in_len = sizeof(in) }), -ENOENT);
	in.mr_handle = mr;
	assert_int_equal(abi_write(abi->file, &(struct abi_write){
		.cmd = IB_USER_VERBS_CMD_DEREG_MR, .in = &in, .in_len = sizeof(in) }), 0);
	assert_int_equal(abi_pd_free(abi->file, pd), 0);
	assert_int_equal(abi_pd_free(abi->file, pd), -ENOENT);
	abi_close(other);
}

static int
query(struct emu_file *file, uint32_t mr, uint32_t keys[2], uint64_t *len, uint64_t *iova)
{
	struct abi_call c;

	abi_begin(&c, UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR);
	abi_obj(&c, ABI_OBJ, UVERBS_ATTR_QUERY_MR_HANDLE, mr, 0);
	abi_out(&c, UVERBS_ATTR_QUERY_MR_RESP_LKEY, &keys[0], 4, 0);
	abi_out(&c, UVERBS_ATTR_QUERY_MR_RESP_RKEY, &keys[1], 4, 0);
	abi_out(&c, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, len, 8, 0);
	abi_out(&c, UVERBS_ATTR_QUERY_MR_RESP_IOVA, iova, 8, ABI_OPT);
	return abi_run(&c, file);
}

/* What the key does is mkey.c's; that the MR's key is that key is shown here. */
static void
key(void **state)
{
	struct abi *abi = *state;
	uint32_t pdn, pd = abi_pd(abi->file, &pdn), mr, keys[2];
	uint8_t *mem = abi_pages(abi, PAGE), got;
	struct emu_access acc = { .dev = &abi->devs[0], .pdn = pdn };
	uint64_t len, iova;

	assert_int_equal(abi_mr_try(abi->file, pd, (uintptr_t)mem + 8, 64, 0x7000008, LW, &mr), 0);
	assert_int_equal(query(abi->file, mr, keys, &len, &iova), 0);
	assert_int_equal(len, 64);
	assert_int_equal(iova, 0x7000008);
	assert_int_equal(keys[0], keys[1]);
	mem[8] = 0x77;
	emu_lock();
	assert_int_equal(emu_mkey_read(&acc, keys[0], 0x7000008, &got, 1), 0);
	assert_int_equal(got, 0x77);
	assert_int_equal(emu_mkey_read(&acc, keys[0], (uintptr_t)mem + 8, &got, 1), -EACCES);
	acc.pdn++;
	assert_int_equal(emu_mkey_read(&acc, keys[0], 0x7000008, &got, 1), -EACCES);
	acc.pdn--;
	emu_unlock();
	assert_int_equal(abi_mr_free(abi->file, mr), 0);
	emu_lock();
	assert_int_equal(emu_mkey_read(&acc, keys[0], 0x7000008, &got, 1), -EACCES);
	emu_unlock();
}

/* A region that cannot be told to its owner must not stay. */
static void
no_place_for_the_answer(void **state)
{
	struct abi *abi = *state;
	uint32_t pd = abi_pd(abi->file, NULL);
	uint64_t p = (uintptr_t)abi_pages(abi, PAGE);
	struct ib_uverbs_reg_mr in = { .start = p, .length = PAGE, .hca_va = p, .pd_handle = pd };
	struct abi_write w = {
		.cmd = IB_USER_VERBS_CMD_REG_MR, .in = &in, .in_len = sizeof(in),
		.out = (void *)(uintptr_t)abi_hole(),
		.out_len = sizeof(struct ib_uverbs_reg_mr_resp),
	};

	if (abi_hole_is_noticed())
		assert_int_equal(abi_write(abi->file, &w), -EFAULT);
	w.out_len--;
	assert_int_equal(abi_write(abi->file, &w), -ENOSPC);
	w.in_len--;
	assert_int_equal(abi_write(abi->file, &w), -ENOSPC);
	assert_int_equal(abi_pd_free(abi->file, pd), 0);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, abi_setup, abi_teardown)
	const struct CMUnitTest tests[] = {
		TEST(memory), TEST(access_flags), TEST(zero_based), TEST(handles), TEST(key),
		TEST(no_place_for_the_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
