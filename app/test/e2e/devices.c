/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "compat.h"
#include "devices.h"

/*
 * Forwards between ports of two devices, both ways, and looks at what comes of buffers in
 * memory of the other device. The pools "a" and "b" are those of ports 0 and 1.
 *
 * usage: EAL arguments -- MODE FRAMES
 */

#define POOL_SIZE 512
#define QUIET_SECONDS 2

struct rte_mempool *pools[2], *host_pool;
uint64_t seen[2], frames_sent[2], frames_refused[2];

/* ---- ports and pools ---- */

struct rte_mempool *
make_pool(const char *name, const char *ops)
{
	struct rte_mempool *mp;

	mp = rte_pktmbuf_pool_create_by_ops(name, POOL_SIZE, 0, PRIV, ROOM, SOCKET_ID_ANY, ops);
	if (mp == NULL)
		rte_exit(EXIT_FAILURE, "pool %s: %s\n", name, rte_strerror(rte_errno));
	return mp;
}

void
set_up(uint16_t port, struct rte_mempool *mp, uint16_t tx_queues, uint64_t offloads)
{
	struct rte_eth_conf conf = { .txmode.offloads = offloads };
	uint16_t q;

	CHECK(rte_eth_dev_configure(port, 1, tx_queues, &conf) == 0);
	CHECK(e2e_receive(port) == 0);
	CHECK(rte_eth_rx_queue_setup(port, 0, RING, SOCKET_ID_ANY, NULL, mp) == 0);
	for (q = 0; q < tx_queues; q++)
		CHECK(rte_eth_tx_queue_setup(port, q, RING, SOCKET_ID_ANY, NULL) == 0);
}

void
start_both(uint64_t offloads)
{
	uint16_t port;

	for (port = 0; port < 2; port++) {
		set_up(port, pools[port], 1, offloads);
		CHECK(rte_eth_dev_start(port) == 0);
	}
}

struct rte_mbuf *
pass(struct rte_mbuf *m)
{
	return m;
}

/* ---- forwarding ---- */

/* What is not taken is dropped, as most applications do. */
static void
send_some(uint16_t port, struct rte_mbuf **out, uint16_t n, bool retry)
{
	uint64_t end = rte_get_timer_cycles() + QUIET_SECONDS * rte_get_timer_hz();
	uint16_t k = rte_eth_tx_burst(port, 0, out, n);

	while (retry && k < n && rte_get_timer_cycles() < end)
		k += rte_eth_tx_burst(port, 0, out + k, n - k);
	rte_pktmbuf_free_bulk(out + k, n - k);
	frames_sent[port] += k;
	frames_refused[port] += n - k;
}

/* Both ways, until all came or nothing comes any more. */
void
forward(uint64_t frames, struct rte_mbuf *(*change)(struct rte_mbuf *), bool retry)
{
	uint64_t last = rte_get_timer_cycles();
	struct rte_mbuf *burst[BURST];
	uint16_t port, n, i;

	while ((seen[0] < frames || seen[1] < frames) &&
	       rte_get_timer_cycles() - last < QUIET_SECONDS * rte_get_timer_hz()) {
		for (port = 0; port < 2; port++) {
			n = rte_eth_rx_burst(port, 0, burst, BURST);
			if (n == 0)
				continue;
			last = rte_get_timer_cycles();
			seen[port] += n;
			for (i = 0; i < n; i++)
				burst[i] = change(burst[i]);
			send_some(!port, burst, n, retry);
		}
	}
	/* let the card fetch what was posted */
	rte_delay_ms(200);
}

void
stop_and_close(void)
{
	uint16_t port;

	for (port = 0; port < 2; port++) {
		/* one that was never started has nothing to stop */
		rte_eth_dev_stop(port);
		CHECK(rte_eth_dev_close(port) == 0);
	}
}

/* All mbufs are back, wherever they were sent. */
void
check_pools(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		CHECK(rte_mempool_in_use_count(pools[i]) == 0);
	CHECK(rte_mempool_in_use_count(host_pool) == 0);
}

void
report(void)
{
	uint16_t port;

	for (port = 0; port < 2; port++)
		printf("port %u: received %lu, sent %lu, not sent %lu\n", port, seen[port],
		       frames_sent[port], frames_refused[port]);
}

/* ---- modes ---- */

/* The pool of port 0 on port 1, in the one Rx queue it has. */
static void
mode_refuse(uint64_t frames __rte_unused)
{
	set_up(0, pools[0], 1, 0);
	set_up(1, pools[0], 1, 0);
	CHECK(rte_eth_dev_start(1) == -EXDEV);
	CHECK(rte_eth_dev_start(0) == 0);
	CHECK(rte_eth_dev_start(1) == -EXDEV);
	/* nothing is lost: with its own pool it starts */
	CHECK(rte_eth_rx_queue_setup(1, 0, RING, SOCKET_ID_ANY, NULL, pools[1]) == 0);
	CHECK(rte_eth_dev_start(1) == 0);
	stop_and_close();
	check_pools();
}

static void
mode_nothing(uint64_t frames __rte_unused)
{
}

static const struct {
	const char *name;
	void (*run)(uint64_t frames);
} modes[] = {
	{ "bounce", mode_bounce },
	{ "drop", mode_drop },
	{ "clone", mode_clone },
	{ "chain", mode_chain },
	{ "hold", mode_hold },
	{ "fields", mode_fields },
	{ "refuse", mode_refuse },
	{ "callbacks", mode_callbacks },
	{ "mixed", mode_mixed },
	{ "exhaust", mode_exhaust },
	{ "copying", mode_copying },
	{ "twins", mode_twins },
	{ "twin_detach", mode_twin_detach },
	{ "twin_strict", mode_twin_strict },
	{ "fast_free", mode_fast_free },
	{ "late_bounce", mode_late_bounce },
	{ "no_callbacks", mode_no_callbacks },
	{ "nothing", mode_nothing },
	{ "cost", mode_cost },
};

int
main(int argc, char **argv)
{
	int used = rte_eal_init(argc, argv);
	unsigned int i;

	if (used < 0 || argc - used != 3)
		rte_exit(EXIT_FAILURE, "usage: EAL arguments -- MODE FRAMES\n");
	pools[0] = make_pool("a", "mlx5_memic");
	pools[1] = make_pool("b", "mlx5_memic");
	host_pool = make_pool("host", "ring_mp_mc");
	for (i = 0; i < RTE_DIM(modes); i++)
		if (strcmp(modes[i].name, argv[used + 1]) == 0)
			break;
	if (i == RTE_DIM(modes))
		rte_exit(EXIT_FAILURE, "no mode '%s'\n", argv[used + 1]);
	modes[i].run(strtoull(argv[used + 2], NULL, 10));
	rte_mempool_free(pools[0]);
	rte_mempool_free(pools[1]);
	rte_mempool_free(host_pool);
	rte_eal_cleanup();
	return 0;
}
