/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "bench.h"
#include "driver.h"
#include "get_put.h"
#include "pools.h"
#include "rounds.h"
#include "table.h"

#define REFERENCE "ring_mp_mc"

enum { RING, RING_AGAIN, POOL, FLOOR, SUBJECTS };

struct subject {
	struct rte_mempool *mp;  /* NULL: copy pointers */
	unsigned int bulk;
	unsigned int iterations;
};

struct job {
	struct subject subjects[SUBJECTS];
	struct variant variants[SUBJECTS];
	double seconds;
	int rounds;              /* how many there were, negative on failure */
};

static double
run(void *arg)
{
	const struct subject *s = arg;
	uint64_t start = rte_rdtsc_precise();

	if (tpm_bench_ends() || bench_get_put(s->mp, s->bulk, s->iterations) != 0)
		return -1;
	return (double)(rte_rdtsc_precise() - start) / s->iterations / s->bulk;
}

static int
work(void *arg)
{
	struct job *j = arg;

	j->rounds = rounds_run_for("bench pool", j->variants, SUBJECTS, j->seconds);
	return 0;
}

/* As the pool is, but for its ops. Its own cache size is lost where the ops keep caches. */
static struct rte_mempool *
reference(const struct rte_mempool *mp, unsigned int i)
{
	const struct tpm_driver *d = tpm_driver();
	struct rte_pmd_mlx5_memic_stats s;
	struct rte_mempool *ref;
	unsigned int cache = mp->cache_size;
	char name[RTE_MEMPOOL_NAMESIZE];

	if (d != NULL && d->stats_get(mp, &s, sizeof(s)) == 0)
		cache = s.cache_size;
	snprintf(name, sizeof(name), "memic_bench_%u", i);
	ref = rte_mempool_create_empty(name, mp->size, sizeof(struct rte_mbuf), cache, 0,
				       mp->socket_id, 0);
	if (ref == NULL || rte_mempool_set_ops_byname(ref, REFERENCE, NULL) != 0 ||
	    rte_mempool_populate_default(ref) < 0) {
		printf("No pool of %u objects of ops " REFERENCE " to compare with: %s.\n",
		       mp->size, rte_strerror(rte_errno));
		rte_mempool_free(ref);
		return NULL;
	}
	return ref;
}

static void
report(const struct job *j, const struct rte_mempool *mp)
{
	static const char *const heads[] = {
		"<get and put", "median [cycles/object]", "p10", "p90", "ratio to ring",
		"ratio p10", "ratio p90",
	};
	struct tpm_table *t = tpm_table_new(heads, RTE_DIM(heads));
	const struct variant *v;
	unsigned int i;

	printf("  pool %s, bursts of %u, %d rounds on one lcore\n", mp->name,
	       j->subjects[0].bulk, j->rounds);
	for (i = 0; i < SUBJECTS; i++) {
		v = &j->variants[i];
		tpm_table_cell(t, "%s", v->name);
		tpm_table_cell(t, "%.2f", v->median);
		tpm_table_cell(t, "%.2f", v->low);
		tpm_table_cell(t, "%.2f", v->high);
		tpm_table_cell(t, "%.2f", v->ratio);
		tpm_table_cell(t, "%.2f", v->ratio_low);
		tpm_table_cell(t, "%.2f", v->ratio_high);
	}
	tpm_table_print(t);
}

static bool
enough(struct rte_mempool *mp, uint32_t burst)
{
	unsigned int free = rte_mempool_avail_count(mp);

	if (burst < 1 || burst > BENCH_OUT_MAX) {
		printf("burst %" PRIu32 " is not from 1 to %u.\n", burst, BENCH_OUT_MAX);
		return false;
	}
	if (free < burst) {
		printf("Pool %s has only %u of %u objects free, which is no burst of %" PRIu32
		       ".\n", mp->name, free, mp->populated_size, burst);
		return false;
	}
	return true;
}

static void
prepare(struct job *j, struct rte_mempool *mp, uint32_t burst)
{
	static const char *const names[SUBJECTS] = {
		[RING] = REFERENCE,
		[RING_AGAIN] = REFERENCE " again",
		[FLOOR] = "copy of pointers",
	};
	unsigned int i;

	j->subjects[POOL].mp = mp;
	for (i = 0; i < SUBJECTS; i++) {
		j->subjects[i].bulk = burst;
		j->subjects[i].iterations = 320000 / (burst + 8);
		j->variants[i] = (struct variant){
			.name = i == POOL ? rte_mempool_get_ops(mp->ops_index)->name : names[i],
			.run = run,
			.arg = &j->subjects[i],
		};
	}
}

void
tpm_bench_pool(const char *name, uint32_t burst, uint32_t seconds)
{
	struct rte_mempool *mp = tpm_pool_find(name);
	struct rte_mempool *ring, *again = NULL;
	struct job j = { .seconds = seconds };

	if (mp == NULL || !tpm_bench_seconds_ok(seconds) || !enough(mp, burst))
		return;
	ring = reference(mp, 0);
	if (ring != NULL)
		again = reference(mp, 1);
	if (again == NULL)
		goto free_ring;
	j.subjects[RING].mp = ring;
	j.subjects[RING_AGAIN].mp = again;
	prepare(&j, mp, burst);
	if (tpm_bench_launch(work, &j) != 0)
		goto free_again;
	if (j.rounds > 0)
		report(&j, mp);
	else
		printf("Pool %s ran out of objects, or memory is short.\n", name);

free_again:
	rte_mempool_free(again);
free_ring:
	rte_mempool_free(ring);
}
