/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * Rules: what is taken, what is refused and with which words, and which rule decides.
 * There is no device here, so a rule with spill=0 shows that it decided by the failure
 * of the pool.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_common.h>
#include <rte_errno.h>

#include "fixture.h"

#define VDEV "mempool_mlx5_memic0"
#define VDEV2 "mempool_mlx5_memic1"

/* ---- refusals ---- */

static void
refused_rules(void **state)
{
	/* arguments, and what the message must name */
	static const char *const cases[][3] = {
		{ "sizee=64K", "sizee", "64K" },
		{ "size=12x", "size", "12x" },
		{ "size=-1", "size", "-1" },
		{ "size=+1", "size", "+1" },
		{ "size= 1", "size", " 1" },
		{ "size=", "size", "size=" },
		{ "size=0x10", "size", "0x10" },
		{ "size=1KK", "size", "1KK" },
		{ "size=1.5M", "size", "1.5M" },
		{ "size=ALL", "size", "ALL" },
		{ "size=18446744073709551616", "size", "18446744073709551616" },
		{ "size=18446744073709551615", "size", "18446744073709551615" },
		{ "size=18014398509481984K", "size", "18014398509481984K" },
		{ "size=64K,size=64K", "size", "second time" },
		{ "spill=2", "spill", "2" },
		{ "spill=yes", "spill", "yes" },
		{ "spill=", "spill", "spill=" },
		{ "spill=01", "spill", "01" },
		{ "mkey=foo", "mkey", "foo" },
		{ "mkey=KLM", "mkey", "KLM" },
		{ "mkey=Direct", "mkey", "Direct" },
		{ "foreign=", "foreign", "drop nor bounce" },
		{ "foreign=Drop", "foreign", "Drop" },
		{ "foreign=copy", "foreign", "copy" },
		{ "siblings=2", "siblings", "2" },
		{ "dev=", "dev", "empty" },
		{ "pools=", "pools", "empty" },
		{ "size=0,spill=0", "size=0", "spill=0" },
		{ "dev=mlx5_0,mkey=klm,nosuch=1", "nosuch", "1" },
		{ "size", "size", "size" },
		{ "=1", "unknown key ''", "1" },
	};
	const char *log;
	unsigned int i;
	int ret;

	(void)state;
	for (i = 0; i < RTE_DIM(cases); i++) {
		log_begin();
		ret = rte_vdev_init(VDEV, cases[i][0]);
		log = log_end();
		if (ret != -EINVAL || strstr(log, "MLX5_MEMIC: " VDEV) == NULL ||
		    strstr(log, cases[i][1]) == NULL || strstr(log, cases[i][2]) == NULL)
			fail_msg("'%s': %d, log: %s", cases[i][0], ret, log);
	}
	/* nothing is left of them */
	rte_mempool_free(make_pool("after", 64, OPS));
}

static void
too_long(void **state)
{
	char args[300] = "pools=";

	(void)state;
	memset(args + strlen(args), 'x', 200);
	assert_int_equal(rte_vdev_init(VDEV, args), -EINVAL);
}

static void
accepted_rules(void **state)
{
	static const char *const cases[] = {
		"", "size=all", "size=0", "size=1", "size=65536", "size=64K", "size=64k", "size=2M",
		"size=18446744073709551614", "spill=0", "spill=1", "mkey=auto", "mkey=klm",
		"mkey=ksm", "mkey=direct", "siblings=0", "siblings=1", "foreign=drop",
		"foreign=bounce", "siblings=1,foreign=bounce", "dev=mlx5_0", "dev=0000:08:00.0",
		"pools=mb_pool_*",
		"pools=[ab]*", "dev=mlx5_core.sf.2,pools=rx*,size=64K,spill=0,mkey=ksm,siblings=0",
	};
	unsigned int i;
	int ret;

	(void)state;
	for (i = 0; i < RTE_DIM(cases); i++) {
		ret = rte_vdev_init(VDEV, cases[i]);
		if (ret != 0)
			fail_msg("'%s': %d", cases[i], ret);
		assert_int_equal(rte_vdev_uninit(VDEV), 0);
	}
}

