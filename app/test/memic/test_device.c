/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * libmemic on a device that is there: a ConnectX, or the emulated one when run as
 * "mlx5emu -- test_memic_device". Skips where no mlx5 device is found. The argument
 * names the device, by default the first.
 */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

#include "memic.h"

#define SKIP 77
#define SLOT 2048

static char device_name[64];
static struct memic_device *dev;
static const struct memic_caps *caps;
static struct ibv_pd *pd;

#define assert_rc(call, rc) assert_rc_at(#call, call, rc, __LINE__)

/* A failed comparison shows the sentence, which says more than two numbers. */
static void
assert_rc_at(const char *call, int got, int want, int line)
{
	if (got != want)
		fail_msg("line %d: %s gave %d (%s), not %d; last error: %s", line, call, got,
			 memic_errno_name(got), want, memic_last_error());
}

static int
setup(void **state)
{
	(void)state;
	if (memic_device_open(device_name, &dev) != 0) {
		print_error("%s\n", memic_last_error());
		return -1;
	}
	caps = memic_device_caps(dev);
	pd = ibv_alloc_pd(memic_device_context(dev));
	return pd == NULL;
}

static int
teardown(void **state)
{
	(void)state;
	if (ibv_dealloc_pd(pd) != 0 || memic_device_close(dev) != 0) {
		print_error("%s\n", memic_last_error());
		return -1;
	}
	return 0;
}

static void
test_caps(void **state)
{
	struct ibv_device_attr_ex attr = { 0 };
	int type;

	(void)state;
	assert_int_equal(ibv_query_device_ex(memic_device_context(dev), NULL, &attr), 0);
	assert_string_equal(caps->name, device_name);
	assert_string_not_equal(caps->address, "");
	assert_string_equal(caps->fw_ver, attr.orig_attr.fw_ver);
	assert_int_equal(caps->max_dm_size, attr.max_dm_size);
	assert_int_equal(caps->memic, attr.max_dm_size > 0);
	assert_true(caps->log_max_align >= 6);
	if (caps->memic_bar_size != 0)
		assert_true(caps->memic_bar_size >= caps->max_dm_size);
	printf("%s (%s) firmware %s: max_dm_size %llu, BAR %llu, log_max_align %u, devx %d, "
	       "relaxed ordering w%d r%d, sw_icm", caps->name, caps->address, caps->fw_ver,
	       (unsigned long long)caps->max_dm_size, (unsigned long long)caps->memic_bar_size,
	       caps->log_max_align, caps->devx, caps->relaxed_ordering_write,
	       caps->relaxed_ordering_read);
	for (type = 1; type < MEMIC_DM_TYPES; type++)
		printf(" %d", caps->sw_icm[type]);
	printf("\n");
}

static void
test_open_by_address(void **state)
{
	struct memic_device *same;

	(void)state;
	assert_rc(memic_device_open(caps->address, &same), 0);
	assert_string_equal(memic_device_caps(same)->address, caps->address);
	assert_rc(memic_device_close(same), 0);
	assert_rc(memic_device_open("no_such_device", &same), -ENODEV);
	assert_non_null(strstr(memic_last_error(), device_name));
}

static void
test_sw_icm(void **state)
{
	struct memic_dm *dm;
	int type, rc;

	(void)state;
	for (type = MEMIC_DM_STEERING_SW_ICM; type < MEMIC_DM_TYPES; type++) {
		dm = NULL;
		rc = memic_dm_alloc(dev, (enum memic_dm_type)type, 4096, 0, &dm);
		if (rc == 0) {
			assert_true(caps->sw_icm[type]);
			assert_null(memic_dm_addr(dm));
			assert_rc(memic_dm_free(dm), 0);
		} else if (rc != -EPERM) {
			/* the kernel looks at the process before it looks at the device; it
			 * or rdma-core may be older than what firmware can do
			 */
			assert_rc(rc, -EOPNOTSUPP);
			assert_false(caps->sw_icm[type] && type != MEMIC_DM_ENCAP_SW_ICM);
		}
	}
}

static void
need_memic(void)
{
	if (!caps->memic)
		skip();
}

