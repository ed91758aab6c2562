/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "audit.h"

#include <stdlib.h>

#include <rte_common.h>

#include "fixture.h"

struct rte_mempool *
device_pool(const char *name, unsigned int n, unsigned int *slots)
{
	struct rte_mempool *mp = make_pool(name, n, OPS);
	long long got = pool_number(name, "device_slots");

	assert_true(got > 0);
	if (slots != NULL)
		*slots = got;
	return mp;
}

void
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

unsigned int
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
