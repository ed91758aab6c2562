/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <time.h>

#include "probe.h"

/* What becomes of device memory when its device is removed under it. */

#define LOOK_MS 50

static bool
wait_for_removal(struct probe *p)
{
	struct timespec pause = { 0, LOOK_MS * 1000000l };
	unsigned int left = p->removal_seconds * (1000 / LOOK_MS);
	struct ibv_device_attr_ex attr;

	for (; left > 0; left--) {
		/* ib_uverbs_get_ucontext_file(): a context without device says EIO */
		if (memic_verbs_errno(ibv_query_device_ex(p->dev->ctx, NULL, &attr)) == EIO)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

void
probe_removal(struct probe *p)
{
	static const char question[] = "can it be read and freed after the device was removed";
	struct memic_dm *dm;
	uint8_t byte[64];
	int left;

	if (memic_dm_alloc_most(p->dev, 4096, MEMIC_UNIT, &dm) != 0) {
		probe_tell(p, "removal", question, false, MEMIC_UNKNOWN, "%s", memic_last_error());
		return;
	}
	if (!wait_for_removal(p)) {
		left = probe_destroy(p, "device memory", memic_dm_free, dm);
		probe_tell(p, "removal", question, false, left == 0 ? MEMIC_UNKNOWN : MEMIC_NO,
			   "nobody removed the device within %u s%s", p->removal_seconds,
			   left == 0 ? "" : ", and the memory could not be freed");
		return;
	}
	/* a page of zeros stands in for the device (rdma_umap_fault()); else SIGBUS */
	memic_copy_from(byte, memic_dm_addr(dm), sizeof(byte));
	if (memic_dm_free(dm) != 0)
		probe_tell(p, "removal", question, false, MEMIC_NO, "%s", memic_last_error());
	else
		probe_tell(p, "removal", question, false, MEMIC_YES,
			   "the mapping reads 0x%02x, and freeing counts as done (EIO)", byte[0]);
}
