/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <stdint.h>
#include <string.h>

#include <rte_cycles.h>

#include <memic.h>

#include "copy.h"

static uint8_t source[BENCH_COPY_MAX];

static double
per_byte(const struct bench_copy *s, uint64_t start)
{
	return (double)(rte_rdtsc_precise() - start) / s->iterations / s->bytes;
}

double
bench_copy_memic(void *arg)
{
	const struct bench_copy *s = arg;
	uint64_t start = rte_rdtsc_precise();
	unsigned int i;

	for (i = 0; i < s->iterations; i++)
		memic_copy_to(s->addr, source, s->bytes);
	return per_byte(s, start);
}

double
bench_copy_verbs(void *arg)
{
	const struct bench_copy *s = arg;
	uint64_t start = rte_rdtsc_precise();
	unsigned int i;

	for (i = 0; i < s->iterations; i++)
		if (ibv_memcpy_to_dm(s->dm, 0, source, s->bytes) != 0)
			return -1;
	return per_byte(s, start);
}

double
bench_copy_memcpy(void *arg)
{
	const struct bench_copy *s = arg;
	uint64_t start = rte_rdtsc_precise();
	unsigned int i;

	for (i = 0; i < s->iterations; i++) {
		memcpy(s->addr, source, s->bytes);
		rte_compiler_barrier();
	}
	return per_byte(s, start);
}
