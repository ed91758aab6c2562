/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_debug.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_mempool.h>

#include <rte_pmd_mlx5_memic.h>

#include "devices.h"

/*
 * Forwards between ports of two devices, both ways, and looks at what comes of buffers in
 * memory of the other device. The pools "a" and "b" are those of ports 0 and 1.
 *
 * usage: EAL arguments -- MODE FRAMES
 */

#define BURST 16
#define POOL_SIZE 512
#define QUIET_SECONDS 2

struct rte_mempool *pools[2], *host_pool;
uint64_t seen[2];
static uint64_t sent[2], refused[2];
static int mark;                /* offset of a dynamic field */
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

static bool
has_callback(uint16_t port, uint16_t queue)
{
	return rte_eth_fp_ops[port].txq.clbk[queue] != NULL;
}

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

/* ---- what is done to a frame ---- */

struct rte_mbuf *
pass(struct rte_mbuf *m)
{
	return m;
}

/* The head is in host memory, the data on the device, shared by two clones. */
static struct rte_mbuf *
send_clone(struct rte_mbuf *m)
{
	struct rte_mbuf *c = rte_pktmbuf_clone(m, host_pool);
	struct rte_mbuf *again = rte_pktmbuf_clone(m, host_pool);

	CHECK(c != NULL && again != NULL);
	rte_pktmbuf_free(again);
	rte_pktmbuf_free(m);
	return c;
}

/* Host memory in front of device memory: only a later segment is foreign. */
static struct rte_mbuf *
chain(struct rte_mbuf *m)
{
	struct rte_mbuf *head = rte_pktmbuf_alloc(host_pool);

	CHECK(head != NULL);
	memcpy(rte_pktmbuf_append(head, 64), rte_pktmbuf_mtod(m, void *), 64);
	rte_pktmbuf_adj(m, 64);
	CHECK(rte_pktmbuf_chain(head, m) == 0);
	return head;
}

/* The sender keeps a reference until the frame has long been sent. */
static struct rte_mbuf *
hold(struct rte_mbuf *m)
{
	static struct rte_mbuf *held[2][8];
	static unsigned int at[2];
	unsigned int side = m->pool == pools[1];
	struct rte_mbuf **place = &held[side][at[side]++ % RTE_DIM(held[0])];

	rte_pktmbuf_free(*place);
	rte_mbuf_refcnt_update(m, 1);
	*place = m;
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
	sent[port] += k;
	refused[port] += n - k;
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

/* What the driver counted, which must be what became of the frames. */
static void
check_counted(unsigned int pool, uint64_t dropped, uint64_t bounced)
{
	struct rte_pmd_mlx5_memic_stats stats;

	CHECK(rte_pmd_mlx5_memic_stats_get(pools[pool], &stats, sizeof(stats)) == 0);
	CHECK(stats.foreign_dropped == dropped && stats.foreign_bounced == bounced);
}

void
report(void)
{
	uint16_t port;

	for (port = 0; port < 2; port++)
		printf("port %u: received %lu, sent %lu, not sent %lu\n", port, seen[port],
		       sent[port], refused[port]);
}

/* ---- modes ---- */

static void
forward_with(uint64_t frames, struct rte_mbuf *(*change)(struct rte_mbuf *), uint64_t offloads,
	     bool retry)
{
	start_both(offloads);
	CHECK(has_callback(0, 0) && has_callback(1, 0));
	forward(frames, change, retry);
	report();
	stop_and_close();
	check_pools();
}

static void
mode_bounce(uint64_t frames)
{
	forward_with(frames, pass, RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE, true);
	check_counted(0, 0, seen[0]);
	check_counted(1, 0, seen[1]);
}

static void
mode_drop(uint64_t frames)
{
	forward_with(frames, pass, 0, false);
	CHECK(sent[0] == 0 && sent[1] == 0);
	CHECK(refused[0] == seen[1] && refused[1] == seen[0]);
	check_counted(0, seen[0], 0);
	check_counted(1, seen[1], 0);
}

static void
mode_clone(uint64_t frames)
{
	forward_with(frames, send_clone, 0, true);
}

static void
mode_chain(uint64_t frames)
{
	forward_with(frames, chain, RTE_ETH_TX_OFFLOAD_MULTI_SEGS, true);
}

static void
release_held(void)
{
	struct rte_mbuf *m[2 * 8];
	unsigned int i, n = 0;

	/* the slots of hold() are filled with fresh mbufs, which lets the held ones go */
	for (i = 0; i < RTE_DIM(m); i++) {
		m[n] = rte_pktmbuf_alloc(pools[i % 2]);
		CHECK(m[n] != NULL);
		n++;
	}
	for (i = 0; i < n; i++)
		hold(m[i]);
	/* theirs are two references each now, of which one is ours */
	for (i = 0; i < n; i++) {
		rte_pktmbuf_free(m[i]);
		rte_pktmbuf_free(m[i]);
	}
}

static void
mode_hold(uint64_t frames)
{
	start_both(0);
	forward(frames, hold, true);
	report();
	release_held();
	stop_and_close();
	check_pools();
}

/* One frame in device memory of port 0 with all that an mbuf may carry. */
static struct rte_mbuf *
decorated(void)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pools[0]);

	CHECK(m != NULL);
	CHECK(rte_pktmbuf_append(m, 100) != NULL);
	m->ol_flags |= RTE_MBUF_F_TX_VLAN | RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM;
	m->vlan_tci = 0x234;
	m->vlan_tci_outer = 0x345;
	m->l2_len = 14;
	m->l3_len = 20;
	m->port = 0;
	m->packet_type = RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4;
	m->hash.rss = 0x12345678;
	*RTE_MBUF_DYNFIELD(m, mark, uint64_t *) = UINT64_C(0xfeedface12345678);
	memset(rte_mbuf_to_priv(m), 0x5a, PRIV);
	return m;
}

