/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <rte_cycles.h>

#include "bench.h"
#include "driver.h"
#include "forward.h"
#include "frame.h"

/** Nothing came for so long: frames of our own are sent, or the wire is empty. */
#define QUIET_MS 400u
/** Longest time to wait for an empty wire. */
#define DRAIN_MS 1000u

static uint64_t
ms(unsigned int n)
{
	return rte_get_tsc_hz() / 1000 * n;
}

static void
look(struct fwd *f, struct rte_mbuf **m, uint16_t n)
{
	const struct tpm_driver *d = tpm_driver();
	uint16_t i;

	for (i = 0; i < n; i++)
		f->on_device += d->mbuf_on_device(m[i]);
	f->looked += n;
}

static void
transmit(struct fwd_port *p, uint16_t queue, struct rte_mbuf **m, uint16_t n)
{
	uint16_t sent = rte_eth_tx_burst(p->id, queue % p->tx_queues, m, n);

	p->tx += sent;
	p->dropped += n - sent;
	if (sent < n)
		rte_pktmbuf_free_bulk(m + sent, n - sent);
}

static uint16_t
turn(struct fwd *f, struct fwd_port *p, uint16_t queue, unsigned int *bursts)
{
	struct rte_mbuf *m[FWD_BURST];
	uint64_t start = rte_rdtsc();
	uint16_t n = rte_eth_rx_burst(p->id, queue, m, FWD_BURST);

	if (n == 0)
		return 0;
	p->rx += n;
	if (++*bursts % FWD_LOOK == 0) {
		look(f, m, n);
		transmit(p, queue, m, n);
		return n;
	}
	transmit(p, queue, m, n);
	f->busy_cycles += rte_rdtsc() - start;
	f->busy_frames += n;
	return n;
}

static void
seed(struct fwd *f)
{
	struct rte_mbuf *m[FWD_SEEDS];
	struct fwd_port *p;
	unsigned int i, n, sent;

	for (i = 0; i < f->n_ports; i++) {
		p = &f->ports[i];
		for (n = 0; n < FWD_SEEDS; n++) {
			m[n] = fwd_frame_make(p->mp, p->id);
			if (m[n] == NULL)
				break;
		}
		f->short_of_mbufs |= n < FWD_SEEDS;
		sent = rte_eth_tx_burst(p->id, 0, m, n);
		rte_pktmbuf_free_bulk(m + sent, n - sent);
		f->seeds += sent;
	}
}

void
fwd_run(struct fwd *f)
{
	uint64_t start = rte_rdtsc(), now = start, heard = start;
	uint64_t end = start + rte_get_tsc_hz() * f->seconds;
	unsigned int bursts = 0, i;
	bool any = false;
	uint16_t q;

	for (; now < end && !tpm_bench_ends(); now = rte_rdtsc()) {
		for (i = 0; i < f->n_ports; i++)
			for (q = 0; q < f->ports[i].rx_queues; q++)
				any |= turn(f, &f->ports[i], q, &bursts) != 0;
		if (any || now - heard < ms(QUIET_MS))
			continue;
		/* neither did ours come back */
		if (f->seeds != 0)
			break;
		seed(f);
		heard = now;
	}
	f->cycles = now - start;
}

uint16_t
fwd_receive(const struct fwd *f, struct rte_mbuf **m)
{
	uint16_t got = 0;
	unsigned int i;
	uint16_t q;

	for (i = 0; i < f->n_ports; i++)
		for (q = 0; q < f->ports[i].rx_queues && got == 0; q++)
			got = rte_eth_rx_burst(f->ports[i].id, q, m, FWD_BURST);
	return got;
}

void
fwd_drain(const struct fwd *f)
{
	uint64_t start = rte_rdtsc(), heard = start, now;
	struct rte_mbuf *m[FWD_BURST];
	uint16_t n;

	do {
		n = fwd_receive(f, m);
		rte_pktmbuf_free_bulk(m, n);
		now = rte_rdtsc();
		if (n != 0)
			heard = now;
	} while (now - heard < ms(QUIET_MS) && now - start < ms(DRAIN_MS) && !tpm_bench_ends());
}
