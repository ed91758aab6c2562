/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * The end of pools: mbufs that are out, rings that are full, clones that live on, names
 * that are used again, ports and devices that go first. Needs a port of the mlx5 driver,
 * as under mlx5emu; each test leaves the device as it found it.
 *
 * MEMIC_TEST_CYCLES sets how long the tests of cycles run.
 */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_random.h>

#include "fixture.h"

/* AddressSanitizer keeps what was freed for a while */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

#define N 256u
#define RING 32 /* with a Tx ring of 64, the least there is, fewer than there are slots */

static struct rte_mempool *clones;
static unsigned int all_slots; /* of a pool of N that has the device to itself */

/* ---- helpers ---- */

static struct rte_mempool *
pool_with(const char *name, unsigned int slots)
{
	struct rte_mempool *mp = make_pool(name, N, OPS);

	assert_int_equal(pool_number(name, "device_slots"), slots);
	return mp;
}

/* All buffers are there, each once, and the pool can be filled and emptied. */
static void
assert_whole(struct rte_mempool *mp)
{
	static struct rte_mbuf *m[4096];
	unsigned int i;

	assert_true(mp->size <= RTE_DIM(m));
	assert_int_equal(rte_mempool_avail_count(mp), mp->size);
	assert_int_equal(rte_pktmbuf_alloc_bulk(mp, m, mp->size), 0);
	for (i = 0; i < mp->size; i++) {
		assert_ptr_equal(m[i]->pool, mp);
		assert_int_equal(m[i]->nb_segs, 1);
		assert_null(m[i]->next);
		/* seen again, it would be found changed */
		assert_int_equal(m[i]->port, RTE_MBUF_PORT_INVALID);
		m[i]->port = 7;
	}
	rte_pktmbuf_free_bulk(m, mp->size);
	assert_int_equal(rte_mempool_avail_count(mp), mp->size);
}

/* A pool that has the device to itself gets all: nothing is kept back any more. */
static void
assert_device_whole(void)
{
	struct rte_mempool *mp = pool_with("whole", all_slots);

	assert_int_equal(pool_number("whole", "region_quarantined_bytes"), 0);
	assert_whole(mp);
	rte_mempool_free(mp);
}

static void
start_port(struct rte_mempool *mp)
{
	struct rte_eth_conf conf = { 0 };

	assert_int_equal(rte_eth_dev_configure(0, 1, 1, &conf), 0);
	assert_int_equal(rte_eth_rx_queue_setup(0, 0, RING, SOCKET_ID_ANY, NULL, mp), 0);
	assert_int_equal(rte_eth_tx_queue_setup(0, 0, RING, SOCKET_ID_ANY, NULL), 0);
	assert_int_equal(rte_eth_dev_start(0), 0);
}

static unsigned int
cycles(unsigned int few)
{
	const char *env = getenv("MEMIC_TEST_CYCLES");

	return env == NULL ? few : strtoul(env, NULL, 10);
}

/* ---- mbufs that are out ---- */

static void
case_15_out_and_back(void **state)
{
	struct rte_mempool *mp = pool_with("out", all_slots);
	struct rte_mbuf *dev, *host, *all[N];
	const char *log;
	unsigned int i;

	(void)state;
	assert_int_equal(rte_pktmbuf_alloc_bulk(mp, all, N), 0);
	dev = all[0];
	host = all[N - 1];
	assert_true(on_device(dev));
	assert_false(on_device(host));
	for (i = 1; i < N - 1; i++)
		rte_pktmbuf_free(all[i]);
	log_begin();
	rte_mempool_free(mp);
	log = log_end();
	assert_non_null(strstr(log, "pool out is freed with 2 of its 256 buffers still out, 1 of "
			       "them in device memory of mlx5_0"));
	mp = pool_with("next", all_slots - 1);
	rte_pktmbuf_free(dev);
	rte_mempool_free(mp);
	mp = pool_with("next", all_slots - 1);
	log_begin();
	rte_pktmbuf_free(host);
	rte_mempool_free(mp);
	log = log_end();
	assert_non_null(strstr(log, "pool out: the 2 buffers that were out"));
	assert_device_whole();
}

