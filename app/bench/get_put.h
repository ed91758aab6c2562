/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef BENCH_GET_PUT_H
#define BENCH_GET_PUT_H

/**
 * @file
 * Loops that get objects from a mempool and put them back, and what they are held
 * against: the pointers of a burst copied from a table to another and back, which any
 * pool has to do.
 *
 * To be called by lcores; each has tables of its own, as rings and applications have.
 */

#include <rte_mempool.h>

/** Most objects of a burst, and of all bursts that are out at once. */
#define BENCH_OUT_MAX 512u

/**
 * Get a burst and put it, over and over.
 *
 * @param mp pool; NULL: copy the pointers, and nothing else.
 * @param bulk objects of a burst, up to BENCH_OUT_MAX.
 * @param iterations number of bursts.
 * @return 0, or -1 when the pool did not have them.
 */
int bench_get_put(struct rte_mempool *mp, unsigned int bulk, unsigned int iterations);

/**
 * The same with many bursts out at once, so that caches run over and dry.
 *
 * @param mp pool.
 * @param bulk objects of a burst.
 * @param bursts how many are got before the first is put; bulk * bursts is no more than
 *        BENCH_OUT_MAX.
 * @param iterations number of bursts, a multiple of bursts.
 * @return 0, or -1 when the pool did not have them.
 */
int bench_get_put_deep(struct rte_mempool *mp, unsigned int bulk, unsigned int bursts,
		       unsigned int iterations);

#endif /* BENCH_GET_PUT_H */
