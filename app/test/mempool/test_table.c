/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * Answers equal to those of ring_mp_mc over a table of sizes, caches, rooms, sockets,
 * names and flags; and pools that got our ops by accident, which take no device memory.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_common.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>

#include "fixture.h"

#define VDEV "mempool_mlx5_memic0"
#define MOST 1024u

static const char *const both[] = { REFERENCE, OPS };

/* ---- the table ---- */

struct row {
	unsigned int n, cache, room, flags;
	int socket;
	const char *name;
};

struct answers {
	long value[96];
	unsigned int n;
};

static void
note(struct answers *a, long value)
{
	assert_true(a->n < RTE_DIM(a->value));
	a->value[a->n++] = value;
}

/* As rte_pktmbuf_pool_create() does, but with flags. */
static struct rte_mempool *
build(const struct row *row, const char *ops)
{
	struct rte_pktmbuf_pool_private priv = { .mbuf_data_room_size = row->room };
	struct rte_mempool *mp;
	int ret;

	mp = rte_mempool_create_empty(row->name, row->n, sizeof(struct rte_mbuf) + row->room,
				      row->cache, sizeof(priv), row->socket, row->flags);
	if (mp == NULL)
		return NULL;
	if (rte_mempool_set_ops_byname(mp, ops, NULL) != 0)
		fail_msg("ops %s", ops);
	rte_pktmbuf_pool_init(mp, &priv);
	ret = rte_mempool_populate_default(mp);
	if (ret < 0) {
		rte_mempool_free(mp);
		rte_errno = -ret;
		return NULL;
	}
	rte_mempool_obj_iter(mp, rte_pktmbuf_init, NULL);
	return mp;
}

static void
note_mbuf(struct answers *a, const struct rte_mbuf *m)
{
	note(a, m->buf_len);
	note(a, m->data_off);
	note(a, rte_mbuf_refcnt_read(m));
	note(a, m->nb_segs);
	note(a, m->port);
}

static void
exercise(struct rte_mempool *mp, const struct row *row, struct answers *a)
{
	static void *objs[2 * MOST];
	const unsigned int sizes[] = { 0, 1, 2, 31, 32, 33, row->n / 2, row->n - 1, row->n,
				       row->n + 1, 513 };
	unsigned int i;
	int ret;

	for (i = 0; i < RTE_DIM(sizes); i++) {
		ret = rte_mempool_get_bulk(mp, objs, sizes[i]);
		note(a, ret);
		note(a, rte_mempool_avail_count(mp));
		note(a, rte_mempool_in_use_count(mp));
		if (ret == 0 && sizes[i] != 0) {
			note_mbuf(a, objs[sizes[i] - 1]);
			rte_mempool_put_bulk(mp, objs, sizes[i]);
		}
	}
	note(a, rte_mempool_full(mp));
	note(a, rte_mempool_empty(mp));
}

static void
run_row(const struct row *row, const char *ops, struct answers *a)
{
	struct rte_mempool *mp;

	memset(a, 0, sizeof(*a));
	mp = build(row, ops);
	if (mp == NULL) {
		note(a, rte_errno);
		return;
	}
	note(a, mp->size);
	note(a, mp->populated_size);
	note(a, mp->elt_size);
	note(a, mp->socket_id);
	note(a, mp->flags);
	exercise(mp, row, a);
	rte_mempool_free(mp);
}

static void
compare(const struct row *row)
{
	struct answers a[2];
	unsigned int i;

	for (i = 0; i < 2; i++)
		run_row(row, both[i], &a[i]);
	if (a[0].n == a[1].n && memcmp(a[0].value, a[1].value, a[0].n * sizeof(long)) == 0)
		return;
	for (i = 0; i < a[0].n && a[0].value[i] == a[1].value[i]; i++)
		;
	fail_msg("pool '%s', n %u, cache %u, room %u, flags 0x%x, socket %d: answer %u is %ld with "
		 "%s, %ld with %s", row->name, row->n, row->cache, row->room, row->flags,
		 row->socket, i, a[0].value[i], both[0], a[1].value[i], both[1]);
}

