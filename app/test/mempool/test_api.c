/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * The public calls, in a program that is linked with the driver and given the plugin as
 * well. Needs a port of the mlx5 driver with 256 KiB, as under mlx5emu.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_common.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <rte_pmd_mlx5_memic.h>

#include "fixture.h"

#define VDEV "mempool_mlx5_memic0"
#define N 256u
#define ALL (262144u / ROOM)

static struct rte_pmd_mlx5_memic_conf
defaults(void)
{
	struct rte_pmd_mlx5_memic_conf conf;

	rte_pmd_mlx5_memic_conf_init(&conf);
	return conf;
}

static struct rte_mempool *
create(const char *name, const struct rte_pmd_mlx5_memic_conf *conf)
{
	return rte_pmd_mlx5_memic_pool_create(name, N, 0, 0, ROOM, SOCKET_ID_ANY, conf);
}

static struct rte_pmd_mlx5_memic_stats
stats_of(const struct rte_mempool *mp)
{
	struct rte_pmd_mlx5_memic_stats s;

	assert_int_equal(rte_pmd_mlx5_memic_stats_get(mp, &s, sizeof(s)), 0);
	return s;
}

/* The program's library and what the plugin loads are one and the same. */
static void
loaded_once(void **state)
{
	unsigned int i, n = 0;

	(void)state;
	for (i = 0; i < rte_mempool_ops_table.num_ops; i++)
		n += strcmp(rte_mempool_ops_table.ops[i].name, OPS) == 0;
	assert_int_equal(n, 1);
}

static void
create_with_defaults(void **state)
{
	struct rte_pmd_mlx5_memic_conf conf = defaults();
	struct rte_pmd_mlx5_memic_stats s;
	struct rte_mempool *mp;
	struct rte_mbuf *m;
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		mp = create("defaults", i == 0 ? NULL : &conf);
		assert_non_null(mp);
		s = stats_of(mp);
		assert_int_equal(s.device_slots, ALL);
		assert_int_equal(s.device_free, ALL);
		assert_int_equal(s.device_bytes, ALL * ROOM);
		assert_int_equal(s.host_slots, N - ALL);
		assert_int_equal(s.host_free, N - ALL);
		assert_int_equal(s.host_bytes, (N - ALL) * ROOM);
		assert_string_equal(s.device, "mlx5_0");
		m = rte_pktmbuf_alloc(mp);
		assert_int_equal(stats_of(mp).device_free, ALL - 1);
		rte_pktmbuf_free(m);
		rte_mempool_free(mp);
	}
}

static void
conf_decides(void **state)
{
	struct rte_pmd_mlx5_memic_conf conf = defaults();
	struct rte_mempool *mp;

	(void)state;
	/* a rule that would keep the pool off the device, or fail it */
	assert_int_equal(rte_vdev_init(VDEV, "dev=mlx5_9,spill=0"), 0);
	conf.dev = "0000:08:00.0";
	conf.max_bytes = 64 << 10;
	conf.mkey = RTE_PMD_MLX5_MEMIC_MKEY_KSM;
	mp = create("bounded", &conf);
	assert_non_null(mp);
	assert_int_equal(stats_of(mp).device_slots, (64 << 10) / ROOM);
	assert_non_null(strstr(telemetry("/mlx5_memic/info,bounded"), "\"mkey\":\"ksm\""));
	rte_mempool_free(mp);
	/* none at all is a choice, too */
	conf.max_bytes = 0;
	mp = create("none", &conf);
	assert_non_null(mp);
	assert_int_equal(stats_of(mp).device_slots, 0);
	assert_string_equal(stats_of(mp).device, "");
	rte_mempool_free(mp);
	assert_int_equal(rte_vdev_uninit(VDEV), 0);
}

static void
strict(void **state)
{
	struct rte_pmd_mlx5_memic_conf conf = defaults();
	const char *log;

	(void)state;
	conf.spill = 0;
	log_begin();
	assert_null(create("strict", &conf));
	assert_int_equal(rte_errno, ENOMEM); /* case 79 */
	log = log_end();
	assert_non_null(strstr(log, "pool strict not created (ENOMEM), rule conf"));
	assert_non_null(strstr(log, "are missing"));
	conf.dev = "mlx5_9";
	assert_null(create("strict", &conf));
	assert_int_equal(rte_errno, ENODEV);
	/* nothing is left of either */
	assert_null(rte_mempool_lookup("strict"));
	rte_mempool_free(make_pool("strict", 64, OPS));
}

