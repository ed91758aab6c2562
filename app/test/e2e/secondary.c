/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_ring.h>

#include <rte_pmd_mlx5_memic.h>

#include "compat.h"

/*
 * A primary or a secondary process, whatever EAL's arguments say, that does what it reads
 * from standard input and says on one line how it went.
 *
 * usage: EAL arguments -- [BLOCK]
 *
 * BLOCK is an address at which something is mapped before EAL starts.
 */

#define RING 64
#define BURST 16
#define POOL_SIZE 512
#define ROOM 1664
#define HELD 512
#define FRAME 1500

static struct rte_mempool *pool, *host_pool;
static struct rte_ring *hand_over;
static struct rte_mbuf *held[HELD];
static unsigned int n_held;

/* ---- the driver's own calls; a process without it is also one to be tested ---- */

static void *
driver_call(const char *name)
{
	void *lib = dlopen("librte_pmd_mlx5_memic.so." MEMIC_ABI, RTLD_NOLOAD | RTLD_NOW);

	return lib == NULL ? NULL : dlsym(lib, name);
}

static struct rte_pmd_mlx5_memic_stats
stats_of(const struct rte_mempool *mp)
{
	int (*get_stats)(const struct rte_mempool *, struct rte_pmd_mlx5_memic_stats *, size_t);
	struct rte_pmd_mlx5_memic_stats s = { .device = "" };

	*(void **)&get_stats = driver_call("rte_pmd_mlx5_memic_stats_get");
	if (get_stats != NULL)
		get_stats(mp, &s, sizeof(s));
	return s;
}

static unsigned int
count_device(struct rte_mbuf *const *mbufs, unsigned int n)
{
	bool (*on_device)(const struct rte_mbuf *m);
	unsigned int found = 0;

	*(void **)&on_device = driver_call("rte_pmd_mlx5_memic_mbuf_on_device");
	for (unsigned int i = 0; i < n && on_device != NULL; i++)
		found += on_device(mbufs[i]);
	return found;
}

static struct rte_mempool *
need_pool(const char *name)
{
	struct rte_mempool *mp = rte_mempool_lookup(name);

	if (mp == NULL)
		printf("no pool %s: %s\n", name, rte_strerror(rte_errno));
	return mp;
}

/* ---- what both do with the pool ---- */

static void
get(uint64_t n)
{
	int ret = n_held + n > HELD ? -ERANGE :
		  rte_mempool_get_bulk(pool, (void **)&held[n_held], n);

	if (ret != 0) {
		printf("get failed %d\n", ret);
		return;
	}
	printf("got %" PRIu64 " device %u\n", n, count_device(&held[n_held], n));
	n_held += n;
}

static void
put(uint64_t n)
{
	n = RTE_MIN(n, n_held);
	n_held -= n;
	rte_mempool_put_bulk(pool, (void **)&held[n_held], n);
	printf("put %" PRIu64 "\n", n);
}

/* As an application receives and frees: through mbuf calls. */
static void
alloc(uint64_t n)
{
	if (n_held + n > HELD || rte_pktmbuf_alloc_bulk(pool, &held[n_held], n) != 0) {
		printf("alloc failed\n");
		return;
	}
	n_held += n;
	printf("allocated %" PRIu64 "\n", n);
}

static void
free_all(uint64_t unused __rte_unused)
{
	unsigned int n = n_held;

	n_held = 0;
	rte_pktmbuf_free_bulk(held, n);
	printf("freed %u\n", n);
}

/* Replace what is held by clones, and free the originals. */
static void
make_clones(uint64_t unused __rte_unused)
{
	unsigned int done = 0;

	for (unsigned int i = 0; i < n_held; i++) {
		struct rte_mbuf *c = rte_pktmbuf_clone(held[i], host_pool);

		if (c == NULL)
			continue;
		rte_pktmbuf_free(held[i]);
		held[i] = c;
		done++;
	}
	printf("cloned %u\n", done);
}

static void
count(uint64_t unused __rte_unused)
{
	struct rte_pmd_mlx5_memic_stats s = stats_of(pool);

	printf("out %u device %s slots %u free %u host free %u\n", rte_mempool_in_use_count(pool),
	       s.device[0] != '\0' ? s.device : "none", (unsigned int)s.device_slots,
	       (unsigned int)s.device_free, (unsigned int)s.host_free);
}

/* ---- bytes ---- */

static uint8_t
pattern(uint64_t seed, unsigned int i, unsigned int at)
{
	return (uint8_t)(seed * 7 + i * 31 + at);
}

static void
fill(uint64_t seed)
{
	for (unsigned int i = 0; i < n_held; i++) {
		volatile uint8_t *data = held[i]->buf_addr;

		for (unsigned int at = 0; at < ROOM; at++)
			data[at] = pattern(seed, i, at);
	}
	printf("filled %u\n", n_held);
}

