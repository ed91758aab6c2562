/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

#include <rte_common.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "bench.h"
#include "driver.h"
#include "sample.h"

/* testpmd waits for a command's end before it quits */
static const int signals[] = { SIGINT, SIGTERM };
static struct sigaction before[RTE_DIM(signals)];
static volatile sig_atomic_t ending;

/* Testpmd's own handler has its turn, too. */
static void
on_signal(int signum)
{
	unsigned int i;

	ending = signum;
	for (i = 0; i < RTE_DIM(signals); i++)
		if (signals[i] == signum && before[i].sa_handler != SIG_DFL &&
		    before[i].sa_handler != SIG_IGN)
			before[i].sa_handler(signum);
}

static void
watch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	unsigned int i;

	ending = 0;
	for (i = 0; i < RTE_DIM(signals); i++)
		sigaction(signals[i], &action, &before[i]);
}

static void
leave_signals(void)
{
	struct sigaction now;
	unsigned int i;

	for (i = 0; i < RTE_DIM(signals); i++) {
		/* testpmd's handler makes the next signal a deadly one */
		sigaction(signals[i], NULL, &now);
		if (now.sa_handler == on_signal)
			sigaction(signals[i], &before[i], NULL);
		if (signals[i] == ending && before[i].sa_handler == SIG_DFL)
			raise(ending);
	}
}

bool
tpm_bench_ends(void)
{
	return ending != 0;
}

bool
tpm_bench_seconds_ok(uint32_t seconds)
{
	if (seconds >= 1 && seconds <= TPM_SECONDS_MAX)
		return true;
	printf("seconds %" PRIu32 " is not from 1 to %u.\n", seconds, TPM_SECONDS_MAX);
	return false;
}

int
tpm_bench_launch(int (*fn)(void *arg), void *arg)
{
	unsigned int first = rte_get_next_lcore(-1, 1, 0);
	unsigned int lcore;
	int ret;

	if (first >= RTE_MAX_LCORE) {
		printf("There is no worker lcore to measure on: give EAL one, as with -l 0,1.\n");
		return -1;
	}
	RTE_LCORE_FOREACH_WORKER(lcore) {
		if (rte_eal_get_lcore_state(lcore) == WAIT)
			continue;
		printf("testpmd is forwarding on lcore %u: give \"stop\" first.\n", lcore);
		return -1;
	}
	fflush(stdout);
	watch_signals();
	ret = rte_eal_remote_launch(fn, arg, first);
	if (ret == 0)
		rte_eal_wait_lcore(first);
	leave_signals();
	if (ret != 0)
		printf("lcore %u takes no work.\n", first);
	else if (ending)
		printf("Ended by a signal.\n");
	return ret != 0 || ending ? -1 : 0;
}

void
tpm_bench_all(uint32_t seconds)
{
	struct tpm_sample *s;
	unsigned int i;

	if (tpm_driver_or_say() == NULL)
		return;
	s = tpm_sample_take();
	for (i = 0; s != NULL && i < s->n_pools && !ending; i++)
		tpm_bench_pool(s->pools[i].name, TPM_BURST, seconds);
	tpm_sample_free(s);
	if (!ending)
		tpm_bench_copy();
	if (!ending)
		tpm_bench_forward(seconds);
}
