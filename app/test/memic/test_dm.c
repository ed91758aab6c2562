/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "memic.h"
#include "mock_verbs.h"

static struct memic_device *dev;

static int
setup(void **state)
{
	(void)state;
	mock_reset();
	return memic_device_open(MOCK_NAME, &dev);
}

static int
teardown(void **state)
{
	(void)state;
	mock_release_leftovers();
	return memic_device_close(dev) != 0 || mock.open_contexts != 0 || mock.live_dms != 0;
}

/* Open the device again after the test changed what it has. */
static void
reopen(void)
{
	assert_int_equal(memic_device_close(dev), 0);
	assert_int_equal(memic_device_open(MOCK_NAME, &dev), 0);
}

static void
test_alloc(void **state)
{
	struct memic_dm *dm = NULL;

	(void)state;
	assert_int_equal(memic_dm_alloc(dev, MEMIC_DM_MEMIC, 8192, 6, &dm), 0);
	assert_int_equal(memic_dm_length(dm), 8192);
	assert_int_equal(memic_dm_type(dm), MEMIC_DM_MEMIC);
	assert_non_null(memic_dm_verbs(dm));
	memset(memic_dm_addr(dm), 0x5a, 8192);
	assert_int_equal(mock.last_align, 6);
	assert_int_equal(memic_dm_free(dm), 0);
	assert_int_equal(memic_dm_free(NULL), 0);
}

static void
test_alloc_rounds_to_unit(void **state)
{
	struct memic_dm *dm;

	(void)state;
	assert_int_equal(memic_dm_alloc(dev, MEMIC_DM_MEMIC, 100, 0, &dm), 0);
	assert_int_equal(mock.last_length, 128);
	assert_int_equal(memic_dm_length(dm), 100);
	assert_int_equal(memic_dm_free(dm), 0);
	/* the kernel, not we, answers lengths that it refuses: it gets them as they are */
	assert_int_equal(memic_dm_alloc(dev, MEMIC_DM_MEMIC, SIZE_MAX, 0, &dm), -ENOMEM);
	assert_true(mock.last_length == SIZE_MAX);
	mock.alloc_errno = EINVAL;
	assert_int_equal(memic_dm_alloc(dev, MEMIC_DM_MEMIC, 0, 0, &dm), -EINVAL);
	assert_int_equal(mock.last_length, 0);
}

static void
test_start_offset(void **state)
{
	struct memic_dm *dm;

	(void)state;
	mock.start_offset = 192;
	assert_int_equal(memic_dm_alloc(dev, MEMIC_DM_MEMIC, 2048, 0, &dm), 0);
	assert_int_equal((uintptr_t)memic_dm_addr(dm) % MOCK_PAGE, 192);
	assert_int_equal(memic_dm_free(dm), 0);
	/* libmlx5 maps one page for this, the last 192 bytes would lie behind it */
	assert_int_equal(memic_dm_alloc(dev, MEMIC_DM_MEMIC, 4096, 0, &dm), -EFAULT);
	assert_says("alignment of a page");
	assert_int_equal(mock.live_dms, 0);
}