/* ---- which rule decides ---- */

static bool
strict(const char *pool, uint16_t room)
{
	struct rte_mempool *mp;
	int err;

	mp = rte_pktmbuf_pool_create_by_ops(pool, 64, 0, 0, room, SOCKET_ID_ANY, OPS);
	err = rte_errno;
	rte_mempool_free(mp);
	if (mp == NULL)
		assert_int_equal(err, ENODEV);
	return mp == NULL;
}

static void
first_match_decides(void **state)
{
	(void)state;
	assert_int_equal(rte_vdev_init(VDEV, "pools=a*,spill=0"), 0);
	assert_int_equal(rte_vdev_init(VDEV2, "pools=?b,spill=1"), 0);
	assert_true(strict("ab", ROOM));
	assert_true(strict("a", ROOM));
	assert_false(strict("cb", ROOM));
	assert_false(strict("none", ROOM));
	assert_int_equal(rte_vdev_uninit(VDEV), 0);
	assert_false(strict("ab", ROOM));
	assert_int_equal(rte_vdev_init(VDEV, "pools=*b,spill=0"), 0);
	/* the other one came first by now */
	assert_false(strict("ab", ROOM));
	assert_true(strict("aab", ROOM));
	assert_int_equal(rte_vdev_uninit(VDEV), 0);
	assert_int_equal(rte_vdev_uninit(VDEV2), 0);
}

/* Pools of indirect mbufs and the like are nobody's packet buffers (case 21). */
static void
case_21_small_rooms(void **state)
{
	(void)state;
	assert_int_equal(rte_vdev_init(VDEV, "spill=0"), 0);
	assert_false(strict("room0", 0));
	assert_false(strict("room191", RTE_PKTMBUF_HEADROOM + 63));
	assert_true(strict("room192", RTE_PKTMBUF_HEADROOM + 64));
	assert_int_equal(rte_vdev_uninit(VDEV), 0);
	assert_int_equal(rte_vdev_init(VDEV, "pools=*,spill=0"), 0);
	assert_false(strict("room0", 0));
	assert_true(strict("room64", 64));
	assert_int_equal(rte_vdev_uninit(VDEV), 0);
}

/* ---- what is said ---- */

static void
no_device_is_told_once(void **state)
{
	const char *log, *first;

	(void)state;
	log_begin();
	rte_mempool_free(make_pool("told", 64, OPS));
	log = log_end();
	first = strstr(log, "pool told lives in host memory");
	assert_non_null(first);
	assert_null(strstr(first + 1, "pool told"));
}

static void
named_device_is_told(void **state)
{
	const char *log;

	(void)state;
	assert_int_equal(rte_vdev_init(VDEV, "dev=mlx5_9"), 0);
	log_begin();
	rte_mempool_free(make_pool("told", 64, OPS));
	log = log_end();
	assert_non_null(strstr(log, "mlx5_9"));
	assert_int_equal(rte_vdev_uninit(VDEV), 0);
}

/* A pool that no rule matches is nothing to talk about. */
static void
no_match_is_silent(void **state)
{
	const char *log;

	(void)state;
	assert_int_equal(rte_vdev_init(VDEV, "pools=other"), 0);
	log_begin();
	rte_mempool_free(make_pool("silent", 64, OPS));
	log = log_end();
	assert_null(strstr(log, "MLX5_MEMIC"));
	assert_int_equal(rte_vdev_uninit(VDEV), 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused_rules),
		cmocka_unit_test(too_long),
		cmocka_unit_test(accepted_rules),
		cmocka_unit_test(first_match_decides),
		cmocka_unit_test(case_21_small_rooms),
		cmocka_unit_test(no_device_is_told_once),
		cmocka_unit_test(named_device_is_told),
		cmocka_unit_test(no_match_is_silent),
	};
	int status = eal_start(argc, argv);

	if (status != 0)
		return status;
	return eal_end(cmocka_run_group_tests(tests, NULL, NULL));
}
