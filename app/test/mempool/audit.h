/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MEMPOOL_AUDIT_H
#define MEMPOOL_AUDIT_H

/**
 * @file
 * Pools with device memory, of buffers of ROOM bytes, and whether all of their mbufs are as
 * they have to be.
 */

#include <rte_mbuf.h>
#include <rte_mempool.h>

/** A pool whose buffers are on the device as far as there is room, and how many are. */
struct rte_mempool *device_pool(const char *name, unsigned int n, unsigned int *slots);

/** A pinned mbuf as the pool gives it out. */
void assert_fresh(const struct rte_mempool *mp, const struct rte_mbuf *m);

/**
 * Take everything out of a pool of up to 4096, check each mbuf and that no two buffers overlap,
 * put all back.
 *
 * @return how many are on the device.
 */
unsigned int audit(struct rte_mempool *mp);

#endif /* MEMPOOL_AUDIT_H */