static void
check_decorated(const struct rte_mbuf *m)
{
	uint8_t priv[PRIV];

	CHECK(m->ol_flags == (RTE_MBUF_F_TX_VLAN | RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM));
	CHECK(m->vlan_tci == 0x234 && m->vlan_tci_outer == 0x345);
	CHECK(m->l2_len == 14 && m->l3_len == 20 && m->port == 0);
	CHECK(m->packet_type == (RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4));
	CHECK(m->hash.rss == 0x12345678);
	CHECK(*RTE_MBUF_DYNFIELD(m, mark, const uint64_t *) == UINT64_C(0xfeedface12345678));
	memset(priv, 0x5a, sizeof(priv));
	CHECK(memcmp((const uint8_t *)(m + 1), priv, PRIV) == 0);
	CHECK(m->pkt_len == 100 && m->data_len == 100 && m->nb_segs == 1 && m->next == NULL);
	CHECK(rte_mbuf_refcnt_read(m) == 1);
	CHECK(strncmp(m->pool->name, "memic_bounce_1_", 15) == 0);
}

/* A full ring gives the copies back: they carry all that the frames did. */
static void
mode_fields(uint64_t frames __rte_unused)
{
	struct rte_mbuf *m[4 * RING];
	unsigned int i, k, n = RTE_DIM(m);

	start_both(0);
	for (i = 0; i < n; i++)
		m[i] = decorated();
	k = rte_eth_tx_burst(1, 0, m, n);
	CHECK(k < n);
	for (i = k; i < n; i++)
		check_decorated(m[i]);
	rte_pktmbuf_free_bulk(m + k, n - k);
	stop_and_close();
	check_pools();
}

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

/* Callbacks are where they must be, and nowhere else, whatever is done to ports. */
static void
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

/* A sender of many mbufs that are not for the port, between others that are. */
static void
mode_mixed(uint64_t frames __rte_unused)
{
	struct rte_mbuf *m[9], *in[9];
	unsigned int i;

	start_both(0);
	for (i = 0; i < RTE_DIM(m); i++) {
		in[i] = m[i] = rte_pktmbuf_alloc(i % 3 == 1 ? host_pool : pools[0]);
		CHECK(m[i] != NULL && rte_pktmbuf_append(m[i], 60) != NULL);
		memset(rte_pktmbuf_mtod(m[i], void *), 0, 60);
	}
	/* those of the host go first, in order, and the others are the sender's, in order */
	CHECK(rte_eth_tx_burst(1, 0, m, RTE_DIM(m)) == 3);
	CHECK(m[3] == in[0] && m[4] == in[2] && m[5] == in[3]);
	CHECK(m[6] == in[5] && m[7] == in[6] && m[8] == in[8]);
	CHECK(rte_eth_tx_burst(1, 0, m + 3, 6) == 0);
	CHECK(m[3] == in[0] && m[8] == in[8]);
	rte_pktmbuf_free_bulk(m + 3, 6);
	/* tried twice */
	check_counted(0, 12, 0);
	stop_and_close();
	check_pools();
}

/* More frames than there are mbufs for copies: the rest is the sender's as it was. */
static void
mode_exhaust(uint64_t frames __rte_unused)
{
	struct rte_mbuf *m[400], *in[400];
	const unsigned int copies = RING + 256;
	unsigned int round, taken, i, k;

	start_both(0);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < RTE_DIM(m); i++) {
			in[i] = m[i] = rte_pktmbuf_alloc(pools[0]);
			CHECK(m[i] != NULL && rte_pktmbuf_append(m[i], 60) != NULL);
		}
		taken = rte_eth_tx_burst(1, 0, m, RTE_DIM(m));
		CHECK(taken <= RING);
		for (i = taken; i < RTE_DIM(m); i++)
			if (m[i]->pool == pools[0])
				break;
		/* in the second round the ring holds some of the first */
		CHECK(round == 0 ? i == copies : i >= copies - RING && i <= copies);
		for (k = i; i < RTE_DIM(m); i++)
			CHECK(m[i] == in[i]);
		check_counted(0, (round == 0 ? 0 : RTE_DIM(m) - copies) + RTE_DIM(m) - k,
			      (round == 0 ? 0 : copies) + k);
		rte_delay_ms(100);
		rte_pktmbuf_free_bulk(m + taken, RTE_DIM(m) - taken);
	}
	stop_and_close();
	check_pools();
}

/* Ports of drivers that copy by the CPU, that do nothing, and what they are given. */
static void
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
static void
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

static void
mode_nothing(uint64_t frames __rte_unused)
{
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

static void
mode_cost(uint64_t rounds)
{
	start_both(0);
	cost_of("passed", host_pool, rounds);
	cost_of("copied", pools[0], rounds);
	stop_and_close();
	check_pools();
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
	static const struct rte_mbuf_dynfield field = {
		.name = "test_devices_mark", .size = 8, .align = 8,
	};
	int used = rte_eal_init(argc, argv);
	unsigned int i;

	if (used < 0 || argc - used != 3)
		rte_exit(EXIT_FAILURE, "usage: EAL arguments -- MODE FRAMES\n");
	mark = rte_mbuf_dynfield_register(&field);
	CHECK(mark >= 0);
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