static void
check(uint64_t seed)
{
	unsigned int good = 0, at;

	for (unsigned int i = 0; i < n_held; i++) {
		const volatile uint8_t *data = held[i]->buf_addr;

		for (at = 0; at < ROOM && data[at] == pattern(seed, i, at); at++)
			;
		good += at == ROOM;
	}
	printf("good %u\n", good);
}

static void
give(uint64_t unused __rte_unused)
{
	unsigned int n = rte_ring_enqueue_bulk(hand_over, (void **)held, n_held, NULL);

	n_held -= n;
	printf("gave %u\n", n);
}

static void
take(uint64_t unused __rte_unused)
{
	n_held += rte_ring_dequeue_burst(hand_over, (void **)&held[n_held], HELD - n_held, NULL);
	printf("took %u\n", n_held);
}

/* ---- pools ---- */

static void
told(const char *name, const struct rte_mempool *mp)
{
	if (mp == NULL) {
		printf("%s not created: %d\n", name, rte_errno);
		return;
	}
	printf("%s created slots %u\n", name, (unsigned int)stats_of(mp).device_slots);
}

static void
more(uint64_t n)
{
	told("more", rte_pktmbuf_pool_create_by_ops("more", n, 0, 0, ROOM, SOCKET_ID_ANY,
						    "mlx5_memic"));
}

/* Mbufs are there, but nobody has initialised them. */
static void
raw(uint64_t n)
{
	struct rte_pktmbuf_pool_private priv = { .mbuf_data_room_size = ROOM };
	struct rte_mempool *mp = rte_mempool_create_empty("more", n, sizeof(struct rte_mbuf) + ROOM,
							  0, sizeof(priv), SOCKET_ID_ANY, 0);

	if (mp == NULL || rte_mempool_set_ops_byname(mp, "mlx5_memic", NULL) != 0)
		rte_exit(EXIT_FAILURE, "raw\n");
	rte_pktmbuf_pool_init(mp, &priv);
	printf("raw %d\n", rte_mempool_populate_default(mp));
}

static void
init_more(uint64_t unused __rte_unused)
{
	printf("initialised %u\n",
	       rte_mempool_obj_iter(rte_mempool_lookup("more"), rte_pktmbuf_init, NULL));
}

/* Not a byte in host memory. */
static void
strict(uint64_t n)
{
	struct rte_mempool *(*create)(const char *, unsigned int, unsigned int, uint16_t, uint16_t,
				      int, const struct rte_pmd_mlx5_memic_conf *);
	struct rte_pmd_mlx5_memic_conf conf;

	*(void **)&create = driver_call("rte_pmd_mlx5_memic_pool_create");
	rte_pmd_mlx5_memic_conf_init(&conf);
	conf.spill = 0;
	told("strict", create("strict", n, 0, 0, ROOM, SOCKET_ID_ANY, &conf));
}

static void
use_more(uint64_t unused __rte_unused)
{
	pool = need_pool("more");
	if (pool != NULL)
		printf("using more\n");
}

static void
drop_more(uint64_t unused __rte_unused)
{
	rte_mempool_free(rte_mempool_lookup("more"));
	printf("dropped more\n");
}

static void
drop(uint64_t unused __rte_unused)
{
	rte_mempool_free(pool);
	pool = NULL;
	printf("dropped\n");
}

/* ---- the address space ---- */

static void
block(uint64_t addr)
{
	void *p = mmap((void *)(uintptr_t)addr, 4096, PROT_READ,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	printf("blocked %d\n", p == MAP_FAILED ? errno : 0);
}

static void
where(uint64_t unused __rte_unused)
{
	printf("where 0x%" PRIxPTR "\n", n_held == 0 ? 0 : (uintptr_t)held[0]->buf_addr);
}

/* ---- traffic ---- */

static volatile bool stop;
static uint64_t forwarded;

static int
forward(void *arg)
{
	uint16_t queue = (uintptr_t)arg, n, sent;
	struct rte_mbuf *m[BURST];

	while (!stop) {
		n = rte_eth_rx_burst(0, queue, m, BURST);
		/* all of them, or fewer would go round each time somebody stops */
		for (sent = 0; sent < n;)
			sent += rte_eth_tx_burst(0, queue, m + sent, n - sent);
		__atomic_fetch_add(&forwarded, sent, __ATOMIC_RELAXED);
	}
	return 0;
}

static void
start(uint64_t queue)
{
	stop = false;
	forwarded = 0;
	printf("started %d\n", rte_eal_remote_launch(forward, (void *)(uintptr_t)queue,
						     rte_get_next_lcore(-1, 1, 0)));
}

static void
stop_traffic(uint64_t unused __rte_unused)
{
	stop = true;
	rte_eal_mp_wait_lcore();
	printf("forwarded %" PRIu64 "\n", forwarded);
}

static void
progress(uint64_t unused __rte_unused)
{
	printf("so far %" PRIu64 "\n", __atomic_load_n(&forwarded, __ATOMIC_RELAXED));
}

/* Frames of UDP flows that differ, so that all queues get some. */
static void
inject(uint64_t n)
{
	static const uint8_t head[42] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0, 5, 0xce, 0, 0,
		0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 1, 0, 2, 5, 0xba, 0, 0,
	};
	struct rte_mbuf *m;
	unsigned int sent = 0;

	for (unsigned int i = 0; i < n; i++) {
		m = rte_pktmbuf_alloc(pool);
		if (m == NULL)
			break;
		memcpy(rte_pktmbuf_append(m, FRAME), head, sizeof(head));
		rte_pktmbuf_mtod(m, volatile uint8_t *)[35] = i;
		sent += rte_eth_tx_burst(0, 0, &m, 1);
	}
	printf("injected %u\n", sent);
}

