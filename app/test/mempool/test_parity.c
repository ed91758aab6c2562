/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * Every answer of a pool of ours equals that of ring_mp_mc in the same process: a
 * program that is handed our ops must not be able to tell. Numbers in names are those
 * of the list of cases from which the tests come.
 */

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <rte_common.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "fixture.h"

static const char *const both[] = { REFERENCE, OPS };

/* ---- get and put ---- */

#define N 200u

/** Answers of a series of calls on one pool. */
struct answers {
	int ret[32];
	unsigned int count[32];
	unsigned int n;
};

static void
note(struct answers *a, const struct rte_mempool *mp, int ret)
{
	assert_true(a->n < RTE_DIM(a->ret));
	a->ret[a->n] = ret;
	a->count[a->n++] = rte_mempool_avail_count(mp);
}

static void
assert_same(const struct answers *x, const struct answers *y)
{
	unsigned int i;

	assert_int_equal(x->n, y->n);
	for (i = 0; i < x->n; i++) {
		if (x->ret[i] != y->ret[i] || x->count[i] != y->count[i])
			fail_msg("call %u: %s answers %d, counts %u, but %s answers %d, counts %u",
				 i, both[0], x->ret[i], x->count[i], both[1], y->ret[i],
				 y->count[i]);
	}
}

static void
get_and_put(const char *ops, struct answers *a)
{
	static void *objs[2 * N];
	struct rte_mempool *mp = make_pool("gp", N, ops);

	memset(a, 0, sizeof(*a));
	memset(objs, 0, sizeof(objs));
	note(a, mp, rte_mempool_get_bulk(mp, objs, 0));
	note(a, mp, rte_mempool_get_bulk(mp, objs, N + 1));
	assert_null(objs[0]);
	note(a, mp, rte_mempool_get_bulk(mp, objs, N - 10));
	note(a, mp, rte_mempool_get_bulk(mp, objs + N - 10, 11));
	assert_null(objs[N - 10]);
	note(a, mp, rte_mempool_get_bulk(mp, objs + N - 10, 10));
	note(a, mp, rte_mempool_get(mp, &objs[N]));
	note(a, mp, rte_mempool_get_bulk(mp, objs + N, 0));
	assert_null(objs[N]);
	rte_mempool_put_bulk(mp, objs, 1);
	note(a, mp, 0);
	note(a, mp, rte_mempool_get_bulk(mp, objs, 2));
	rte_mempool_put_bulk(mp, objs + 1, N - 1);
	note(a, mp, 0);
	note(a, mp, rte_mempool_get_bulk(mp, objs, 513));
	rte_mempool_put_bulk(mp, objs, 0);
	note(a, mp, rte_mempool_full(mp));
	rte_mempool_free(mp);
}

static void
case_28_get_and_put(void **state)
{
	struct answers a[2];
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++)
		get_and_put(both[i], &a[i]);
	assert_same(&a[0], &a[1]);
}

/* What ops say to DPDK directly, also where DPDK does not look. */
static void
ops_answers(const char *ops, struct answers *a)
{
	static void *objs[2 * N], *all[2 * N];
	struct rte_mempool *mp = make_pool("ops", N, ops);

	memset(a, 0, sizeof(*a));
	note(a, mp, rte_mempool_ops_dequeue_bulk(mp, objs, 0));
	note(a, mp, rte_mempool_ops_dequeue_bulk(mp, objs, N + 1));
	note(a, mp, rte_mempool_ops_dequeue_bulk(mp, objs, N));
	memcpy(all, objs, sizeof(all));
	note(a, mp, rte_mempool_ops_enqueue_bulk(mp, objs, 0));
	note(a, mp, rte_mempool_ops_enqueue_bulk(mp, objs, N));
	/* the same objects once more: a double free must not write past the store */
	note(a, mp, rte_mempool_ops_enqueue_bulk(mp, objs, N));
	note(a, mp, rte_mempool_ops_enqueue_bulk(mp, objs, 255 - N));
	note(a, mp, rte_mempool_ops_enqueue_bulk(mp, objs, 1));
	note(a, mp, rte_mempool_ops_dequeue_bulk(mp, objs, 255));
	note(a, mp, rte_mempool_ops_enqueue_bulk(mp, all, N));
	rte_mempool_free(mp);
}

