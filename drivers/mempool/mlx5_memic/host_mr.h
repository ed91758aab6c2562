/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_HOST_MR_H
#define MPM_HOST_MR_H

/**
 * @file
 * Host memory of pools with device memory, as the PMD is to register it.
 *
 * The PMD registers a pinned pool by the pages in which a buffer starts. That leaves
 * out the end of a buffer which goes on in a page where none starts, and the PMD sorts
 * its list for each page that it finds. Instead it is shown the first and the last
 * object of each contiguous span, and gets an MR over the whole span for either.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include <rte_mempool.h>

struct mpm_pool;

/**
 * Learn the spans of a pool, whose device tier is settled.
 *
 * @param mp pool.
 * @param p pool.
 * @param objs all objects, ascending.
 * @param n their number.
 * @return 0 or -ENOMEM.
 */
int mpm_host_mr_publish(struct rte_mempool *mp, const struct mpm_pool *p, void * const *objs,
			unsigned int n);

/** Forget the spans of a pool. */
void mpm_host_mr_withdraw(const struct mpm_pool *p);

/**
 * Show a pool to the PMD by few of its objects.
 *
 * @return number of objects shown; 0 when the spans are not known.
 */
unsigned int mpm_host_mr_walk(struct rte_mempool *mp, const struct mpm_pool *p,
			      rte_mempool_obj_cb_t *cb, void *arg);

/**
 * Answer a registration that touches a span.
 *
 * @param[out] mr the answer, NULL with errno set on failure.
 * @return whether the range touches one.
 */
bool mpm_host_mr_reg(struct ibv_pd *pd, uintptr_t addr, size_t len, unsigned int access,
		     struct ibv_mr **mr);

/**
 * Say why host memory could not be registered, in place of the PMD, which calls everything
 * EINVAL. Keeps errno.
 *
 * @param pd protection domain.
 * @param addr start of what was asked for.
 * @param len its bytes.
 * @param mr NULL if it failed, with errno set.
 */
void mpm_host_mr_tell(const struct ibv_pd *pd, const void *addr, size_t len,
		      const struct ibv_mr *mr);

/**
 * Take back an answer of mpm_host_mr_reg(). The PMD forgets an MR whatever the answer, so
 * one that cannot be deregistered is kept for another try.
 *
 * @return whether it was one.
 */
bool mpm_host_mr_dereg(struct ibv_mr *mr);

/** Try once more what could not be deregistered on a PD that is about to go. */
void mpm_host_mr_drop_pd(const struct ibv_pd *pd);

/** A context is about to be closed: last try, after which nothing of it is touched. */
void mpm_host_mr_abandon(const struct ibv_context *ctx);

#endif /* MPM_HOST_MR_H */
