/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "bench.h"
#include "driver.h"
#include "forward.h"
#include "latency.h"
#include "sample.h"
#include "table.h"

struct job {
	struct fwd fwd;
	struct latency latency;
};

/*
 * Ethdev does not say whether a port is started, but whether a queue is. The mlx5 driver
 * has kept that state in all releases, all others do since 23.11.
 */
static bool
is_started(uint16_t port)
{
	struct rte_eth_rxq_info info;

	return rte_eth_rx_queue_info_get(port, 0, &info) == 0 &&
		info.queue_state == RTE_ETH_QUEUE_STATE_STARTED;
}

static struct rte_mempool *
first_pool(uint16_t port)
{
	struct rte_eth_rxq_info info;

	return rte_eth_rx_queue_info_get(port, 0, &info) == 0 ? info.mp : NULL;
}

static void
find_ports(struct fwd *f)
{
	struct rte_eth_dev_info info;
	struct fwd_port *p;
	uint16_t port;

	RTE_ETH_FOREACH_DEV(port) {
		if (!is_started(port) || rte_eth_dev_info_get(port, &info) != 0)
			continue;
		if (info.nb_rx_queues == 0 || info.nb_tx_queues == 0)
			continue;
		p = &f->ports[f->n_ports++];
		p->id = port;
		p->rx_queues = info.nb_rx_queues;
		p->tx_queues = info.nb_tx_queues;
		p->mp = first_pool(port);
	}
}

static int
work(void *arg)
{
	struct job *j = arg;
	struct fwd *f = &j->fwd;

	fwd_run(f);
	if (f->seeds == 0)
		return 0;
	fwd_drain(f);
	if (f->busy_frames + f->looked != 0) {
		latency_run(f, RTE_MIN(f->seconds, 5u), &j->latency);
		fwd_drain(f);
	}
	return 0;
}

/* ---- report ---- */

static void
report_ports(const struct fwd *f)
{
	static const char *const heads[] = {
		"port", "queues", "rx [packets]", "rx [pkt/s]", "tx [packets]", "dropped",
		"missed", "no mbuf",
	};
	struct tpm_table *t = tpm_table_new(heads, RTE_DIM(heads));
	double seconds = (double)f->cycles / rte_get_tsc_hz();
	const struct fwd_port *p;
	struct rte_eth_stats now;
	unsigned int i;

	for (i = 0; i < f->n_ports; i++) {
		p = &f->ports[i];
		if (rte_eth_stats_get(p->id, &now) != 0)
			now = p->before;
		tpm_table_cell(t, "%u", p->id);
		tpm_table_cell(t, "%u", p->rx_queues);
		tpm_table_cell(t, "%" PRIu64, p->rx);
		tpm_table_cell(t, "%.0f", p->rx / seconds);
		tpm_table_cell(t, "%" PRIu64, p->tx);
		tpm_table_cell(t, "%" PRIu64, p->dropped);
		tpm_table_cell(t, "%" PRIu64, tpm_since(now.imissed, p->before.imissed));
		tpm_table_cell(t, "%" PRIu64, tpm_since(now.rx_nombuf, p->before.rx_nombuf));
	}
	tpm_table_print(t);
}

static void
report_pools(const struct fwd *f)
{
	static const char *const heads[] = { "<pool", "slots", "slots out", "slots peak" };
	struct tpm_table *t = tpm_table_new(heads, RTE_DIM(heads));
	struct tpm_sample *s = tpm_sample_take();
	const struct rte_pmd_mlx5_memic_pool *p;
	unsigned int i, k;

	for (i = 0; s != NULL && i < s->n_pools; i++) {
		p = &s->pools[i];
		for (k = 0; k < f->n_ports; k++)
			if (f->ports[k].mp != NULL && strcmp(f->ports[k].mp->name, p->name) == 0)
				break;
		if (k == f->n_ports)
			continue;
		tpm_table_cell(t, "%s", p->name);
		tpm_table_cell(t, "%" PRIu32, p->stats.device_slots);
		tpm_table_cell(t, "%" PRIu32, p->stats.device_out);
		tpm_table_cell(t, "%" PRIu32, p->stats.device_peak);
	}
	tpm_table_print(t);
	tpm_sample_free(s);
}

static void
report_latency(const struct latency *l)
{
	static const char *const heads[] = {
		"looped frames", "on device", "lost", "p50 [us]", "p90 [us]", "p99 [us]",
		"p99.9 [us]", "max [us]",
	};
	static const double percents[] = { 50, 90, 99, 99.9, 100 };
	struct tpm_table *t;
	unsigned int i;

	if (l->n == 0) {
		printf("  Latency: no frame came back, %u were lost.\n", l->lost);
		return;
	}
	t = tpm_table_new(heads, RTE_DIM(heads));
	tpm_table_cell(t, "%u", l->n);
	tpm_table_cell(t, "%u", l->on_device);
	tpm_table_cell(t, "%u", l->lost);
	for (i = 0; i < RTE_DIM(percents); i++)
		tpm_table_cell(t, "%.2f", latency_percentile(l, percents[i]));
	tpm_table_print(t);
}

static void
report(const struct job *j)
{
	const struct fwd *f = &j->fwd;

	if (f->busy_frames + f->looked == 0) {
		printf("No frame came in on any started port within %.1f s, and none of %u that "
		       "were sent came back%s: connect a generator, or a loop.\n",
		       (double)f->cycles / rte_get_tsc_hz(), f->seeds,
		       f->short_of_mbufs ? " (pools had no mbuf for more)" : "");
		return;
	}
	report_ports(f);
	printf("  cycles/packet: ");
	if (f->busy_frames != 0)
		printf("%.1f", (double)f->busy_cycles / f->busy_frames);
	else
		printf("-");
	printf(", frames on the device: ");
	if (f->looked != 0)
		printf("%.1f %% of %" PRIu64 " looked at\n", 100.0 * f->on_device / f->looked,
		       f->looked);
	else
		printf("none looked at\n");
	report_pools(f);
	if (f->seeds != 0)
		report_latency(&j->latency);
	else
		printf("  Latency: not measured, as frames come from elsewhere.\n");
}

void
tpm_bench_forward(uint32_t seconds)
{
	const struct tpm_driver *d = tpm_driver_or_say();
	struct job *j;
	unsigned int i;

	if (d == NULL || !tpm_bench_seconds_ok(seconds))
		return;
	j = calloc(1, sizeof(*j));
	if (j == NULL) {
		printf("No memory to measure with.\n");
		return;
	}
	j->fwd.seconds = seconds;
	find_ports(&j->fwd);
	for (i = 0; i < j->fwd.n_ports; i++) {
		rte_eth_stats_get(j->fwd.ports[i].id, &j->fwd.ports[i].before);
		if (j->fwd.ports[i].mp != NULL)
			d->peak_reset(j->fwd.ports[i].mp);
	}
	if (j->fwd.n_ports == 0)
		printf("No port is started: give \"port start all\".\n");
	else if (tpm_bench_launch(work, j) == 0)
		report(j);
	free(j);
}