static void
wrong_confs(void **state)
{
	static char long_dev[200];
	struct rte_pmd_mlx5_memic_conf c[12];
	const char *log;
	unsigned int i;

	(void)state;
	memset(long_dev, 'x', sizeof(long_dev) - 1);
	for (i = 0; i < RTE_DIM(c); i++)
		c[i] = defaults();
	c[0].magic = 0;
	c[1].magic = ~RTE_PMD_MLX5_MEMIC_MAGIC;
	c[2].size = 0;
	c[3].size = offsetof(struct rte_pmd_mlx5_memic_conf, mkey);
	c[4].size = sizeof(c[4]) + 8;
	c[5].dev = "";
	c[6].dev = long_dev;
	c[7].spill = 2;
	c[8].mkey = 99;
	c[9].max_bytes = 0;
	c[9].spill = 0;
	c[10].foreign = 2;
	c[11].siblings = 2;
	for (i = 0; i < RTE_DIM(c); i++) {
		log_begin();
		rte_errno = 0;
		if (create("wrong", &c[i]) != NULL || rte_errno != EINVAL)
			fail_msg("conf %u: rte_errno %d", i, rte_errno);
		log = log_end();
		if (strstr(log, "pool wrong not created (EINVAL): its configuration") == NULL)
			fail_msg("conf %u: log %s", i, log);
	}
}

/* A caller built when the structure was shorter: what is behind its end is not read. */
static void
shorter_conf(void **state)
{
	struct rte_pmd_mlx5_memic_conf conf = defaults();
	struct rte_mempool *mp;

	(void)state;
	conf.size = offsetof(struct rte_pmd_mlx5_memic_conf, foreign);
	conf.foreign = 77;
	conf.siblings = 77;
	mp = create("shorter", &conf);
	assert_non_null(mp);
	assert_int_equal(pool_number("shorter", "siblings"), 0);
	rte_mempool_free(mp);
	/* by either way */
	mp = rte_mempool_create_empty("shorter", 64, sizeof(struct rte_mbuf) + ROOM, 0,
				      sizeof(struct rte_pktmbuf_pool_private), SOCKET_ID_ANY, 0);
	assert_non_null(mp);
	assert_int_equal(rte_mempool_set_ops_byname(mp, OPS, &conf), 0);
	rte_pktmbuf_pool_init(mp, NULL);
	assert_true(rte_mempool_populate_default(mp) > 0);
	assert_int_equal(pool_number("shorter", "siblings"), 0);
	rte_mempool_free(mp);
}

/* The same answers as rte_pktmbuf_pool_create(). */
static void
wrong_arguments(void **state)
{
	static const struct {
		const char *name;
		unsigned int n, cache;
		uint16_t priv;
		int socket;
	} cases[] = {
		{ "n0", 0, 0, 0, SOCKET_ID_ANY },
		{ "cache", 64, 100, 0, SOCKET_ID_ANY },
		{ "cache", 2048, 513, 0, SOCKET_ID_ANY },
		{ "priv", 64, 0, 4, SOCKET_ID_ANY },
		{ "socket", 64, 0, 0, 7 },
		{ "a name of twenty-six chars", 64, 0, 0, SOCKET_ID_ANY },
		{ "taken", 64, 0, 0, SOCKET_ID_ANY },
	};
	struct rte_mempool *taken = make_pool("taken", 64, REFERENCE), *mp;
	char name[64];
	unsigned int i;
	int err;

	(void)state;
	for (i = 0; i < RTE_DIM(cases); i++) {
		rte_errno = 0;
		mp = rte_pktmbuf_pool_create(cases[i].name, cases[i].n, cases[i].cache,
					     cases[i].priv, ROOM, cases[i].socket);
		assert_null(mp);
		err = rte_errno;
		rte_errno = 0;
		snprintf(name, sizeof(name), "%s", cases[i].name);
		/* DPDK leaves a memzone behind when a name is too long */
		if (strlen(name) >= RTE_MEMZONE_NAMESIZE - 6)
			name[0] = 'A';
		mp = rte_pmd_mlx5_memic_pool_create(name, cases[i].n, cases[i].cache,
						    cases[i].priv, ROOM, cases[i].socket, NULL);
		assert_null(mp);
		if (rte_errno != err)
			fail_msg("case %u: rte_errno %d, not %d", i, rte_errno, err);
	}
	assert_null(rte_pmd_mlx5_memic_pool_create(NULL, 64, 0, 0, ROOM, SOCKET_ID_ANY, NULL));
	assert_int_equal(rte_errno, EINVAL);
	rte_mempool_free(taken);
}

