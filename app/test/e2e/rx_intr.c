/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_epoll.h>
#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#include "compat.h"

/*
 * Sleeps on the interrupts of two receive queues of a port whose frames come back to it
 * (--wire loop). An interrupt comes for each queue that was armed and has frames, and
 * for no other.
 *
 * usage: EAL arguments -- ROUNDS
 */

#define QUEUES 2
#define RING 64
#define QUIET_MS 200
#define PATIENCE_MS 10000

static struct rte_mempool *pool;
static unsigned int interrupts, frames;

static void
check(bool good, const char *what)
{
	if (!good)
		rte_exit(EXIT_FAILURE, "rx_intr: %s\n", what);
}

static void
start_port(void)
{
	struct rte_eth_conf conf = {
		.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS,
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_UDP,
		.intr_conf.rxq = 1,
	};
	unsigned int i;

	check(rte_eth_dev_configure(0, QUEUES, 1, &conf) == 0, "cannot configure the port");
	check(e2e_receive(0) == 0, "cannot make the port promiscuous");
	for (i = 0; i < QUEUES; i++)
		check(rte_eth_rx_queue_setup(0, i, RING, SOCKET_ID_ANY, NULL, pool) == 0,
		      "cannot set up a receive queue");
	check(rte_eth_tx_queue_setup(0, 0, RING, SOCKET_ID_ANY, NULL) == 0,
	      "cannot set up the send queue");
	check(rte_eth_dev_start(0) == 0, "cannot start the port");
	for (i = 0; i < QUEUES; i++)
		check(rte_eth_dev_rx_intr_ctl_q(0, i, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_ADD,
						(void *)(uintptr_t)i) == 0,
		      "cannot wait for the interrupt of a queue");
}

/* The hash of the ports decides on the queue. */
static void
send_frame(uint16_t source)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	struct rte_ether_hdr *eth;
	struct rte_ipv4_hdr *ip;
	struct rte_udp_hdr *udp;

	check(m != NULL, "no mbuf");
	eth = (struct rte_ether_hdr *)rte_pktmbuf_append(m, 60);
	memset(eth, 0, 60);
	rte_eth_macaddr_get(0, &eth->dst_addr);
	eth->src_addr.addr_bytes[0] = 2;
	eth->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	ip = (struct rte_ipv4_hdr *)(eth + 1);
	ip->version_ihl = RTE_IPV4_VHL_DEF;
	ip->total_length = RTE_BE16(46);
	ip->time_to_live = 64;
	ip->next_proto_id = IPPROTO_UDP;
	ip->src_addr = RTE_BE32(0xc0000201); /* 192.0.2.1 */
	ip->dst_addr = RTE_BE32(0xc6336401); /* 198.51.100.1 */
	udp = (struct rte_udp_hdr *)(ip + 1);
	udp->src_port = rte_cpu_to_be_16(source);
	udp->dst_port = RTE_BE16(9);
	udp->dgram_len = RTE_BE16(26);
	check(rte_eth_tx_burst(0, 0, &m, 1) == 1, "frame not sent");
}

static unsigned int
drain(uint16_t queue)
{
	struct rte_mbuf *burst[RING];
	unsigned int total = 0, n;

	while ((n = rte_eth_rx_burst(0, queue, burst, RING)) > 0) {
		rte_pktmbuf_free_bulk(burst, n);
		total += n;
	}
	frames += total;
	return total;
}

/* Waits for one interrupt; returns its queue or -1. */
static int
wait_interrupt(int timeout_ms)
{
	struct rte_epoll_event event;
	int n = rte_epoll_wait(RTE_EPOLL_PER_THREAD, &event, 1, timeout_ms);

	check(n >= 0, "rte_epoll_wait() failed");
	if (n == 0)
		return -1;
	interrupts++;
	return (int)(uintptr_t)event.epdata.data;
}

static void
arm(uint16_t queue)
{
	check(rte_eth_dev_rx_intr_enable(0, queue) == 0, "cannot enable the interrupt");
}

static void
take(uint16_t queue)
{
	check(rte_eth_dev_rx_intr_disable(0, queue) == 0, "cannot take the interrupt");
}

static void
one_round(uint16_t source)
{
	int queue;

	send_frame(source);
	queue = wait_interrupt(PATIENCE_MS);
	check(queue >= 0, "a frame came without an interrupt");
	take(queue);
	check(drain(queue) == 1, "the interrupt is of the wrong queue");
	arm(queue);
}

/* Frames before the arming: silence, then the interrupt at once. */
static void
late_arming(void)
{
	int queue;

	send_frame(1);
	queue = wait_interrupt(PATIENCE_MS);
	check(queue >= 0, "no interrupt");
	take(queue);
	drain(queue);
	send_frame(1);
	check(wait_interrupt(QUIET_MS) < 0, "an interrupt that nobody armed");
	arm(queue);
	check(wait_interrupt(PATIENCE_MS) == queue, "no interrupt for a frame that waited");
	take(queue);
	check(drain(queue) == 1, "no frame");
	check(wait_interrupt(QUIET_MS) < 0, "one interrupt too many");
}

int
main(int argc, char **argv)
{
	int used = rte_eal_init(argc, argv), rounds, i;

	check(used >= 0 && argc - used == 2, "usage: EAL arguments -- ROUNDS");
	rounds = atoi(argv[used + 1]);
	check(rte_eth_dev_count_avail() == 1, "there is no port");
	pool = rte_pktmbuf_pool_create("rx_intr", 1023, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
				       SOCKET_ID_ANY);
	check(pool != NULL, "cannot create the pool");
	start_port();
	for (i = 0; i < QUEUES; i++)
		arm(i);
	check(wait_interrupt(QUIET_MS) < 0, "an interrupt without a frame");
	for (i = 0; i < rounds; i++)
		one_round(i);
	printf("%u interrupts, %u frames\n", interrupts, frames);
	check(interrupts == (unsigned int)rounds && frames == (unsigned int)rounds,
	      "interrupts or frames are missing");
	late_arming();
	rte_eth_dev_stop(0);
	rte_eth_dev_close(0);
	rte_mempool_free(pool);
	rte_eal_cleanup();
	printf("good\n");
	return 0;
}
