/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "memic.h"
#include "mock_verbs.h"

#define BASE_ACCESS (IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE | \
		     IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)

/* Positions in CREATE_MKEY by dword, written down from the PRM and not from prm.h. */
enum {
	DW_OPCODE = 0x00 / 4,
	DW_MKC = 0x10 / 4,
	DW_MKC_ACCESS = DW_MKC,
	DW_MKC_QPN_KEY = DW_MKC + 0x04 / 4,
	DW_MKC_PD = DW_MKC + 0x0c / 4,
	DW_MKC_START = DW_MKC + 0x10 / 4,
	DW_MKC_LEN = DW_MKC + 0x18 / 4,
	DW_MKC_OCTWORDS = DW_MKC + 0x34 / 4,
	DW_MKC_PAGE = DW_MKC + 0x38 / 4,
	DW_OCTWORDS = 0x60 / 4,
	DW_ENTRIES = 0x110 / 4,
};

static struct memic_device *dev;
static struct ibv_context *user;
static struct ibv_pd *pd;
static struct memic_dm *dm;

/* Change what the device has between the reset and the adoption. */
static int
start(size_t length)
{
	user = mock_user_context(false);
	pd = mock_user_pd(user);
	if (memic_device_adopt(user, &dev) != 0)
		return -1;
	if (memic_dm_alloc(dev, MEMIC_DM_MEMIC, length, 0, &dm) != 0)
		return -1;
	mock.calls[0] = '\0';
	return 0;
}

static int
setup(void **state)
{
	(void)state;
	mock_reset();
	return start(8192);
}

static int
setup_reset(void **state)
{
	(void)state;
	mock_reset();
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	if (memic_dm_free(dm) != 0 || memic_device_close(dev) != 0)
		return -1;
	mock_user_close(user);
	return mock.live_dms != 0 || mock.live_mrs != 0 || mock.live_mkeys != 0 ||
	       mock.open_contexts != 0;
}

static uint32_t
dw(unsigned int index)
{
	return be32toh(mock.mkey_in[index]);
}

static uint64_t
qw(unsigned int index)
{
	return (uint64_t)dw(index) << 32 | dw(index + 1);
}

static void
test_direct(void **state)
{
	struct memic_mkey *key;

	(void)state;
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_DIRECT, &key), 0);
	assert_int_equal(memic_mkey_lkey(key), 0x1234);
	assert_int_equal(memic_mkey_base(key), 0);
	assert_int_equal(memic_mkey_mode(key), MEMIC_MKEY_DIRECT);
	assert_int_equal(memic_mkey_destroy(key), 0);
	assert_int_equal(memic_mkey_destroy(NULL), 0);
	/* the first registration asked for relaxed ordering, which the kernel refused */
	assert_string_equal(mock.calls, "reg reg dereg");
}

static void
test_klm_command(void **state)
{
	struct memic_mkey *key;

	(void)state;
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_KLM, &key), 0);
	assert_int_equal(mock.mkey_in_bytes, 0x110 + 4 * 16);
	assert_int_equal(dw(DW_OPCODE), 0x02000000);
	/* relaxed_ordering_write; rw rr lw lr; access mode 2 */
	assert_int_equal(dw(DW_MKC_ACCESS), 1u << 18 | 0xfu << 10 | 2u << 8);
	assert_int_equal(dw(DW_MKC_QPN_KEY) >> 8, 0xffffff);
	assert_int_equal(dw(DW_MKC_PD), 0x5a5a5a);
	assert_int_equal(qw(DW_MKC_START), (uintptr_t)memic_dm_addr(dm));
	assert_int_equal(qw(DW_MKC_LEN), 8192);
	assert_int_equal(dw(DW_MKC_OCTWORDS), 4);
	assert_int_equal(dw(DW_MKC_PAGE), 1u << 6); /* relaxed_ordering_read */
	assert_int_equal(dw(DW_OCTWORDS), 4);
	assert_int_equal(dw(DW_ENTRIES), 8192);
	assert_int_equal(dw(DW_ENTRIES + 1), 0x1234);
	assert_int_equal(qw(DW_ENTRIES + 2), 0);
	assert_int_equal(dw(DW_ENTRIES + 4), 0); /* padding to four entries */

	assert_int_equal(memic_mkey_lkey(key) >> 8, 0xabcdef);
	assert_int_equal(memic_mkey_lkey(key) & 0xff, dw(DW_MKC_QPN_KEY) & 0xff);
	assert_int_equal(memic_mkey_base(key), (uintptr_t)memic_dm_addr(dm));
	mock.calls[0] = '\0';
	assert_int_equal(memic_mkey_destroy(key), 0);
	assert_string_equal(mock.calls, "mkey_destroy dereg");
}