static void
port(uint64_t queues)
{
	struct rte_eth_conf conf = {
		.rxmode.mq_mode = queues > 1 ? RTE_ETH_MQ_RX_RSS : RTE_ETH_MQ_RX_NONE,
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP,
	};
	int ret = rte_eth_dev_configure(0, queues, queues, &conf);

	if (ret == 0)
		ret = e2e_receive(0);
	for (uint16_t q = 0; q < queues && ret == 0; q++) {
		ret = rte_eth_rx_queue_setup(0, q, RING, SOCKET_ID_ANY, NULL, pool);
		if (ret == 0)
			ret = rte_eth_tx_queue_setup(0, q, RING, SOCKET_ID_ANY, NULL);
	}
	printf("port %d\n", ret == 0 ? rte_eth_dev_start(0) : ret);
}

static void
close_port(uint64_t unused __rte_unused)
{
	rte_eth_dev_stop(0);
	printf("closed %d\n", rte_eth_dev_close(0));
}

/* ---- commands ---- */

static const struct {
	const char *name;
	void (*run)(uint64_t arg);
} commands[] = {
	{ "alloc", alloc }, { "block", block }, { "check", check }, { "clone", make_clones },
	{ "close", close_port }, { "count", count }, { "drop", drop }, { "drop_more", drop_more },
	{ "fill", fill }, { "free", free_all }, { "get", get }, { "give", give },
	{ "init_more", init_more }, { "inject", inject }, { "more", more }, { "port", port },
	{ "progress", progress }, { "put", put }, { "raw", raw }, { "start", start },
	{ "stop", stop_traffic }, { "strict", strict }, { "take", take },
	{ "use_more", use_more }, { "where", where },
};

static bool
obey(const char *line)
{
	uint64_t arg = 0;
	char name[32];

	if (sscanf(line, "%31s %" SCNi64, name, &arg) < 1 || strcmp(name, "quit") == 0)
		return false;
	for (unsigned int i = 0; i < RTE_DIM(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			commands[i].run(arg);
	fflush(stdout);
	return true;
}

static bool
get_ready(void)
{
	if (rte_eal_process_type() == RTE_PROC_PRIMARY) {
		/* lcores have a cache, as most applications want */
		pool = rte_pktmbuf_pool_create_by_ops("payload", POOL_SIZE, 32, 0, ROOM,
						      SOCKET_ID_ANY, "mlx5_memic");
		host_pool = rte_pktmbuf_pool_create_by_ops("host", POOL_SIZE, 0, 0, ROOM,
							   SOCKET_ID_ANY, "ring_mp_mc");
		hand_over = rte_ring_create("hand_over", 1024, SOCKET_ID_ANY, 0);
	} else {
		pool = need_pool("payload");
		host_pool = need_pool("host");
		hand_over = rte_ring_lookup("hand_over");
	}
	return pool != NULL && host_pool != NULL && hand_over != NULL;
}

int
main(int argc, char **argv)
{
	char line[64];
	int used;

	if (strcmp(argv[argc - 2], "--") == 0)
		block(strtoull(argv[argc - 1], NULL, 0));
	used = rte_eal_init(argc, argv);
	if (used < 0 || !get_ready())
		rte_exit(EXIT_FAILURE, "start: %s\n", rte_strerror(rte_errno));
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) != NULL && obey(line))
		;
	if (rte_eal_process_type() == RTE_PROC_PRIMARY)
		rte_mempool_free(pool);
	rte_eal_cleanup();
	printf("done\n");
	return 0;
}
