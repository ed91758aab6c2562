/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>

#include "destroy.h"

/* Each allocation takes pages of the BAR, of which the kernel counts 256 (dm.c). */
#define PIECES_MAX 256

int
memic_dm_available(struct memic_device *dev, size_t *total, size_t *largest)
{
	struct memic_dm *pieces[PIECES_MAX];
	unsigned int n = 0;
	int rc = 0, ret = 0;

	if (dev == NULL || total == NULL || largest == NULL)
		return memic_fail(EINVAL, "memic_dm_available: NULL argument: EINVAL");
	*total = 0;
	*largest = 0;
	/* the largest piece comes first, and what is left can only be smaller */
	while (dev->caps.max_dm_size != 0 && n < PIECES_MAX) {
		rc = memic_dm_alloc_most(dev, dev->caps.max_dm_size, MEMIC_UNIT, &pieces[n]);
		if (rc != 0)
			break;
		*total += pieces[n]->size;
		if (n == 0)
			*largest = pieces[n]->size;
		n++;
	}
	while (n > 0) {
		int left = memic_destroy(memic_dm_free, pieces[--n]);

		ret = ret != 0 ? ret : -left;
	}
	if (ret != 0)
		return ret;
	/* firmware that has none left may refuse in its own words */
	return rc == -ENOMEM || (rc == -EREMOTEIO && *total != 0) ? 0 : rc;
}