/* The new pool of the name has its own memory, and the old one's mbufs harm nobody. */
static void
case_15_same_name(void **state)
{
	struct rte_mempool *mp = pool_with("name", all_slots);
	struct rte_mbuf *m[4], *fresh[N];
	unsigned int i, k;

	(void)state;
	assert_int_equal(rte_pktmbuf_alloc_bulk(mp, m, RTE_DIM(m)), 0);
	rte_mempool_free(mp);
	/* the mempool's own header may lie where the old one was: that is the hard case */
	mp = pool_with("name", all_slots - RTE_DIM(m));
	assert_int_equal(rte_pktmbuf_alloc_bulk(mp, fresh, N), 0);
	for (i = 0; i < N; i++) {
		for (k = 0; k < RTE_DIM(m); k++) {
			assert_ptr_not_equal(fresh[i], m[k]);
			assert_ptr_not_equal(fresh[i]->buf_addr, m[k]->buf_addr);
		}
	}
	for (k = 0; k < RTE_DIM(m); k++)
		rte_pktmbuf_free(m[k]);
	assert_int_equal(rte_mempool_avail_count(mp), 0);
	rte_pktmbuf_free_bulk(fresh, N);
	assert_whole(mp);
	rte_mempool_free(mp);
	assert_device_whole();
}

static void *
free_clones(void *arg)
{
	struct rte_mbuf **c = arg;

	rte_pktmbuf_free(c[0]);
	rte_pktmbuf_free(c[1]);
	return NULL;
}

/* Originals and pool are gone, clones in another pool are not (cases 15 and 18). */
static void
case_15_18_clones_live_on(void **state)
{
	struct rte_mempool *mp = pool_with("cloned", all_slots);
	struct rte_mbuf *m = rte_pktmbuf_alloc(mp), *c[2];
	pthread_t thread;

	(void)state;
	memset(rte_pktmbuf_append(m, 64), 0x5a, 64);
	c[0] = rte_pktmbuf_clone(m, clones);
	c[1] = rte_pktmbuf_clone(c[0], clones);
	rte_pktmbuf_free(m);
	rte_mempool_free(mp);
	/* of the same name, and where the old one was */
	mp = pool_with("cloned", all_slots - 1);
	assert_int_equal(*rte_pktmbuf_mtod_offset(c[1], volatile uint8_t *, 63), 0x5a);
	assert_int_equal(pthread_create(&thread, NULL, free_clones, c), 0);
	pthread_join(thread, NULL);
	assert_int_equal(rte_mempool_in_use_count(clones), 0);
	assert_whole(mp);
	rte_mempool_free(mp);
	assert_device_whole();
}

static void
case_15_60_chain_lives_on(void **state)
{
	struct rte_mempool *mp = pool_with("chained", all_slots);
	struct rte_mbuf *head = rte_pktmbuf_alloc(mp), *second;

	(void)state;
	assert_int_equal(rte_pktmbuf_chain(head, rte_pktmbuf_alloc(clones)), 0);
	assert_int_equal(rte_pktmbuf_chain(head, rte_pktmbuf_alloc(mp)), 0);
	rte_mempool_free(mp);
	/* split behind the head */
	second = head->next;
	head->next = NULL;
	head->nb_segs = 1;
	second->nb_segs = 2;
	rte_pktmbuf_free(second);
	rte_pktmbuf_free(head);
	assert_int_equal(rte_mempool_in_use_count(clones), 0);
	assert_device_whole();
}

