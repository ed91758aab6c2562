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
#include "figures.h"
#include "pool.h"
#include "region.h"
#include "rte_pmd_mlx5_memic.h"

static void
dump(FILE *f, const struct mpm_pool *p)
{
	struct mpm_figure figures[MPM_FIGURES];
	unsigned int n = mpm_figures(p, figures);
	unsigned int i;

	fprintf(f, "mempool <%s>@%p, ops " MPM_OPS_NAME "\n", p->mp->name, (void *)p->mp);
	if (p->rule.origin[0] != '\0')
		fprintf(f, "  rule=%s\n", p->rule.origin);
	if (p->region != NULL && mpm_pool_mine(p))
		fprintf(f, "  device=%s\n  address=%s\n  mkey=%s\n", p->region->nic->name,
			p->region->nic->address, memic_mkey_mode_name(p->region->mode));
	else if (p->device[0] != '\0')
		fprintf(f, "  device=%s\n", p->device);
	if (p->reason[0] != '\0')
		fprintf(f, "  reason=%s\n", p->reason);
	for (i = 0; i < n; i++)
		fprintf(f, "  %s=%" PRIu64 "\n", figures[i].name, figures[i].value);
}

__attribute__((visibility("default"))) int
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
