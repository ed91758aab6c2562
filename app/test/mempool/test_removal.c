/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * Cases 50 and 51: the device goes while a pool has memory of it, and comes back. To be run
 * under "mlx5emu --wire loop --fault remove=frames:N --fault return=closed", with a port of the
 * mlx5 driver.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_dev.h>
#include <rte_ethdev.h>

#include "fixture.h"

#define N 256u
#define RING 32u
#define BURST 8u

static struct rte_mempool *mp;
static struct rte_mbuf *held;
static struct rte_device *device;
static bool removed;
static long long all_slots;
static const char *devargs;     /* what the command line said of the device */

static int
on_removal(uint16_t port, enum rte_eth_event_type type, void *arg, void *ret)
{
	RTE_SET_USED(port);
	RTE_SET_USED(type);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	__atomic_store_n(&removed, true, __ATOMIC_RELEASE);
	return 0;
}

static void
start_port(void)
{
	const struct rte_eth_conf conf = { .intr_conf = { .rmv = 1 } };
	struct rte_eth_dev_info info;

	assert_int_equal(rte_eth_dev_info_get(0, &info), 0);
	device = info.device;
	assert_int_equal(rte_eth_dev_configure(0, 1, 1, &conf), 0);
	assert_int_equal(rte_eth_rx_queue_setup(0, 0, RING, SOCKET_ID_ANY, NULL, mp), 0);
	assert_int_equal(rte_eth_tx_queue_setup(0, 0, RING, SOCKET_ID_ANY, NULL), 0);
	assert_int_equal(rte_eth_dev_callback_register(0, RTE_ETH_EVENT_INTR_RMV, on_removal,
						       NULL), 0);
	assert_int_equal(rte_eth_dev_start(0), 0);
}

static struct rte_mbuf *
frame(void)
{
	static const uint8_t head[14] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5 };
	struct rte_mbuf *m = rte_pktmbuf_alloc(mp);

	if (m == NULL)
		return NULL;
	memcpy(rte_pktmbuf_append(m, 60), head, sizeof(head));
	return m;
}

/* Frames to and fro until the device is gone, or nothing moves any more. */
static void
send_until_removed(void)
{
	struct rte_mbuf *burst[BURST], *m;
	unsigned int tries;
	uint16_t n;

	for (tries = 0; tries < 20000 && !__atomic_load_n(&removed, __ATOMIC_ACQUIRE); tries++) {
		m = frame();
		if (m != NULL && rte_eth_tx_burst(0, 0, &m, 1) == 0)
			rte_pktmbuf_free(m);
		n = rte_eth_rx_burst(0, 0, burst, BURST);
		rte_pktmbuf_free_bulk(burst, n);
		usleep(1000);
	}
	assert_true(removed);
}

static void
case_50_get_and_put_go_on(void **state)
{
	static struct rte_mbuf *m[N];
	unsigned int n;

	(void)state;
	held = rte_pktmbuf_alloc(mp);
	send_until_removed();
	/* what the kernel leaves of the mapping is a page of zeros */
	assert_int_equal(*(const char *)held->buf_addr, 0);
	for (n = 0; n < N && (m[n] = rte_pktmbuf_alloc(mp)) != NULL; n++)
		*rte_pktmbuf_append(m[n], 1) = (char)n;
	assert_true(n >= N - 2 * RING - 1);
	rte_pktmbuf_free_bulk(m, n);
	rte_pktmbuf_free(held);
}

/*
 * Before or after its port was closed: nothing is wrong, so there is nothing to complain
 * about. The PMD's PD is there until the device is removed from EAL.
 */
static void
case_50_pool_is_freed(void **state)
{
	const char *log;

	(void)state;
	assert_int_equal(rte_eth_dev_stop(0), 0);
	assert_int_equal(rte_mempool_avail_count(mp), N);
	if (getenv("MEMIC_TEST_CLOSE_FIRST") != NULL)
		assert_int_equal(rte_eth_dev_close(0), 0);
	log_begin();
	rte_mempool_free(mp);
	log = log_end();
	if (strstr(log, "MLX5_MEMIC") != NULL)
		fail_msg("said for nothing: %s", log);
}

/* Messages of the driver at its usual level. */
static unsigned int
said(const char *log)
{
	unsigned int n = 0;

	while ((log = strstr(log, "MLX5_MEMIC: ")) != NULL) {
		log++;
		n++;
	}
	return n;
}

