/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * When the mbufs of a pool are pinned, however the pool is made. Needs a port of the mlx5
 * driver, as under mlx5emu.
 */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "audit.h"
#include "fixture.h"

#define N 256u

static void
case_5_pinned_when_created(void **state)
{
	unsigned int slots;
	struct rte_mempool *mp = device_pool("created", N, &slots);

	(void)state;
	assert_true(slots < N);
	/* before any get */
	assert_true((rte_pktmbuf_priv_flags(mp) & RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF) != 0);
	assert_int_equal(pool_number("created", "pinned"), 1);
	assert_int_equal(audit(mp), slots);
	assert_int_equal(pool_number("created", "host_slots"), N - slots);
	assert_int_equal(pool_number("created", "device_bytes"), slots * ROOM);
	rte_mempool_free(mp);
}

static void
case_5_initialised_again(void **state)
{
	static struct rte_mbuf *m[N];
	static void *before[N];
	unsigned int slots, i;
	struct rte_mempool *mp = device_pool("again", N, &slots);

	(void)state;
	assert_int_equal(rte_mempool_get_bulk(mp, (void **)m, N), 0);
	for (i = 0; i < N; i++)
		before[i] = m[i]->buf_addr;
	rte_mempool_put_bulk(mp, (void **)m, N);
	rte_mempool_obj_iter(mp, rte_pktmbuf_init, NULL);
	assert_int_equal(pool_number("again", "repinned"), 1);
	for (i = 0; i < N; i++)
		assert_ptr_equal(m[i]->buf_addr, before[i]);
	assert_int_equal(audit(mp), slots);
	rte_mempool_free(mp);
}

static void
constructor(struct rte_mempool *mp, void *arg, void *obj, unsigned int i)
{
	rte_pktmbuf_init(mp, arg, obj, i);
	((struct rte_mbuf *)obj)->dynfield1[0] = i;
}

static void
case_5_constructor_of_ones_own(void **state)
{
	struct rte_mempool *mp = hand_made("own", OPS, N, ROOM);

	(void)state;
	assert_int_equal(rte_mempool_populate_default(mp), N);
	assert_int_equal(pool_number("own", "pinned"), 0);
	rte_mempool_obj_iter(mp, constructor, NULL);
	assert_int_equal(pool_number("own", "pinned"), 1);
	assert_int_equal(audit(mp), pool_number("own", "device_slots"));
	rte_mempool_free(mp);
}

/* Initialise without rte_mempool_obj_iter(), as a program out of reach of the hook. */
static void
initialise_unseen(struct rte_mempool *mp)
{
	struct rte_mempool_objhdr *hdr;

	STAILQ_FOREACH(hdr, &mp->elt_list, next)
		rte_pktmbuf_init(mp, NULL, RTE_PTR_ADD(hdr, sizeof(*hdr)), 0);
}

struct first_get {
	pthread_t thread;
	struct rte_mempool *mp;
	pthread_barrier_t *barrier;
	struct rte_mbuf *m;
};

static void *
first_get(void *arg)
{
	struct first_get *f = arg;

	pthread_barrier_wait(f->barrier);
	if (rte_mempool_get(f->mp, (void **)&f->m) != 0)
		f->m = NULL;
	return NULL;
}

static void
case_5_first_get_of_two(void **state)
{
	struct first_get f[2];
	pthread_barrier_t barrier;
	struct rte_mempool *mp;
	unsigned int round, i;

	(void)state;
	for (round = 0; round < 50; round++) {
		mp = hand_made("two", OPS, N, ROOM);
		assert_int_equal(rte_mempool_populate_default(mp), N);
		initialise_unseen(mp);
		assert_int_equal(pool_number("two", "pinned"), 0);
		pthread_barrier_init(&barrier, NULL, 2);
		for (i = 0; i < 2; i++) {
			f[i] = (struct first_get){ .mp = mp, .barrier = &barrier };
			pthread_create(&f[i].thread, NULL, first_get, &f[i]);
		}
		for (i = 0; i < 2; i++) {
			pthread_join(f[i].thread, NULL);
			assert_non_null(f[i].m);
			assert_true(on_device(f[i].m));
			assert_fresh(mp, f[i].m);
		}
		pthread_barrier_destroy(&barrier);
		for (i = 0; i < 2; i++)
			rte_mempool_put(mp, f[i].m);
		assert_int_equal(audit(mp), pool_number("two", "device_slots"));
		rte_mempool_free(mp);
	}
}

/* Chunks that come in descending order, apart from each other (case 54). */
static void
case_54_chunks_in_any_order(void **state)
{
	const unsigned int chunks = 8;
	struct rte_mempool *mp = hand_made("chunks", OPS, N, ROOM);
	size_t obj = mp->header_size + mp->elt_size + mp->trailer_size;
	size_t step = RTE_ALIGN_CEIL(obj * N / chunks + RTE_MEMPOOL_ALIGN, 4096) + 4096;
	char *mem = aligned_alloc(4096, step * chunks);
	unsigned int i, c;
	int got = 0;

	(void)state;
	assert_non_null(mem);
	memset(mem, 0, step * chunks);
	for (i = 0; i < chunks; i++) {
		c = (i * 5 + 7) % chunks;
		got += rte_mempool_populate_iova(mp, mem + c * step + 64, RTE_BAD_IOVA,
						 obj * (N / chunks) + 64, NULL, NULL);
	}
	assert_int_equal(got, N);
	rte_mempool_obj_iter(mp, rte_pktmbuf_init, NULL);
	assert_int_equal(audit(mp), pool_number("chunks", "device_slots"));
	rte_mempool_free(mp);
	free(mem);
}

/* A get while chunks are still to be added: an ordinary pool from then on. */
static void
used_before_complete(void **state)
{
	struct rte_mempool *mp = hand_made("early", OPS, N, ROOM);
	size_t len = (mp->header_size + mp->elt_size + mp->trailer_size) * N / 2 + 64;
	char *mem = aligned_alloc(4096, RTE_ALIGN_CEIL(len, 4096));
	struct rte_mbuf *m;

	(void)state;
	assert_non_null(mem);
	memset(mem, 0, len);
	assert_int_equal(rte_mempool_populate_iova(mp, mem, RTE_BAD_IOVA, len, NULL, NULL), N / 2);
	rte_mempool_obj_iter(mp, rte_pktmbuf_init, NULL);
	m = rte_pktmbuf_alloc(mp);
	assert_non_null(m);
	assert_false(on_device(m));
	assert_int_equal(pool_number("early", "device_slots"), 0);
	rte_pktmbuf_free(m);
	rte_mempool_free(mp);
	free(mem);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(case_5_pinned_when_created),
		cmocka_unit_test(case_5_initialised_again),
		cmocka_unit_test(case_5_constructor_of_ones_own),
		cmocka_unit_test(case_5_first_get_of_two),
		cmocka_unit_test(case_54_chunks_in_any_order),
		cmocka_unit_test(used_before_complete),
	};
	int status = eal_start_with_port(argc, argv);

	return status != 0 ? status : eal_end(cmocka_run_group_tests(tests, NULL, NULL));
}