static void
test_alloc_sentences(void **state)
{
	static const struct {
		enum memic_dm_type type;
		size_t length;
		unsigned int align;
		int err;
		const char *cure;
	} cases[] = {
		{ MEMIC_DM_MEMIC, 0, 0, EINVAL, "1 byte at least" },
		{ MEMIC_DM_MEMIC, 131073, 0, EINVAL, "memic_dm_alloc_most()" },
		{ MEMIC_DM_MEMIC, 4096, 31, EINVAL, "log_max_align" },
		{ MEMIC_DM_MEMIC, 4096, 0, EINVAL, "dmesg" },
		{ MEMIC_DM_STEERING_SW_ICM, 3, 0, EINVAL, "power of two" },
		{ MEMIC_DM_MEMIC, 4096, 0, ENOMEM, "no free piece" },
		/* case 64 */
		{ MEMIC_DM_STEERING_SW_ICM, 4096, 0, EPERM, "cap_sys_rawio,cap_net_raw" },
		{ MEMIC_DM_STEERING_SW_ICM, 4096, 0, EOPNOTSUPP, "sw_owner" },
		{ MEMIC_DM_ENCAP_SW_ICM, 4096, 0, EOPNOTSUPP, "rdma-core 50" },
		{ MEMIC_DM_MEMIC, 4096, 0, EOPNOTSUPP, "update mlx5_core" },
		{ MEMIC_DM_MEMIC, 4096, 0, EREMOTEIO, "firmware refused" },
		{ MEMIC_DM_MEMIC, 4096, 0, EIO, "removed" },
		{ MEMIC_DM_MEMIC, 4096, 0, EMFILE, "dmesg" },
	};
	struct memic_dm *dm = NULL;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		mock.alloc_errno = cases[i].err;
		assert_int_equal(memic_dm_alloc(dev, cases[i].type, cases[i].length, cases[i].align,
						&dm), -cases[i].err);
		assert_says(cases[i].cure);
		assert_says("mlx5dv_alloc_dm");
		assert_says(MOCK_NAME);
		assert_says(memic_dm_type_name(cases[i].type));
		assert_says(memic_errno_name(cases[i].err));
	}
	assert_null(dm);
}

static void
test_errno_zero_is_eio(void **state)
{
	struct memic_dm *dm;

	(void)state;
	mock.alloc_errno = -1;
	assert_int_equal(memic_dm_alloc(dev, MEMIC_DM_MEMIC, 4096, 0, &dm), -EIO);
	assert_says("EIO");
}

static void
test_bad_arguments(void **state)
{
	struct memic_dm *dm;

	(void)state;
	assert_int_equal(memic_dm_alloc(NULL, MEMIC_DM_MEMIC, 64, 0, &dm), -EINVAL);
	assert_int_equal(memic_dm_alloc(dev, MEMIC_DM_MEMIC, 64, 0, NULL), -EINVAL);
	assert_int_equal(memic_dm_alloc(dev, MEMIC_DM_TYPES, 64, 0, &dm), -EOPNOTSUPP);
	assert_int_equal(memic_dm_alloc(dev, (enum memic_dm_type)-1, 64, 0, &dm), -EOPNOTSUPP);
	assert_int_equal(memic_dm_alloc_most(dev, 64, 65, &dm), -EINVAL);
	assert_int_equal(memic_dm_alloc_most(dev, 64, 0, &dm), -EINVAL);
	assert_int_equal(memic_dm_alloc_most(NULL, 64, 64, &dm), -EINVAL);
	assert_int_equal(mock.allocs, 0);
	assert_string_equal(memic_dm_type_name(MEMIC_DM_TYPES), "unknown");
}

static void
test_init_obj_failure(void **state)
{
	struct memic_dm *dm;

	(void)state;
	mock.init_obj_errno = EOPNOTSUPP;
	assert_int_equal(memic_dm_alloc(dev, MEMIC_DM_MEMIC, 4096, 0, &dm), -EOPNOTSUPP);
	assert_int_equal(mock.live_dms, 0);
	/* SW_ICM has no mapping to ask for */
	assert_int_equal(memic_dm_alloc(dev, MEMIC_DM_STEERING_SW_ICM, 4096, 0, &dm), 0);
	assert_null(memic_dm_addr(dm));
	assert_int_equal(memic_dm_free(dm), 0);
}

static void
test_packet_memory(void **state)
{
	const char *why;
	int type;

	(void)state;
	assert_true(memic_dm_type_is_packet_memory(MEMIC_DM_MEMIC, &why));
	for (type = MEMIC_DM_STEERING_SW_ICM; type <= MEMIC_DM_TYPES; type++) {
		why = NULL;
		assert_false(memic_dm_type_is_packet_memory((enum memic_dm_type)type, &why));
		assert_non_null(why);
		assert_false(memic_dm_type_is_packet_memory((enum memic_dm_type)type, NULL));
	}
}

static void
test_free_busy(void **state)
{
	struct memic_dm *dm;
	struct memic_device *same = dev;

	(void)state;
	assert_int_equal(memic_dm_alloc(dev, MEMIC_DM_MEMIC, 4096, 0, &dm), 0);
	assert_int_equal(memic_device_close(same), -EBUSY);
	assert_says("1 allocation");
	mock.free_errno = EBUSY;
	assert_int_equal(memic_dm_free(dm), -EBUSY);
	assert_says("call again");
	memset(memic_dm_addr(dm), 1, 4096); /* nothing was freed */
	mock.free_errno = 0;
	assert_int_equal(memic_dm_free(dm), 0);
}

