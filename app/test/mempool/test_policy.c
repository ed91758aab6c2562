/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * Who gets the slots: lcores with and without cache, threads that fill rings, and that
 * caches answer as those of ring_mp_mc. Needs a port of the mlx5 driver.
 */

#include <pthread.h>
#include <string.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "fixture.h"

#define N 512u
#define CACHE 128u
#define BURST 32u

static struct rte_mempool *mp;
static unsigned int slots;

/* ---- helpers ---- */

static unsigned int
count_device(void * const *objs, unsigned int n)
{
	unsigned int dev = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		dev += on_device(objs[i]);
	return dev;
}

static void
get(void **objs, unsigned int n)
{
	assert_int_equal(rte_mempool_get_bulk(mp, objs, n), 0);
}

/* As a PMD fills a ring. */
static void
get_one_by_one(void **objs, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		get(&objs[i], 1);
}

static int
pool_of(void **state, unsigned int cache)
{
	(void)state;
	mp = rte_pktmbuf_pool_create_by_ops("policy", N, cache, 0, ROOM, SOCKET_ID_ANY, OPS);
	if (mp == NULL)
		return -1;
	slots = pool_number("policy", "device_slots");
	/* what is tested here needs both tiers, and more slots than a ring of 64 */
	return slots > 96 && slots < N / 2 ? 0 : -1;
}

static int
with_cache(void **state)
{
	return pool_of(state, CACHE);
}

static int
without_cache(void **state)
{
	return pool_of(state, 0);
}

static int
all_home(void **state)
{
	unsigned int n = rte_mempool_avail_count(mp);

	(void)state;
	rte_mempool_free(mp);
	return n == N ? 0 : -1;
}

/* ---- the device tier comes first ---- */

/* Forwarding: what was put goes round, and never touches the host tier. */
static void
forwarding_stays_on_the_device(void **state)
{
	void *objs[BURST];
	unsigned int i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		get(objs, BURST);
		assert_int_equal(count_device(objs, BURST), BURST);
		rte_mempool_put_bulk(mp, objs, BURST);
	}
	assert_int_equal(pool_number("policy", "host_gets"), 0);
	assert_int_equal(pool_number("policy", "device_gets"), 1000 * BURST);
	assert_int_equal(pool_number("policy", "device_free"), slots);
}

/* Mixed bursts are sorted, whatever the order and the size. */
static void
mixed_bursts_are_sorted(void **state)
{
	static void *objs[N], *burst[N];
	unsigned int size, i, k;

	(void)state;
	for (size = 1; size <= 70; size += 3) {
		get(objs, N);
		for (i = 0; i < N; i++)
			burst[i] = objs[(i * 37 + size) % N];
		for (i = 0; i < N; i += k) {
			k = RTE_MIN(size, N - i);
			rte_mempool_put_bulk(mp, &burst[i], k);
		}
		assert_int_equal(rte_mempool_avail_count(mp), N);
		assert_int_equal(pool_number("policy", "device_free"), slots);
		get(objs, slots);
		assert_int_equal(count_device(objs, slots), slots);
		rte_mempool_put_bulk(mp, objs, slots);
	}
}

/* ---- filling rings ---- */

/* Unknown rings, one after the other: an eighth of the slots stays for frames. */
static void
fill_leaves_some(void **state)
{
	static void *ring[N], *burst[N];
	unsigned int dev;

	(void)state;
	get_one_by_one(ring, N / 2);
	dev = count_device(ring, N / 2);
	assert_int_equal(dev, slots - slots / 8);
	assert_int_equal(count_device(ring, 64), 64);
	/* with the first put, frames come first again */
	rte_mempool_put_bulk(mp, &ring[N / 2 - 8], 8);
	get(burst, slots / 8);
	assert_int_equal(count_device(burst, slots / 8), slots / 8);
	rte_mempool_put_bulk(mp, burst, slots / 8);
	rte_mempool_put_bulk(mp, ring, N / 2 - 8);
}

/* No slot is left idle where the host tier is used up. */
static void
fill_takes_all_in_the_end(void **state)
{
	static void *ring[N];

	(void)state;
	get_one_by_one(ring, N);
	assert_int_equal(count_device(ring, N), slots);
	assert_int_equal(rte_mempool_get(mp, ring), -ENOBUFS);
	assert_int_equal(pool_number("policy", "device_out"), slots);
	assert_int_equal(pool_number("policy", "device_peak"), slots);
	assert_int_equal(pool_number("policy", "host_out"), N - slots);
	rte_mempool_put_bulk(mp, ring, N);
}

