/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_random.h>

#include "compat.h"

/*
 * A forwarder that does to its mbufs what applications do, or what they must not, and
 * checks that its pools are whole again at the end. The card's counters and the check
 * wire tell the rest.
 *
 * usage: EAL arguments -- MODE FRAMES
 */

#define RING 64
#define BURST 16
#define POOL_SIZE 1024
#define ROOM 1664
#define STALL_SECONDS 5

static struct rte_mempool *pool, *host_pool;
static uint64_t seen;           /* frames received */
static uint64_t unsent;         /* frames that the port did not take */

/* ---- what is done to a frame; NULL drops it ---- */

static struct rte_mbuf *
pass(struct rte_mbuf *m)
{
	return m;
}

/* One byte of one frame changes while it lies in device memory. */
static struct rte_mbuf *
flip(struct rte_mbuf *m)
{
	if (seen == 100)
		*rte_pktmbuf_mtod_offset(m, volatile uint8_t *, 700) ^= 0x10;
	return m;
}

/* From one frame on an mbuf of the device points at its room in host memory. */
static struct rte_mbuf *
host_pointer(struct rte_mbuf *m)
{
	uint8_t *room = RTE_PTR_ADD(m, sizeof(*m) + rte_pktmbuf_priv_size(pool));

	if (seen != 100)
		return m;
	memcpy(room, m->buf_addr, m->buf_len);
	m->buf_addr = room;
	return m;
}

/* Forward a clone whose head is in host memory; the original is freed first. */
static struct rte_mbuf *
send_clone(struct rte_mbuf *m)
{
	struct rte_mbuf *c = rte_pktmbuf_clone(m, host_pool);

	rte_pktmbuf_free(m);
	return c;
}

static struct rte_mbuf *
clone_of_clone(struct rte_mbuf *m)
{
	struct rte_mbuf *a = rte_pktmbuf_clone(m, host_pool), *b = NULL;

	if (a != NULL)
		b = rte_pktmbuf_clone(a, host_pool);
	rte_pktmbuf_free(a);
	rte_pktmbuf_free(m);
	return b;
}

/* The first 64 bytes move to a host buffer in front. */
static struct rte_mbuf *
chain(struct rte_mbuf *m)
{
	struct rte_mbuf *head = rte_pktmbuf_alloc(host_pool);

	if (head == NULL) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	memcpy(rte_pktmbuf_append(head, 64), rte_pktmbuf_mtod(m, void *), 64);
	rte_pktmbuf_adj(m, 64);
	if (rte_pktmbuf_chain(head, m) != 0)
		rte_exit(EXIT_FAILURE, "chain\n");
	return head;
}

/* Copies into host memory are forwarded, originals freed out of order. */
static struct rte_mbuf *
free_order(struct rte_mbuf *m)
{
	static struct rte_mbuf *held[8];
	unsigned int place = rte_rand() % RTE_DIM(held);
	struct rte_mbuf *copy = rte_pktmbuf_copy(m, host_pool, 0, UINT32_MAX);

	rte_pktmbuf_free(held[place]);
	held[place] = m;
	if (seen % 1000 == 0) {
		rte_pktmbuf_free_bulk(held, RTE_DIM(held));
		memset(held, 0, sizeof(held));
	}
	return copy;
}

/* Mbufs of two pools on one queue. */
static struct rte_mbuf *
alternate(struct rte_mbuf *m)
{
	struct rte_mbuf *copy;

	if (seen % 2 == 0)
		return m;
	copy = rte_pktmbuf_copy(m, host_pool, 0, UINT32_MAX);
	rte_pktmbuf_free(m);
	return copy;
}

/* ---- what is done between the pool's creation and the port's start ---- */

static bool
has_base_name(const struct link_map *map, const char *prefix)
{
	const char *slash = strrchr(map->l_name, '/');

	return strncmp(slash != NULL ? slash + 1 : map->l_name, prefix, strlen(prefix)) == 0;
}

static void *
dynamic(const struct link_map *map, ElfW(Sxword) tag)
{
	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
		if (d->d_tag == tag)
			return (void *)d->d_un.d_ptr;
	return NULL;
}

static void
write_slot(void **slot, void *value)
{
	uintptr_t page = (uintptr_t)slot & ~(uintptr_t)4095;

	if (mprotect((void *)page, 4096, PROT_READ | PROT_WRITE) != 0)
		rte_exit(EXIT_FAILURE, "mprotect\n");
	*slot = value;
}