/* The conf by the way of mempool's own calls. */
static void
by_pool_config(void **state)
{
	struct rte_pktmbuf_pool_private priv = { .mbuf_data_room_size = ROOM };
	struct rte_pmd_mlx5_memic_conf conf = defaults();
	struct rte_mempool *mp;
	const char *log;

	(void)state;
	conf.max_bytes = 32 << 10;
	mp = rte_mempool_create_empty("config", N, sizeof(struct rte_mbuf) + ROOM, 0, sizeof(priv),
				      SOCKET_ID_ANY, 0);
	assert_non_null(mp);
	assert_int_equal(rte_mempool_set_ops_byname(mp, OPS, &conf), 0);
	rte_pktmbuf_pool_init(mp, &priv);
	assert_int_equal(rte_mempool_populate_default(mp), N);
	rte_mempool_obj_iter(mp, rte_pktmbuf_init, NULL);
	assert_int_equal(stats_of(mp).device_slots, (32 << 10) / ROOM);
	rte_mempool_free(mp);
	/* who asks for device memory must have packet buffers */
	mp = rte_mempool_create_empty("config", N, 64, 0, 0, SOCKET_ID_ANY, 0);
	assert_non_null(mp);
	assert_int_equal(rte_mempool_set_ops_byname(mp, OPS, &conf), 0);
	log_begin();
	assert_int_equal(rte_mempool_populate_default(mp), -EINVAL);
	log = log_end();
	assert_non_null(strstr(log, "it is not a pool of packet buffers"));
	rte_mempool_free(mp);
}

static void
stats_arguments(void **state)
{
	struct rte_mempool *mp = create("stats", NULL);
	struct rte_mempool *other = make_pool("other", 64, REFERENCE);
	struct {
		struct rte_pmd_mlx5_memic_stats s;
		uint64_t more[4];
	} large;
	struct rte_pmd_mlx5_memic_stats s;

	(void)state;
	assert_int_equal(rte_pmd_mlx5_memic_stats_get(NULL, &s, sizeof(s)), -EINVAL);
	assert_int_equal(rte_pmd_mlx5_memic_stats_get(mp, NULL, sizeof(s)), -EINVAL);
	assert_int_equal(rte_pmd_mlx5_memic_stats_get(mp, &s, 0), -EINVAL);
	assert_int_equal(rte_pmd_mlx5_memic_stats_get(other, &s, sizeof(s)), -ENOTSUP);
	/* a caller of an older version gets what it knows, and not a byte more */
	memset(&s, 0x5a, sizeof(s));
	assert_int_equal(rte_pmd_mlx5_memic_stats_get(mp, &s, 16), 0);
	assert_int_equal(s.device_bytes, ALL * ROOM);
	assert_int_equal(s.device_slots, 0x5a5a5a5a);
	/* and one of a newer version zeros */
	memset(&large, 0x5a, sizeof(large));
	assert_int_equal(rte_pmd_mlx5_memic_stats_get(mp, &large.s, sizeof(large)), 0);
	assert_int_equal(large.s.device_slots, ALL);
	assert_int_equal(large.more[0] | large.more[3], 0);
	rte_mempool_free(mp);
	rte_mempool_free(other);
}