static void
case_28_ops_answers(void **state)
{
	struct answers a[2];
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++)
		ops_answers(both[i], &a[i]);
	assert_same(&a[0], &a[1]);
}

/* Each object comes out once, and those that come out are those of the pool. */
static void
case_28_objects(void **state)
{
	static void *objs[N];
	struct rte_mempool *mp = make_pool("objs", N, OPS);
	unsigned int i, k;

	(void)state;
	assert_int_equal(rte_mempool_get_bulk(mp, objs, N), 0);
	for (i = 0; i < N; i++) {
		assert_ptr_equal(((struct rte_mbuf *)objs[i])->pool, mp);
		for (k = 0; k < i; k++)
			assert_ptr_not_equal(objs[i], objs[k]);
	}
	rte_mempool_put_bulk(mp, objs, N);
	rte_mempool_free(mp);
}

/* ---- caches ---- */

static void
with_cache(const char *ops, unsigned int n, unsigned int cache, struct answers *a)
{
	static void *objs[4096];
	struct rte_mempool *mp;
	unsigned int k;

	memset(a, 0, sizeof(*a));
	mp = rte_pktmbuf_pool_create_by_ops("cache", n, cache, 0, ROOM, SOCKET_ID_ANY, ops);
	/* a refusal is an answer, too */
	if (mp == NULL) {
		a->ret[a->n++] = rte_errno;
		return;
	}
	for (k = 1; k <= n + 1; k = k * 3 + 1) {
		note(a, mp, rte_mempool_get_bulk(mp, objs, k));
		if (a->ret[a->n - 1] == 0)
			rte_mempool_put_bulk(mp, objs, k);
		note(a, mp, 0);
	}
	note(a, mp, rte_mempool_get_bulk(mp, objs, n));
	if (a->ret[a->n - 1] == 0)
		rte_mempool_put_bulk(mp, objs, n);
	rte_mempool_free(mp);
}

static void
case_29_cache_sizes(void **state)
{
	static const unsigned int sizes[][2] = {
		{ 1, 0 }, { 1, 1 }, { 2, 1 }, { 512, 400 }, { 512, 512 }, { 2048, 513 },
		{ 2048, 512 }, { 768, 512 },
	};
	struct answers a[2];
	unsigned int i, k;

	(void)state;
	for (i = 0; i < RTE_DIM(sizes); i++) {
		for (k = 0; k < 2; k++)
			with_cache(both[k], sizes[i][0], sizes[i][1], &a[k]);
		assert_same(&a[0], &a[1]);
	}
}

/* ---- creation ---- */

struct creation {
	const char *name;
	unsigned int n, cache;
	uint16_t priv, room;
	int socket;
};

static int
create(const struct creation *c, const char *ops)
{
	char name[64];
	struct rte_mempool *mp;
	int err;

	/* one name for each ops: DPDK leaves a memzone behind when a name is too long */
	snprintf(name, sizeof(name), "%s", c->name);
	if (name[0] != '\0')
		name[0] = ops[0];
	mp = rte_pktmbuf_pool_create_by_ops(name, c->n, c->cache, c->priv, c->room, c->socket,
					    ops);
	/* rte_errno means something after a failure only */
	err = mp == NULL ? rte_errno : 0;
	rte_mempool_free(mp);
	return err;
}