/* Memory that the application brought and takes away again cannot be held. */
static void
case_15_memory_of_the_application(void **state)
{
	struct rte_pktmbuf_pool_private priv = { .mbuf_data_room_size = ROOM };
	struct rte_mempool *mp, *next;
	struct rte_mbuf *m, *c;
	size_t len;
	char *mem;

	(void)state;
	mp = rte_mempool_create_empty("brought", 16, sizeof(struct rte_mbuf) + ROOM, 0,
				      sizeof(priv), SOCKET_ID_ANY, RTE_MEMPOOL_F_NO_IOVA_CONTIG);
	assert_non_null(mp);
	assert_int_equal(rte_mempool_set_ops_byname(mp, OPS, NULL), 0);
	rte_pktmbuf_pool_init(mp, &priv);
	len = (mp->header_size + mp->elt_size + mp->trailer_size) * 16 + 64;
	mem = aligned_alloc(4096, RTE_ALIGN_CEIL(len, 4096));
	assert_non_null(mem);
	memset(mem, 0, len);
	assert_int_equal(rte_mempool_populate_iova(mp, mem, RTE_BAD_IOVA, len, NULL, NULL), 16);
	rte_mempool_obj_iter(mp, rte_pktmbuf_init, NULL);
	m = rte_pktmbuf_alloc(mp);
	assert_true(on_device(m));
	c = rte_pktmbuf_clone(m, clones);
	rte_mempool_free(mp);
	free(mem);
	/* its last reference must not lead into what was freed */
	rte_pktmbuf_free(c);
	next = make_pool("next", N, OPS);
	assert_int_equal(pool_number("next", "region_quarantined_bytes"), ROOM);
	rte_mempool_free(next);
}

/* ---- ports ---- */

static void
case_15_stop_free_close(void **state)
{
	struct rte_mempool *mp = pool_with("ported", all_slots);

	(void)state;
	start_port(mp);
	assert_int_equal(rte_eth_dev_stop(0), 0);
	rte_mempool_free(mp);
	assert_device_whole();
}

/* The ring is full of mbufs of a pool that is gone; they come home when the port stops. */
static void
case_15_free_with_a_full_ring(void **state)
{
	struct rte_mempool *mp = pool_with("ring", all_slots), *next;
	const char *log;

	(void)state;
	start_port(mp);
	log_begin();
	rte_mempool_free(mp);
	log = log_end();
	assert_non_null(strstr(log, "pool ring is freed with 32 of its 256 buffers still out, 32 "
			       "of them"));
	next = pool_with("ring", all_slots - RING);
	assert_int_equal(rte_eth_dev_stop(0), 0);
	assert_whole(next);
	rte_mempool_free(next);
	assert_device_whole();
}

/*
 * Case 6: a pool that comes after the port was started. Its slots are known to the PMD by the
 * region, and no address on the device ever reaches ibv_reg_mr() (which says EFAULT). Case 7:
 * a pool that can be used for IO does not carry NON_IO.
 */
static void
case_6_7_pool_after_start(void **state)
{
	static const uint8_t head[14] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5 };
	struct rte_mempool *first = make_pool("first", 96, OPS), *later;
	/* bursts of less than four get nothing from vector Rx */
	struct rte_mbuf *m, *back[8];
	unsigned int tries, got = 0;
	const char *log;

	(void)state;
	assert_int_equal(pool_number("first", "device_slots"), 96);
	log_begin();
	start_port(first);
	assert_int_equal(rte_eth_promiscuous_enable(0), 0);
	later = pool_with("later", all_slots - 96);
	assert_int_equal(later->flags & RTE_MEMPOOL_F_NON_IO, 0);
	m = rte_pktmbuf_alloc(later);
	assert_true(on_device(m));
	memcpy(rte_pktmbuf_append(m, 60), head, sizeof(head));
	rte_mbuf_refcnt_update(m, 1);
	assert_int_equal(rte_eth_tx_burst(0, 0, &m, 1), 1);
	for (tries = 0; tries < 3000 && got == 0; tries++) {
		got = rte_eth_rx_burst(0, 0, back, RTE_DIM(back));
		usleep(1000);
	}
	assert_int_equal(got, 1);
	assert_true(on_device(back[0]));
	assert_memory_equal(rte_pktmbuf_mtod(back[0], void *), rte_pktmbuf_mtod(m, void *), 60);
	rte_pktmbuf_free(back[0]);
	rte_pktmbuf_free(m);
	assert_int_equal(rte_eth_dev_stop(0), 0);
	log = log_end();
	assert_null(strstr(log, "Failed to register"));
	assert_null(strstr(log, "EFAULT"));
	assert_whole(later);
	rte_mempool_free(later);
	rte_mempool_free(first);
	assert_device_whole();
}

