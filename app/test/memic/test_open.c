/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memic.h"
#include "mock_verbs.h"

static struct memic_device *dev;
static unsigned int fds;

static int
setup(void **state)
{
	(void)state;
	mock_reset();
	dev = NULL;
	fds = mock_count_fds();
	return 0;
}

/* Whatever failed: no context, no file descriptor stays behind. */
static int
teardown(void **state)
{
	(void)state;
	return mock.open_contexts != 0 || mock_count_fds() != fds;
}

static void
test_open(void **state)
{
	const struct memic_caps *caps;

	(void)state;
	assert_int_equal(memic_device_open("mlx5_1", &dev), 0);
	assert_string_equal(mock.calls, "open+devx free_list");
	caps = memic_device_caps(dev);
	assert_string_equal(caps->name, "mlx5_1");
	assert_string_equal(caps->fw_ver, "22.35.1012");
	assert_int_equal(caps->max_dm_size, 131072);
	assert_int_equal(caps->memic_bar_size, 1 << 20);
	assert_int_equal(caps->log_max_align, 12);
	assert_true(caps->devx);
	assert_true(caps->memic);
	assert_true(caps->relaxed_ordering_write);
	assert_true(caps->relaxed_ordering_read);
	assert_true(caps->sw_icm[MEMIC_DM_STEERING_SW_ICM]);
	assert_true(caps->sw_icm[MEMIC_DM_HEADER_MODIFY_SW_ICM]);
	assert_true(caps->sw_icm[MEMIC_DM_HEADER_MODIFY_PATTERN_SW_ICM]);
	assert_false(caps->sw_icm[MEMIC_DM_ENCAP_SW_ICM]); /* no area for it */
	assert_string_equal(memic_device_context(dev)->device->name, "mlx5_1");
	assert_int_equal(memic_device_close(dev), 0);
	assert_int_equal(memic_device_close(NULL), 0);
}

/* QUERY_HCA_CAP works on every context and so does not prove DevX. */
static void
test_open_without_devx(void **state)
{
	(void)state;
	mock.devx = false;
	mock.sw_owner_v2 = false;
	assert_int_equal(memic_device_open(MOCK_NAME, &dev), 0);
	assert_string_equal(mock.calls, "open+devx open free_list");
	assert_false(memic_device_caps(dev)->devx);
	assert_true(memic_device_caps(dev)->memic);
	assert_int_equal(memic_device_caps(dev)->memic_bar_size, 1 << 20);
	assert_false(memic_device_caps(dev)->sw_icm[MEMIC_DM_STEERING_SW_ICM]);
	assert_int_equal(memic_device_close(dev), 0);
}

