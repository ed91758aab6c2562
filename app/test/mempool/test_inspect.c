/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * The public calls that tell about pools and devices, and that which adds a rule. Needs a
 * port of the mlx5 driver with 256 KiB, as under mlx5emu.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <rte_pmd_mlx5_memic.h>

#include "fixture.h"

#define N 256u
#define ALL (262144u / ROOM)

static struct rte_pmd_mlx5_memic_device
device(void)
{
	struct rte_pmd_mlx5_memic_device d;

	assert_int_equal(rte_pmd_mlx5_memic_devices_get(&d, 1, sizeof(d)), 1);
	return d;
}

static void
devices(void **state)
{
	struct rte_pmd_mlx5_memic_device d = device();
	struct rte_mempool *mp;

	(void)state;
	assert_string_equal(d.name, "mlx5_0");
	assert_string_equal(d.address, "0000:08:00.0");
	assert_int_equal(d.max_bytes, 262144);
	assert_int_equal(d.open, 1);
	assert_int_equal(d.region_bytes | d.used_bytes | d.quarantined_bytes | d.pools, 0);
	mp = make_pool("devices", N, OPS);
	d = device();
	assert_int_equal(d.region_bytes, 262144);
	assert_int_equal(d.used_bytes, ALL * ROOM);
	assert_int_equal(d.pools, 1);
	rte_mempool_free(mp);
	assert_int_equal(device().region_bytes, 0);
}

static void
pools(void **state)
{
	struct rte_pmd_mlx5_memic_pool p[3];
	struct rte_mempool *first = make_pool("first", N, OPS);
	struct rte_mempool *second = make_pool("second", N, OPS);
	struct rte_mempool *other = make_pool("other", N, REFERENCE);

	(void)state;
	memset(p, 0x5a, sizeof(p));
	assert_int_equal(rte_pmd_mlx5_memic_pools_get(p, 3, sizeof(p[0])), 2);
	assert_string_equal(p[0].name, "first");
	assert_string_equal(p[0].rule, "defaults");
	assert_string_equal(p[0].address, "0000:08:00.0");
	assert_string_equal(p[0].mkey, "klm");
	assert_string_equal(p[0].reason, "");
	assert_string_equal(p[0].stats.device, "mlx5_0");
	assert_int_equal(p[0].stats.slot_bytes, ROOM);
	assert_int_equal(p[0].stats.device_slots, ALL);
	assert_string_equal(p[1].name, "second");
	assert_string_equal(p[1].address, "");
	assert_non_null(strstr(p[1].reason, "of the device memory of mlx5_0"));
	assert_int_equal(p[1].stats.host_slots, N);
	/* the rest stays as it was, and so does what is beyond the room given */
	assert_int_equal(p[2].name[0], 0x5a);
	memset(p, 0x5a, sizeof(p));
	assert_int_equal(rte_pmd_mlx5_memic_pools_get(p, 1, sizeof(p[0])), 2);
	assert_string_equal(p[0].name, "first");
	assert_int_equal(p[1].name[0], 0x5a);
	assert_int_equal(rte_pmd_mlx5_memic_pools_get(NULL, 0, sizeof(p[0])), 2);
	rte_mempool_free(first);
	rte_mempool_free(second);
	rte_mempool_free(other);
	assert_int_equal(rte_pmd_mlx5_memic_pools_get(p, 3, sizeof(p[0])), 0);
}

/* What is out, what was handed out and the most that ever was out. */
static void
numbers(void **state)
{
	struct rte_pmd_mlx5_memic_stats s;
	struct rte_mempool *mp = make_pool("numbers", N, OPS);
	struct rte_mbuf *m[N];

	(void)state;
	assert_int_equal(rte_pktmbuf_alloc_bulk(mp, m, 10), 0);
	rte_pktmbuf_free_bulk(m, 10);
	assert_int_equal(rte_pktmbuf_alloc_bulk(mp, m, 4), 0);
	assert_int_equal(rte_pmd_mlx5_memic_stats_get(mp, &s, sizeof(s)), 0);
	assert_int_equal(s.device_gets, 14);
	assert_int_equal(s.host_gets, 0);
	assert_int_equal(s.device_out, 4);
	assert_int_equal(s.device_peak, 10);
	assert_int_equal(s.device_free, ALL - 4);
	assert_int_equal(s.host_out, 0);
	assert_int_equal(rte_pmd_mlx5_memic_peak_reset(mp), 0);
	assert_int_equal(rte_pmd_mlx5_memic_stats_get(mp, &s, sizeof(s)), 0);
	assert_int_equal(s.device_peak, 4);
	rte_pktmbuf_free_bulk(m, 4);
	rte_mempool_free(mp);
}

