/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * Pools with buffers in device memory: which buffers, that they come back, and that
 * none is given out twice. Needs a port of the mlx5 driver, as under mlx5emu.
 */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_common.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "fixture.h"

#define VDEV "mempool_mlx5_memic0"
#define N 256u

/* ---- helpers ---- */

/* A pool whose buffers are on the device as far as there is room, and how many are. */
static struct rte_mempool *
device_pool(const char *name, unsigned int n, unsigned int *slots)
{
	struct rte_mempool *mp = make_pool(name, n, OPS);
	long long got = pool_number(name, "device_slots");

	assert_true(got > 0);
	if (slots != NULL)
		*slots = got;
	return mp;
}

static void
assert_fresh(const struct rte_mempool *mp, const struct rte_mbuf *m)
{
	assert_ptr_equal(m->pool, mp);
	assert_int_equal(m->ol_flags, RTE_MBUF_F_EXTERNAL);
	assert_int_equal(rte_mbuf_refcnt_read(m), 1);
	assert_non_null(m->shinfo);
	assert_int_equal(rte_mbuf_ext_refcnt_read(m->shinfo), 1);
	assert_ptr_equal(m->shinfo->fcb_opaque, m);
	assert_int_equal(m->buf_len, ROOM);
	assert_int_equal(m->nb_segs, 1);
	assert_null(m->next);
	assert_int_not_equal(rte_mbuf_iova_get(m), 0);
}

static int
by_buffer(const void *a, const void *b)
{
	const struct rte_mbuf *x = *(struct rte_mbuf *const *)a;
	const struct rte_mbuf *y = *(struct rte_mbuf *const *)b;

	return (x->buf_addr > y->buf_addr) - (x->buf_addr < y->buf_addr);
}

/*
 * Take everything out, check each mbuf and that no two buffers overlap, put all back.
 * Returns how many are on the device.
 */
static unsigned int
audit(struct rte_mempool *mp)
{
	static struct rte_mbuf *m[4096];
	unsigned int n = mp->size;
	unsigned int dev = 0;
	unsigned int i;

	assert_true(n <= RTE_DIM(m));
	assert_int_equal(rte_mempool_avail_count(mp), n);
	assert_int_equal(rte_mempool_get_bulk(mp, (void **)m, n), 0);
	for (i = 0; i < n; i++) {
		assert_fresh(mp, m[i]);
		dev += on_device(m[i]);
	}
	qsort(m, n, sizeof(m[0]), by_buffer);
	for (i = 1; i < n; i++)
		assert_true((char *)m[i - 1]->buf_addr + ROOM <= (char *)m[i]->buf_addr);
	rte_mempool_put_bulk(mp, (void **)m, n);
	return dev;
}

/* Clones live in an ordinary pool. */
static struct rte_mempool *clones;

static void
fill(struct rte_mbuf *m, uint8_t byte)
{
	uint8_t *p = (uint8_t *)rte_pktmbuf_append(m, 100);
	unsigned int i;

	assert_non_null(p);
	for (i = 0; i < 100; i++)
		((volatile uint8_t *)p)[i] = byte;
}

static void
assert_filled(const struct rte_mbuf *m, uint8_t byte)
{
	const volatile uint8_t *p = rte_pktmbuf_mtod(m, const volatile uint8_t *);
	unsigned int i;

	for (i = 0; i < 100; i++)
		assert_int_equal(p[i], byte);
}

/* ---- placement ---- */

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
device_first(void **state)
{
	static struct rte_mbuf *m[N];
	unsigned int slots, i;
	struct rte_mempool *mp = device_pool("first", N, &slots);

	(void)state;
	assert_int_equal(rte_mempool_get_bulk(mp, (void **)m, N), 0);
	for (i = 0; i < N; i++)
		assert_int_equal(on_device(m[i]), i < slots);
	/* in any order back, the device comes first again */
	for (i = 0; i < N; i++)
		rte_mempool_put(mp, m[(i * 7 + 3) % N]);
	assert_int_equal(rte_mempool_get_bulk(mp, (void **)m, N), 0);
	for (i = 0; i < N; i++)
		assert_int_equal(on_device(m[i]), i < slots);
	rte_mempool_put_bulk(mp, (void **)m, N);
	rte_mempool_free(mp);
}

static void
lowest_objects_are_the_tier(void **state)
{
	static struct rte_mbuf *m[N];
	struct rte_mbuf *high = NULL;
	unsigned int slots, i;
	struct rte_mempool *mp = device_pool("lowest", N, &slots);

	(void)state;
	assert_int_equal(rte_mempool_get_bulk(mp, (void **)m, N), 0);
	for (i = 0; i < N; i++)
		if (on_device(m[i]))
			high = RTE_MAX(high, m[i]);
	for (i = 0; i < N; i++)
		assert_int_equal(on_device(m[i]), m[i] <= high);
	rte_mempool_put_bulk(mp, (void **)m, N);
	rte_mempool_free(mp);
}

