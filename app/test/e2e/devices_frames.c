/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * Modes of the program with two devices: what becomes of frames in memory of the device that
 * they do not leave by.
 */

#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf_dyn.h>

#include <rte_pmd_mlx5_memic.h>

#include "devices.h"

static int mark; /* offset of a dynamic field */

/* ---- what is done to a frame ---- */

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

/* ---- modes ---- */

/* What the driver counted, which must be what became of the frames. */
static void
check_counted(unsigned int pool, uint64_t dropped, uint64_t bounced)
{
	struct rte_pmd_mlx5_memic_stats stats;

	CHECK(rte_pmd_mlx5_memic_stats_get(pools[pool], &stats, sizeof(stats)) == 0);
	CHECK(stats.foreign_dropped == dropped && stats.foreign_bounced == bounced);
}

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

void
mode_bounce(uint64_t frames)
{
	forward_with(frames, pass, RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE, true);
	check_counted(0, 0, seen[0]);
	check_counted(1, 0, seen[1]);
}

void
mode_drop(uint64_t frames)
{
	forward_with(frames, pass, 0, false);
	CHECK(frames_sent[0] == 0 && frames_sent[1] == 0);
	CHECK(frames_refused[0] == seen[1] && frames_refused[1] == seen[0]);
	check_counted(0, seen[0], 0);
	check_counted(1, seen[1], 0);
}

void
mode_clone(uint64_t frames)
{
	forward_with(frames, send_clone, 0, true);
}

void
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

void
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
void
mode_fields(uint64_t frames __rte_unused)
{
	static const struct rte_mbuf_dynfield field = {
		.name = "test_devices_mark", .size = 8, .align = 8,
	};
	struct rte_mbuf *m[4 * RING];
	unsigned int i, k, n = RTE_DIM(m);

	mark = rte_mbuf_dynfield_register(&field);
	CHECK(mark >= 0);
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

/* A sender of many mbufs that are not for the port, between others that are. */
void
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
void
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