static void
case_30_70_arguments(void **state)
{
	static const struct creation cases[] = {
		{ "room0", 64, 0, 0, 0, SOCKET_ID_ANY },
		{ "room64", 64, 0, 0, 64, SOCKET_ID_ANY },
		{ "room2047", 64, 0, 0, 2047, SOCKET_ID_ANY },
		{ "room65535", 64, 0, 0, 65535, SOCKET_ID_ANY },
		{ "priv4", 64, 0, 4, ROOM, SOCKET_ID_ANY },
		{ "priv8", 64, 0, 8, ROOM, SOCKET_ID_ANY },
		{ "n0", 0, 0, 0, ROOM, SOCKET_ID_ANY },
		{ "n1", 1, 0, 0, ROOM, SOCKET_ID_ANY },
		/* more than there is memory: what was taken for it must come back, and soon */
		{ "huge", 150000, 0, 0, ROOM, SOCKET_ID_ANY },
		{ "after huge", 64, 0, 0, ROOM, SOCKET_ID_ANY },
		{ "socket0", 64, 0, 0, ROOM, 0 },
		{ "socket7", 64, 0, 0, ROOM, 7 },
		{ "socket-2", 64, 0, 0, ROOM, -2 },
		{ "a name of twenty-six chars", 64, 0, 0, ROOM, SOCKET_ID_ANY },
		{ "a name of twenty-five cha", 64, 0, 0, ROOM, SOCKET_ID_ANY },
		{ "", 64, 0, 0, ROOM, SOCKET_ID_ANY },
		{ "with \"quotes\" \\ and %s", 64, 0, 0, ROOM, SOCKET_ID_ANY },
	};
	unsigned int i;
	int err[2];

	(void)state;
	for (i = 0; i < RTE_DIM(cases); i++) {
		err[0] = create(&cases[i], REFERENCE);
		err[1] = create(&cases[i], OPS);
		if (err[0] != err[1])
			fail_msg("pool '%s': errno %d with %s, %d with %s", cases[i].name, err[0],
				 REFERENCE, err[1], OPS);
	}
}

static void
case_33_ops_names(void **state)
{
	static const char *const names[] = {
		"", "nosuch", "mlx5_memi", "mlx5_memicc", "thirty-one characters of a name",
		"thirty-two characters of a name.", "MLX5_MEMIC",
	};
	const struct creation c = { "names", 64, 0, 0, ROOM, SOCKET_ID_ANY };
	unsigned int i;

	(void)state;
	for (i = 0; i < RTE_DIM(names); i++)
		assert_int_equal(create(&c, names[i]), EINVAL);
	assert_int_equal(create(&c, OPS), 0);
}

/* A pool that was never populated has no store yet; ring_mp_mc crashes on the get. */
static void
case_26_never_populated(void **state)
{
	struct rte_mempool *mp;
	void *obj = NULL;

	(void)state;
	mp = rte_mempool_create_empty("empty", 64, 128, 0, 0, SOCKET_ID_ANY, 0);
	assert_non_null(mp);
	assert_int_equal(rte_mempool_set_ops_byname(mp, OPS, NULL), 0);
	assert_int_equal(rte_mempool_avail_count(mp), 0);
	assert_int_equal(rte_mempool_get(mp, &obj), -ENOBUFS);
	assert_null(obj);
	rte_mempool_free(mp);
}

static struct rte_mempool *
raw_pool(const char *ops, unsigned int priv_size, uint8_t fill, void *config)
{
	struct rte_mempool *mp;

	mp = rte_mempool_create_empty("raw", 100, 2304, 0, priv_size, SOCKET_ID_ANY, 0);
	assert_non_null(mp);
	assert_int_equal(rte_mempool_set_ops_byname(mp, ops, config), 0);
	memset(rte_mempool_get_priv(mp), fill, priv_size);
	return mp;
}

