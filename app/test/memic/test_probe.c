/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/* Run as "mlx5emu -- test_memic_probe": identity mappings, and the probe's arguments. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "probe.h"

#define PAGE 4096u
#define LOW ((uint8_t *)(uintptr_t)PAGE)
#define SIZE 32768u

static struct memic_device *dev;
static struct ibv_pd *pd;
static int low_errno; /* with which mappings at low addresses fail */

void *__real_mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t off);
void *__wrap_mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t off);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off);

void *
__wrap_mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	if (addr == LOW && low_errno != 0) {
		errno = low_errno;
		return MAP_FAILED;
	}
	return __real_mmap64(addr, len, prot, flags, fd, off);
}

void *
__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	return __wrap_mmap64(addr, len, prot, flags, fd, off);
}

static int
setup(void **state)
{
	(void)state;
	low_errno = 0;
	if (memic_device_open("mlx5_0", &dev) != 0)
		return -1;
	pd = ibv_alloc_pd(memic_device_context(dev));
	return pd == NULL;
}

static int
teardown(void **state)
{
	(void)state;
	return ibv_dealloc_pd(pd) != 0 || memic_device_close(dev) != 0;
}

static struct memic_dm *
alloc(size_t size)
{
	struct memic_dm *dm = NULL;

	if (memic_dm_alloc_most(dev, size, size, &dm) != 0)
		fail_msg("%s", memic_last_error());
	return dm;
}

static void
assert_error(int rc, int want, const char *text)
{
	if (rc != want || strstr(memic_last_error(), text) == NULL)
		fail_msg("%d, not %d with '%s': %s", rc, want, text, memic_last_error());
}

/* Whether something is mapped at an address: mincore(2) says ENOMEM if not. */
static bool
is_mapped(void *addr)
{
	unsigned char vec;

	return mincore((void *)((uintptr_t)addr & ~(uintptr_t)(PAGE - 1)), PAGE, &vec) == 0;
}

static void
moves(void **state)
{
	struct memic_dm *dm = alloc(SIZE);
	uint8_t *home = memic_dm_addr(dm);
	struct memic_mkey *mkey;
	uint8_t want[64], got[64];

	(void)state;
	memset(want, 0x5a, sizeof(want));
	memic_copy_to(home + 2 * PAGE, want, sizeof(want));
	assert_int_equal(memic_dm_map_identity(dm), 0);
	assert_ptr_equal(memic_dm_addr(dm), LOW);
	assert_int_equal(memic_dm_length(dm), SIZE - PAGE);
	memic_copy_from(got, LOW + PAGE, sizeof(got));
	assert_memory_equal(want, got, sizeof(got));
	/* what libmlx5 will unmap is still ours */
	assert_true(is_mapped(home + PAGE));
	assert_int_equal(memic_dm_map_identity(dm), 0);
	assert_ptr_equal(memic_dm_addr(dm), LOW);

	assert_error(memic_mkey_create(dm, pd, MEMIC_MKEY_KLM, &mkey), -EINVAL, "direct key");
	assert_error(memic_mkey_create(dm, pd, MEMIC_MKEY_KSM, &mkey), -EINVAL, "direct key");
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_DIRECT, &mkey), 0);
	assert_int_equal(memic_mkey_base(mkey), 0);
	assert_error(memic_dm_free(dm), -EBUSY, "key(s)");
	assert_int_equal(memic_mkey_destroy(mkey), 0);
	assert_int_equal(memic_dm_free(dm), 0);
	assert_false(is_mapped(LOW));
	assert_false(is_mapped(home + PAGE));
	assert_false(is_mapped(home));
}