static void
start_port(uint16_t queues, uint16_t descs)
{
	struct rte_eth_conf conf = { 0 };
	uint16_t q;

	assert_int_equal(rte_eth_dev_configure(0, queues, queues, &conf), 0);
	for (q = 0; q < queues; q++) {
		assert_int_equal(rte_eth_rx_queue_setup(0, q, descs, SOCKET_ID_ANY, NULL, mp), 0);
		assert_int_equal(rte_eth_tx_queue_setup(0, q, descs, SOCKET_ID_ANY, NULL), 0);
	}
	assert_int_equal(rte_eth_dev_start(0), 0);
}

static void
stop_port(void)
{
	struct rte_eth_conf conf = { 0 };

	assert_int_equal(rte_eth_dev_stop(0), 0);
	assert_int_equal(rte_eth_dev_configure(0, 0, 0, &conf), 0);
}

/* Rings that fit are filled from the device, each time the port is started. */
static void
rings_that_fit(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		start_port(1, 32);
		assert_int_equal(pool_number("policy", "device_out"), 32);
		assert_int_equal(pool_number("policy", "host_out"), 0);
		stop_port();
		assert_int_equal(pool_number("policy", "device_free"), slots);
	}
}

/* Rings that do not fit are filled from the host: frames find all slots. */
static void
rings_that_do_not_fit(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		start_port(4, 64);
		assert_int_equal(pool_number("policy", "device_out"), 0);
		assert_int_equal(pool_number("policy", "host_out"), 4 * 64);
		stop_port();
		assert_int_equal(pool_number("policy", "device_free"), slots);
	}
}

/* ---- caches ---- */

/* Whoever asks for none has no object out of reach of any other thread. */
static void *
take_everything(void *arg)
{
	static void *objs[N];
	int *ret = arg;

	*ret = rte_mempool_get_bulk(mp, objs, N);
	if (*ret == 0)
		rte_mempool_put_bulk(mp, objs, N);
	return NULL;
}

static void
no_cache_hides_nothing(void **state)
{
	void *objs[BURST];
	pthread_t thread;
	int ret = -1;

	(void)state;
	get(objs, BURST);
	rte_mempool_put_bulk(mp, objs, BURST);
	assert_int_equal(pool_number("policy", "device_cached"), 0);
	assert_int_equal(pthread_create(&thread, NULL, take_everything, &ret), 0);
	pthread_join(thread, NULL);
	assert_int_equal(ret, 0);
}

/* One lcore keeps no more objects than a cache of DPDK's own, and few with slots. */
static void
bounded_caches(void **state)
{
	static void *objs[N];
	unsigned int n, cached;

	(void)state;
	for (n = 1; n <= N; n = n * 2 + 1) {
		get(objs, n);
		rte_mempool_put_bulk(mp, objs, n);
		cached = pool_number("policy", "device_cached");
		assert_true(cached <= slots / 2 / rte_lcore_count());
		cached += pool_number("policy", "host_cached");
		assert_true(cached <= CACHE * 3 / 2);
	}
}

/* A thread of no lcore sees all that is in no cache. */
static void
foreign_threads(void **state)
{
	void *objs[BURST];
	pthread_t thread;
	int ret = 0;

	(void)state;
	get(objs, BURST);
	rte_mempool_put_bulk(mp, objs, BURST);
	assert_true(pool_number("policy", "device_cached") > 0);
	assert_int_equal(pthread_create(&thread, NULL, take_everything, &ret), 0);
	pthread_join(thread, NULL);
	/* ring_mp_mc cannot reach into the cache of another lcore, either */
	assert_int_equal(ret, -ENOBUFS);
}

/* A thread that only puts keeps no slots from one that only gets. */
static void
puts_only(void **state)
{
	static void *objs[N];
	unsigned int i;

	(void)state;
	get(objs, slots);
	assert_int_equal(count_device(objs, slots), slots);
	for (i = 0; i + 8 <= slots; i += 8)
		rte_mempool_put_bulk(mp, &objs[i], 8);
	rte_mempool_put_bulk(mp, &objs[i], slots - i);
	assert_int_equal(pool_number("policy", "device_cached"), 0);
	assert_int_equal(pool_number("policy", "device_free"), slots);
}

/* The private area moves as the cache goes, and nothing of it is lost. */
static void
private_area(void **state)
{
	(void)state;
	assert_int_equal(mp->cache_size, 0);
	assert_int_equal(pool_number("policy", "cache_size"), CACHE);
	assert_int_equal(rte_pktmbuf_data_room_size(mp), ROOM);
	assert_int_equal(rte_pktmbuf_priv_size(mp), 0);
	assert_int_equal(rte_pktmbuf_priv_flags(mp), RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF);
}

/* ---- two lcores ---- */

