/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * Modes of the program with two devices: the callbacks that look at frames before a port of
 * another device gets them.
 */

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include "devices.h"

static bool callbacks_refused;

/* In front of DPDK's own: as that is without RTE_ETHDEV_RXTX_CALLBACKS. */
const struct rte_eth_rxtx_callback *
rte_eth_add_tx_callback(uint16_t port, uint16_t queue, rte_tx_callback_fn fn, void *arg)
{
	__typeof__(rte_eth_add_tx_callback) *next;

	if (callbacks_refused) {
		rte_errno = ENOTSUP;
		return NULL;
	}
	*(void **)&next = dlsym(RTLD_NEXT, "rte_eth_add_tx_callback");
	return next == NULL ? NULL : next(port, queue, fn, arg);
}

bool
has_callback(uint16_t port, uint16_t queue)
{
	return rte_eth_fp_ops[port].txq.clbk[queue] != NULL;
}

/* Callbacks are where they must be, and nowhere else, whatever is done to ports. */
void
mode_callbacks(uint64_t frames __rte_unused)
{
	struct rte_mempool *mp = pools[1];
	unsigned int i;

	/* no device memory but that of the port itself */
	rte_mempool_free(pools[1]);
	set_up(0, pools[0], 2, 0);
	CHECK(rte_eth_dev_start(0) == 0);
	CHECK(!has_callback(0, 0) && !has_callback(0, 1));
	/* a port of the other device may be given that */
	set_up(1, host_pool, 3, 0);
	CHECK(rte_eth_dev_start(1) == 0);
	for (i = 0; i < 3; i++)
		CHECK(has_callback(1, i));
	/* memory of another device, while the port runs */
	pools[1] = make_pool("b", "mlx5_memic");
	CHECK(has_callback(0, 0) && has_callback(0, 1));
	mp = pools[1];
	/* more queues and fewer */
	CHECK(rte_eth_dev_stop(0) == 0);
	set_up(0, pools[0], 4, 0);
	CHECK(rte_eth_dev_start(0) == 0);
	CHECK(has_callback(0, 2) && has_callback(0, 3));
	CHECK(rte_eth_dev_stop(0) == 0);
	set_up(0, pools[0], 1, 0);
	CHECK(rte_eth_dev_start(0) == 0);
	CHECK(has_callback(0, 0));
	/* the other memory goes: at the next start nothing is in the way */
	rte_mempool_free(mp);
	CHECK(rte_eth_dev_stop(0) == 0);
	set_up(0, pools[0], 4, 0);
	for (i = 0; i < 3; i++) {
		CHECK(rte_eth_dev_start(0) == 0);
		CHECK(!has_callback(0, 0) && !has_callback(0, 1) && !has_callback(0, 2));
		CHECK(rte_eth_dev_stop(0) == 0);
	}
	pools[1] = make_pool("b", "mlx5_memic");
	CHECK(rte_eth_dev_start(0) == 0);
	CHECK(has_callback(0, 0) && has_callback(0, 3));
	stop_and_close();
	/* whoever gets the number next finds nothing */
	for (i = 0; i < 4; i++)
		CHECK(!has_callback(0, i) && !has_callback(1, i));
	check_pools();
}

/* Ports of drivers that copy by the CPU, that do nothing, and what they are given. */
void
mode_copying(uint64_t frames __rte_unused)
{
	struct rte_mbuf *m[BURST];
	uint16_t null, pcap, i;
	unsigned int k;

	CHECK(rte_eth_dev_get_port_by_name("net_null0", &null) == 0);
	CHECK(rte_eth_dev_get_port_by_name("net_pcap0", &pcap) == 0);
	start_both(0);
	set_up(null, host_pool, 1, 0);
	set_up(pcap, host_pool, 1, 0);
	CHECK(rte_eth_dev_start(null) == 0 && rte_eth_dev_start(pcap) == 0);
	CHECK(!has_callback(null, 0) && has_callback(pcap, 0));
	for (i = 0; i < BURST; i++) {
		m[i] = rte_pktmbuf_alloc(pools[i % 2]);
		CHECK(m[i] != NULL && rte_pktmbuf_append(m[i], 200) != NULL);
		for (k = 0; k < 200; k++)
			*rte_pktmbuf_mtod_offset(m[i], volatile uint8_t *, k) = i + k;
	}
	for (i = 0; i < BURST; i++)
		rte_mbuf_refcnt_update(m[i], 1);
	CHECK(rte_eth_tx_burst(null, 0, m, BURST) == BURST);
	CHECK(rte_eth_tx_burst(pcap, 0, m, BURST) == BURST);
	CHECK(rte_eth_dev_stop(null) == 0 && rte_eth_dev_stop(pcap) == 0);
	CHECK(rte_eth_dev_close(null) == 0 && rte_eth_dev_close(pcap) == 0);
	stop_and_close();
	check_pools();
}

/* A DPDK without callbacks: what cannot be kept apart does not come together. */
void
mode_no_callbacks(uint64_t frames __rte_unused)
{
	callbacks_refused = true;
	set_up(0, pools[0], 1, 0);
	CHECK(rte_eth_dev_start(0) == -ENOTSUP);
	rte_mempool_free(pools[1]);
	CHECK(rte_eth_dev_start(0) == 0);
	pools[1] = make_pool("b", "mlx5_memic");
	stop_and_close();
	check_pools();
}

/* ---- what a callback costs ---- */

/* The best of many bursts on a guarded queue, as others use the CPU, too. */
static void
cost_of(const char *what, struct rte_mempool *mp, uint64_t rounds)
{
	void *cb = rte_eth_fp_ops[1].txq.clbk[0];
	uint64_t begin, took, best = UINT64_MAX, i;
	struct rte_mbuf *m[32];
	unsigned int k;

	CHECK(cb != NULL);
	for (i = 0; i < rounds; i++) {
		CHECK(rte_pktmbuf_alloc_bulk(mp, m, RTE_DIM(m)) == 0);
		for (k = 0; k < RTE_DIM(m); k++)
			CHECK(rte_pktmbuf_append(m[k], 1500) != NULL);
		begin = rte_rdtsc_precise();
		CHECK(rte_eth_call_tx_callbacks(1, 0, m, RTE_DIM(m), cb) == RTE_DIM(m));
		took = rte_rdtsc_precise() - begin;
		best = RTE_MIN(best, took);
		rte_pktmbuf_free_bulk(m, RTE_DIM(m));
	}
	printf("%s: %.2f cycles per mbuf\n", what, (double)best / RTE_DIM(m));
}

void
mode_cost(uint64_t rounds)
{
	start_both(0);
	cost_of("passed", host_pool, rounds);
	cost_of("copied", pools[0], rounds);
	stop_and_close();
	check_pools();
}
