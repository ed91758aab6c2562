/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <linux/capability.h>

#include "abi.h"

/* Device memory: lengths, pages, mappings, and the regions over it. */

#define PAGE 4096ull
#define MAX ABI_MEMIC

/* ---- allocation ---- */

static void
lengths(void **state)
{
	static const struct {
		uint64_t len;
		uint32_t log_align;
		int err;
		uint64_t bytes; /* taken */
	} cases[] = {
		{ 0, 0, -EINVAL, 0 },
		{ 1, 0, 0, 64 },
		{ 63, 0, 0, 64 },
		{ 64, 0, 0, 64 },
		{ 65, 0, 0, 128 },
		{ 100, 0, 0, 128 },
		{ PAGE, 0, 0, PAGE },
		{ MAX - 64, 0, 0, MAX - 64 },
		{ MAX, 0, 0, MAX },
		{ MAX + 1, 0, -ENOMEM, 0 },
		/* the rounding and the sums of these overflow */
		{ UINT64_MAX, 0, -EINVAL, 0 },
		{ UINT64_MAX - 63, 0, -ENOMEM, 0 },
		{ UINT64_MAX - 127, 0, -ENOMEM, 0 },
		{ 1ull << 44, 0, -ENOMEM, 0 },
		/* log2 of bytes; up to 64 it is there anyway, 4096 is the device's maximum */
		{ 64, 1, 0, 64 },
		{ 64, 6, 0, 64 },
		{ 64, 12, 0, 64 },
		{ 64, 13, -EINVAL, 0 },
		{ 64, UINT32_MAX, -EINVAL, 0 },
	};
	struct abi *abi = *state;
	struct emu_memic *m = &abi->devs[0].memic;
	uint32_t dm, one = abi_dm(abi->file, 64); /* so that used bytes are not 0 */
	uint64_t start;

	assert_int_equal(abi_dm_free(abi->file, one), 0);
	for (unsigned int i = 0; i < EMU_COUNT(cases); i++) {
		int err = abi_dm_try(abi->file, cases[i].len, cases[i].log_align, &dm, NULL,
				     &start);

		if (err != cases[i].err)
			fail_msg("length 0x%lx log_align %u: %d", cases[i].len,
				 cases[i].log_align, err);
		assert_int_equal(m->bytes_used, cases[i].bytes);
		if (err != 0)
			continue;
		if (cases[i].log_align > 0)
			assert_int_equal(start & ((1ull << cases[i].log_align) - 1), 0);
		assert_int_equal(abi_dm_free(abi->file, dm), 0);
	}
	/* and once more with bytes in use: sums wrap another way */
	one = abi_dm(abi->file, 64);
	assert_int_equal(abi_dm_try(abi->file, UINT64_MAX - 63, 0, &dm, NULL, NULL), -ENOMEM);
	assert_int_equal(m->bytes_used, 64);
	assert_int_equal(abi_dm_free(abi->file, one), 0);
}

/* Each allocation takes whole pages of the window, of which there are 256. */
static void
pages_run_out(void **state)
{
	struct abi *abi = *state;
	struct emu_memic *m = &abi->devs[0].memic;
	uint32_t dm[256], extra;
	unsigned int n = 0;

	while (n < 256 && abi_dm_try(abi->file, 64, 0, &dm[n], NULL, NULL) == 0)
		n++;
	assert_true(n >= 200 && n <= 256);
	assert_int_equal(m->bytes_used, n * 64u);
	assert_true(m->bytes - m->bytes_used > MAX / 2); /* bytes look free */
	assert_int_equal(abi_dm_try(abi->file, 64, 0, &extra, NULL, NULL), -ENOMEM);
	/* a hole of one page is no place for two */
	assert_int_equal(abi_dm_free(abi->file, dm[10]), 0);
	assert_int_equal(abi_dm_free(abi->file, dm[20]), 0);
	assert_int_equal(abi_dm_try(abi->file, PAGE + 1, 0, &extra, NULL, NULL), -ENOMEM);
	assert_int_equal(abi_dm_try(abi->file, PAGE, 0, &dm[10], NULL, NULL), 0);
	dm[20] = abi_dm(abi->file, 64);
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(abi_dm_free(abi->file, dm[i]), 0);
	dm[0] = abi_dm(abi->file, MAX);
	assert_int_equal(abi_dm_free(abi->file, dm[0]), 0);
}