/* What the dump says of a figure, or -1. */
static long long
dumped(const struct rte_mempool *pool, const char *key)
{
	size_t len = strlen(key);
	long long value = -1;
	char line[512];
	FILE *f = tmpfile();

	assert_non_null(f);
	assert_int_equal(rte_pmd_mlx5_memic_dump(f, pool), 0);
	rewind(f);
	while (fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, "  ", 2) == 0 && strncmp(line + 2, key, len) == 0 &&
		    line[2 + len] == '=')
			value = atoll(line + 3 + len);
	fclose(f);
	return value;
}

/* All three ways to ask give one answer. */
static void
check_figures(const struct rte_mempool *mp)
{
	struct rte_pmd_mlx5_memic_stats s = stats_of(mp);
	const struct {
		const char *key;
		uint64_t value;
	} figures[] = {
		{ "objects", N }, { "device_slots", s.device_slots },
		{ "device_free", s.device_free }, { "device_bytes", s.device_bytes },
		{ "device_cached", s.device_cached }, { "device_out", s.device_out },
		{ "device_peak", s.device_peak }, { "device_gets", s.device_gets },
		{ "host_slots", s.host_slots }, { "host_free", s.host_free },
		{ "host_bytes", s.host_bytes }, { "host_cached", s.host_cached },
		{ "host_out", s.host_out }, { "host_gets", s.host_gets },
		{ "region_used_bytes", s.device_bytes }, { "pinned", 1 },
	};
	unsigned int i;

	for (i = 0; i < RTE_DIM(figures); i++) {
		assert_int_equal(pool_number(mp->name, figures[i].key), figures[i].value);
		assert_int_equal(dumped(mp, figures[i].key), figures[i].value);
	}
	assert_int_equal(s.device_free + s.device_out, s.device_slots);
	assert_int_equal(s.host_free + s.host_out, s.host_slots);
	assert_true(s.device_cached <= s.device_free && s.host_cached <= s.host_free);
	assert_true(s.device_peak >= s.device_out + s.device_cached);
	assert_int_equal(s.device_free + s.host_free, rte_mempool_avail_count(mp));
}

static unsigned int
count_on_device(struct rte_mbuf **m, unsigned int n)
{
	unsigned int dev = 0, i;

	for (i = 0; i < n; i++)
		dev += rte_pmd_mlx5_memic_mbuf_on_device(m[i]);
	return dev;
}

/* Mbufs that are out, and where they came from, are those that the test has counted. */
static void
figures_of(unsigned int cache)
{
	struct rte_mempool *mp = rte_pmd_mlx5_memic_pool_create("figures", N, cache, 0, ROOM,
								SOCKET_ID_ANY, NULL);
	static struct rte_mbuf *m[N];
	unsigned int dev, out = 0, gets = 0, dev_gets = 0;
	unsigned int i;

	check_figures(mp);
	assert_int_equal(stats_of(mp).device_peak, 0);
	/* past the slots, so that both tiers are served from */
	for (i = 0; i < 6; i++) {
		assert_int_equal(rte_pktmbuf_alloc_bulk(mp, &m[out], 32), 0);
		dev_gets += count_on_device(&m[out], 32);
		gets += 32;
		out += 32;
		check_figures(mp);
		dev = count_on_device(m, out);
		assert_int_equal(stats_of(mp).device_out, dev);
		assert_int_equal(stats_of(mp).host_out, out - dev);
		assert_int_equal(stats_of(mp).device_gets, dev_gets);
		assert_int_equal(stats_of(mp).host_gets, gets - dev_gets);
	}
	assert_true(stats_of(mp).host_gets > 0);
	for (i = 0; i < out; i += 32)
		rte_pktmbuf_free_bulk(&m[i], 32);
	check_figures(mp);
	assert_int_equal(stats_of(mp).device_out + stats_of(mp).host_out, 0);
	/* who only puts caches no slots */
	assert_int_equal(rte_pktmbuf_alloc_bulk(mp, m, 32), 0);
	rte_pktmbuf_free_bulk(m, 32);
	check_figures(mp);
	/* the watermark stays; without caches it is what was out */
	assert_true(stats_of(mp).device_peak >= dev);
	if (cache == 0) {
		assert_int_equal(stats_of(mp).device_peak, dev);
		assert_int_equal(stats_of(mp).device_cached + stats_of(mp).host_cached, 0);
	} else {
		assert_true(stats_of(mp).device_cached > 0 && stats_of(mp).host_cached > 0);
	}
	rte_mempool_free(mp);
}

