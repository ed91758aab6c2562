/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "../compat.h"
#include "steps.h"

#define N 256u
#define CACHE 32
#define ROOM 2176
#define RING 64
#define BURST 16u
#define ROUNDS 16u
#define LONGEST 1500u
#define PATIENCE_MS 1500

const char *life_devargs, *life_ops;
enum level life_level;
bool life_flip;

static uint16_t port;
static struct rte_mempool *pool;
static char name[RTE_DEV_NAME_MAX_LEN];

/* ---- up and down ---- */

static int
find_port(void)
{
	uint16_t id;

	RTE_ETH_FOREACH_DEV(id) {
		port = id;
		return 0;
	}
	return -ENODEV;
}

int
life_probe(void)
{
	int ret = rte_dev_probe(life_devargs);

	if (ret == 0)
		ret = find_port();
	if (ret == 0)
		life_level = LEVEL_PROBED;
	return ret;
}

int
life_pool(void)
{
	rte_errno = 0;
	pool = rte_pktmbuf_pool_create_by_ops("steps", N, CACHE, 0, ROOM, SOCKET_ID_ANY, life_ops);
	if (pool == NULL)
		return -rte_errno;
	life_level = LEVEL_POOL;
	return 0;
}

int
life_start(void)
{
	struct rte_eth_conf conf = { 0 };
	int ret;

	ret = rte_eth_dev_configure(port, 1, 1, &conf);
	if (ret == 0)
		ret = e2e_receive(port);
	if (ret == 0)
		ret = rte_eth_rx_queue_setup(port, 0, RING, SOCKET_ID_ANY, NULL, pool);
	if (ret == 0)
		ret = rte_eth_tx_queue_setup(port, 0, RING, SOCKET_ID_ANY, NULL);
	if (ret == 0)
		ret = rte_eth_dev_start(port);
	if (ret == 0)
		life_level = LEVEL_STARTED;
	return ret;
}

int
life_stop(void)
{
	int ret = rte_eth_dev_stop(port);

	if (ret == 0)
		life_level = LEVEL_POOL;
	return ret;
}

int
life_free(void)
{
	rte_mempool_free(pool);
	pool = NULL;
	life_level = LEVEL_PROBED;
	return 0;
}

static struct rte_device *
find_device(void)
{
	struct rte_dev_iterator it;
	struct rte_device *dev, *found = NULL;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(life_devargs, ","), life_devargs);
	RTE_DEV_FOREACH(dev, "bus=pci", &it)
		if (strcmp(rte_dev_name(dev), name) == 0)
			found = dev;
	return found;
}

int
life_remove(void)
{
	struct rte_device *dev = find_device();
	int ret = dev == NULL ? -ENODEV : rte_dev_remove(dev);

	if (ret == 0)
		life_level = LEVEL_NONE;
	return ret;
}

int
life_go(enum level level)
{
	static int (*const up[])(void) = { life_probe, life_pool, life_start };
	static int (*const down[])(void) = { life_remove, life_free, life_stop };
	int ret = 0;

	while (life_level < level && ret == 0)
		ret = up[life_level]();
	while (life_level > level && ret == 0)
		ret = down[life_level - 1]();
	return ret;
}

/* ---- slots ---- */

static void
count_slot(struct rte_mempool *mp, void *arg, void *obj, unsigned int i)
{
	const struct rte_mbuf *m = obj;
	unsigned int *n = arg;

	RTE_SET_USED(mp);
	RTE_SET_USED(i);
	*n += m->buf_addr != (const char *)m + sizeof(*m) + m->priv_size;
}

unsigned int
life_slots(void)
{
	unsigned int n = 0;

	rte_mempool_obj_iter(pool, count_slot, &n);
	return n;
}

/* ---- traffic ---- */

static uint32_t number;

static uint8_t
byte_of(uint32_t n, unsigned int i)
{
	return (uint8_t)(n * 31 + i * 7 + (i >> 8));
}

static unsigned int
length_of(uint32_t n)
{
	return 64 + n * 97 % (LONGEST - 64);
}