static void
test_free_after_removal(void **state)
{
	unsigned char vec[1];
	struct memic_dm *dm;
	void *addr;

	(void)state;
	assert_int_equal(memic_dm_alloc(dev, MEMIC_DM_MEMIC, 4096, 0, &dm), 0);
	addr = memic_dm_addr(dm);
	mock.free_errno = EIO;
	assert_int_equal(memic_dm_free(dm), 0);
	/* libmlx5 left the mapping in place, the library did not */
	assert_int_equal(mincore(addr, MOCK_PAGE, vec), -1);
	assert_int_equal(errno, ENOMEM);
}

/* ---- shapes of free memory for memic_dm_alloc_most() ---- */

static size_t room;
static unsigned int granted;

static int
fits_room(size_t length, unsigned int log_align)
{
	(void)log_align;
	return length <= room ? 0 : ENOMEM;
}

static int
fits_room_firmware(size_t length, unsigned int log_align)
{
	(void)log_align;
	return length <= room ? 0 : EREMOTEIO;
}

/* Enough, but never on a page boundary. */
static int
fits_unaligned(size_t length, unsigned int log_align)
{
	return log_align == 0 && length <= room ? 0 : ENOMEM;
}

/* Another process takes half after the first answer that was good. */
static int
fits_shrinking(size_t length, unsigned int log_align)
{
	(void)log_align;
	if (length > room)
		return ENOMEM;
	if (granted++ == 0)
		room /= 2;
	return 0;
}

/* Too large, then good, then an errno that has nothing to do with size. */
static int
fits_then_eperm(size_t length, unsigned int log_align)
{
	(void)log_align;
	if (length == mock.max_dm)
		return ENOMEM;
	return granted++ == 0 ? 0 : EPERM;
}

static void
test_most_sizes(void **state)
{
	static const struct {
		size_t max, room, want, least, got; /* got 0: ENOMEM */
	} cases[] = {
		{ 131072, 131072, 131072, 2048, 131072 },
		{ 131072, 131072, SIZE_MAX, 2048, 131072 },
		{ 131072, 131072, 10000, 2048, 10000 },
		{ 262144, 65536, SIZE_MAX, 2048, 65536 },
		{ 262144, 131071, SIZE_MAX, 2048, 126976 },
		{ 262144, 4096, SIZE_MAX, 2048, 4096 },
		{ 262144, 4095, SIZE_MAX, 2048, 2048 },
		{ 262144, 2048, SIZE_MAX, 2048, 2048 },
		{ 262144, 2047, SIZE_MAX, 2048, 0 },
		{ 262144, 0, SIZE_MAX, 1, 0 },
		{ 262144, 258048, SIZE_MAX, 2048, 258048 },
		{ 262144, 5056, SIZE_MAX, 5000, 5000 },
		{ 262144, 8192, SIZE_MAX, 5000, 8192 },
		{ 64, 64, 4096, 64, 64 },
		{ 63, 63, 4096, 64, 0 },
		{ 2097152, 1044480, SIZE_MAX, 4096, 1044480 },
	};
	struct memic_dm *dm;
	size_t i;
	int rc;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		mock.max_dm = cases[i].max;
		mock.fits = fits_room;
		room = cases[i].room;
		reopen();
		mock.allocs = 0;
		dm = NULL;
		rc = memic_dm_alloc_most(dev, cases[i].want, cases[i].least, &dm);
		if (cases[i].got == 0) {
			assert_int_equal(rc, -ENOMEM);
			assert_null(dm);
		} else {
			assert_int_equal(rc, 0);
			assert_int_equal(memic_dm_length(dm), cases[i].got);
			assert_int_equal(memic_dm_free(dm), 0);
		}
		/* halving, not one page after the other, with and without alignment */
		assert_true(mock.allocs <= 24);
		assert_int_equal(mock.live_dms, 0);
	}
}