static void
devices_are_separate(void **state)
{
	struct abi *abi = *state;
	struct emu_file *other = abi_open(&abi->devs[1], false);
	uint32_t a = abi_dm(abi->file, MAX), b = abi_dm(other, MAX), c;

	assert_int_equal(abi_dm_try(abi->file, 64, 0, &c, NULL, NULL), -ENOMEM);
	assert_int_equal(abi_dm_free(other, b), 0);
	assert_int_equal(abi_dm_try(abi->file, 64, 0, &c, NULL, NULL), -ENOMEM);
	assert_int_equal(abi_dm_free(abi->file, a), 0);
	abi_close(other);
}

static int
alloc_type(struct abi *abi, uint64_t type, int without)
{
	static uint64_t start;
	static uint16_t index;
	struct abi_call c;

	abi_begin(&c, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC);
	abi_obj(&c, ABI_NEW, UVERBS_ATTR_ALLOC_DM_HANDLE, 0, 0);
	abi_val(&c, UVERBS_ATTR_ALLOC_DM_LENGTH, 4096, 8, 0);
	abi_val(&c, UVERBS_ATTR_ALLOC_DM_ALIGNMENT, 0, 4, 0);
	abi_out(&c, MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, &start, 8, 0);
	abi_out(&c, MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, &index, 2, 0);
	abi_val(&c, MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE, type, 8, 0);
	return without < 0 ? abi_run(&c, abi->file) : abi_run_without(&c, abi->file, without);
}

static void
types(void **state)
{
	struct abi *abi = *state;

	assert_int_equal(alloc_type(abi, MLX5_IB_UAPI_DM_TYPE_MEMIC, -1), 0);
	assert_int_equal(alloc_type(abi, 77, -1), -EOPNOTSUPP);
	assert_int_equal(alloc_type(abi, 1ull << 32, -1), -EINVAL);
	abi->devs[0].memic.bytes = 0;
	assert_int_equal(alloc_type(abi, MLX5_IB_UAPI_DM_TYPE_MEMIC, -1), -EOPNOTSUPP);
	abi->devs[0].memic.bytes = MAX;
	for (uint64_t t = MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM;
	     t <= MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_PATTERN_SW_ICM; t++) {
		if (!abi_can_lose(CAP_SYS_RAWIO) || !abi_can_lose(CAP_NET_RAW)) {
			assert_int_equal(alloc_type(abi, t, -1), -EPERM);
			continue;
		}
		assert_int_equal(alloc_type(abi, t, -1), -EOPNOTSUPP); /* no sw_owner */
		assert_int_equal(alloc_type(abi, t, CAP_SYS_RAWIO), -EPERM);
		assert_int_equal(alloc_type(abi, t, CAP_NET_RAW), -EPERM);
	}
}

static void
query(void **state)
{
	struct abi *abi = *state;
	uint16_t index, index2;
	uint64_t start, start2, len;
	struct abi_call c;
	uint32_t dm;

	assert_int_equal(abi_dm_try(abi->file, 100, 0, &dm, &index, &start), 0);
	abi_begin(&c, UVERBS_OBJECT_DM, MLX5_IB_METHOD_DM_QUERY);
	abi_obj(&c, ABI_OBJ, MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE, dm, 0);
	abi_out(&c, MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET, &start2, 8, 0);
	abi_out(&c, MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX, &index2, 2, 0);
	abi_out(&c, MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, &len, 8, 0);
	assert_int_equal(abi_run(&c, abi->file), 0);
	assert_int_equal(index2, index);
	assert_int_equal(start2, start);
	assert_int_equal(len, 100); /* as asked for */
}

/* ---- regions ---- */

