/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <math.h>
#include <stdlib.h>

#include <rte_cycles.h>

#include "bench.h"
#include "driver.h"
#include "frame.h"
#include "latency.h"

/** Longest time to wait for a frame, in milliseconds. */
#define WAIT_MS 100u
/** Frames lost in a row from which on there is no loop. */
#define LOST_MAX 3u

/* Frames of others are thrown away. */
static bool
wait_for(const struct fwd *f, uint64_t *sent, uint64_t *received)
{
	uint64_t end = rte_rdtsc() + rte_get_tsc_hz() / 1000 * WAIT_MS;
	struct rte_mbuf *m[FWD_BURST];
	bool found = false;
	uint16_t i, n;

	while (!found && rte_rdtsc() < end) {
		n = fwd_receive(f, m);
		for (i = 0; i < n && !found; i++) {
			found = fwd_frame_time(m[i], sent);
			*received = rte_rdtsc_precise();
		}
		rte_pktmbuf_free_bulk(m, n);
	}
	return found;
}

static bool
send_one(const struct fwd_port *p, struct latency *l)
{
	struct rte_mbuf *m = fwd_frame_make(p->mp, p->id);
	bool on_device;

	if (m == NULL)
		return false;
	on_device = tpm_driver()->mbuf_on_device(m);
	fwd_frame_stamp(m);
	if (rte_eth_tx_burst(p->id, 0, &m, 1) != 1) {
		rte_pktmbuf_free(m);
		return false;
	}
	l->on_device += on_device;
	return true;
}

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void
latency_run(const struct fwd *f, uint32_t seconds, struct latency *l)
{
	uint64_t end = rte_rdtsc() + rte_get_tsc_hz() * seconds;
	uint64_t sent, received;
	unsigned int in_a_row = 0;

	l->n = l->lost = l->on_device = 0;
	while (rte_rdtsc() < end && !tpm_bench_ends() && l->n < LATENCY_MAX &&
	       in_a_row < LOST_MAX) {
		if (!send_one(&f->ports[0], l) || !wait_for(f, &sent, &received)) {
			l->lost++;
			in_a_row++;
			continue;
		}
		in_a_row = 0;
		l->us[l->n++] = (double)(received - sent) * 1e6 / rte_get_tsc_hz();
	}
	qsort(l->us, l->n, sizeof(l->us[0]), ascending);
}

double
latency_percentile(const struct latency *l, double percent)
{
	unsigned int rank = ceil(percent / 100 * l->n);

	return l->us[rank == 0 ? 0 : rank - 1];
}
