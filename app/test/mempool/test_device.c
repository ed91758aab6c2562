/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * Pools with buffers in device memory: which buffers, and what becomes of them. Needs a port
 * of the mlx5 driver, as under mlx5emu.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_common.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "audit.h"
#include "fixture.h"

#define VDEV "mempool_mlx5_memic0"
#define N 256u

/* ---- helpers ---- */

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
		cmocka_unit_test(device_first),
		cmocka_unit_test(lowest_objects_are_the_tier),
		cmocka_unit_test(case_11_every_slot_holds_its_bytes),
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