/* Put the genuine ibv_reg_mr_iova2() back where the PMD calls it. */
static void
unhook(void)
{
	const struct link_map *map = _r_debug.r_map;
	const ElfW(Sym) *syms;
	const ElfW(Rela) *rela;
	const char *names;
	size_t n;

	while (map != NULL && !has_base_name(map, "librte_common_mlx5.so"))
		map = map->l_next;
	if (map == NULL)
		rte_exit(EXIT_FAILURE, "librte_common_mlx5 is not loaded\n");
	syms = dynamic(map, DT_SYMTAB);
	names = dynamic(map, DT_STRTAB);
	rela = dynamic(map, DT_JMPREL);
	n = (size_t)dynamic(map, DT_PLTRELSZ) / sizeof(*rela);
	for (size_t i = 0; i < n; i++)
		if (strcmp(names + syms[ELF64_R_SYM(rela[i].r_info)].st_name,
			   "ibv_reg_mr_iova2") == 0)
			write_slot((void **)(map->l_addr + rela[i].r_offset),
				   (void *)(uintptr_t)ibv_reg_mr_iova2);
}

/* ---- ends ---- */

/* As many examples do: ports are closed, pools are not freed. */
static void
leave_pools(void)
{
	rte_eth_dev_stop(0);
	rte_eth_dev_close(0);
	rte_eal_cleanup();
	exit(EXIT_SUCCESS);
}

/* Without a word to anybody, with frames in every ring. */
static void
just_exit(void)
{
	exit(EXIT_SUCCESS);
}

static void
stop_and_rte_exit(void)
{
	rte_eth_dev_stop(0);
	rte_exit(EXIT_SUCCESS, "rte_exit\n");
}

static void
pools_first(void)
{
	rte_eth_dev_stop(0);
	rte_mempool_free(pool);
	rte_mempool_free(host_pool);
	rte_eth_dev_close(0);
	rte_eal_cleanup();
	exit(EXIT_SUCCESS);
}

/* Rings are full of mbufs of a pool that is gone. */
static void
pools_before_stop(void)
{
	rte_mempool_free(pool);
	rte_eth_dev_stop(0);
	rte_eth_dev_close(0);
	rte_mempool_free(host_pool);
	rte_eal_cleanup();
	exit(EXIT_SUCCESS);
}

/* The card goes on for a while in memory that EAL has unmapped. */
static void
cleanup_started(void)
{
	rte_eal_cleanup();
	usleep(100000);
	exit(EXIT_SUCCESS);
}

static void
detach_first(void)
{
	struct rte_eth_dev_info info;

	rte_eth_dev_stop(0);
	if (rte_eth_dev_info_get(0, &info) != 0 || rte_dev_remove(info.device) != 0)
		rte_exit(EXIT_FAILURE, "detach\n");
	if (rte_mempool_in_use_count(pool) != 0)
		rte_exit(EXIT_FAILURE, "mbufs are out\n");
	rte_mempool_free(pool);
	rte_mempool_free(host_pool);
	rte_eal_cleanup();
	exit(EXIT_SUCCESS);
}

/* ---- modes ---- */

static const struct mode {
	const char *name;
	struct rte_mbuf *(*frame)(struct rte_mbuf *m);
	void (*before_start)(void);
	void (*end)(void);       /* instead of an orderly one */
	uint64_t tx_offloads;    /* besides chains, which fast free excludes */
} modes[] = {
	{ .name = "pass", .frame = pass },
	{ .name = "flip", .frame = flip },
	{ .name = "host_pointer", .frame = host_pointer },
	{ .name = "clone", .frame = send_clone },
	{ .name = "clone_of_clone", .frame = clone_of_clone },
	{ .name = "chain", .frame = chain },
	{ .name = "free_order", .frame = free_order },
	{ .name = "unhook", .frame = pass, .before_start = unhook },
	{ .name = "alternate", .frame = alternate },
	{ .name = "fast_free", .frame = pass,
	  .tx_offloads = RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE },
	{ .name = "leave_pools", .frame = pass, .end = leave_pools },
	{ .name = "just_exit", .frame = pass, .end = just_exit },
	{ .name = "rte_exit", .frame = pass, .end = stop_and_rte_exit },
	{ .name = "pools_first", .frame = pass, .end = pools_first },
	{ .name = "pools_before_stop", .frame = pass, .end = pools_before_stop },
	{ .name = "cleanup_started", .frame = pass, .end = cleanup_started },
	{ .name = "detach_first", .frame = pass, .end = detach_first },
};

