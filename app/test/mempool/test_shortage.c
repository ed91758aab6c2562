/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * Device memory that the device says it has and that is not there: somebody else holds
 * part of it. Needs a port of the mlx5 driver with 1 MiB, as under mlx5emu: all pages of
 * the BAR, so that what is left may lie in pieces.
 */

#include <errno.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_common.h>
#include <rte_errno.h>

#include <memic.h>

#include "fixture.h"

#define VDEV "mempool_mlx5_memic0"
#define N 512u
#define BLOCKS 15u
#define BLOCK (64u << 10)
#define PAGE 4096u

static struct memic_device *holder;
static struct memic_dm *held[BLOCKS + 32];
static long long all_slots;

static void
hold(unsigned int i, size_t bytes)
{
	if (memic_dm_alloc(holder, MEMIC_DM_MEMIC, bytes, 0, &held[i]) != 0)
		fail_msg("%s", memic_last_error());
}

static void
hold_all(void)
{
	unsigned int i;

	for (i = 0; i < BLOCKS; i++)
		hold(i, BLOCK);
	/* and page by page what remains */
	while (memic_dm_alloc(holder, MEMIC_DM_MEMIC, PAGE, 0, &held[i]) == 0)
		assert_true(++i < RTE_DIM(held));
}

static void
let_go(unsigned int i)
{
	assert_int_equal(memic_dm_free(held[i]), 0);
	held[i] = NULL;
}

static int
let_all_go(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < RTE_DIM(held); i++)
		let_go(i);
	return 0;
}

/* A pool, how many slots it got, and what was said. */
static const char *
log_of_pool(const char *name, long long slots)
{
	struct rte_mempool *mp;

	log_begin();
	mp = make_pool(name, N, OPS);
	assert_int_equal(pool_number(name, "device_slots"), slots);
	rte_mempool_free(mp);
	return log_end();
}

static void
case_9_all_is_there(void **state)
{
	(void)state;
	assert_null(strstr(log_of_pool("all", all_slots), "lives in host"));
}

static void
case_9_largest_piece(void **state)
{
	const char *log;

	(void)state;
	hold_all();
	let_go(1);
	let_go(3);
	log = log_of_pool("pieces", BLOCK / ROOM);
	assert_non_null(strstr(log, "mlx5_0 (0000:08:00.0): 65536 of 1048576 bytes of "
			       "device memory could be had (ENOMEM):"));
}

static void
case_9_one_page(void **state)
{
	(void)state;
	hold_all();
	let_go(BLOCKS);
	log_of_pool("page", PAGE / ROOM);
}

static void
case_9_62_nothing_left(void **state)
{
	struct rte_mempool *mp;
	const char *log;

	(void)state;
	hold_all();
	log = log_of_pool("none", 0);
	assert_non_null(strstr(log, "pool none lives in host memory"));
	assert_non_null(strstr(log, "mlx5_0"));
	assert_non_null(strstr(log, "ENOMEM"));
	assert_int_equal(rte_vdev_init(VDEV, "spill=0"), 0);
	log_begin();
	mp = rte_pktmbuf_pool_create_by_ops("strict", N, 0, 0, ROOM, SOCKET_ID_ANY, OPS);
	log = log_end();
	assert_null(mp);
	assert_int_equal(rte_errno, ENOMEM);
	assert_non_null(strstr(log, "pool strict not created (ENOMEM)"));
	assert_int_equal(rte_vdev_uninit(VDEV), 0);
}

/* How much is missing is said, in buffers and bytes. */
static void
case_9_strict_says_what_is_missing(void **state)
{
	struct rte_mempool *mp;
	const char *log;

	(void)state;
	hold_all();
	let_go(0);
	assert_int_equal(rte_vdev_init(VDEV, "spill=0"), 0);
	log_begin();
	mp = rte_pktmbuf_pool_create_by_ops("strict", 64, 0, 0, ROOM, SOCKET_ID_ANY, OPS);
	log = log_end();
	assert_null(mp);
	assert_int_equal(rte_errno, ENOMEM);
	/* 30 buffers of 2176 bytes fit into 64 KiB */
	assert_non_null(strstr(log, "30 buffers fit, 34 buffers and 73984 bytes are missing"));
	/* a smaller one fits */
	mp = rte_pktmbuf_pool_create_by_ops("strict", 30, 0, 0, ROOM, SOCKET_ID_ANY, OPS);
	assert_non_null(mp);
	rte_mempool_free(mp);
	assert_int_equal(rte_vdev_uninit(VDEV), 0);
}