/* What mlx5dv_alloc_dm(3) and the kernel answer, case 39 and 41. */
static void
test_alloc_errnos(void **state)
{
	struct mlx5dv_alloc_dm_attr dv = { .type = MLX5DV_DM_TYPE_MEMIC };
	struct ibv_alloc_dm_attr attr = { .length = 64 };
	struct ibv_context *ctx = memic_device_context(dev);
	struct memic_dm *dm = NULL;

	(void)state;
	assert_rc(memic_dm_alloc(dev, MEMIC_DM_MEMIC, caps->max_dm_size + 1, 0, &dm), -EINVAL);
	assert_rc(memic_dm_alloc(dev, MEMIC_DM_MEMIC, SIZE_MAX, 0, &dm), -EINVAL);
	need_memic();
	assert_rc(memic_dm_alloc(dev, MEMIC_DM_MEMIC, 0, 0, &dm), -EINVAL);
	if (caps->memic_bar_size != 0) /* else firmware could not be asked for the cap */
		assert_rc(memic_dm_alloc(dev, MEMIC_DM_MEMIC, 64, caps->log_max_align + 1, &dm),
			  -EINVAL);
	assert_rc(memic_dm_alloc(dev, MEMIC_DM_MEMIC, 64, 31, &dm), -EINVAL);
	assert_null(dm);

	attr.comp_mask = 1;
	assert_null(mlx5dv_alloc_dm(ctx, &attr, &dv));
	assert_int_equal(errno, EINVAL);
	attr.comp_mask = 0;
	dv.comp_mask = 1;
	assert_null(mlx5dv_alloc_dm(ctx, &attr, &dv));
	assert_int_equal(errno, EINVAL);
	dv.comp_mask = 0;
	dv.type = (enum mlx5dv_alloc_dm_type)77;
	assert_null(mlx5dv_alloc_dm(ctx, &attr, &dv));
	assert_int_equal(errno, EOPNOTSUPP);
}

/* Lengths and alignments that must work, with every byte of them. */
static void
test_alloc_and_access(void **state)
{
	static const size_t lengths[] = { 1, 4, 63, 64, 100, 4096, 4097, 10000 };
	uint8_t pattern[10000], back[10000];
	struct memic_dm *dm;
	size_t i, j;

	(void)state;
	need_memic();
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		assert_rc(memic_dm_alloc(dev, MEMIC_DM_MEMIC, lengths[i], i % 2 ? 6 : 0, &dm), 0);
		assert_int_equal(memic_dm_length(dm), lengths[i]);
		assert_int_equal((uintptr_t)memic_dm_addr(dm) % 64, 0);
		for (j = 0; j < lengths[i]; j++)
			pattern[j] = (uint8_t)(j * 3 + i);
		memic_copy_to(memic_dm_addr(dm), pattern, lengths[i]);
		memset(back, 0, sizeof(back));
		memic_copy_from(back, memic_dm_addr(dm), lengths[i]);
		assert_memory_equal(back, pattern, lengths[i]);
		memic_fill(memic_dm_addr(dm), 0x11, lengths[i]);
		memic_copy_from(back, memic_dm_addr(dm), lengths[i]);
		for (j = 0; j < lengths[i]; j++)
			assert_int_equal(back[j], 0x11);
		assert_rc(memic_dm_free(dm), 0);
	}
}

/* The library's view and libibverbs' are the same bytes; two allocations are not. */
static void
test_two_allocations(void **state)
{
	struct memic_dm *a, *b;
	uint8_t buf[128];

	(void)state;
	need_memic();
	assert_rc(memic_dm_alloc(dev, MEMIC_DM_MEMIC, 8192, 0, &a), 0);
	assert_rc(memic_dm_alloc(dev, MEMIC_DM_MEMIC, 8192, 0, &b), 0);
	memic_fill(memic_dm_addr(a), 0xaa, 8192);
	memic_fill(memic_dm_addr(b), 0xbb, 8192);
	assert_int_equal(ibv_memcpy_from_dm(buf, memic_dm_verbs(a), 8192 - 128, 128), 0);
	assert_int_equal(buf[0], 0xaa);
	assert_int_equal(buf[127], 0xaa);
	memset(buf, 0x33, sizeof(buf));
	assert_int_equal(ibv_memcpy_to_dm(memic_dm_verbs(b), 64, buf, 128), 0);
	memset(buf, 0, sizeof(buf));
	memic_copy_from(buf, (uint8_t *)memic_dm_addr(b) + 64, 128);
	assert_int_equal(buf[0], 0x33);
	assert_int_equal(buf[127], 0x33);
	/* case 43: range before alignment */
	assert_int_equal(ibv_memcpy_from_dm(buf, memic_dm_verbs(a), 8192, 4), EFAULT);
	assert_int_equal(ibv_memcpy_from_dm(buf, memic_dm_verbs(a), 3, 4), EINVAL);
	assert_rc(memic_dm_free(a), 0);
	assert_rc(memic_dm_free(b), 0);
}

#define MOST_DMS 1024