/* Every number of free pages is found, with what is least at any place in a page. */
static void
test_most_exhaustive(void **state)
{
	static const size_t leasts[] = { 64, 2048, 4096, 6528, 8192 };
	struct memic_dm *dm;
	size_t i, want;

	(void)state;
	mock.fits = fits_room;
	for (i = 0; i < sizeof(leasts) / sizeof(leasts[0]); i++) {
		for (room = leasts[i]; room <= mock.max_dm; room += 1088) {
			want = room / MOCK_PAGE * MOCK_PAGE;
			if (want < leasts[i])
				want = leasts[i];
			assert_int_equal(memic_dm_alloc_most(dev, SIZE_MAX, leasts[i], &dm), 0);
			assert_int_equal(memic_dm_length(dm), want);
			assert_int_equal(memic_dm_free(dm), 0);
		}
	}
}

static void
test_most_shapes(void **state)
{
	struct memic_dm *dm;

	(void)state;
	room = 40960;
	mock.fits = fits_room_firmware;
	assert_int_equal(memic_dm_alloc_most(dev, SIZE_MAX, 64, &dm), 0);
	assert_int_equal(memic_dm_length(dm), 40960);
	assert_int_equal(mock.last_align, 12);
	assert_int_equal(memic_dm_free(dm), 0);

	mock.fits = fits_unaligned;
	assert_int_equal(memic_dm_alloc_most(dev, SIZE_MAX, 64, &dm), 0);
	assert_int_equal(memic_dm_length(dm), 40960);
	assert_int_equal(mock.last_align, 0);
	assert_int_equal(memic_dm_free(dm), 0);

	room = 81920;
	granted = 0;
	mock.fits = fits_shrinking;
	assert_int_equal(memic_dm_alloc_most(dev, SIZE_MAX, 64, &dm), 0);
	assert_int_equal(memic_dm_length(dm), 40960);
	assert_int_equal(mock.last_align, 12); /* found without giving up the alignment */
	assert_int_equal(memic_dm_free(dm), 0);

	/* it ends the search, and what was tried before is not handed out */
	granted = 0;
	dm = NULL;
	mock.fits = fits_then_eperm;
	assert_int_equal(memic_dm_alloc_most(dev, SIZE_MAX, 64, &dm), -EPERM);
	assert_null(dm);
	assert_int_equal(mock.live_dms, 0);
}

/* Case 41: a device that cannot align to a page is not asked to. */
static void
test_most_without_alignment(void **state)
{
	struct memic_dm *dm;

	(void)state;
	mock.log_max_align = 0;
	reopen();
	assert_int_equal(memic_device_caps(dev)->log_max_align, 6);
	assert_int_equal(memic_dm_alloc_most(dev, 8192, 64, &dm), 0);
	assert_int_equal(mock.last_align, 0);
	assert_int_equal(mock.allocs, 1);
	assert_int_equal(memic_dm_free(dm), 0);
}

/* Case 10: a device without MEMIC. */
static void
test_most_no_memic(void **state)
{
	struct memic_dm *dm;

	(void)state;
	mock.max_dm = 0;
	reopen();
	assert_false(memic_device_caps(dev)->memic);
	assert_int_equal(memic_dm_alloc_most(dev, 8192, 64, &dm), -EOPNOTSUPP);
	assert_says("MEMIC_SIZE_LIMIT");
	mock.alloc_errno = EINVAL;
	assert_int_equal(memic_dm_alloc(dev, MEMIC_DM_MEMIC, 64, 0, &dm), -EINVAL);
	assert_says("MEMIC_SIZE_LIMIT");
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_alloc), T(test_alloc_rounds_to_unit), T(test_start_offset),
		T(test_alloc_sentences), T(test_errno_zero_is_eio), T(test_bad_arguments),
		T(test_init_obj_failure), T(test_packet_memory), T(test_free_busy),
		T(test_free_after_removal), T(test_most_sizes), T(test_most_exhaustive),
		T(test_most_shapes), T(test_most_without_alignment), T(test_most_no_memic),
	};
#undef T

	return cmocka_run_group_tests_name("memic dm", tests, NULL, NULL) != 0;
}