/* What a pool was refused is had by the next one, once it is there. */
static void
case_9_comes_back(void **state)
{
	(void)state;
	hold_all();
	log_of_pool("before", 0);
	let_all_go(NULL);
	log_of_pool("after", all_slots);
}

static void
case_62_second_pool_spills(void **state)
{
	struct rte_mempool *a = make_pool("first", N, OPS), *b;
	const char *log;

	(void)state;
	log_begin();
	b = make_pool("second", N, OPS);
	log = log_end();
	assert_int_equal(pool_number("second", "device_slots"), 0);
	assert_non_null(strstr(log, "pool second lives in host memory: no 2176 bytes left of the "
			       "device memory of mlx5_0"));
	rte_mempool_free(b);
	/* several rules, each with its share */
	rte_mempool_free(a);
	assert_int_equal(rte_vdev_init("mempool_mlx5_memic0", "pools=a*,size=64K"), 0);
	assert_int_equal(rte_vdev_init("mempool_mlx5_memic1", "pools=b*,size=128K"), 0);
	a = make_pool("a", N, OPS);
	b = make_pool("b", N, OPS);
	assert_int_equal(pool_number("a", "device_slots"), (64 << 10) / ROOM);
	assert_int_equal(pool_number("b", "device_slots"), (128 << 10) / ROOM);
	/* and no more is taken than that: the rest is there for others */
	assert_true(pool_number("a", "region_bytes") <= 64 << 10);
	assert_true(pool_number("b", "region_bytes") <= 128 << 10);
	hold(0, (1 << 20) - (64 << 10) - (128 << 10));
	rte_mempool_free(a);
	rte_mempool_free(b);
	assert_int_equal(rte_vdev_uninit("mempool_mlx5_memic0"), 0);
	assert_int_equal(rte_vdev_uninit("mempool_mlx5_memic1"), 0);
}

/* A pool that fits into what another one has left takes no more of the device. */
static void
case_62_regions_are_shared(void **state)
{
	struct rte_mempool *a, *b, *c;

	(void)state;
	assert_int_equal(rte_vdev_init(VDEV, "pools=b*,size=64K"), 0);
	assert_int_equal(rte_vdev_init("mempool_mlx5_memic1", "pools=a"), 0);
	a = rte_pktmbuf_pool_create_by_ops("a", 64, 0, 0, ROOM, SOCKET_ID_ANY, OPS);
	assert_int_equal(pool_number("a", "region_bytes"), 1 << 20);
	b = make_pool("b", N, OPS);
	assert_int_equal(pool_number("b", "region_bytes"), 1 << 20);
	assert_int_equal(pool_number("b", "region_used_bytes"), (64 + (64 << 10) / ROOM) * ROOM);
	/* the region outlives the pool that it was made for */
	rte_mempool_free(a);
	c = make_pool("b2", N, OPS);
	assert_int_equal(pool_number("b2", "device_slots"), (64 << 10) / ROOM);
	rte_mempool_free(c);
	rte_mempool_free(b);
	log_of_pool("b3", (64 << 10) / ROOM);
	assert_int_equal(rte_vdev_uninit(VDEV), 0);
	assert_int_equal(rte_vdev_uninit("mempool_mlx5_memic1"), 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(case_9_all_is_there, let_all_go),
		cmocka_unit_test_teardown(case_9_largest_piece, let_all_go),
		cmocka_unit_test_teardown(case_9_one_page, let_all_go),
		cmocka_unit_test_teardown(case_9_62_nothing_left, let_all_go),
		cmocka_unit_test_teardown(case_9_strict_says_what_is_missing, let_all_go),
		cmocka_unit_test_teardown(case_9_comes_back, let_all_go),
		cmocka_unit_test_teardown(case_62_second_pool_spills, let_all_go),
		cmocka_unit_test(case_62_regions_are_shared),
	};
	int status = eal_start_with_port(argc, argv);

	if (status != 0)
		return status;
	if (memic_device_open("mlx5_0", &holder) != 0) {
		printf("%s\n", memic_last_error());
		return 1;
	}
	all_slots = (1 << 20) / ROOM;
	status = cmocka_run_group_tests(tests, NULL, NULL);
	memic_device_close(holder);
	return eal_end(status);
}
