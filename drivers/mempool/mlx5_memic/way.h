/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_WAY_H
#define MPM_WAY_H

/**
 * @file
 * The kind of key through which the PMD's addresses reach a region. Once per device it is
 * found out which kinds frames pass through. All calls need the control lock held.
 */

#include <stddef.h>

#include "config.h"

struct mpm_region;

/**
 * Get a region that was allocated ready for the kind of key that a rule asks for, before
 * its bounds are settled: for direct keys its mapping moves.
 *
 * @return 0, otherwise what failed, with the reason in @p why.
 */
int mpm_way_prepare(struct mpm_region *r, enum mpm_mkey mkey, char *why, size_t why_len);

/** Bytes of an allocation that keys of the kind that a rule asks for cannot use. */
size_t mpm_way_lost(enum mpm_mkey mkey);

/** The same for a region that is settled. */
size_t mpm_way_lost_of(const struct mpm_region *r);

/**
 * Settle the kind of keys of a region, and make the first one. Does nothing but the
 * latter for a region that is settled.
 *
 * @return 0; MPM_OTHER_MKEY for a region whose mapping is another mode's; otherwise what
 *         failed, with the reason in @p why.
 */
int mpm_way_settle(struct mpm_region *r, enum mpm_mkey mkey, char *why, size_t why_len);

#endif /* MPM_WAY_H */