/* Take memory until there is none, and find all of it back afterwards. */
static void
test_exhaustion(void **state)
{
	static struct memic_dm *dms[MOST_DMS];
	struct memic_dm *again;
	size_t before = 0;
	int n, rc = 0;

	(void)state;
	need_memic();
	for (n = 0; n < MOST_DMS; n++) {
		rc = memic_dm_alloc(dev, MEMIC_DM_MEMIC, 4096, 0, &dms[n]);
		if (rc != 0)
			break;
		before += 4096;
	}
	assert_rc(rc, -ENOMEM);
	assert_true(n > 0 && before <= caps->max_dm_size);
	assert_rc(memic_dm_alloc_most(dev, SIZE_MAX, 4096, &again), -ENOMEM);
	while (n > 0)
		assert_rc(memic_dm_free(dms[--n]), 0);
	assert_rc(memic_dm_alloc(dev, MEMIC_DM_MEMIC, 4096, 0, &again), 0);
	assert_rc(memic_dm_free(again), 0);
}

static void
test_alloc_most(void **state)
{
	struct memic_dm *all, *part, *rest;
	size_t whole, taken;

	(void)state;
	need_memic();
	assert_rc(memic_dm_alloc_most(dev, SIZE_MAX, SLOT, &all), 0);
	whole = memic_dm_length(all);
	assert_true(whole >= SLOT && whole <= caps->max_dm_size);
	memic_fill((uint8_t *)memic_dm_addr(all) + whole - 64, 1, 64);
	assert_rc(memic_dm_free(all), 0);
	if (whole < 4 * 4096)
		skip();

	taken = whole / 4 / 4096 * 4096;
	assert_rc(memic_dm_alloc(dev, MEMIC_DM_MEMIC, taken, 0, &part), 0);
	assert_rc(memic_dm_alloc_most(dev, SIZE_MAX, SLOT, &rest), 0);
	assert_int_equal(memic_dm_length(rest), whole - taken);
	assert_rc(memic_dm_free(rest), 0);
	assert_rc(memic_dm_free(part), 0);
}

static void
test_mr_errnos(void **state)
{
	struct memic_dm *dm;
	struct ibv_dm *ibdm;
	struct ibv_mr *mr;

	(void)state;
	need_memic();
	assert_rc(memic_dm_alloc(dev, MEMIC_DM_MEMIC, 8192, 0, &dm), 0);
	ibdm = memic_dm_verbs(dm);
	assert_null(ibv_reg_dm_mr(pd, ibdm, 0, 8192, IBV_ACCESS_LOCAL_WRITE));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_reg_dm_mr(pd, ibdm, 64, 8192, IBV_ACCESS_ZERO_BASED));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_reg_dm_mr(pd, ibdm, UINT64_MAX - 63, 128, IBV_ACCESS_ZERO_BASED));
	assert_int_equal(errno, EINVAL);
	/* case 6: device memory is no host memory */
	assert_null(ibv_reg_mr(pd, memic_dm_addr(dm), 4096, IBV_ACCESS_LOCAL_WRITE));
	assert_int_equal(errno, EFAULT);

	/* case 11: an MR that does not begin with the allocation */
	mr = ibv_reg_dm_mr(pd, ibdm, 4096, 4096, IBV_ACCESS_ZERO_BASED);
	assert_non_null(mr);
	assert_null(mr->addr);
	assert_rc(memic_dm_free(dm), -EBUSY);
	assert_int_equal(ibv_dealloc_pd(pd), EBUSY);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_rc(memic_dm_free(dm), 0);
}

static void
test_keys(void **state)
{
	struct memic_mkey *keys[MEMIC_MKEY_MODES];
	struct memic_dm *dm;
	int mode, rc;

	(void)state;
	need_memic();
	assert_rc(memic_dm_alloc_most(dev, 16384, SLOT, &dm), 0);
	for (mode = 0; mode < MEMIC_MKEY_MODES; mode++) {
		keys[mode] = NULL;
		rc = memic_mkey_create(dm, pd, (enum memic_mkey_mode)mode, &keys[mode]);
		if (mode != MEMIC_MKEY_DIRECT && !caps->devx) {
			assert_rc(rc, -EOPNOTSUPP);
			continue;
		}
		assert_rc(rc, 0);
		assert_int_equal(memic_mkey_mode(keys[mode]), mode);
		assert_int_not_equal(memic_mkey_lkey(keys[mode]), 0);
		assert_int_equal(memic_mkey_base(keys[mode]), mode == MEMIC_MKEY_DIRECT ? 0 :
				 (uintptr_t)memic_dm_addr(dm));
	}
	if (caps->devx)
		assert_int_not_equal(memic_mkey_lkey(keys[MEMIC_MKEY_KLM]),
				     memic_mkey_lkey(keys[MEMIC_MKEY_KSM]));
	for (mode = 0; mode < MEMIC_MKEY_MODES; mode++) {
		assert_rc(memic_dm_free(dm), -EBUSY);
		assert_rc(memic_mkey_destroy(keys[mode]), 0);
	}
	assert_rc(memic_dm_free(dm), 0);
}

