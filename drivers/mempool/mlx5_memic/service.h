/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_SERVICE_H
#define MPM_SERVICE_H

/**
 * @file
 * Bringing a region into service: its bounds, keys, and who has to know of it. All calls
 * need the control lock held.
 */

#include <stddef.h>

#include "config.h"

struct mpm_region;

/** Settle the bounds of a region that was allocated, and keep its surroundings clear. */
void mpm_service_bounds(struct mpm_region *r);

/** Give the surroundings back. */
void mpm_service_end(struct mpm_region *r);

/**
 * Make keys and tell EAL and the PMD, as far as that is not done yet.
 *
 * @param r region.
 * @param mkey what the rule asks of keys.
 * @param[out] why sentence on failure.
 * @param why_len its size.
 * @return 0, otherwise what the failed step gave, as mpm_way_settle(); what was done before
 *         stays.
 */
int mpm_service_join(struct mpm_region *r, enum mpm_mkey mkey, char *why, size_t why_len);

/** The PMD is to forget the region, if it still lives. */
void mpm_service_untell_pmd(struct mpm_region *r);

/** EAL is to forget the region. */
void mpm_service_untell_eal(struct mpm_region *r);

#endif /* MPM_SERVICE_H */
