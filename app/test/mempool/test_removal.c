/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * Case 50: the device goes while a pool has memory of it. To be run under
 * "mlx5emu --wire loop --fault remove=frames:N", with a port of the mlx5 driver.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include "fixture.h"

#define N 256u
#define RING 32u
#define BURST 8u

static struct rte_mempool *mp;
static struct rte_mbuf *held;
static struct rte_device *device;
static bool removed;

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

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(case_50_get_and_put_go_on),
		cmocka_unit_test(case_50_pool_is_freed),
		cmocka_unit_test(case_50_next_pool_spills),
		cmocka_unit_test(case_50_port_is_removed),
	};
	int failed;

	if (eal_start(argc, argv) != 0)
		return 1;
	if (rte_eth_dev_count_avail() == 0) {
		printf("no mlx5 port: name one with EAL options, as under mlx5emu\n");
		return SKIPPED;
	}
	mp = make_pool("removed", N, OPS);
	start_port();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rte_eal_cleanup();
	return failed == 0 ? 0 : 1;
}
