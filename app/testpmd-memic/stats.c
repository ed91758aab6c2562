/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <inttypes.h>
#include <stdio.h>

#include <rte_common.h>
#include <rte_mempool.h>

#include "driver.h"
#include "sample.h"
#include "stats.h"
#include "table.h"

/** The last look; interval and rates count from there. */
static struct tpm_sample *last;

void
tpm_stats_begin(void)
{
	if (last == NULL)
		last = tpm_sample_take();
}

static void
show_ports(const struct tpm_sample *now, double seconds)
{
	static const char *const heads[] = {
		"port", "rx [pkt/s]", "tx [pkt/s]", "rx [Mbit/s]", "tx [Mbit/s]", "missed [/s]",
		"no mbuf [/s]", "errors [/s]",
	};
	static const struct rte_eth_stats none;
	const struct rte_eth_stats *a, *b;
	struct tpm_table *t;
	unsigned int i;

	if (now->n_ports == 0) {
		printf("No port.\n");
		return;
	}
	t = tpm_table_new(heads, RTE_DIM(heads));
	for (i = 0; i < now->n_ports; i++) {
		const struct tpm_port *before = tpm_sample_port(last, now->ports[i].id);

		a = before == NULL ? &none : &before->stats;
		b = &now->ports[i].stats;
		tpm_table_cell(t, "%u", now->ports[i].id);
		tpm_table_cell(t, "%.0f", tpm_since(b->ipackets, a->ipackets) / seconds);
		tpm_table_cell(t, "%.0f", tpm_since(b->opackets, a->opackets) / seconds);
		tpm_table_cell(t, "%.1f", tpm_since(b->ibytes, a->ibytes) * 8 / seconds / 1e6);
		tpm_table_cell(t, "%.1f", tpm_since(b->obytes, a->obytes) * 8 / seconds / 1e6);
		tpm_table_cell(t, "%.0f", tpm_since(b->imissed, a->imissed) / seconds);
		tpm_table_cell(t, "%.0f", tpm_since(b->rx_nombuf, a->rx_nombuf) / seconds);
		tpm_table_cell(t, "%.0f", (tpm_since(b->ierrors, a->ierrors) +
					   tpm_since(b->oerrors, a->oerrors)) / seconds);
	}
	tpm_table_print(t);
}

static void
show_pools(const struct tpm_sample *now, double seconds)
{
	static const char *const heads[] = {
		"<pool", "gets with slot [/s]", "gets without [/s]", "with slot [%]", "slots out",
		"slots peak",
	};
	const struct rte_pmd_mlx5_memic_pool *p, *before;
	uint64_t device, host;
	struct tpm_table *t;
	unsigned int i;

	if (now->n_pools == 0) {
		printf("No pool of the mempool ops " RTE_PMD_MLX5_MEMIC_OPS ".\n");
		return;
	}
	t = tpm_table_new(heads, RTE_DIM(heads));
	for (i = 0; i < now->n_pools; i++) {
		p = &now->pools[i];
		before = tpm_sample_pool(last, p->name);
		device = tpm_since(p->stats.device_gets,
				   before == NULL ? 0 : before->stats.device_gets);
		host = tpm_since(p->stats.host_gets, before == NULL ? 0 : before->stats.host_gets);
		tpm_table_cell(t, "%s", p->name);
		tpm_table_cell(t, "%.0f", device / seconds);
		tpm_table_cell(t, "%.0f", host / seconds);
		if (device + host == 0)
			tpm_table_cell(t, "-");
		else
			tpm_table_cell(t, "%.1f", 100.0 * device / (device + host));
		tpm_table_cell(t, "%" PRIu32, p->stats.device_out);
		tpm_table_cell(t, "%" PRIu32, p->stats.device_peak);
	}
	tpm_table_print(t);
}

/* Rates of pools of one device on ports of another, of those that have ever counted. */
static void
show_foreign(const struct tpm_sample *now, double seconds)
{
	static const char *const heads[] = {
		"<pool", "foreign dropped [/s]", "foreign bounced [/s]",
	};
	static const struct rte_pmd_mlx5_memic_stats none;
	struct tpm_table *t = NULL;
	unsigned int i;

	for (i = 0; i < now->n_pools; i++) {
		const struct rte_pmd_mlx5_memic_pool *before =
			tpm_sample_pool(last, now->pools[i].name);
		const struct rte_pmd_mlx5_memic_stats *a = before == NULL ? &none : &before->stats;
		const struct rte_pmd_mlx5_memic_stats *b = &now->pools[i].stats;

		if (b->foreign_dropped == 0 && b->foreign_bounced == 0)
			continue;
		if (t == NULL)
			t = tpm_table_new(heads, RTE_DIM(heads));
		tpm_table_cell(t, "%s", now->pools[i].name);
		tpm_table_cell(t, "%.0f",
			       tpm_since(b->foreign_dropped, a->foreign_dropped) / seconds);
		tpm_table_cell(t, "%.0f",
			       tpm_since(b->foreign_bounced, a->foreign_bounced) / seconds);
	}
	tpm_table_print(t);
}

void
tpm_stats_show(void)
{
	struct tpm_sample *now;
	double seconds;

	if (tpm_driver_or_say() == NULL)
		return;
	now = tpm_sample_take();
	if (now == NULL || last == NULL) {
		tpm_sample_free(now);
		printf("No memory for statistics.\n");
		return;
	}
	seconds = tpm_sample_seconds(last, now);
	printf("  Over the last %.2f s:\n", seconds);
	show_ports(now, seconds);
	show_pools(now, seconds);
	show_foreign(now, seconds);
	tpm_sample_free(last);
	last = now;
}

void
tpm_stats_clear(void)
{
	const struct tpm_driver *d = tpm_driver_or_say();
	struct tpm_sample *now;
	unsigned int i;

	if (d == NULL)
		return;
	now = tpm_sample_take();
	if (now == NULL) {
		printf("No memory for statistics.\n");
		return;
	}
	for (i = 0; i < now->n_pools; i++)
		d->peak_reset(rte_mempool_lookup(now->pools[i].name));
	tpm_sample_free(last);
	last = now;
	printf("Rates and watermarks begin anew.\n");
}
