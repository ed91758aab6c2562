/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_FIGURES_H
#define MPM_FIGURES_H

/**
 * @file
 * What is told of a pool in numbers, under the same names everywhere.
 */

#include <stdint.h>

#include "pool.h"

#define MPM_FIGURES 24u

struct mpm_figure {
	const char *name;
	uint64_t value;
};

/**
 * Figures of a pool; with the control lock held.
 *
 * @param p pool.
 * @param[out] figures room for MPM_FIGURES.
 * @return their number.
 */
unsigned int mpm_figures(const struct mpm_pool *p, struct mpm_figure *figures);

#endif /* MPM_FIGURES_H */
