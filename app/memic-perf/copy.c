/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/* Copies by the CPU into device memory. */

#include <stdio.h>
#include <string.h>

#include <infiniband/verbs.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include <memic.h>

#include "perf.h"

#define BYTES_MAX 1536u

struct subject {
	struct memic_dm *dm;
	unsigned int bytes;
	unsigned int iterations;
};

static uint8_t source[BYTES_MAX];

static double
per_byte(const struct subject *s, uint64_t start)
{
	return (double)(rte_rdtsc_precise() - start) / s->iterations / s->bytes;
}

static double
run_memic(void *arg)
{
	const struct subject *s = arg;
	uint64_t start = rte_rdtsc_precise();
	unsigned int i;

	for (i = 0; i < s->iterations; i++)
		memic_copy_to(memic_dm_addr(s->dm), source, s->bytes);
	return per_byte(s, start);
}

static double
run_verbs(void *arg)
{
	const struct subject *s = arg;
	uint64_t start = rte_rdtsc_precise();
	unsigned int i;

	for (i = 0; i < s->iterations; i++)
		if (ibv_memcpy_to_dm(memic_dm_verbs(s->dm), 0, source, s->bytes) != 0)
			return -1;
	return per_byte(s, start);
}

/* Not safe on device memory, but what programs would do. */
static double
run_memcpy(void *arg)
{
	const struct subject *s = arg;
	uint64_t start = rte_rdtsc_precise();
	unsigned int i;

	for (i = 0; i < s->iterations; i++) {
		memcpy(memic_dm_addr(s->dm), source, s->bytes);
		rte_compiler_barrier();
	}
	return per_byte(s, start);
}

static int
measure(struct memic_dm *dm, unsigned int bytes)
{
	struct subject s = { dm, bytes, perf_options.quick ? 200 : 2000 };
	struct variant v[] = {
		{ .name = "ibv_memcpy_to_dm", .run = run_verbs, .arg = &s },
		{ .name = "memic_copy_to", .run = run_memic, .arg = &s },
		{ .name = "memcpy", .run = run_memcpy, .arg = &s },
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
	ret = memic_dm_alloc(dev, MEMIC_DM_MEMIC, BYTES_MAX, 6, &dm);
	if (ret != 0) {
		fprintf(stderr, "copy: %s\n", memic_last_error());
		memic_device_close(dev);
		return PERF_NOTHING;
	}
	for (i = 0; i < RTE_DIM(sizes) && ret == 0; i++)
		/* words of 4 bytes are all that ibv_memcpy_to_dm() takes */
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