/* Rings larger than their pool: the port does not start, and keeps nothing. */
static void
case_22_ring_and_pool(void **state)
{
	const struct rte_eth_conf conf = { 0 };
	struct rte_mempool *mp = make_pool("few", RING - 1, OPS);

	(void)state;
	assert_int_equal(rte_eth_dev_configure(0, 1, 1, &conf), 0);
	assert_int_equal(rte_eth_rx_queue_setup(0, 0, RING, SOCKET_ID_ANY, NULL, mp), 0);
	assert_int_equal(rte_eth_tx_queue_setup(0, 0, RING, SOCKET_ID_ANY, NULL), 0);
	assert_int_equal(rte_eth_dev_start(0), -ENOMEM);
	assert_whole(mp);
	rte_mempool_free(mp);
	/* as large as it: all of it is in the ring, and comes back */
	mp = make_pool("just", RING, OPS);
	start_port(mp);
	assert_int_equal(rte_mempool_avail_count(mp), 0);
	assert_int_equal(pool_number("just", "device_out"), RING);
	assert_int_equal(rte_eth_dev_stop(0), 0);
	assert_whole(mp);
	rte_mempool_free(mp);
	assert_device_whole();
}

/* ---- many pools, many times ---- */

/* Pools of random sizes until device memory is gone, freed in random order. */
static void
case_76_random_pools(void **state)
{
	struct rte_mempool *mp[20];
	unsigned int i, k, round, spilled = 0;
	char name[32];

	(void)state;
	for (round = 0; round < cycles(30); round++) {
		for (i = 0; i < RTE_DIM(mp); i++) {
			snprintf(name, sizeof(name), "random%u", i);
			mp[i] = rte_pktmbuf_pool_create_by_ops(name, 1 + rte_rand_max(40), 0, 0,
							       192 + rte_rand_max(4000),
							       SOCKET_ID_ANY, OPS);
			assert_non_null(mp[i]);
			spilled += pool_number(name, "host_slots") > 0;
		}
		for (i = RTE_DIM(mp); i > 0; i--) {
			k = rte_rand_max(i);
			assert_whole(mp[k]);
			rte_mempool_free(mp[k]);
			mp[k] = mp[i - 1];
		}
	}
	assert_true(spilled > 0);
	assert_device_whole();
}

