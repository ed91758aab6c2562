/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "pages.h"

#include <unistd.h>

#include <sys/mman.h>

#include <rte_common.h>

#include "pool.h"

/** Bytes wanted at once; a pool may be given much more memory than it needs. */
#define WINDOW (2u << 20)

void
mpm_pages_want(void *addr, size_t len)
{
#ifdef MADV_POPULATE_WRITE
	size_t page = sysconf(_SC_PAGESIZE);
	char *from = RTE_PTR_ALIGN_FLOOR(addr, page);
	char *to = RTE_PTR_ALIGN_CEIL(RTE_PTR_ADD(addr, len), page);

	/* what fails here is left to the first write */
	madvise(from, to - from, MADV_POPULATE_WRITE);
#else
	RTE_SET_USED(addr);
	RTE_SET_USED(len);
#endif
}

struct stretch {
	char *wanted; /* up to here */
	char *end;
	rte_mempool_populate_obj_cb_t *cb;
	void *arg;
};

/* Called for each object before anything of it is written. */
static void
place_cb(struct rte_mempool *mp, void *arg, void *obj, rte_iova_t iova)
{
	char *end = RTE_PTR_ADD(obj, mp->elt_size + mp->trailer_size);
	struct stretch *s = arg;
	char *to;

	if (end > s->wanted) {
		to = RTE_MAX(end, s->wanted + WINDOW);
		to = RTE_MIN(to, s->end);
		mpm_pages_want(s->wanted, to - s->wanted);
		s->wanted = to;
	}
	s->cb(mp, s->arg, obj, iova);
}

int
mpm_pages_populate(struct rte_mempool *mp, unsigned int max_objs, void *addr, rte_iova_t iova,
		   size_t len, rte_mempool_populate_obj_cb_t *cb, void *arg)
{
	const struct mpm_pool *p = mp->pool_data;
	struct stretch s = { .wanted = addr, .end = RTE_PTR_ADD(addr, len), .cb = cb, .arg = arg };

	if (!mpm_pool_valid(p) || p->slots == 0)
		return rte_mempool_op_populate_default(mp, max_objs, addr, iova, len, cb, arg);
	return rte_mempool_op_populate_default(mp, max_objs, addr, iova, len, place_cb, &s);
}