static void
region_bounds(void **state)
{
	static const struct {
		uint64_t off, len;
		int err;
	} cases[] = {
		{ 0, 100, 0 }, { 0, 1, 0 }, { 99, 1, 0 }, { 50, 50, 0 },
		/* 100 bytes were asked for, 128 are there */
		{ 0, 101, -EINVAL }, { 100, 1, -EINVAL }, { 0, 128, -EINVAL }, { 50, 51, -EINVAL },
		{ 101, 0, -EINVAL },
		/* an empty region passes the kernel's checks, and rdma-core's tests make one */
		{ 0, 0, 0 }, { 100, 0, 0 },
		{ UINT64_MAX, 2, -EINVAL }, { 2, UINT64_MAX, -EINVAL },
		{ UINT64_MAX - 50, 100, -EINVAL },
	};
	struct abi *abi = *state;
	uint32_t pd = abi_pd(abi->file, NULL), dm = abi_dm(abi->file, 100), mr;

	for (unsigned int i = 0; i < EMU_COUNT(cases); i++) {
		int err = abi_dm_mr_try(abi->file, pd, dm, cases[i].off, cases[i].len,
					IBV_ACCESS_ZERO_BASED, &mr, NULL);

		if (err != cases[i].err)
			fail_msg("offset 0x%lx length 0x%lx: %d", cases[i].off, cases[i].len, err);
		if (err == 0)
			assert_int_equal(abi_mr_free(abi->file, mr), 0);
	}
}

static void
region_access(void **state)
{
	static const struct {
		uint32_t access;
		int err;
	} cases[] = {
		{ IBV_ACCESS_ZERO_BASED, 0 },
		{ IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE, 0 },
		{ IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
		  IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC, 0 },
		{ IBV_ACCESS_ZERO_BASED | IBV_ACCESS_RELAXED_ORDERING, -EINVAL },
		{ 0, -EINVAL },
		{ IBV_ACCESS_LOCAL_WRITE, -EINVAL },
		{ IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_WRITE, -EINVAL },
		{ IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_ATOMIC, -EINVAL },
		{ IBV_ACCESS_ZERO_BASED | IBV_ACCESS_MW_BIND, -EINVAL },
		{ IBV_ACCESS_ZERO_BASED | IBV_ACCESS_HUGETLB, -EINVAL },
		{ IBV_ACCESS_ZERO_BASED | IBV_ACCESS_ON_DEMAND, -EOPNOTSUPP },
		{ IBV_ACCESS_ZERO_BASED | 1u << 19, -EINVAL },
		{ IBV_ACCESS_ZERO_BASED | 1u << 31, -EINVAL },
	};
	struct abi *abi = *state;
	uint32_t pd = abi_pd(abi->file, NULL), dm = abi_dm(abi->file, 4096), mr;

	for (unsigned int i = 0; i < EMU_COUNT(cases); i++) {
		int err = abi_dm_mr_try(abi->file, pd, dm, 0, 4096, cases[i].access, &mr, NULL);

		if (err != cases[i].err)
			fail_msg("access 0x%x: %d", cases[i].access, err);
		if (err == 0)
			assert_int_equal(abi_mr_free(abi->file, mr), 0);
	}
}

static void
region_references(void **state)
{
	struct abi *abi = *state;
	uint32_t pd = abi_pd(abi->file, NULL), dm = abi_dm(abi->file, 4096), mr;

	assert_int_equal(abi_dm_mr_try(abi->file, pd, dm, 0, 4096, IBV_ACCESS_ZERO_BASED, &mr,
				       NULL), 0);
	assert_int_equal(abi_dm_free(abi->file, dm), -EBUSY);
	assert_int_equal(abi_pd_free(abi->file, pd), -EBUSY);
	assert_int_equal(abi_mr_free(abi->file, mr), 0);
	assert_int_equal(abi_mr_free(abi->file, mr), -ENOENT);
	assert_int_equal(abi_dm_free(abi->file, dm), 0);
	assert_int_equal(abi_pd_free(abi->file, pd), 0);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, abi_setup, abi_teardown)
	const struct CMUnitTest tests[] = {
		TEST(lengths), TEST(pages_run_out), TEST(devices_are_separate), TEST(types),
		TEST(query), TEST(region_bounds), TEST(region_access), TEST(region_references),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
