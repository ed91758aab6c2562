/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * Kinds of keys, in a program that is linked with the driver. Needs ports of two devices,
 * mlx5_0 and mlx5_1, with 256 KiB each and without faults, as under mlx5emu --ports 2.
 */

#include <errno.h>
#include <string.h>

#include <sys/mman.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <rte_pmd_mlx5_memic.h>

#include "fixture.h"

#define N 256u
#define PAGE 4096u
#define BYTES 262144u
#define LOW ((uint8_t *)(uintptr_t)PAGE)

static struct rte_mempool *
create(const char *name, const char *dev, enum rte_pmd_mlx5_memic_mkey mkey, uint64_t max_bytes)
{
	struct rte_pmd_mlx5_memic_conf conf;

	rte_pmd_mlx5_memic_conf_init(&conf);
	conf.dev = dev;
	conf.mkey = mkey;
	conf.max_bytes = max_bytes;
	return rte_pmd_mlx5_memic_pool_create(name, N, 0, 0, ROOM, SOCKET_ID_ANY, &conf);
}

#define DIRECT RTE_PMD_MLX5_MEMIC_MKEY_DIRECT
#define ALL RTE_PMD_MLX5_MEMIC_SIZE_ALL

static void
assert_info(const char *pool, const char *text)
{
	char command[80];
	const char *info;

	snprintf(command, sizeof(command), "/mlx5_memic/info,%s", pool);
	info = telemetry(command);
	if (info == NULL || strstr(info, text) == NULL)
		fail_msg("no '%s' in: %s", text, info);
}

static bool
is_mapped(void *page)
{
	unsigned char vec;

	return mincore(page, PAGE, &vec) == 0;
}

static void
count_low(struct rte_mempool *mp __rte_unused, void *arg, void *obj, unsigned int i __rte_unused)
{
	const struct rte_mbuf *m = obj;
	unsigned int *n = arg;

	if ((uint8_t *)m->buf_addr >= LOW &&
	    (uint8_t *)m->buf_addr + m->buf_len <= LOW - PAGE + BYTES)
		(*n)++;
}

static void
direct(void **state)
{
	struct rte_mempool *mp = create("direct", "mlx5_0", DIRECT, ALL);
	unsigned int low = 0;

	(void)state;
	assert_non_null(mp);
	assert_info("direct", "\"mkey\":\"direct\"");
	assert_int_equal(pool_number("direct", "device_slots"), (BYTES - PAGE) / ROOM);
	rte_mempool_obj_iter(mp, count_low, &low);
	assert_int_equal(low, (BYTES - PAGE) / ROOM);
	assert_true(is_mapped(LOW));
	rte_mempool_free(mp);
	assert_false(is_mapped(LOW));
}

/* Two devices cannot be at the same addresses, and it is told which way out there is. */
static void
collisions(void **state)
{
	struct rte_mempool *first = create("first", "mlx5_0", DIRECT, 64 << 10), *second, *other;
	void *page;

	(void)state;
	assert_non_null(first);
	assert_int_equal(pool_number("first", "device_slots"), (64 << 10) / ROOM);
	second = create("second", "mlx5_1", DIRECT, ALL);
	assert_non_null(second);
	assert_int_equal(pool_number("second", "device_slots"), 0);
	assert_info("second", "EEXIST");
	assert_info("second", "one device of a process");
	/* other kinds do not mind, on either device */
	other = create("other", "mlx5_1", RTE_PMD_MLX5_MEMIC_MKEY_AUTO, ALL);
	assert_info("other", "\"mkey\":\"klm\"");
	rte_mempool_free(other);
	assert_null(create("klm", "mlx5_0", RTE_PMD_MLX5_MEMIC_MKEY_KLM, ALL));
	assert_int_equal(rte_errno, EINVAL);
	rte_mempool_free(second);
	rte_mempool_free(first);
	assert_false(is_mapped(LOW));

	page = mmap(LOW + PAGE, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	assert_ptr_equal(page, LOW + PAGE);
	log_begin();
	second = create("second", "mlx5_1", DIRECT, ALL);
	assert_non_null(strstr(log_end(), "0x2000 to 0x3000 is taken by anonymous memory"));
	assert_int_equal(pool_number("second", "device_slots"), 0);
	rte_mempool_free(second);
	munmap(page, PAGE);
	second = create("second", "mlx5_1", DIRECT, ALL);
	assert_info("second", "\"mkey\":\"direct\"");
	rte_mempool_free(second);
}

/* size= is what the pool may use, the page that is lost comes on top. */
static void
little(void **state)
{
	struct rte_mempool *mp = create("little", "mlx5_0", DIRECT, ROOM);

	(void)state;
	assert_int_equal(pool_number("little", "device_slots"), 1);
	rte_mempool_free(mp);
}

/* The device is asked once, and what it said is in the log. */
static void
once(void **state)
{
	static const char told[] = "mlx5_0 (0000:08:00.0): frames pass through a ksm key over its "
				   "device memory: frames of 60 and 1514 bytes passed unchanged";
	struct rte_mempool *mp;
	unsigned int i;
	bool found;

	(void)state;
	rte_log_set_level_pattern("mempool.mlx5_memic", RTE_LOG_INFO);
	for (i = 0; i < 2; i++) {
		log_begin();
		mp = create("once", "mlx5_0", RTE_PMD_MLX5_MEMIC_MKEY_KSM, ALL);
		assert_non_null(mp);
		rte_mempool_free(mp);
		found = strstr(log_end(), told) != NULL;
		assert_int_equal(found, i == 0);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(direct), cmocka_unit_test(collisions), cmocka_unit_test(little),
		cmocka_unit_test(once),
	};
	int status = eal_start(argc, argv);

	if (status != 0)
		return status;
	if (rte_eth_dev_count_avail() < 2) {
		printf("skipped: two ports are needed\n");
		rte_eal_cleanup();
		return SKIPPED;
	}
	return eal_end(cmocka_run_group_tests(tests, NULL, NULL));
}