static long
resident_kb(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long pages = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*d %ld", &pages), 1);
	fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static unsigned int
open_files(void)
{
	unsigned int n = 0;
	int fd;

	/* telemetry closes its end of a connection in a thread of its own */
	usleep(200000);
	for (fd = 0; fd < 1024; fd++)
		n += dup2(fd, fd) == fd;
	return n;
}

static size_t
eal_memory(void)
{
	struct rte_malloc_socket_stats stats;

	assert_int_equal(rte_malloc_get_socket_stats(0, &stats), 0);
	return stats.heap_allocsz_bytes;
}

static void
one_life(unsigned int round)
{
	struct rte_mempool *mp = pool_with("life", all_slots);
	struct rte_mbuf *m[16];

	start_port(mp);
	assert_int_equal(rte_pktmbuf_alloc_bulk(mp, m, RTE_DIM(m)), 0);
	/* now and then the pool goes before its mbufs, or before the port stops */
	if (round % 3 == 1) {
		assert_int_equal(rte_eth_dev_stop(0), 0);
		rte_mempool_free(mp);
		rte_pktmbuf_free_bulk(m, RTE_DIM(m));
		return;
	}
	rte_pktmbuf_free_bulk(m, RTE_DIM(m));
	if (round % 3 == 2) {
		rte_mempool_free(mp);
		assert_int_equal(rte_eth_dev_stop(0), 0);
		return;
	}
	assert_int_equal(rte_eth_dev_stop(0), 0);
	rte_mempool_free(mp);
}

/* Case 58: nothing grows from one life to the next. */
static void
case_58_nothing_grows(void **state)
{
	unsigned int round, n = cycles(60), files;
	size_t memory;
	long before;

	(void)state;
	rte_log_set_level_pattern("mempool.mlx5_memic", RTE_LOG_CRIT);
	for (round = 0; round < 12; round++)
		one_life(round);
	assert_device_whole();
	before = resident_kb();
	files = open_files();
	memory = eal_memory();
	for (round = 0; round < n; round++)
		one_life(round);
	rte_log_set_level_pattern("mempool.mlx5_memic", RTE_LOG_NOTICE);
	assert_device_whole();
	printf("%u cycles: resident %ld -> %ld kB, EAL memory %zu -> %zu bytes\n", n, before,
	       resident_kb(), memory, eal_memory());
	assert_int_equal(open_files(), files);
	/* less than one object a cycle, however allocators round */
	assert_true(eal_memory() < memory + 64 * n);
	if (!SANITIZED)
		assert_true(resident_kb() - before < 1024);
}

/* ---- the device goes first ---- */

static void
attach(void)
{
	/* what the command line said of it */
	assert_int_equal(rte_dev_probe(getenv("MEMIC_TEST_DEVARGS")), 0);
	assert_int_equal(rte_eth_dev_count_avail(), 1);
}

static void
detach(void)
{
	struct rte_eth_dev_info info;

	assert_int_equal(rte_eth_dev_stop(0), 0);
	assert_int_equal(rte_eth_dev_info_get(0, &info), 0);
	assert_int_equal(rte_dev_remove(info.device), 0);
	assert_int_equal(rte_eth_dev_count_avail(), 0);
}

static void
case_51_pools_around_detach(void **state)
{
	struct rte_mempool *mp = pool_with("before", all_slots), *off, *on;
	struct rte_mbuf *m;
	const char *log;

	(void)state;
	start_port(mp);
	m = rte_pktmbuf_alloc(mp);
	detach();
	/* the mbufs of a pool whose device is gone still come and go */
	rte_pktmbuf_free(m);
	assert_whole(mp);
	log_begin();
	off = pool_with("off", 0);
	log = log_end();
	assert_non_null(strstr(log, "pool off lives in host memory"));
	attach();
	/* the old pool still has the memory */
	on = pool_with("on", 0);
	rte_mempool_free(mp);
	rte_mempool_free(on);
	assert_whole(off);
	rte_mempool_free(off);
	assert_device_whole();
}

static void
case_51_out_while_detached(void **state)
{
	struct rte_mempool *mp = pool_with("out", all_slots);
	struct rte_mbuf *m;

	(void)state;
	start_port(mp);
	m = rte_pktmbuf_alloc(mp);
	rte_mempool_free(mp);
	detach();
	rte_pktmbuf_free(m);
	attach();
	assert_device_whole();
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(case_15_out_and_back),
		cmocka_unit_test(case_15_same_name),
		cmocka_unit_test(case_15_18_clones_live_on),
		cmocka_unit_test(case_15_60_chain_lives_on),
		cmocka_unit_test(case_15_stop_free_close),
		cmocka_unit_test(case_15_free_with_a_full_ring),
		cmocka_unit_test(case_6_7_pool_after_start),
		cmocka_unit_test(case_22_ring_and_pool),
		cmocka_unit_test(case_76_random_pools),
		cmocka_unit_test(case_58_nothing_grows),
		cmocka_unit_test(case_51_out_while_detached),
		cmocka_unit_test(case_51_pools_around_detach),
		/* last: what it leaves behind stays until the device is closed */
		cmocka_unit_test(case_15_memory_of_the_application),
	};
	struct rte_mempool *mp;
	int status = eal_start_with_port(argc, argv);

	if (status != 0)
		return status;
	setenv("MEMIC_TEST_DEVARGS", argv[argc - 1], 1);
	clones = make_pool("clones", 511, REFERENCE);
	mp = make_pool("first", N, OPS);
	all_slots = pool_number("first", "device_slots");
	rte_mempool_free(mp);
	status = cmocka_run_group_tests(tests, NULL, NULL);
	rte_mempool_free(clones);
	return eal_end(status);
}