static void
test_ksm_command(void **state)
{
	struct memic_mkey *key;
	unsigned int i;

	(void)state;
	mock.order_read_after_write = true;
	assert_int_equal(start(5 * 4096 + 64), 0);
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_KSM, &key), 0);
	assert_int_equal(mock.mkey_in_bytes, 0x110 + 8 * 16);
	assert_int_equal(dw(DW_MKC_ACCESS) >> 8 & 3, 3);
	assert_int_equal(qw(DW_MKC_LEN), 5 * 4096 + 64);
	assert_int_equal(dw(DW_MKC_OCTWORDS), 8);
	/* order_read_after_write 2 (relaxed); relaxed_ordering_read; log_page_size 12 */
	assert_int_equal(dw(DW_MKC_PAGE), 2u << 8 | 1u << 6 | 12);
	for (i = 0; i < 6; i++) {
		assert_int_equal(dw(DW_ENTRIES + 4 * i), i < 5 ? 4096 : 64);
		assert_int_equal(dw(DW_ENTRIES + 4 * i + 1), 0x1234);
		assert_int_equal(qw(DW_ENTRIES + 4 * i + 2), i * 4096);
	}
	for (; i < 8; i++)
		assert_int_equal(dw(DW_ENTRIES + 4 * i + 1), 0);
	assert_int_equal(memic_mkey_destroy(key), 0);
}

static void
test_no_ordering_capability(void **state)
{
	struct memic_mkey *key;

	(void)state;
	mock.relaxed_ordering = false;
	assert_int_equal(start(4096), 0);
	assert_false(memic_device_caps(dev)->relaxed_ordering_write);
	assert_false(memic_device_caps(dev)->relaxed_ordering_read);
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_KLM, &key), 0);
	assert_string_equal(mock.calls, "reg mkey_create");
	assert_int_equal(mock.last_access[0], BASE_ACCESS);
	assert_int_equal(dw(DW_MKC_ACCESS), 0xfu << 10 | 2u << 8);
	assert_int_equal(dw(DW_MKC_PAGE), 0);
	assert_int_equal(memic_mkey_destroy(key), 0);
}

/* Case 42: the optional bit is tried, and left out where the kernel refuses it. */
static void
test_relaxed_retry(void **state)
{
	struct memic_mkey *key;

	(void)state;
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_DIRECT, &key), 0);
	assert_int_equal(mock.last_access[1], BASE_ACCESS | IBV_ACCESS_RELAXED_ORDERING);
	assert_int_equal(mock.last_access[0], BASE_ACCESS);
	assert_int_equal(memic_mkey_destroy(key), 0);

	mock.mr_takes_relaxed = true;
	mock.calls[0] = '\0';
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_DIRECT, &key), 0);
	assert_string_equal(mock.calls, "reg");
	assert_int_equal(mock.last_access[0], BASE_ACCESS | IBV_ACCESS_RELAXED_ORDERING);
	assert_int_equal(memic_mkey_destroy(key), 0);

	/* an errno that says nothing about bits is not asked twice */
	mock.reg_errno = ENOMEM;
	mock.calls[0] = '\0';
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_DIRECT, &key), -ENOMEM);
	assert_string_equal(mock.calls, "reg");
	assert_says("no memory key is left");
}

/* A stale errno must not keep the registration from being tried. */
static void
test_stale_errno(void **state)
{
	struct memic_mkey *key;

	(void)state;
	mock.relaxed_ordering = false;
	assert_int_equal(start(4096), 0);
	errno = ENOENT;
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_DIRECT, &key), 0);
	assert_int_equal(memic_mkey_destroy(key), 0);
}

