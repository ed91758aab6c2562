/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <memic.h>

#include <rte_mempool.h>

#include "control.h"
#include "devices.h"
#include "export.h"
#include "figures.h"
#include "pool.h"
#include "region.h"
#include "rte_pmd_mlx5_memic.h"

/* Slots that lie side by side are one piece. */
static void
dump_slots(FILE *f, const struct mpm_pool *p)
{
	unsigned int first, i;

	for (first = 0; first < p->slots; first = i) {
		for (i = first + 1; i < p->slots; i++)
			if (p->offsets[i] != p->offsets[i - 1] + p->stride)
				break;
		fprintf(f, "  slots %u-%u: bytes %" PRIu32 "-%zu of the region, mbufs %p-%p\n",
			first, i - 1, p->offsets[first], p->offsets[i - 1] + p->stride - 1,
			p->dev_objs[first], p->dev_objs[i - 1]);
	}
}

static void
dump(FILE *f, const struct mpm_pool *p)
{
	struct mpm_figure figures[MPM_FIGURES];
	const struct mpm_region *region = mpm_pool_region(p);
	unsigned int n = mpm_figures(p, figures);
	unsigned int i;

	fprintf(f, "mempool <%s>@%p, ops " MPM_OPS_NAME "\n", p->mp->name, (void *)p->mp);
	if (p->rule.origin[0] != '\0')
		fprintf(f, "  rule=%s\n", p->rule.origin);
	if (region != NULL)
		fprintf(f, "  device=%s\n  address=%s\n  mkey=%s\n", region->nic->name,
			region->nic->address, memic_mkey_mode_name(region->mode));
	else if (p->device[0] != '\0')
		fprintf(f, "  device=%s\n", p->device);
	if (p->reason[0] != '\0')
		fprintf(f, "  reason=%s\n", p->reason);
	for (i = 0; i < n; i++)
		fprintf(f, "  %s=%" PRIu64 "\n", figures[i].name, figures[i].value);
	if (region != NULL)
		dump_slots(f, p);
}

EXPORT int
rte_pmd_mlx5_memic_dump(FILE *f, const struct rte_mempool *mp)
{
	const struct mpm_pool *p;

	if (f == NULL || mp == NULL)
		return -EINVAL;
	p = mpm_pool_of(mp);
	if (p == NULL)
		return -ENOTSUP;
	mpm_control_lock();
	dump(f, p);
	mpm_control_unlock();
	return 0;
}