static void
test_open_by_address(void **state)
{
	char dir[] = "/tmp/memic-test-XXXXXX", path[128];
	struct ibv_device **list;
	int n;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/0000:08:00.1", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/device", dir);
	assert_int_equal(symlink("0000:08:00.1", path), 0);
	list = __wrap_ibv_get_device_list(&n);
	snprintf(list[1]->ibdev_path, sizeof(list[1]->ibdev_path), "%s", dir);

	assert_int_equal(memic_device_open("0000:08:00.1", &dev), 0);
	assert_string_equal(memic_device_caps(dev)->name, "mlx5_1");
	assert_string_equal(memic_device_caps(dev)->address, "0000:08:00.1");
	assert_int_equal(memic_device_close(dev), 0);

	assert_int_equal(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/0000:08:00.1", dir);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

static void
test_open_failures(void **state)
{
	(void)state;
	assert_int_equal(memic_device_open("mlx5_7", &dev), -ENODEV);
	assert_says("mlx5_7");
	assert_says("mlx5_0, mlx5_1");
	mock.open_errno = EACCES;
	assert_int_equal(memic_device_open(MOCK_NAME, &dev), -EACCES);
	assert_says("/dev/infiniband");
	mock.open_errno = -1;
	assert_int_equal(memic_device_open(MOCK_NAME, &dev), -EIO);
	mock.open_errno = 0;
	mock.query_errno = EIO;
	assert_int_equal(memic_device_open(MOCK_NAME, &dev), -EIO);
	assert_says("ibv_query_device_ex");
	mock.not_mlx5 = true;
	assert_int_equal(memic_device_open(MOCK_NAME, &dev), -EOPNOTSUPP);
	assert_says("ConnectX");
	mock.list_errno = ENOSYS;
	assert_int_equal(memic_device_open(MOCK_NAME, &dev), -ENOSYS);
	assert_says("ib_uverbs");
	assert_int_equal(memic_device_open(NULL, &dev), -EINVAL);
	assert_int_equal(memic_device_open("", &dev), -ENOSYS);
	assert_null(dev);
}

static void
test_adopt(void **state)
{
	struct ibv_context *user = mock_user_context(false);

	(void)state;
	assert_int_equal(memic_device_adopt(user, &dev), 0);
	assert_true(memic_device_context(dev) != user);
	assert_true(memic_device_context(dev)->cmd_fd != user->cmd_fd);
	mock_user_close(user);
	/* the owner is gone, our context is not */
	assert_int_equal(mock.open_contexts, 1);
	assert_int_equal(memic_device_close(dev), 0);
}

static void
test_adopt_failures(void **state)
{
	struct ibv_context *user = mock_user_context(false);

	(void)state;
	assert_int_equal(memic_device_adopt(NULL, &dev), -EINVAL);
	mock.import_errno = EOPNOTSUPP; /* the duplicate is ours to close */
	assert_int_equal(memic_device_adopt(user, &dev), -EOPNOTSUPP);
	assert_says("ibv_import_device");
	mock.import_errno = EIO; /* the duplicate is closed already */
	assert_int_equal(memic_device_adopt(user, &dev), -EIO);
	assert_int_equal(close(mock.reused_fd), 0);
	mock.import_errno = 0;
	mock.query_errno = EIO;
	assert_int_equal(memic_device_adopt(user, &dev), -EIO);
	mock.not_mlx5 = true;
	assert_int_equal(memic_device_adopt(user, &dev), -EOPNOTSUPP);
	assert_null(dev);
	mock_user_close(user);
}

static void
test_adopt_out_of_fds(void **state)
{
	struct ibv_context *user = mock_user_context(false);
	struct rlimit old, none;
	int lowest = dup(user->cmd_fd);

	(void)state;
	assert_true(lowest >= 0);
	assert_int_equal(close(lowest), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = old;
	none.rlim_cur = (rlim_t)lowest;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(memic_device_adopt(user, &dev), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_says("ulimit -n");
	mock_user_close(user);
}

static void
test_errno_names(void **state)
{
	(void)state;
	assert_string_equal(memic_errno_name(ENOMEM), "ENOMEM");
	assert_string_equal(memic_errno_name(-ENOMEM), "ENOMEM");
	assert_string_equal(memic_errno_name(EREMOTEIO), "EREMOTEIO");
	assert_string_equal(memic_errno_name(0), "E?");
	assert_string_equal(memic_errno_name(99999), "E?");
	assert_string_equal(memic_errno_name(INT32_MIN), "E?");
	assert_string_equal(memic_errno_name(INT32_MAX), "E?");
}

/* Before any failure there is a text too; a call that works leaves the last one. */
static void
test_last_error(void **state)
{
	char before[1024];

	(void)state;
	assert_non_null(memic_last_error());
	assert_int_equal(memic_device_open("mlx5_7", &dev), -ENODEV);
	snprintf(before, sizeof(before), "%s", memic_last_error());
	assert_int_equal(memic_device_open(MOCK_NAME, &dev), 0);
	assert_string_equal(memic_last_error(), before);
	assert_int_equal(memic_device_close(dev), 0);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_open), T(test_open_without_devx), T(test_open_by_address),
		T(test_open_failures), T(test_adopt), T(test_adopt_failures),
		T(test_adopt_out_of_fds), T(test_errno_names), T(test_last_error),
	};
#undef T

	return cmocka_run_group_tests_name("memic open", tests, NULL, NULL) != 0;
}
