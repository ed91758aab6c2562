/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_SIBLINGS_H
#define MPM_SIBLINGS_H

/**
 * @file
 * Twins of pools on other devices (siblings=1).
 *
 * An application with one pool for all ports gives it to ports of several devices. When an
 * Rx queue of another device than the pool's is set up, a twin on that device takes the
 * pool's place: as many mbufs, of the same size, with the same private areas, under
 * another name. It goes with its main pool.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>

struct mpm_pool;
struct mpm_rule;

/**
 * The pool that a port is to receive into. Makes the twin if there is none yet; takes the
 * control lock.
 *
 * @param port port.
 * @param[in,out] mp pool of any ops that the application gave; the twin, where there is
 *                to be one.
 * @return 0; negative errno, logged, when there should be a twin and cannot.
 */
int mpm_sibling_pick(uint16_t port, struct rte_mempool **mp);

/**
 * Whether a pool is being made as a twin.
 *
 * @param mp pool in ops alloc.
 * @param[out] rule rule of a twin.
 * @param[out] main its main pool.
 */
bool mpm_sibling_rule(const struct rte_mempool *mp, struct mpm_rule *rule, struct mpm_pool **main);

/** Free all twins of a pool that is about to be freed. Takes the control lock. */
void mpm_siblings_free(const struct mpm_pool *main);

#endif /* MPM_SIBLINGS_H */