static void
case_29_30_sizes(void **state)
{
	static const unsigned int ns[] = { 1, 2, 3, 63, 64, 512, 769, MOST };
	static const unsigned int caches[] = { 0, 1, 2, 42, 256, 512, 513 };
	static const unsigned int rooms[] = { 64, 192, 2047, ROOM, 9216 };
	struct row row = { .socket = SOCKET_ID_ANY, .name = "sizes" };
	unsigned int i, k, r;

	(void)state;
	for (i = 0; i < RTE_DIM(ns); i++) {
		for (k = 0; k < RTE_DIM(caches); k++) {
			for (r = 0; r < RTE_DIM(rooms); r++) {
				row.n = ns[i];
				row.cache = caches[k];
				row.room = rooms[r];
				compare(&row);
			}
		}
	}
}

/* Flags that promise one producer or consumer do not make ours less safe (case 80). */
static void
case_80_flags(void **state)
{
	static const unsigned int flags[] = {
		0, RTE_MEMPOOL_F_SP_PUT, RTE_MEMPOOL_F_SC_GET,
		RTE_MEMPOOL_F_SP_PUT | RTE_MEMPOOL_F_SC_GET, RTE_MEMPOOL_F_NO_SPREAD,
		RTE_MEMPOOL_F_NO_IOVA_CONTIG,
		RTE_MEMPOOL_F_NO_SPREAD | RTE_MEMPOOL_F_NO_IOVA_CONTIG,
	};
	struct row row = { .n = 300, .cache = 32, .room = ROOM, .socket = SOCKET_ID_ANY,
			   .name = "flags" };
	unsigned int i;

	(void)state;
	for (i = 0; i < RTE_DIM(flags); i++) {
		row.flags = flags[i];
		compare(&row);
	}
}

static void
case_70_sockets_and_names(void **state)
{
	static const int sockets[] = { SOCKET_ID_ANY, 0, 1, 7, -2 };
	static const char *const names[] = {
		"a", "with spaces in it", "q\"uo\\te", "%s%n", "../slash",
		"twenty-five characters xx",
	};
	struct row row = { .n = 100, .room = ROOM, .socket = SOCKET_ID_ANY };
	unsigned int i;

	(void)state;
	for (i = 0; i < RTE_DIM(names); i++) {
		row.name = names[i];
		compare(&row);
	}
	row.name = "sockets";
	for (i = 0; i < RTE_DIM(sockets); i++) {
		row.socket = sockets[i];
		compare(&row);
	}
}

/* A name that is taken is refused, and whose it is stays as it was. */
static void
case_30_name_taken(void **state)
{
	const struct row row = { .n = 64, .room = ROOM, .socket = SOCKET_ID_ANY, .name = "taken" };
	struct rte_mempool *mp;
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		mp = build(&row, both[i]);
		assert_non_null(mp);
		assert_null(build(&row, both[1 - i]));
		assert_int_equal(rte_errno, EEXIST);
		assert_ptr_equal(rte_mempool_lookup("taken"), mp);
		assert_int_equal(rte_mempool_avail_count(mp), 64);
		rte_mempool_free(mp);
	}
}

/* ---- creation that goes wrong on the way ---- */

static void
case_26_given_up_early(void **state)
{
	static char memory[8192];
	struct rte_mempool *mp;
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		/* no ops alloc yet */
		mp = rte_mempool_create_empty("early", 64, 2304, 0, 64, SOCKET_ID_ANY, 0);
		assert_non_null(mp);
		assert_int_equal(rte_mempool_set_ops_byname(mp, both[i], NULL), 0);
		rte_mempool_free(mp);
		/* populated in part: ops alloc, objects, and then the end */
		mp = rte_mempool_create_empty("early", 64, 2304, 0, 64, SOCKET_ID_ANY, 0);
		assert_non_null(mp);
		assert_int_equal(rte_mempool_set_ops_byname(mp, both[i], NULL), 0);
		assert_true(rte_mempool_populate_iova(mp, memory, RTE_BAD_IOVA, sizeof(memory),
						      NULL, NULL) > 0);
		rte_mempool_free(mp);
		/* memory too small for one object */
		mp = rte_mempool_create_empty("early", 64, 2304, 0, 64, SOCKET_ID_ANY, 0);
		assert_non_null(mp);
		assert_int_equal(rte_mempool_set_ops_byname(mp, both[i], NULL), 0);
		assert_int_equal(rte_mempool_populate_iova(mp, memory, RTE_BAD_IOVA, 64, NULL,
							   NULL), 0);
		assert_int_equal(rte_mempool_avail_count(mp), 0);
		rte_mempool_free(mp);
	}
}

