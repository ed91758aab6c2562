/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <inttypes.h>

#include "compat.h"
#include "probe.h"

/* Sizes and alignments of allocations: handle_alloc_dm_memic() in the kernel's dm.c. */

/* An allocation as it is asked for, without the rounding that memic_dm_alloc() does. */
static int
try_raw(struct probe *p, size_t length, uint32_t log_align, size_t *start)
{
	struct mlx5dv_alloc_dm_attr dv_attr = { .type = MLX5DV_DM_TYPE_MEMIC };
	struct ibv_alloc_dm_attr attr = { .length = length, .log_align_req = log_align };
	struct mlx5dv_dm view = { 0 };
	struct mlx5dv_obj obj = { .dm = { .out = &view } };
	struct ibv_dm *dm;

	errno = 0;
	dm = mlx5dv_alloc_dm(p->dev->ctx, &attr, &dv_attr);
	if (dm == NULL)
		return memic_null_errno();
	obj.dm.in = dm;
	if (mlx5dv_init_obj(&obj, MLX5DV_OBJ_DM) == 0 && start != NULL)
		*start = (uintptr_t)view.buf;
	return probe_destroy(p, "device memory", ibv_free_dm, dm);
}

static void
tell_available(struct probe *p)
{
	static const char question[] = "can as much be had as max_dm_size says";
	uint64_t max = p->dev->caps.max_dm_size;
	int rc;

	if (max == 0) {
		probe_tell(p, "max_dm_size", question, true, MEMIC_NO, "max_dm_size is 0: the "
			   "device has no MEMIC, as many VFs and firmware set with "
			   "MEMIC_SIZE_LIMIT=0");
		return;
	}
	rc = memic_dm_available(p->dev, &p->total, &p->largest);
	if (rc != 0)
		probe_tell(p, "max_dm_size", question, true, MEMIC_NO, "%s", memic_last_error());
	else if (p->total == 0)
		probe_tell(p, "max_dm_size", question, true, MEMIC_NO, "max_dm_size is %" PRIu64
			   ", but nothing can be had: other programs or firmware hold it", max);
	else
		/* less is no fault: the driver takes what there is */
		probe_tell(p, "max_dm_size", question, false, p->largest >= max ? MEMIC_YES :
			   MEMIC_NO, "max_dm_size is %" PRIu64 ", %zu bytes can be had now, %zu of "
			   "them in one piece", max, p->total, p->largest);
}

static void
tell_lengths(struct probe *p)
{
	static const char question[] = "can every length be allocated, and too large ones not";
	static const size_t lengths[] = { 1, 63, 64, 100, 4096, 4160 };
	uint64_t max = p->dev->caps.max_dm_size;
	size_t i;
	int err;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		if (lengths[i] > p->largest)
			continue;
		err = try_raw(p, lengths[i], 0, NULL);
		if (err == 0)
			continue;
		probe_tell(p, "lengths", question, false, MEMIC_NO, "%zu bytes: %s%s", lengths[i],
			   memic_errno_name(err), lengths[i] % MEMIC_UNIT == 0 ? "" :
			   "; the driver asks for multiples of 64 only");
		return;
	}
	err = try_raw(p, max + 1, 0, NULL);
	if (err != EINVAL)
		probe_tell(p, "lengths", question, false, MEMIC_NO, "%" PRIu64 " bytes, one more "
			   "than max_dm_size: %s for EINVAL", max + 1,
			   err == 0 ? "no error" : memic_errno_name(err));
	else
		probe_tell(p, "lengths", question, false, MEMIC_YES, "1 to 4160 bytes can, and one "
			   "more than max_dm_size is refused (EINVAL)");
}

static void
tell_alignments(struct probe *p)
{
	static const char question[] = "does an allocation start where it was asked to";
	uint32_t max = p->dev->caps.log_max_align, align;
	size_t start = 0;
	int err;

	for (align = 6; align <= max && align <= 12; align++) {
		err = try_raw(p, MEMIC_UNIT, align, &start);
		if (err != 0 || start % ((size_t)1 << align) != 0) {
			probe_tell(p, "alignments", question, false, MEMIC_NO, "aligned to 2^%u: "
				   "%s, the largest is said to be 2^%u", align, err != 0 ?
				   memic_errno_name(err) : "starts elsewhere", max);
			return;
		}
	}
	probe_tell(p, "alignments", question, false, MEMIC_YES, "up to 2^%u%s", align - 1,
		   align - 1 < 12 ? ": KSM keys and mkey=direct need memory that starts on a page, "
		   "which is not promised here" : "");
}

void
probe_sizes(struct probe *p)
{
	tell_available(p);
	if (p->total == 0)
		return;
	tell_lengths(p);
	tell_alignments(p);
}
