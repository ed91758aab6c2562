/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef BENCH_ROUNDS_H
#define BENCH_ROUNDS_H

/**
 * @file
 * Comparing ways to do something on a noisy machine.
 *
 * What is compared takes turns in short rounds of one run, each round in another order,
 * and is compared within its round. Reported are medians over the rounds and the spread
 * around them.
 */

/** One of several ways to do something. */
struct variant {
	const char *name;
	/** Do it once; returns cycles (or whatever is measured), negative on failure. */
	double (*run)(void *arg);
	void *arg;

	double median;
	double low, high;       /**< 1st and 9th decile. */
	double ratio;           /**< Median of what it takes over what the first takes. */
	double ratio_low, ratio_high;
	double *samples;
};

/**
 * Let variants take turns.
 *
 * @param what for messages of progress.
 * @param v variants; the first is what the others are compared to.
 * @param n their number.
 * @param rounds number of rounds.
 * @return 0, or -1 when one failed.
 */
int rounds_run(const char *what, struct variant *v, unsigned int n, unsigned int rounds);

/**
 * As many rounds as fit into a time, but no fewer than ROUNDS_MIN.
 *
 * @param what for messages of progress.
 * @param v variants.
 * @param n their number.
 * @param seconds how long.
 * @return number of rounds, or -1 when a variant failed.
 */
int rounds_run_for(const char *what, struct variant *v, unsigned int n, double seconds);

/** Fewest and most rounds of rounds_run_for(). */
#define ROUNDS_MIN 5u
#define ROUNDS_MAX 1000001u

#endif /* BENCH_ROUNDS_H */
