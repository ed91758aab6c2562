/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "rounds.h"

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
summarize(double *samples, unsigned int n, double *median, double *low, double *high)
{
	qsort(samples, n, sizeof(*samples), by_value);
	*median = (samples[(n - 1) / 2] + samples[n / 2]) / 2;
	*low = samples[(n - 1) / 10];
	*high = samples[n - 1 - (n - 1) / 10];
}

static void
progress(const char *what, unsigned int round, unsigned int rounds)
{
	/* some hundred times are enough for the eye */
	if (isatty(STDERR_FILENO) && round % (rounds / 100 + 1) == 0)
		fprintf(stderr, "\r\033[K%s: round %u of %u", what, round, rounds);
}

static void
progress_end(void)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
}

static int
one_round(struct variant *v, unsigned int n, unsigned int round)
{
	unsigned int i, k;

	/* another one goes first each time, as the first has the coldest caches */
	for (i = 0; i < n; i++) {
		k = (i + round) % n;
		v[k].samples[round] = v[k].run(v[k].arg);
		if (v[k].samples[round] < 0)
			return -1;
	}
	return 0;
}

static int
compare(struct variant *v, unsigned int n, unsigned int rounds)
{
	double *ratios = malloc(n * rounds * sizeof(*ratios));
	unsigned int i, r;

	if (ratios == NULL)
		return -1;
	for (i = 0; i < n; i++)
		for (r = 0; r < rounds; r++)
			ratios[i * rounds + r] = v[i].samples[r] / v[0].samples[r];
	for (i = 0; i < n; i++) {
		summarize(&ratios[i * rounds], rounds, &v[i].ratio, &v[i].ratio_low,
			  &v[i].ratio_high);
		summarize(v[i].samples, rounds, &v[i].median, &v[i].low, &v[i].high);
	}
	free(ratios);
	return 0;
}

/* Once for nothing: pages, branches and caches are cold. */
static int
warm_up(struct variant *v, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (v[i].run(v[i].arg) < 0)
			return -1;
	return 0;
}

static int
run_warm(const char *what, struct variant *v, unsigned int n, unsigned int rounds)
{
	double *samples = calloc(n * rounds, sizeof(*samples));
	int ret = samples == NULL ? -1 : 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		v[i].samples = samples == NULL ? NULL : &samples[i * rounds];
	for (i = 0; i < rounds && ret == 0; i++) {
		progress(what, i + 1, rounds);
		ret = one_round(v, n, i);
	}
	progress_end();
	if (ret == 0)
		ret = compare(v, n, rounds);
	free(samples);
	return ret;
}

int
rounds_run(const char *what, struct variant *v, unsigned int n, unsigned int rounds)
{
	return warm_up(v, n) != 0 ? -1 : run_warm(what, v, n, rounds);
}

int
rounds_run_for(const char *what, struct variant *v, unsigned int n, double seconds)
{
	unsigned int rounds = ROUNDS_MIN;
	uint64_t start;
	double took, fit;

	if (warm_up(v, n) != 0)
		return -1;
	start = rte_rdtsc_precise();
	if (warm_up(v, n) != 0)
		return -1;
	took = (double)(rte_rdtsc_precise() - start) / rte_get_tsc_hz();
	fit = seconds / took;
	if (fit > rounds)
		rounds = fit < ROUNDS_MAX ? fit : ROUNDS_MAX;
	return run_warm(what, v, n, rounds) != 0 ? -1 : (int)rounds;
}