/* Slot 0 at the region's start and the last slot hold bytes of their own (case 11). */
static void
case_11_every_slot_holds_its_bytes(void **state)
{
	static struct rte_mbuf *m[N];
	struct rte_mempool *mp = device_pool("bytes", N, NULL);
	unsigned int i;

	(void)state;
	assert_int_equal(rte_pktmbuf_alloc_bulk(mp, m, N), 0);
	for (i = 0; i < N; i++)
		fill(m[i], i);
	for (i = 0; i < N; i++)
		assert_filled(m[i], i);
	rte_pktmbuf_free_bulk(m, N);
	audit(mp);
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

/* ---- clones and chains ---- */

static void
case_18_clones(void **state)
{
	static struct rte_mbuf *m[N], *c[3][N];
	unsigned int i, k, n = N - 10;
	unsigned int slots;
	struct rte_mempool *mp = device_pool("cloned", N, &slots);

	(void)state;
	for (i = 0; i < n; i++) {
		m[i] = rte_pktmbuf_alloc(mp);
		fill(m[i], i);
		c[0][i] = rte_pktmbuf_clone(m[i], clones);
		c[1][i] = rte_pktmbuf_clone(c[0][i], clones);
		c[2][i] = rte_pktmbuf_clone(m[i], clones);
	}
	for (i = 0; i < n; i++)
		rte_pktmbuf_free(m[i]);
	assert_int_equal(rte_mempool_avail_count(mp), 10);
	/* which of the three goes last differs */
	for (k = 0; k < 3; k++) {
		for (i = 0; i < n; i++) {
			assert_filled(c[(k + i) % 3][i], i);
			rte_pktmbuf_free(c[(k + i) % 3][i]);
		}
		assert_int_equal(rte_mempool_avail_count(mp), k < 2 ? 10 : N);
	}
	assert_int_equal(rte_mempool_in_use_count(clones), 0);
	assert_int_equal(audit(mp), slots);
	rte_mempool_free(mp);
}

static void
case_18_detach(void **state)
{
	struct rte_mempool *mp = device_pool("detach", N, NULL);
	struct rte_mbuf *m = rte_pktmbuf_alloc(mp);
	struct rte_mbuf *c = rte_pktmbuf_clone(m, clones);

	(void)state;
	rte_pktmbuf_free(m);
	rte_pktmbuf_detach(c);
	assert_false(on_device(c));
	assert_int_equal(rte_mempool_avail_count(mp), N);
	/* a pinned mbuf keeps its buffer */
	m = rte_pktmbuf_alloc(mp);
	rte_pktmbuf_detach(m);
	assert_true(on_device(m));
	rte_pktmbuf_free(m);
	rte_pktmbuf_free(c);
	audit(mp);
	rte_mempool_free(mp);
}

static void
case_60_chains(void **state)
{
	unsigned int slots;
	struct rte_mempool *mp = device_pool("chain", N, &slots);
	struct rte_mbuf *m, *seg[3], *c;
	unsigned int i, round;

	(void)state;
	for (round = 0; round < N; round++) {
		m = NULL;
		for (i = 0; i < 3; i++) {
			/* device and host segments in one chain */
			seg[i] = rte_pktmbuf_alloc(i == 1 ? clones : mp);
			fill(seg[i], i);
			if (m == NULL)
				m = seg[i];
			else
				assert_int_equal(rte_pktmbuf_chain(m, seg[i]), 0);
		}
		c = rte_pktmbuf_clone(m, clones);
		assert_non_null(c);
		rte_pktmbuf_free(m);
		assert_filled(c->next->next, 2);
		/* split behind the first segment */
		m = c->next;
		c->next = NULL;
		c->nb_segs = 1;
		m->nb_segs = 2;
		rte_pktmbuf_free(m);
		rte_pktmbuf_free(c);
	}
	assert_int_equal(rte_mempool_in_use_count(clones), 0);
	assert_int_equal(audit(mp), slots);
	rte_mempool_free(mp);
}

/* ---- several pools, and the end of pools ---- */

static void
case_76_pools_share_the_region(void **state)
{
	struct rte_mempool *mp[20];
	unsigned int total = 0, again = 0;
	char name[32];
	unsigned int i;

	(void)state;
	for (i = 0; i < RTE_DIM(mp); i++) {
		snprintf(name, sizeof(name), "share%u", i);
		mp[i] = make_pool(name, 16, OPS);
		total += pool_number(name, "device_slots");
	}
	/* those that found nothing left are ordinary pools */
	assert_int_equal(pool_number("share19", "device_slots"), 0);
	assert_int_equal(rte_pktmbuf_priv_flags(mp[19]), 0);
	for (i = 0; i < RTE_DIM(mp); i++)
		rte_mempool_free(mp[(i * 7) % RTE_DIM(mp)]);
	for (i = 0; i < RTE_DIM(mp); i++) {
		snprintf(name, sizeof(name), "share%u", i);
		mp[i] = make_pool(name, 16, OPS);
		again += pool_number(name, "device_slots");
	}
	assert_int_equal(again, total);
	/* every second one goes, larger buffers come */
	for (i = 0; i < RTE_DIM(mp); i += 2)
		rte_mempool_free(mp[i]);
	audit(mp[1]);
	rte_mempool_free(device_pool("large", N, NULL));
	for (i = 1; i < RTE_DIM(mp); i += 2)
		rte_mempool_free(mp[i]);
}

static void
rules_on_the_device(void **state)
{
	const struct {
		const char *args;
		int err;
	} cases[] = {
		{ "spill=0", ENOMEM },
		{ "dev=mlx5_0,size=64K", 0 },
		{ "dev=mlx5_7,spill=0", ENODEV },
	};
	struct rte_mempool *mp;
	unsigned int i;

	(void)state;
	for (i = 0; i < RTE_DIM(cases); i++) {
		assert_int_equal(rte_vdev_init(VDEV, cases[i].args), 0);
		mp = rte_pktmbuf_pool_create_by_ops("ruled", N, 0, 0, ROOM, SOCKET_ID_ANY, OPS);
		assert_int_equal(mp == NULL ? rte_errno : 0, cases[i].err);
		if (mp != NULL)
			assert_int_equal(pool_number("ruled", "device_slots"), 65536 / ROOM);
		rte_mempool_free(mp);
		assert_int_equal(rte_vdev_uninit(VDEV), 0);
	}
	/* what was refused has taken nothing */
	assert_int_equal(rte_vdev_init(VDEV, "spill=0"), 0);
	rte_mempool_free(device_pool("fits", 32, NULL));
	assert_int_equal(rte_vdev_uninit(VDEV), 0);
}

static void
modes_of_one_region_agree(void **state)
{
	struct rte_mempool *mp;
	const char *log;

	(void)state;
	assert_int_equal(rte_vdev_init(VDEV, "mkey=ksm"), 0);
	mp = device_pool("ksm", 16, NULL);
	assert_int_equal(rte_vdev_uninit(VDEV), 0);
	assert_int_equal(rte_vdev_init(VDEV, "mkey=klm"), 0);
	log_begin();
	assert_null(rte_pktmbuf_pool_create_by_ops("klm", 16, 0, 0, ROOM, SOCKET_ID_ANY, OPS));
	assert_int_equal(rte_errno, EINVAL);
	log = log_end();
	assert_non_null(strstr(log, "pool klm not created (EINVAL)"));
	rte_mempool_free(mp);
	/* the region went with its last pool, and with it the mode */
	rte_mempool_free(device_pool("klm", 16, NULL));
	assert_int_equal(rte_vdev_uninit(VDEV), 0);
}

/* Last: the slots are lost until the device is closed. */
static void
case_15_freed_with_buffers_out(void **state)
{
	unsigned int before, after;
	struct rte_mempool *mp = device_pool("left", N, &before);
	struct rte_mbuf *m = rte_pktmbuf_alloc(mp);
	struct rte_mbuf *other = rte_pktmbuf_alloc(mp);
	void *buffers[2] = { m->buf_addr, other->buf_addr };
	struct rte_mbuf *c, *all[N];
	const char *log;
	unsigned int i;

	(void)state;
	fill(m, 0x5a);
	c = rte_pktmbuf_clone(m, clones);
	log_begin();
	rte_mempool_free(mp);
	log = log_end();
	assert_non_null(strstr(log, "pool left is freed with 2 of its 256 buffers still out, 2 of "
			       "them in device memory of mlx5_0"));
	mp = device_pool("next", N, &after);
	assert_int_equal(after, before - 2);
	assert_int_equal(pool_number("next", "region_quarantined_bytes"), 2 * ROOM);
	assert_int_equal(rte_pktmbuf_alloc_bulk(mp, all, N), 0);
	for (i = 0; i < N; i++) {
		assert_ptr_not_equal(all[i]->buf_addr, buffers[0]);
		assert_ptr_not_equal(all[i]->buf_addr, buffers[1]);
		fill(all[i], i);
	}
	/* the clone still has its bytes, and its end harms nobody */
	assert_filled(c, 0x5a);
	rte_pktmbuf_free(c);
	rte_pktmbuf_free_bulk(all, N);
	audit(mp);
	rte_mempool_free(mp);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(case_5_pinned_when_created),
		cmocka_unit_test(device_first),
		cmocka_unit_test(lowest_objects_are_the_tier),
		cmocka_unit_test(case_11_every_slot_holds_its_bytes),
		cmocka_unit_test(case_5_initialised_again),
		cmocka_unit_test(case_5_constructor_of_ones_own),
		cmocka_unit_test(case_5_first_get_of_two),
		cmocka_unit_test(case_54_chunks_in_any_order),
		cmocka_unit_test(used_before_complete),
		cmocka_unit_test(case_18_clones),
		cmocka_unit_test(case_18_detach),
		cmocka_unit_test(case_60_chains),
		cmocka_unit_test(case_76_pools_share_the_region),
		cmocka_unit_test(rules_on_the_device),
		cmocka_unit_test(modes_of_one_region_agree),
		cmocka_unit_test(case_15_freed_with_buffers_out),
	};
	int status = eal_start_with_port(argc, argv);

	if (status != 0)
		return status;
	clones = make_pool("clones", 2047, REFERENCE);
	status = cmocka_run_group_tests(tests, NULL, NULL);
	rte_mempool_free(clones);
	return eal_end(status);
}
