/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/* Copies by the CPU into device memory. */

#include <stdio.h>

#include <infiniband/verbs.h>

#include <rte_common.h>

#include <memic.h>

#include "copy.h"
#include "perf.h"

static int
measure(struct memic_dm *dm, unsigned int bytes)
{
	struct bench_copy s = {
		.addr = memic_dm_addr(dm),
		.dm = memic_dm_verbs(dm),
		.bytes = bytes,
		.iterations = perf_options.quick ? 200 : 2000,
	};
	struct variant v[] = {
		{ .name = "ibv_memcpy_to_dm", .run = bench_copy_verbs, .arg = &s },
		{ .name = "memic_copy_to", .run = bench_copy_memic, .arg = &s },
		{ .name = "memcpy", .run = bench_copy_memcpy, .arg = &s },
	};
	unsigned int i;

	if (rounds_run("copy", v, RTE_DIM(v), perf_options.rounds) != 0)
		return -1;
	for (i = 0; i < RTE_DIM(v); i++) {
		result_begin("copy");
		result_string("function", v[i].name);
		result_integer("bytes", bytes);
		result_variant("cycles_per_byte", &v[i], "ratio_to_verbs");
		result_end();
	}
	return 0;
}

static int
on_device(const char *name)
{
	static const unsigned int sizes[] = { 64, 512, 1500 };
	struct memic_device *dev;
	struct memic_dm *dm;
	unsigned int i;
	int ret;

	ret = memic_device_open(name, &dev);
	if (ret != 0) {
		fprintf(stderr, "copy: %s\n", memic_last_error());
		return PERF_FAILED;
	}
	ret = memic_dm_alloc(dev, MEMIC_DM_MEMIC, BENCH_COPY_MAX, 6, &dm);
	if (ret != 0) {
		fprintf(stderr, "copy: %s\n", memic_last_error());
		memic_device_close(dev);
		return PERF_NOTHING;
	}
	for (i = 0; i < RTE_DIM(sizes) && ret == 0; i++)
		ret = measure(dm, sizes[i]);
	memic_dm_free(dm);
	memic_device_close(dev);
	return ret == 0 ? PERF_OK : PERF_FAILED;
}

int
test_copy(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int ret = PERF_NOTHING;

	if (list != NULL && list[0] != NULL)
		ret = on_device(ibv_get_device_name(list[0]));
	else
		fprintf(stderr, "copy: there is no RDMA device, nothing is measured\n");
	if (list != NULL)
		ibv_free_device_list(list);
	return ret;
}