static void
raw_answers(const char *ops, unsigned int priv_size, uint8_t fill, struct answers *a)
{
	struct rte_mempool *mp = raw_pool(ops, priv_size, fill, NULL);
	static uint8_t pattern[2304], *objs[100];
	unsigned int i;

	memset(a, 0, sizeof(*a));
	note(a, mp, rte_mempool_populate_default(mp));
	note(a, mp, rte_mempool_get_bulk(mp, (void **)objs, 100));
	/* objects are the application's, from the first byte to the last */
	for (i = 0; i < 100; i++)
		memset(objs[i], i, sizeof(pattern));
	for (i = 0; i < 100; i++) {
		memset(pattern, i, sizeof(pattern));
		assert_memory_equal(objs[i], pattern, sizeof(pattern));
	}
	rte_mempool_put_bulk(mp, (void **)objs, 100);
	note(a, mp, rte_mempool_get(mp, (void **)objs));
	assert_int_equal(*((uint8_t *)rte_mempool_get_priv(mp) + priv_size - 1), fill);
	rte_mempool_put(mp, objs[0]);
	rte_mempool_free(mp);
}

static void
case_23_other_objects(void **state)
{
	static const struct {
		unsigned int size;
		uint8_t fill;
	} priv[] = { { 64, 0xff }, { 64, 0 }, { 1, 0xff }, { 64, 0x08 } };
	struct answers a[2];
	unsigned int i, k;

	(void)state;
	for (i = 0; i < RTE_DIM(priv); i++) {
		for (k = 0; k < 2; k++)
			raw_answers(both[k], priv[i].size, priv[i].fill, &a[k]);
		assert_same(&a[0], &a[1]);
	}
}

static void
unknown_pool_config(void **state)
{
	uint64_t config[8] = { 0x1234 };
	struct rte_mempool *mp = raw_pool(OPS, 64, 0, config);
	const char *log;
	int ret;

	(void)state;
	log_begin();
	ret = rte_mempool_populate_default(mp);
	log = log_end();
	assert_int_equal(ret, -EINVAL);
	assert_non_null(strstr(log, "pool raw not created (EINVAL)"));
	rte_mempool_free(mp);
}

/* ---- threads ---- */

#define THREADS 4
#define ROUNDS 20000
#define BULK 24

struct worker {
	pthread_t thread;
	struct rte_mempool *mp;
	uint8_t id;
	unsigned int wrong;
	unsigned int done;
};

/* Whoever holds a buffer holds it alone: a mark set at get is still there at put. */
static void *
work(void *arg)
{
	struct worker *w = arg;
	void *objs[BULK];
	unsigned int i, r, n;

	for (r = 0; r < ROUNDS; r++) {
		n = 1 + r % BULK;
		if (rte_mempool_get_bulk(w->mp, objs, n) != 0)
			continue;
		for (i = 0; i < n; i++)
			((struct rte_mbuf *)objs[i])->port = w->id;
		for (i = 0; i < n; i++)
			w->wrong += ((struct rte_mbuf *)objs[i])->port != w->id;
		rte_mempool_put_bulk(w->mp, objs, n);
		w->done++;
	}
	return NULL;
}

static void
case_80_threads(void **state)
{
	struct worker w[THREADS];
	struct rte_mempool *mp;
	unsigned int i;

	(void)state;
	/* scarce enough that gets fail now and then */
	mp = make_pool("threads", THREADS * BULK / 2, OPS);
	for (i = 0; i < THREADS; i++) {
		w[i] = (struct worker){ .mp = mp, .id = i };
		assert_int_equal(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(w[i].thread, NULL);
		assert_int_equal(w[i].wrong, 0);
		assert_true(w[i].done > 0);
	}
	assert_int_equal(rte_mempool_avail_count(mp), THREADS * BULK / 2);
	rte_mempool_free(mp);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(case_28_get_and_put),
		cmocka_unit_test(case_28_ops_answers),
		cmocka_unit_test(case_28_objects),
		cmocka_unit_test(case_29_cache_sizes),
		cmocka_unit_test(case_30_70_arguments),
		cmocka_unit_test(case_33_ops_names),
		cmocka_unit_test(case_26_never_populated),
		cmocka_unit_test(case_23_other_objects),
		cmocka_unit_test(unknown_pool_config),
		cmocka_unit_test(case_80_threads),
	};
	int status = eal_start(argc, argv);

	if (status != 0)
		return status;
	return eal_end(cmocka_run_group_tests(tests, NULL, NULL));
}