static void
test_firmware_refuses(void **state)
{
	struct memic_mkey *key = NULL;

	(void)state;
	mock.mkey_create_errno = EREMOTEIO;
	mock.fw_status = 3;
	mock.fw_syndrome = 0xabc123;
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_KLM, &key), -EREMOTEIO);
	assert_says("status 0x3, syndrome 0xabc123");
	assert_says("klm");
	assert_null(key);
	/* kernels that translate firmware's status give another errno with it */
	mock.mkey_create_errno = EINVAL;
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_KSM, &key), -EREMOTEIO);
	mock.fw_status = 0;
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_KSM, &key), -EINVAL);
	mock.mkey_create_errno = -1;
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_KSM, &key), -EIO);
	assert_int_equal(mock.live_mrs, 0);
}

static void
test_pd_lookup_fails(void **state)
{
	struct memic_mkey *key;

	(void)state;
	mock.init_obj_errno = EOPNOTSUPP;
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_KLM, &key), -EOPNOTSUPP);
	assert_int_equal(mock.live_mrs, 0);
	mock.init_obj_errno = 0;
}

static void
test_other_device(void **state)
{
	struct ibv_context *other = mock_user_context(true);
	struct memic_mkey *key;

	(void)state;
	assert_int_equal(memic_mkey_create(dm, mock_user_pd(other), MEMIC_MKEY_DIRECT, &key),
			 -EXDEV);
	assert_says("mlx5_1");
	assert_string_equal(mock.calls, "");
	mock_user_close(other);
}

/* The same device, but opened once more: handles of one are not those of the other. */
static void
test_other_open(void **state)
{
	struct ibv_context *other = mock_user_context(false);
	struct memic_mkey *key;

	(void)state;
	close(other->cmd_fd);
	other->cmd_fd = open("/dev/zero", O_RDWR | O_CLOEXEC);
	assert_true(other->cmd_fd >= 0);
	assert_int_equal(memic_mkey_create(dm, mock_user_pd(other), MEMIC_MKEY_KLM, &key),
			 -EXDEV);
	assert_says("another open");
	mock_user_close(other);
}

static void
test_no_devx(void **state)
{
	struct memic_mkey *key;

	(void)state;
	mock.devx = false;
	assert_int_equal(start(4096), 0);
	assert_false(memic_device_caps(dev)->devx);
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_KLM, &key), -EOPNOTSUPP);
	assert_says("DevX");
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_KSM, &key), -EOPNOTSUPP);
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_DIRECT, &key), 0);
	assert_int_equal(memic_mkey_destroy(key), 0);
}

/* A command that fails for another reason is no answer: a key can be made all the same. */
static void
test_devx_not_told(void **state)
{
	struct memic_mkey *key;

	(void)state;
	mock.general_err = EIO;
	assert_int_equal(start(4096), 0);
	assert_true(memic_device_caps(dev)->devx);
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_KLM, &key), 0);
	assert_int_equal(memic_mkey_destroy(key), 0);
}

static void
test_not_packet_memory(void **state)
{
	struct memic_mkey *key;
	struct memic_dm *icm;

	(void)state;
	assert_int_equal(memic_dm_alloc(dev, MEMIC_DM_STEERING_SW_ICM, 4096, 0, &icm), 0);
	assert_int_equal(memic_mkey_create(icm, pd, MEMIC_MKEY_DIRECT, &key), -EOPNOTSUPP);
	assert_says("steering");
	assert_int_equal(memic_dm_free(icm), 0);
}

/* KSM entries are pages: a mapping that starts inside one cannot be cut that way. */
static void
test_start_inside_page(void **state)
{
	struct memic_mkey *key;

	(void)state;
	mock.start_offset = 64;
	assert_int_equal(start(2048), 0);
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_KSM, &key), -EINVAL);
	assert_says("use a klm key");
	assert_string_equal(mock.calls, "");
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_KLM, &key), 0);
	assert_int_equal(qw(DW_MKC_START), (uintptr_t)memic_dm_addr(dm));
	assert_int_equal(memic_mkey_destroy(key), 0);
}