static void
refuses(void **state)
{
	struct memic_dm *dm = alloc(SIZE), *small = alloc(PAGE), *second = alloc(SIZE);
	struct memic_mkey *mkey;
	void *block;

	(void)state;
	assert_error(memic_dm_map_identity(NULL), -EINVAL, "NULL");
	assert_error(memic_dm_map_identity(small), -EINVAL, "one page");
	assert_int_equal(memic_mkey_create(dm, pd, MEMIC_MKEY_KLM, &mkey), 0);
	assert_error(memic_dm_map_identity(dm), -EBUSY, "1 key(s)");
	assert_int_equal(memic_mkey_destroy(mkey), 0);

	low_errno = EPERM;
	assert_error(memic_dm_map_identity(dm), -EPERM, "CAP_SYS_RAWIO");
	low_errno = 0;
	block = mmap(LOW + PAGE, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	assert_ptr_equal(block, LOW + PAGE);
	assert_error(memic_dm_map_identity(dm), -EEXIST,
		     "0x2000 to 0x3000 is taken by anonymous memory");
	assert_true(is_mapped(block));
	assert_false(is_mapped(LOW));
	munmap(block, PAGE);

	/* one device of a process, and the other one is told from what else is there */
	assert_int_equal(memic_dm_map_identity(dm), 0);
	assert_error(memic_dm_map_identity(second), -EEXIST,
		     "one device of a process can be there");
	assert_int_equal(memic_dm_free(dm), 0);
	assert_int_equal(memic_dm_map_identity(second), 0);
	assert_int_equal(memic_dm_free(second), 0);
	assert_int_equal(memic_dm_free(small), 0);
}

static void
ignore(const struct memic_check *check, void *arg)
{
	(void)check;
	(void)arg;
}

static void
wrong_arguments(void **state)
{
	struct memic_probe_options options = { .port = 9 };
	struct memic_dm *dm = alloc(SIZE);
	struct memic_check check;
	size_t total, largest;

	(void)state;
	assert_error(memic_probe(NULL, NULL, NULL, NULL), -EINVAL, "NULL");
	assert_error(memic_probe(dev, &options, ignore, NULL), -EINVAL, "port 9");
	options.port = 300;
	assert_error(memic_probe(dev, &options, ignore, NULL), -EINVAL, "port 300");
	assert_error(memic_probe_mkey(dm, MEMIC_MKEY_MODES, 1, false, &check), -EINVAL, "mode");
	assert_error(memic_probe_mkey(NULL, MEMIC_MKEY_KLM, 1, false, &check), -EINVAL, "NULL");
	assert_error(memic_dm_available(dev, NULL, &largest), -EINVAL, "NULL");
	assert_int_equal(memic_dm_available(dev, &total, &largest), 0);
	assert_int_equal(total + SIZE, memic_device_caps(dev)->max_dm_size);
	assert_int_equal(memic_dm_map_identity(dm), 0);
	assert_error(memic_probe_mkey(dm, MEMIC_MKEY_DIRECT, 1, false, &check), -EINVAL, "moved");
	assert_int_equal(memic_dm_free(dm), 0);
}

static void
one_key(void **state)
{
	struct memic_dm *dm = alloc(SIZE), *tiny;
	enum memic_mkey_mode mode;
	struct memic_check check;

	(void)state;
	for (mode = 0; mode < MEMIC_MKEY_MODES; mode++) {
		assert_int_equal(memic_probe_mkey(dm, mode, 1, false, &check), 0);
		assert_string_equal(check.name, memic_mkey_mode_name(mode));
		assert_string_equal(memic_answer_name(check.answer), "yes");
		assert_string_equal(check.reason, "frames of 60 and 1514 bytes passed unchanged");
	}
	/* a port that is not there leaves what can be said without */
	assert_int_equal(memic_probe_mkey(dm, MEMIC_MKEY_KLM, 9, false, &check), 0);
	assert_int_equal(check.answer, MEMIC_UNKNOWN);
	assert_non_null(strstr(check.reason, "port 9"));
	assert_int_equal(memic_dm_alloc(dev, MEMIC_DM_MEMIC, 64, 0, &tiny), 0);
	assert_int_equal(memic_probe_mkey(tiny, MEMIC_MKEY_KLM, 1, false, &check), 0);
	assert_string_equal(check.reason, "frames of 60 and 64 bytes passed unchanged");
	assert_int_equal(memic_dm_free(tiny), 0);
	assert_int_equal(memic_dm_free(dm), 0);
}

/* Figures as they were published for cards, and others. */
static void
rates(void **state)
{
	const char *why;

	(void)state;
	assert_int_equal(probe_judge_rates(20000, 1500, 150, &why), MEMIC_YES);
	assert_int_equal(probe_judge_rates(200, 110, 8, &why), MEMIC_NO);
	assert_non_null(strstr(why, "uncached"));
	assert_int_equal(probe_judge_rates(20000, 1500, 5000, &why), MEMIC_UNKNOWN);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(moves), T(refuses), T(wrong_arguments), T(one_key), cmocka_unit_test(rates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