static void
case_50_next_pool_spills(void **state)
{
	struct rte_mempool *next;
	const char *log;

	(void)state;
	log_begin();
	next = make_pool("next", N, OPS);
	log = log_end();
	assert_int_equal(pool_number("next", "device_slots"), 0);
	assert_non_null(strstr(log, "pool next lives in host memory: "));
	assert_non_null(strstr(log, "ENODEV"));
	if (said(log) != 1)
		fail_msg("not one message: %s", log);
	assert_int_equal(rte_mempool_avail_count(next), N);
	rte_mempool_free(next);
}

static void
case_50_port_is_removed(void **state)
{
	(void)state;
	if (rte_eth_dev_is_valid_port(0))
		assert_int_equal(rte_eth_dev_close(0), 0);
	assert_int_equal(rte_dev_remove(device), 0);
}

/* No device at all, in EAL or elsewhere: a pool says so once, and works. */
static void
case_51_pool_without_a_device(void **state)
{
	struct rte_mempool *off;
	const char *log;

	(void)state;
	log_begin();
	off = make_pool("off", N, OPS);
	log = log_end();
	assert_non_null(strstr(log, "pool off lives in host memory: "));
	assert_non_null(strstr(log, "has opened no device"));
	assert_int_equal(said(log), 1);
	assert_int_equal(pool_number("off", "device_slots"), 0);
	rte_mempool_free(off);
}

/* Its node is there again soon after the driver closed the last file of the device before. */
static void
attach(void)
{
	unsigned int tries;
	int ret = -1;

	for (tries = 0; tries < 1000 && ret != 0; tries++) {
		usleep(10000);
		ret = rte_dev_probe(devargs);
	}
	assert_int_equal(ret, 0);
	assert_int_equal(rte_eth_dev_count_avail(), 1);
}

/* As many frames come back as were sent, out of device memory into device memory. */
static void
assert_traffic(void)
{
	unsigned int tries, k, back = 0;
	struct rte_mbuf *burst[BURST];
	uint16_t n, i;

	for (k = 0; k < BURST; k++) {
		burst[k] = frame();
		assert_non_null(burst[k]);
		assert_true(on_device(burst[k]));
	}
	memset(rte_pktmbuf_mtod_offset(burst[0], void *, 14), 0x5a, 46);
	assert_int_equal(rte_eth_tx_burst(0, 0, burst, BURST), BURST);
	for (tries = 0; tries < 3000 && back < BURST; tries++) {
		n = rte_eth_rx_burst(0, 0, burst, BURST);
		for (i = 0; i < n; i++) {
			assert_true(on_device(burst[i]));
			if (back + i == 0)
				assert_int_equal(*rte_pktmbuf_mtod_offset(burst[i], uint8_t *, 59),
						 0x5a);
		}
		rte_pktmbuf_free_bulk(burst, n);
		back += n;
		usleep(1000);
	}
	assert_int_equal(back, BURST);
}

/* A new pool has all of the memory, and frames pass; then all goes in order. */
static void
case_51_device_comes_back(void **state)
{
	const char *log;

	(void)state;
	attach();
	log_begin();
	mp = make_pool("again", N, OPS);
	log = log_end();
	assert_int_equal(pool_number("again", "device_slots"), all_slots);
	/* the one that says how many buffers are where */
	assert_int_equal(said(log), 1);
	start_port();
	assert_int_equal(rte_eth_promiscuous_enable(0), 0);
	assert_traffic();
	assert_int_equal(rte_eth_dev_stop(0), 0);
	assert_int_equal(rte_mempool_avail_count(mp), N);
	log_begin();
	rte_mempool_free(mp);
	assert_int_equal(rte_dev_remove(device), 0);
	log = log_end();
	assert_int_equal(said(log), 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(case_50_get_and_put_go_on),
		cmocka_unit_test(case_50_pool_is_freed),
		cmocka_unit_test(case_50_next_pool_spills),
		cmocka_unit_test(case_50_port_is_removed),
		cmocka_unit_test(case_51_pool_without_a_device),
		cmocka_unit_test(case_51_device_comes_back),
	};
	int status = eal_start_with_port(argc, argv);

	if (status != 0)
		return status;
	devargs = argv[argc - 1];
	mp = make_pool("removed", N, OPS);
	all_slots = pool_number("removed", "device_slots");
	start_port();
	return eal_end(cmocka_run_group_tests(tests, NULL, NULL));
}