static int
forward(void *arg)
{
	unsigned int *wrong = arg;
	struct rte_mbuf *objs[BURST];
	unsigned int i, k, n;

	for (i = 0; i < 20000; i++) {
		n = 1 + i % BURST;
		if (rte_mempool_get_bulk(mp, (void **)objs, n) != 0)
			continue;
		for (k = 0; k < n; k++)
			objs[k]->port = rte_lcore_id();
		for (k = 0; k < n; k++)
			*wrong += objs[k]->port != rte_lcore_id();
		rte_mempool_put_bulk(mp, (void **)objs, n);
	}
	return 0;
}

/* Whoever holds a buffer holds it alone. */
static void
two_lcores(void **state)
{
	unsigned int wrong[2] = { 0 };
	unsigned int lcore = rte_get_next_lcore(-1, 1, 0);

	(void)state;
	if (lcore == RTE_MAX_LCORE)
		skip();
	assert_int_equal(rte_eal_remote_launch(forward, &wrong[1], lcore), 0);
	forward(&wrong[0]);
	rte_eal_wait_lcore(lcore);
	assert_int_equal(wrong[0] + wrong[1], 0);
	assert_int_equal(rte_mempool_avail_count(mp), N);
}

/* ---- parity ---- */

#define STEPS 400

/* Answers to a walk of gets and puts of any size, which is the same for all ops. */
static void
walk(const char *ops, unsigned int cache, int *answers)
{
	static void *held[N];
	struct rte_mempool *pool;
	unsigned int out = 0;
	unsigned int seed = 1;
	unsigned int i, n;

	pool = rte_pktmbuf_pool_create_by_ops("walk", N, cache, 0, ROOM, SOCKET_ID_ANY, ops);
	assert_non_null(pool);
	for (i = 0; i < STEPS; i++) {
		seed = seed * 1103515245 + 12345;
		n = (seed >> 16) % 100;
		/* now and then more than there is */
		if (seed >> 30 == 3)
			n = N - out + (seed >> 29 & 1);
		if (seed >> 28 & 1) {
			answers[i] = rte_mempool_get_bulk(pool, &held[out], RTE_MIN(n, N));
			out += answers[i] == 0 ? RTE_MIN(n, N) : 0;
		} else {
			n = RTE_MIN(n, out);
			out -= n;
			rte_mempool_put_bulk(pool, &held[out], n);
			answers[i] = rte_mempool_avail_count(pool);
		}
		assert_int_equal(rte_mempool_in_use_count(pool), out);
	}
	rte_mempool_put_bulk(pool, held, out);
	assert_true(rte_mempool_full(pool));
	rte_mempool_free(pool);
}

static void
case_28_29_walk(void **state)
{
	static const unsigned int caches[] = { 0, 1, 2, 32, 250, 300 };
	int ring[STEPS], ours[STEPS];
	unsigned int i;

	(void)state;
	for (i = 0; i < RTE_DIM(caches); i++) {
		walk(REFERENCE, caches[i], ring);
		walk(OPS, caches[i], ours);
		assert_memory_equal(ring, ours, sizeof(ring));
	}
}

/* Putting more than there is must not write past anything (case 77). */
static void
case_77_put_twice(void **state)
{
	static void *objs[N];
	const char *log;
	unsigned int i;

	(void)state;
	get(objs, N);
	log_begin();
	for (i = 0; i < 4; i++)
		rte_mempool_put_bulk(mp, objs, N);
	log = log_end();
	assert_non_null(strstr(log, "pool policy: more objects were put than it has"));
	for (i = 0; i < 4 && rte_mempool_get_bulk(mp, objs, N) == 0; i++)
		;
	rte_mempool_free(mp);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
#define BOTH(f) \
		cmocka_unit_test_setup_teardown(f, with_cache, all_home), \
		cmocka_unit_test_setup_teardown(f, without_cache, all_home)
		BOTH(forwarding_stays_on_the_device),
		BOTH(mixed_bursts_are_sorted),
		BOTH(fill_leaves_some),
		BOTH(fill_takes_all_in_the_end),
		BOTH(rings_that_fit),
		BOTH(rings_that_do_not_fit),
		BOTH(two_lcores),
		cmocka_unit_test_setup_teardown(no_cache_hides_nothing, without_cache, all_home),
		cmocka_unit_test_setup_teardown(bounded_caches, with_cache, all_home),
		cmocka_unit_test_setup_teardown(foreign_threads, with_cache, all_home),
		cmocka_unit_test_setup_teardown(puts_only, with_cache, all_home),
		cmocka_unit_test_setup_teardown(private_area, with_cache, all_home),
		cmocka_unit_test(case_28_29_walk),
		cmocka_unit_test_setup(case_77_put_twice, with_cache),
	};
	int status = eal_start(argc, argv);

	if (status != 0)
		return status;
	rte_log_set_level_pattern("mempool.mlx5_memic", RTE_LOG_ERR);
	return eal_end(cmocka_run_group_tests(tests, NULL, NULL));
}