static struct ibv_context *
open_like_a_driver(void)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_context *ctx = NULL;
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	assert_non_null(list);
	for (i = 0; list[i] != NULL && ctx == NULL; i++) {
		if (strcmp(ibv_get_device_name(list[i]), device_name) != 0)
			continue;
		ctx = mlx5dv_open_device(list[i], &attr);
		attr.flags = 0;
		if (ctx == NULL)
			ctx = mlx5dv_open_device(list[i], &attr);
	}
	ibv_free_device_list(list);
	assert_non_null(ctx);
	return ctx;
}

/* The owner of the context goes first, as a PMD does on detach; the memory stays. */
static void
test_adopted_outlives_owner(void **state)
{
	struct ibv_context *owner = open_like_a_driver();
	struct ibv_pd *owner_pd = ibv_alloc_pd(owner);
	struct memic_device *own;
	struct memic_mkey *key;
	struct memic_dm *dm;
	uint8_t buf[64];

	(void)state;
	assert_non_null(owner_pd);
	assert_rc(memic_device_adopt(owner, &own), 0);
	assert_string_equal(memic_device_caps(own)->name, device_name);
	assert_int_equal(memic_device_caps(own)->max_dm_size, caps->max_dm_size);
	assert_int_equal(memic_device_caps(own)->devx, caps->devx);
	if (caps->memic) {
		assert_rc(memic_dm_alloc(own, MEMIC_DM_MEMIC, 8192, 0, &dm), 0);
		assert_rc(memic_mkey_create(dm, owner_pd, caps->devx ? MEMIC_MKEY_KLM :
					    MEMIC_MKEY_DIRECT, &key), 0);
		/* a PD of another open of the same device is out of reach */
		assert_rc(memic_mkey_create(dm, pd, MEMIC_MKEY_DIRECT, &key), -EXDEV);
		assert_rc(memic_mkey_destroy(key), 0);
		memic_fill(memic_dm_addr(dm), 0x77, 8192);
	}
	assert_int_equal(ibv_dealloc_pd(owner_pd), 0);
	assert_int_equal(ibv_close_device(owner), 0);
	if (caps->memic) {
		memic_copy_from(buf, (uint8_t *)memic_dm_addr(dm) + 8128, 64);
		assert_int_equal(buf[0], 0x77);
		assert_int_equal(buf[63], 0x77);
		assert_rc(memic_device_close(own), -EBUSY);
		assert_rc(memic_dm_free(dm), 0);
	}
	assert_rc(memic_device_close(own), 0);
}

/* Case 58 in small: nothing is used up by coming and going. */
static void
test_cycles(void **state)
{
	struct memic_mkey *key;
	struct memic_dm *dm;
	int i;

	(void)state;
	need_memic();
	for (i = 0; i < 300; i++) {
		assert_rc(memic_dm_alloc_most(dev, SIZE_MAX, SLOT, &dm), 0);
		assert_rc(memic_mkey_create(dm, pd, caps->devx ? MEMIC_MKEY_KLM :
					    MEMIC_MKEY_DIRECT, &key), 0);
		assert_rc(memic_mkey_destroy(key), 0);
		assert_rc(memic_dm_free(dm), 0);
	}
}

/* Name of the device to test on, or a reason why there is none. */
static const char *
choose_device(const char *wanted)
{
	struct ibv_device **list;
	int i, count = 0;

	list = ibv_get_device_list(&count);
	if (list == NULL)
		return "no RDMA devices: the kernel has no ib_uverbs";
	for (i = 0; i < count; i++) {
		const char *name = ibv_get_device_name(list[i]);

		if (wanted != NULL ? strcmp(name, wanted) == 0 : mlx5dv_is_supported(list[i])) {
			snprintf(device_name, sizeof(device_name), "%s", name);
			break;
		}
	}
	ibv_free_device_list(list);
	return i < count ? NULL : "no mlx5 device; run under mlx5emu to have one";
}

int
main(int argc, char **argv)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_caps), T(test_open_by_address), T(test_sw_icm), T(test_alloc_errnos),
		T(test_alloc_and_access), T(test_two_allocations), T(test_exhaustion),
		T(test_alloc_most), T(test_mr_errnos), T(test_keys),
		T(test_adopted_outlives_owner), T(test_cycles),
	};
#undef T
	const char *reason = choose_device(argc > 1 ? argv[1] : NULL);

	if (reason != NULL) {
		printf("skipped: %s\n", reason);
		return SKIP;
	}
	return cmocka_run_group_tests_name("memic device", tests, NULL, NULL) != 0;
}
