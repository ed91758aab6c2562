/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MEMPOOL_WALKS_H
#define MEMPOOL_WALKS_H

/**
 * @file
 * A library that stands before DPDK's and counts walks over the objects of pools.
 */

/** Calls that have reached rte_mempool_obj_iter(), whoever diverted them before. */
extern unsigned int walks_done;

#endif /* MEMPOOL_WALKS_H */