/* ---- pools nobody meant ---- */

static void
assert_ordinary(const char *name, const char *reason)
{
	char command[128];
	const char *text;

	assert_int_equal(pool_number(name, "device_slots"), 0);
	assert_int_equal(pool_number(name, "device_bytes"), 0);
	snprintf(command, sizeof(command), "/mlx5_memic/info,%s", name);
	text = telemetry(command);
	if (text == NULL || strstr(text, reason) == NULL)
		fail_msg("%s: no '%s' in %s", name, reason, text);
}

static void
case_21_room_0(void **state)
{
	struct rte_mempool *mp, *direct;
	struct rte_mbuf *m, *d;

	(void)state;
	mp = rte_pktmbuf_pool_create_by_ops("indirect", 64, 0, 0, 0, SOCKET_ID_ANY, OPS);
	direct = make_pool("direct", 64, REFERENCE);
	assert_ordinary("indirect", "no data room");
	/* it is made to be attached to others' data */
	d = rte_pktmbuf_alloc(direct);
	m = rte_pktmbuf_clone(d, mp);
	assert_non_null(m);
	assert_ptr_equal(m->buf_addr, d->buf_addr);
	rte_pktmbuf_free(d);
	rte_pktmbuf_free(m);
	assert_true(rte_mempool_full(mp) && rte_mempool_full(direct));
	rte_mempool_free(mp);
	rte_mempool_free(direct);
}

static void
case_21_pinned_already(void **state)
{
	struct rte_pktmbuf_extmem ext = { .buf_iova = RTE_BAD_IOVA, .buf_len = 64 * ROOM,
					  .elt_size = ROOM };
	struct rte_mempool *mp;
	struct rte_mbuf *m;

	(void)state;
	ext.buf_ptr = aligned_alloc(4096, RTE_ALIGN_CEIL(ext.buf_len, 4096));
	mp = rte_pktmbuf_pool_create_extbuf("pinned", 64, 0, 0, ROOM, SOCKET_ID_ANY, &ext, 1);
	assert_non_null(mp);
	assert_ordinary("pinned", "external ones already");
	m = rte_pktmbuf_alloc(mp);
	assert_true((char *)m->buf_addr >= (char *)ext.buf_ptr &&
		    (char *)m->buf_addr < (char *)ext.buf_ptr + ext.buf_len);
	rte_pktmbuf_free(m);
	assert_true(rte_mempool_full(mp));
	rte_mempool_free(mp);
	free(ext.buf_ptr);
}

static void
case_23_not_pktmbuf(void **state)
{
	struct rte_mempool *mp;

	(void)state;
	mp = rte_mempool_create_empty("objects", 64, 2304, 0, 0, SOCKET_ID_ANY, 0);
	assert_non_null(mp);
	assert_int_equal(rte_mempool_set_ops_byname(mp, OPS, NULL), 0);
	assert_int_equal(rte_mempool_populate_default(mp), 64);
	assert_ordinary("objects", "not a pool of packet buffers");
	rte_mempool_free(mp);
}

/* A strict rule is no reason to fail for pools that were never meant. */
static void
case_21_strict_rule(void **state)
{
	(void)state;
	assert_int_equal(rte_vdev_init(VDEV, "spill=0"), 0);
	case_21_room_0(NULL);
	case_21_pinned_already(NULL);
	case_23_not_pktmbuf(NULL);
	assert_int_equal(rte_vdev_uninit(VDEV), 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(case_29_30_sizes),
		cmocka_unit_test(case_80_flags),
		cmocka_unit_test(case_70_sockets_and_names),
		cmocka_unit_test(case_30_name_taken),
		cmocka_unit_test(case_26_given_up_early),
		cmocka_unit_test(case_21_room_0),
		cmocka_unit_test(case_21_pinned_already),
		cmocka_unit_test(case_23_not_pktmbuf),
		cmocka_unit_test(case_21_strict_rule),
	};
	int status = eal_start(argc, argv);

	if (status != 0)
		return status;
	/* for the calls that take no name of ops */
	rte_mbuf_set_platform_mempool_ops(OPS);
	return eal_end(cmocka_run_group_tests(tests, NULL, NULL));
}