/* A length that is no multiple of 64 is rounded up unless the device has no more. */
static void
test_odd_length(void **state)
{
	struct memic_mkey *key;

	(void)state;
	mock.max_dm = 100;
	assert_int_equal(start(100), 0);
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_KLM, &key), -EINVAL);
	assert_says("no multiple of 64");
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_DIRECT, &key), 0);
	assert_int_equal(memic_mkey_destroy(key), 0);
}

static void
test_free_with_keys(void **state)
{
	struct memic_mkey *a, *b;

	(void)state;
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_KLM, &a), 0);
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_DIRECT, &b), 0);
	mock.calls[0] = '\0';
	assert_int_equal(memic_dm_free(dm), -EBUSY);
	assert_says("2 key(s)");
	assert_string_equal(mock.calls, ""); /* nothing was freed */
	assert_int_equal(memic_mkey_destroy(a), 0);
	assert_int_equal(memic_dm_free(dm), -EBUSY);
	assert_int_equal(memic_mkey_destroy(b), 0);
}

/* Case 16: what could not be destroyed is still there, and the next call goes on. */
static void
test_destroy_fails_then_goes_on(void **state)
{
	struct memic_mkey *key;

	(void)state;
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_KLM, &key), 0);
	mock.calls[0] = '\0';
	mock.mkey_destroy_errno = EBUSY;
	assert_int_equal(memic_mkey_destroy(key), -EBUSY);
	assert_string_equal(mock.calls, "mkey_destroy"); /* the MR stays while the key does */
	assert_says("call again");
	mock.mkey_destroy_errno = 0;
	mock.dereg_errno = EBUSY;
	assert_int_equal(memic_mkey_destroy(key), -EBUSY);
	assert_int_equal(memic_dm_free(dm), -EBUSY);
	mock.dereg_errno = 0;
	assert_int_equal(memic_mkey_destroy(key), 0);
	assert_string_equal(mock.calls, "mkey_destroy mkey_destroy dereg dereg");
}

static void
test_destroy_after_removal(void **state)
{
	struct memic_mkey *key;

	(void)state;
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_KLM, &key), 0);
	mock.mkey_destroy_errno = EIO;
	assert_int_equal(memic_mkey_destroy(key), 0);
	mock.live_mkeys--;
}

static void
test_bad_arguments(void **state)
{
	struct memic_mkey *key;

	(void)state;
	assert_int_equal(memic_mkey_create(NULL, pd, MEMIC_MKEY_KLM, &key), -EINVAL);
	assert_int_equal(memic_mkey_create(dm, NULL, MEMIC_MKEY_KLM, &key), -EINVAL);
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_KLM, NULL), -EINVAL);
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_MODES, &key), -EINVAL);
	assert_string_equal(memic_mkey_mode_name(MEMIC_MKEY_KLM), "klm");
	assert_string_equal(memic_mkey_mode_name(MEMIC_MKEY_KSM), "ksm");
	assert_string_equal(memic_mkey_mode_name(MEMIC_MKEY_DIRECT), "direct");
	assert_string_equal(memic_mkey_mode_name(MEMIC_MKEY_MODES), "unknown");
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
/* tests that say themselves what the device has */
#define T_OWN(name) cmocka_unit_test_setup_teardown(name, setup_reset, teardown)
	const struct CMUnitTest tests[] = {
		T(test_direct), T(test_klm_command), T_OWN(test_ksm_command),
		T_OWN(test_no_ordering_capability), T(test_relaxed_retry),
		T_OWN(test_stale_errno), T(test_firmware_refuses), T(test_pd_lookup_fails),
		T(test_other_device), T(test_other_open), T_OWN(test_no_devx),
		T_OWN(test_devx_not_told), T(test_not_packet_memory), T_OWN(test_start_inside_page),
		T_OWN(test_odd_length), T(test_free_with_keys),
		T(test_destroy_fails_then_goes_on), T(test_destroy_after_removal),
		T(test_bad_arguments),
	};
#undef T
#undef T_OWN

	return cmocka_run_group_tests_name("memic mkey", tests, NULL, NULL) != 0;
}