static void
dump(void **state)
{
	struct rte_mempool *mp = make_pool("dumped", N, OPS);
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	assert_int_equal(rte_pmd_mlx5_memic_dump(f, mp), 0);
	fclose(f);
	assert_non_null(strstr(text, "  device=mlx5_0\n"));
	/* the slots of the first pool are one piece, from the region's start on */
	assert_non_null(strstr(text, "  slots 0-119: bytes 0-261119 of the region"));
	free(text);
	rte_mempool_free(mp);
}

static void
wrong_arguments(void **state)
{
	struct rte_mempool *other = make_pool("other", N, REFERENCE);
	struct rte_pmd_mlx5_memic_pool p;
	char why[64] = "x";

	(void)state;
	assert_int_equal(rte_pmd_mlx5_memic_pools_get(NULL, 1, sizeof(p)), -EINVAL);
	assert_int_equal(rte_pmd_mlx5_memic_pools_get(&p, 1, 0), -EINVAL);
	assert_int_equal(rte_pmd_mlx5_memic_devices_get(NULL, 1, sizeof(p)), -EINVAL);
	assert_int_equal(rte_pmd_mlx5_memic_peak_reset(NULL), -EINVAL);
	assert_int_equal(rte_pmd_mlx5_memic_peak_reset(other), -ENOTSUP);
	assert_int_equal(rte_pmd_mlx5_memic_dump(NULL, other), -EINVAL);
	assert_int_equal(rte_pmd_mlx5_memic_dump(stdout, NULL), -EINVAL);
	assert_int_equal(rte_pmd_mlx5_memic_dump(stdout, other), -ENOTSUP);
	assert_int_equal(rte_pmd_mlx5_memic_rule_add(NULL, "", why, sizeof(why)), -EINVAL);
	assert_int_equal(rte_pmd_mlx5_memic_rule_add("x", NULL, why, sizeof(why)), -EINVAL);
	assert_int_equal(rte_pmd_mlx5_memic_rule_add("x", "", why, 0), -EINVAL);
	rte_mempool_free(other);
}

/* A rule that was refused leaves no trace; one that was not is in force from then on. */
static void
rule(void **state)
{
	struct rte_pmd_mlx5_memic_pool p;
	struct rte_mempool *mp;
	char why[128];

	(void)state;
	log_begin();
	assert_int_equal(rte_pmd_mlx5_memic_rule_add("test", "size=12x", why, sizeof(why)),
			 -EINVAL);
	assert_non_null(strstr(log_end(), "test: size=12x: the value is not a number of bytes"));
	assert_int_equal(strncmp(why, "size=12x: the value is not", 26), 0);
	mp = make_pool("unruled", N, OPS);
	assert_int_equal(rte_pmd_mlx5_memic_pools_get(&p, 1, sizeof(p)), 1);
	assert_string_equal(p.rule, "defaults");
	rte_mempool_free(mp);
	assert_int_equal(rte_pmd_mlx5_memic_rule_add("test", "size=64K,pools=ruled", why,
						     sizeof(why)), 0);
	assert_string_equal(why, "");
	mp = make_pool("ruled", N, OPS);
	assert_int_equal(rte_pmd_mlx5_memic_pools_get(&p, 1, sizeof(p)), 1);
	assert_string_equal(p.rule, "test");
	assert_int_equal(p.stats.device_slots, (64 << 10) / ROOM);
	rte_mempool_free(mp);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices),
		cmocka_unit_test(pools),
		cmocka_unit_test(numbers),
		cmocka_unit_test(dump),
		cmocka_unit_test(wrong_arguments),
		cmocka_unit_test(rule),
	};
	int status = eal_start_with_port(argc, argv);

	if (status != 0)
		return status;
	return eal_end(cmocka_run_group_tests(tests, NULL, NULL));
}