static void
figures_are_right(void **state)
{
	(void)state;
	figures_of(0);
	figures_of(64);
}

static void
dump_arguments(void **state)
{
	struct rte_mempool *mp = create("dump", NULL), *other = make_pool("other", 64, REFERENCE);
	struct rte_mempool *host;
	char text[2048];
	size_t len;
	FILE *f;

	(void)state;
	assert_int_equal(rte_pmd_mlx5_memic_dump(NULL, mp), -EINVAL);
	assert_int_equal(rte_pmd_mlx5_memic_dump(stdout, NULL), -EINVAL);
	assert_int_equal(rte_pmd_mlx5_memic_dump(stdout, other), -ENOTSUP);
	rte_vdev_init(VDEV, "pools=other");
	host = make_pool("host", 64, OPS);
	rte_vdev_uninit(VDEV);
	f = tmpfile();
	assert_non_null(f);
	assert_int_equal(rte_pmd_mlx5_memic_dump(f, mp), 0);
	assert_int_equal(rte_pmd_mlx5_memic_dump(f, host), 0);
	rewind(f);
	len = fread(text, 1, sizeof(text) - 1, f);
	text[len] = '\0';
	fclose(f);
	assert_non_null(strstr(text, "mempool <dump>@"));
	assert_non_null(strstr(text, "  device=mlx5_0\n  address=0000:08:00.0\n  mkey=klm\n"));
	assert_non_null(strstr(text, "mempool <host>@"));
	assert_non_null(strstr(text, "  reason=no rule matches\n"));
	rte_mempool_free(mp);
	rte_mempool_free(host);
	rte_mempool_free(other);
}

static void
where_an_mbuf_is(void **state)
{
	static struct rte_mbuf *m[N];
	struct rte_mempool *mp = create("where", NULL);
	struct rte_mempool *host = make_pool("host", 64, REFERENCE);
	struct rte_mbuf *plain = rte_pktmbuf_alloc(host), *c, *copy;
	unsigned int i, n = 0;

	(void)state;
	assert_int_equal(rte_pktmbuf_alloc_bulk(mp, m, N), 0);
	for (i = 0; i < N; i++)
		n += rte_pmd_mlx5_memic_mbuf_on_device(m[i]);
	assert_int_equal(n, ALL);
	assert_true(rte_pmd_mlx5_memic_mbuf_on_device(m[0]));
	assert_false(rte_pmd_mlx5_memic_mbuf_on_device(m[N - 1]));
	assert_false(rte_pmd_mlx5_memic_mbuf_on_device(plain));
	assert_false(rte_pmd_mlx5_memic_mbuf_on_device(NULL));
	/* a clone is where its data is, a copy where it was made */
	c = rte_pktmbuf_clone(m[0], host);
	assert_true(rte_pmd_mlx5_memic_mbuf_on_device(c));
	copy = rte_pktmbuf_copy(m[0], host, 0, UINT32_MAX);
	assert_false(rte_pmd_mlx5_memic_mbuf_on_device(copy));
	rte_pktmbuf_free(c);
	rte_pktmbuf_free(copy);
	rte_pktmbuf_free(plain);
	rte_pktmbuf_free_bulk(m, N);
	rte_mempool_free(mp);
	rte_mempool_free(host);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loaded_once),
		cmocka_unit_test(create_with_defaults),
		cmocka_unit_test(conf_decides),
		cmocka_unit_test(strict),
		cmocka_unit_test(wrong_confs),
		cmocka_unit_test(shorter_conf),
		cmocka_unit_test(wrong_arguments),
		cmocka_unit_test(by_pool_config),
		cmocka_unit_test(stats_arguments),
		cmocka_unit_test(figures_are_right),
		cmocka_unit_test(dump_arguments),
		cmocka_unit_test(where_an_mbuf_is),
	};
	int status = eal_start_with_port(argc, argv);

	if (status != 0)
		return status;
	return eal_end(cmocka_run_group_tests(tests, NULL, NULL));
}
