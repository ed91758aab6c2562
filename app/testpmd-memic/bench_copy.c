/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_common.h>
#include <rte_mbuf.h>

#include <memic.h>

#include "bench.h"
#include "copy.h"
#include "driver.h"
#include "rounds.h"
#include "sample.h"
#include "table.h"

static const unsigned int sizes[] = { 64, 512, 1500 };

enum { MEMIC, MEMCPY, HOST, VERBS, WAYS };

/* Where to copy to. Verbs can copy only to memory that it allocated in this program. */
struct place {
	void *addr;
	unsigned int room;
	struct ibv_dm *dm;
};

struct job {
	struct place place;
	void *host;
	struct tpm_table *table;
	bool failed;
};

static void
measure(struct job *j, unsigned int bytes)
{
	struct bench_copy to_device = {
		.addr = j->place.addr,
		.dm = j->place.dm,
		.bytes = bytes,
		.iterations = 2000,
	};
	struct bench_copy to_host = to_device;
	struct variant v[WAYS] = {
		[MEMIC] = { .name = "memic_copy_to", .run = bench_copy_memic },
		[MEMCPY] = { .name = "memcpy", .run = bench_copy_memcpy },
		[HOST] = { .name = "memcpy to host memory", .run = bench_copy_memcpy },
		[VERBS] = { .name = "ibv_memcpy_to_dm", .run = bench_copy_verbs },
	};
	unsigned int n = j->place.dm == NULL ? VERBS : WAYS;
	unsigned int i;

	to_host.addr = j->host;
	for (i = 0; i < n; i++)
		v[i].arg = i == HOST ? &to_host : &to_device;
	if (rounds_run("bench copy", v, n, 41) != 0) {
		j->failed = true;
		return;
	}
	for (i = 0; i < n; i++) {
		tpm_table_cell(j->table, "%s", v[i].name);
		tpm_table_cell(j->table, "%u", bytes);
		tpm_table_cell(j->table, "%.3f", v[i].median);
		tpm_table_cell(j->table, "%.3f", v[i].low);
		tpm_table_cell(j->table, "%.3f", v[i].high);
		tpm_table_cell(j->table, "%.2f", v[i].ratio);
	}
}

static int
work(void *arg)
{
	struct job *j = arg;
	unsigned int i;

	for (i = 0; i < RTE_DIM(sizes) && !j->failed; i++)
		if (sizes[i] <= j->place.room)
			measure(j, sizes[i]);
	return 0;
}

static void
run(const struct place *place)
{
	static const char *const heads[] = {
		"<copy", "size [B]", "median [cycles/B]", "p10", "p90", "ratio to memic_copy_to",
	};
	struct job j = { .place = *place, .host = aligned_alloc(64, BENCH_COPY_MAX) };

	j.table = tpm_table_new(heads, RTE_DIM(heads));
	if (j.host == NULL || tpm_bench_launch(work, &j) != 0)
		j.failed = true;
	if (!j.failed)
		tpm_table_print(j.table);
	free(j.host);
}

/* ---- where to: memory of our own, or a slot of a pool ---- */

static struct rte_mbuf *
find_slot(const struct tpm_driver *d, const struct tpm_sample *s)
{
	struct rte_mempool *mp;
	struct rte_mbuf *m;
	unsigned int i;

	for (i = 0; i < s->n_pools; i++) {
		mp = s->pools[i].stats.device_free == 0 ? NULL :
			rte_mempool_lookup(s->pools[i].name);
		m = mp == NULL ? NULL : rte_pktmbuf_alloc(mp);
		if (m != NULL && d->mbuf_on_device(m))
			return m;
		rte_pktmbuf_free(m);
	}
	return NULL;
}

static void
in_a_slot(const struct tpm_driver *d, const struct tpm_sample *s, const char *why)
{
	struct rte_mbuf *m = find_slot(d, s);
	struct place place;

	if (m == NULL) {
		printf("Nothing to copy to: %s, and no pool has a free slot.\n", why);
		return;
	}
	printf("  into a slot of pool %s; without ibv_memcpy_to_dm, as %s\n", m->pool->name, why);
	/* slots start on 64 bytes, as what is allocated does */
	place = (struct place){ m->buf_addr, m->buf_len, NULL };
	run(&place);
	rte_pktmbuf_free(m);
}

static bool
in_own_memory(const char *device, char *why, size_t why_len)
{
	struct memic_device *dev;
	struct memic_dm *dm = NULL;
	struct place place;
	int ret;

	ret = memic_device_open(device, &dev);
	if (ret != 0) {
		snprintf(why, why_len, "%s", memic_last_error());
		return false;
	}
	ret = memic_dm_alloc(dev, MEMIC_DM_MEMIC, BENCH_COPY_MAX, 6, &dm);
	if (ret == 0) {
		printf("  into memory of %s\n", device);
		place = (struct place){ memic_dm_addr(dm), BENCH_COPY_MAX, memic_dm_verbs(dm) };
		run(&place);
		memic_dm_free(dm);
	} else if (ret == -ENOMEM) {
		snprintf(why, why_len, "pools have all memory of %s", device);
	} else {
		snprintf(why, why_len, "%s", memic_last_error());
	}
	memic_device_close(dev);
	return ret == 0;
}

void
tpm_bench_copy(void)
{
	const struct tpm_driver *d = tpm_driver_or_say();
	struct tpm_sample *s = d == NULL ? NULL : tpm_sample_take();
	char why[256];

	if (s == NULL)
		return;
	if (s->n_devices == 0)
		printf("No device: the mlx5 driver has opened none.\n");
	else if (!in_own_memory(s->devices[0].name, why, sizeof(why)))
		in_a_slot(d, s, why);
	tpm_sample_free(s);
}