/* Own address to own address, the frame's number, and bytes that follow from it. */
static void
fill(uint8_t *frame, uint32_t n)
{
	unsigned int len = length_of(n), i;
	struct rte_ether_addr own;

	rte_eth_macaddr_get(port, &own);
	memcpy(frame, &own, 6);
	memcpy(frame + 6, &own, 6);
	frame[6] ^= 2;
	frame[12] = 0x88;
	frame[13] = 0xb5;
	memcpy(frame + 14, &n, sizeof(n));
	for (i = 18; i < len; i++)
		frame[i] = byte_of(n, i);
}

static bool
is_right(const uint8_t *frame, unsigned int len)
{
	uint32_t n;
	unsigned int i;

	memcpy(&n, frame + 14, sizeof(n));
	if (len != length_of(n) || frame[12] != 0x88 || frame[13] != 0xb5)
		return false;
	for (i = 18; i < len; i++)
		if (frame[i] != byte_of(n, i))
			return false;
	return true;
}

static void
send_burst(struct life_traffic *t)
{
	struct rte_mbuf *m[BURST];
	uint16_t sent = 0;
	unsigned int i, tries;

	if (rte_pktmbuf_alloc_bulk(pool, m, BURST) != 0)
		return;
	for (i = 0; i < BURST; i++) {
		rte_pktmbuf_append(m[i], length_of(number));
		fill(rte_pktmbuf_mtod(m[i], uint8_t *), number);
		if (life_flip && number % 100 == 50)
			*rte_pktmbuf_mtod_offset(m[i], uint8_t *, 40) ^= 1;
		number++;
	}
	for (tries = 0; tries < 2000 && sent < BURST; tries++) {
		sent += rte_eth_tx_burst(port, 0, m + sent, BURST - sent);
		if (sent < BURST)
			usleep(50);
	}
	rte_pktmbuf_free_bulk(m + sent, BURST - sent);
	t->sent += sent;
}

static void
receive(struct life_traffic *t, unsigned int want)
{
	uint64_t end = rte_get_timer_cycles() + PATIENCE_MS * rte_get_timer_hz() / 1000;
	struct rte_mbuf *m[2 * BURST];
	uint16_t n, i;

	while (t->back < want && rte_get_timer_cycles() < end) {
		n = rte_eth_rx_burst(port, 0, m, RTE_DIM(m));
		for (i = 0; i < n; i++) {
			t->back++;
			t->wrong += !is_right(rte_pktmbuf_mtod(m[i], uint8_t *), m[i]->pkt_len);
		}
		rte_pktmbuf_free_bulk(m, n);
		if (n == 0)
			usleep(20);
	}
}

void
life_traffic(struct life_traffic *t)
{
	unsigned int i;

	memset(t, 0, sizeof(*t));
	/* what does not come once does not come at all */
	for (i = 0; i < ROUNDS && t->back == t->sent; i++) {
		send_burst(t);
		receive(t, t->sent);
	}
}

/* ---- a frame in memory that nobody has registered ---- */

static struct rte_mempool *heads;
static uint8_t *strange;
static struct rte_mbuf_ext_shared_info strange_info;

static void
nothing(void *addr, void *opaque)
{
	RTE_SET_USED(addr);
	RTE_SET_USED(opaque);
}

int
life_strange_make(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	heads = rte_pktmbuf_pool_create_by_ops("heads", 63, 0, 0, 0, SOCKET_ID_ANY, "ring_mp_mc");
	strange = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (heads == NULL || strange == MAP_FAILED)
		return -ENOMEM;
	return rte_extmem_register(strange, page, NULL, 0, page) == 0 ? 0 : -rte_errno;
}

void
life_strange_free(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	rte_mempool_free(heads);
	rte_extmem_unregister(strange, page);
	munmap(strange, page);
}

void
life_traffic_strange(struct life_traffic *t)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(heads);
	struct life_traffic first = { 0 };

	if (m != NULL) {
		strange_info.free_cb = nothing;
		rte_mbuf_ext_refcnt_set(&strange_info, 1);
		rte_pktmbuf_attach_extbuf(m, strange, RTE_BAD_IOVA, 2048, &strange_info);
		rte_pktmbuf_append(m, length_of(number));
		fill(strange, number++);
		if (rte_eth_tx_burst(port, 0, &m, 1) == 1)
			first.sent = 1;
		else
			rte_pktmbuf_free(m);
	}
	receive(&first, first.sent);
	life_traffic(t);
	t->sent += first.sent;
	t->back += first.back;
	t->wrong += first.wrong;
}