static const struct mode *
find_mode(const char *name)
{
	for (unsigned int i = 0; i < RTE_DIM(modes); i++)
		if (strcmp(modes[i].name, name) == 0)
			return &modes[i];
	rte_exit(EXIT_FAILURE, "no mode '%s'\n", name);
}

/* ---- the port ---- */

static int
start_port(const struct mode *mode)
{
	struct rte_eth_conf conf = { .txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS };
	int ret;

	if (mode->tx_offloads != 0)
		conf.txmode.offloads = mode->tx_offloads;
	ret = rte_eth_dev_configure(0, 1, 1, &conf);
	if (ret == 0)
		ret = e2e_receive(0);
	if (ret == 0)
		ret = rte_eth_rx_queue_setup(0, 0, RING, SOCKET_ID_ANY, NULL, pool);
	if (ret == 0)
		ret = rte_eth_tx_queue_setup(0, 0, RING, SOCKET_ID_ANY, NULL);
	return ret == 0 ? rte_eth_dev_start(0) : ret;
}

static void
send_all(struct rte_mbuf **out, uint16_t n)
{
	uint64_t end = rte_get_timer_cycles() + STALL_SECONDS * rte_get_timer_hz();
	uint16_t sent = 0;

	while (sent < n && rte_get_timer_cycles() < end)
		sent += rte_eth_tx_burst(0, 0, out + sent, n - sent);
	rte_pktmbuf_free_bulk(out + sent, n - sent);
	unsent += n - sent;
}

/* Forward until enough came or nothing comes any more. */
static void
forward(const struct mode *mode, uint64_t frames)
{
	uint64_t last = rte_get_timer_cycles(), stall = STALL_SECONDS * rte_get_timer_hz();
	struct rte_mbuf *in[BURST], *out[BURST];
	uint16_t n, k;

	while (seen < frames && rte_get_timer_cycles() - last < stall) {
		n = rte_eth_rx_burst(0, 0, in, BURST);
		if (n > 0)
			last = rte_get_timer_cycles();
		k = 0;
		for (uint16_t i = 0; i < n; i++) {
			seen++;
			out[k] = mode->frame(in[i]);
			k += out[k] != NULL;
		}
		send_all(out, k);
	}
	/* Let the card fetch what was posted. */
	rte_delay_ms(200);
}

static int
check_pools(void)
{
	unsigned int in_use = rte_mempool_in_use_count(pool);
	unsigned int host_in_use = rte_mempool_in_use_count(host_pool);

	printf("received %lu, not sent %lu, in use: pool %u, host pool %u\n", seen, unsent, in_use,
	       host_in_use);
	return in_use == 0 && host_in_use == 0 && unsent == 0 ? 0 : 3;
}

int
main(int argc, char **argv)
{
	int used = rte_eal_init(argc, argv), ret;
	const struct mode *mode;

	if (used < 0 || argc - used != 3)
		rte_exit(EXIT_FAILURE, "usage: EAL arguments -- MODE FRAMES\n");
	mode = find_mode(argv[used + 1]);
	pool = rte_pktmbuf_pool_create_by_ops("payload", POOL_SIZE, 0, 0, ROOM, SOCKET_ID_ANY,
					      "mlx5_memic");
	host_pool = rte_pktmbuf_pool_create_by_ops("host", POOL_SIZE, 0, 0, ROOM, SOCKET_ID_ANY,
						   "ring_mp_mc");
	if (pool == NULL || host_pool == NULL)
		rte_exit(EXIT_FAILURE, "pool: %s\n", rte_strerror(rte_errno));
	if (mode->before_start != NULL)
		mode->before_start();
	ret = start_port(mode);
	if (ret != 0)
		rte_exit(EXIT_FAILURE, "port: %s\n", rte_strerror(-ret));
	forward(mode, strtoull(argv[used + 2], NULL, 10));
	if (mode->end != NULL)
		mode->end();
	rte_eth_dev_stop(0);
	rte_eth_dev_close(0);
	ret = check_pools();
	rte_mempool_free(pool);
	rte_mempool_free(host_pool);
	rte_eal_cleanup();
	return ret;
}
