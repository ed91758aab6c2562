/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * What the creation of a large pool costs, told by counts and not by a clock. Needs a port
 * of the mlx5 driver, as under mlx5emu.
 */

#include <stdlib.h>
#include <unistd.h>

#include <sys/mman.h>

#include <rte_common.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "fixture.h"
#include "walks.h"

#define N 4096u
#define LARGE_N 256u
#define LARGE_ROOM 16384u

/* ---- helpers ---- */

static size_t
object_size(const struct rte_mempool *mp)
{
	return mp->header_size + mp->elt_size + mp->trailer_size;
}

/* Memory that nobody has touched, in small pages. */
static char *
fresh_memory(size_t len)
{
	char *mem = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(mem, MAP_FAILED);
	madvise(mem, len, MADV_NOHUGEPAGE);
	return mem;
}

/* Every mbuf is there once, and those with the lowest addresses are on the device. */
static void
assert_lowest_on_device(struct rte_mempool *mp, const char *name)
{
	static struct rte_mbuf *m[N];
	struct rte_mbuf *high = NULL;
	unsigned int i, dev = 0;

	assert_int_equal(rte_mempool_get_bulk(mp, (void **)m, N), 0);
	for (i = 0; i < N; i++) {
		assert_int_equal(m[i]->ol_flags, RTE_MBUF_F_EXTERNAL);
		assert_ptr_equal(m[i]->shinfo->fcb_opaque, m[i]);
		/* seen again, it would be found changed */
		assert_int_equal(m[i]->port, RTE_MBUF_PORT_INVALID);
		m[i]->port = 7;
		dev += on_device(m[i]);
		if (on_device(m[i]))
			high = RTE_MAX(high, m[i]);
	}
	assert_true(dev > 0);
	assert_int_equal(pool_number(name, "device_slots"), dev);
	for (i = 0; i < N; i++)
		assert_int_equal(on_device(m[i]), m[i] <= high);
	rte_mempool_put_bulk(mp, (void **)m, N);
}

/* ---- tests ---- */

/* Each walk over a large pool costs misses of cache and TLB by the object. */
static void
walks_of_a_creation(void **state)
{
	struct rte_mempool *mp;
	unsigned int before = walks_done;

	(void)state;
	mp = make_pool("reference", N, REFERENCE);
	assert_int_equal(walks_done - before, 1);
	rte_mempool_free(mp);
	before = walks_done;
	mp = make_pool("walked", N, OPS);
	assert_int_equal(walks_done - before, 1);
	assert_int_equal(pool_number("walked", "pinned"), 1);
	assert_lowest_on_device(mp, "walked");
	rte_mempool_free(mp);
}

/* Adds chunks of memory in the given order of their addresses. */
static void
chunks_in_order(const unsigned int *order, unsigned int chunks)
{
	struct rte_mempool *mp = hand_made("ordered", OPS, N, ROOM);
	size_t len = object_size(mp) * (N / chunks) + RTE_MEMPOOL_ALIGN;
	size_t step = RTE_ALIGN_CEIL(len, 4096) + 4096;
	char *mem = fresh_memory(step * chunks);
	unsigned int i, before;

	for (i = 0; i < chunks; i++)
		assert_int_equal(rte_mempool_populate_iova(mp, mem + order[i] * step, RTE_BAD_IOVA,
							   len, NULL, NULL), N / chunks);
	before = walks_done;
	rte_mempool_obj_iter(mp, rte_pktmbuf_init, NULL);
	assert_int_equal(walks_done - before, 1);
	assert_lowest_on_device(mp, "ordered");
	rte_mempool_free(mp);
	munmap(mem, step * chunks);
}

/* Case 54, in the orders that are sorted by turning runs round and in one that is not. */
static void
case_54_orders_of_chunks(void **state)
{
	static const unsigned int ascending[] = { 0, 1, 2, 3 };
	static const unsigned int descending[] = { 3, 2, 1, 0 };
	static const unsigned int mixed[] = { 2, 0, 3, 1 };

	(void)state;
	chunks_in_order(ascending, RTE_DIM(ascending));
	chunks_in_order(descending, RTE_DIM(descending));
	chunks_in_order(mixed, RTE_DIM(mixed));
}

/* Objects that were out when they are initialised may be anywhere: the long way is taken. */
static void
initialised_while_out(void **state)
{
	struct rte_mempool *mp = hand_made("ordered", OPS, N, ROOM);
	void *raw;

	(void)state;
	assert_int_equal(rte_mempool_populate_default(mp), N);
	assert_int_equal(rte_mempool_get(mp, &raw), 0);
	rte_mempool_obj_iter(mp, rte_pktmbuf_init, NULL);
	assert_int_equal(pool_number("ordered", "pinned"), 1);
	rte_mempool_put(mp, raw);
	assert_lowest_on_device(mp, "ordered");
	rte_mempool_free(mp);
}

/*
 * Add objects of several pages each, in memory for three times as many. Returns how many of
 * the pages that they need are there, of 100, and how many others.
 */
static unsigned int
populate_and_look(const char *ops, size_t *beyond)
{
	struct rte_mempool *mp = hand_made("large", ops, LARGE_N, LARGE_ROOM);
	size_t page = sysconf(_SC_PAGESIZE);
	size_t need = object_size(mp) * LARGE_N;
	char *mem = fresh_memory(need * 3);
	unsigned char *there = malloc(need * 3 / page + 1);
	size_t i, pages = 0;

	assert_non_null(there);
	assert_int_equal(rte_mempool_populate_iova(mp, mem, RTE_BAD_IOVA, need * 3, NULL, NULL),
			 LARGE_N);
	assert_int_equal(mincore(mem, need * 3, there), 0);
	*beyond = 0;
	for (i = 0; i < need / page; i++)
		pages += there[i] & 1;
	for (i = need / page + 1; i < need * 3 / page; i++)
		*beyond += there[i] & 1;
	free(there);
	rte_mempool_free(mp);
	munmap(mem, need * 3);
	return pages * 100 / (need / page);
}

/* Objects write to the first of their pages: those between tell who brought them. */
static void
pages_come_ahead(void **state)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *mem = fresh_memory(page);
	size_t beyond, came;

	(void)state;
	/* Linux before 5.14 knows no such advice, qemu's emulation of a process ignores it */
#ifdef MADV_POPULATE_WRITE
	unsigned char there = 0;

	if (madvise(mem, page, MADV_POPULATE_WRITE) != 0 || mincore(mem, page, &there) != 0 ||
	    !(there & 1))
		skip();
#else
	skip();
#endif
	munmap(mem, page);
	came = populate_and_look(REFERENCE, &beyond);
	assert_true(came >= 10 && came <= 60);
	assert_int_equal(beyond, 0);
	assert_int_equal(populate_and_look(OPS, &beyond), 100);
	assert_true(beyond <= (2 << 20) / page);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks_of_a_creation),
		cmocka_unit_test(case_54_orders_of_chunks),
		cmocka_unit_test(initialised_while_out),
		cmocka_unit_test(pages_come_ahead),
	};
	int status = eal_start_with_port(argc, argv);

	if (status != 0)
		return status;
	return eal_end(cmocka_run_group_tests(tests, NULL, NULL));
}
