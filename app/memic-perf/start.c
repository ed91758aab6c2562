/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/* Starting a port whose Rx queue is given a pool of many mbufs. */

#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include "perf.h"

#define RING 256u
#define MBUFS 65536u
#define MBUFS_QUICK 4096u

struct subject {
	const char *ops;
	uint16_t port;
	unsigned int mbufs;
	unsigned int device_slots;
};

static int
start_port(uint16_t port, struct rte_mempool *mp)
{
	const struct rte_eth_conf conf = { 0 };
	int ret;

	ret = rte_eth_dev_configure(port, 1, 1, &conf);
	if (ret == 0)
		ret = rte_eth_rx_queue_setup(port, 0, RING, SOCKET_ID_ANY, NULL, mp);
	if (ret == 0)
		ret = rte_eth_tx_queue_setup(port, 0, RING, SOCKET_ID_ANY, NULL);
	if (ret == 0)
		ret = rte_eth_dev_start(port);
	if (ret != 0)
		fprintf(stderr, "port %u does not start: %s\n", port, rte_strerror(-ret));
	return ret;
}

/* From the pool's creation to the port's start, in milliseconds. */
static double
run(void *arg)
{
	struct subject *s = arg;
	struct rte_mempool *mp;
	uint64_t start, end;
	int ret;

	start = rte_rdtsc_precise();
	mp = pool_make(s->ops, s->mbufs, 256, RTE_MBUF_DEFAULT_BUF_SIZE, SPILL_NONE);
	if (mp == NULL)
		return -1;
	ret = start_port(s->port, mp);
	end = rte_rdtsc_precise();
	s->device_slots = strcmp(s->ops, OPS_MEMIC) == 0 ? pool_device_slots(mp) : 0;
	if (ret == 0)
		rte_eth_dev_stop(s->port);
	/* gives back the mbufs in the rings before their pool goes */
	rte_eth_dev_configure(s->port, 0, 0, &(struct rte_eth_conf){ 0 });
	pool_free(mp);
	return ret == 0 ? (double)(end - start) * 1e3 / rte_get_tsc_hz() : -1;
}

static int
start_with(uint16_t port, unsigned int mbufs)
{
	struct subject s[] = { { OPS_RING, port, mbufs, 0 }, { OPS_MEMIC, port, mbufs, 0 } };
	struct variant v[RTE_DIM(s)];
	unsigned int i;

	for (i = 0; i < RTE_DIM(s); i++)
		v[i] = (struct variant){ .name = s[i].ops, .run = run, .arg = &s[i] };
	if (rounds_run("start", v, RTE_DIM(s), perf_options.quick ? 1 : 7) != 0)
		return PERF_FAILED;
	for (i = 0; i < RTE_DIM(s); i++) {
		result_begin("start");
		result_string("ops", v[i].name);
		result_integer("cache", 256);
		result_integer("mbufs", mbufs);
		result_number("spill", 1 - (double)s[i].device_slots / mbufs);
		if (strcmp(s[i].ops, OPS_MEMIC) == 0)
			result_integer("device_slots", s[i].device_slots);
		report_device_slots += s[i].device_slots;
		result_variant("milliseconds", &v[i], "ratio_to_ring");
		result_end();
	}
	return PERF_OK;
}

int
test_start(void)
{
	uint16_t port = rte_eth_find_next(0);
	unsigned int i;

	if (port == RTE_MAX_ETHPORTS) {
		fprintf(stderr, "start: EAL knows no port, nothing is measured\n");
		return PERF_NOTHING;
	}
	if (perf_options.n_sizes == 0)
		return start_with(port, perf_options.quick ? MBUFS_QUICK : MBUFS);
	for (i = 0; i < perf_options.n_sizes; i++)
		if (start_with(port, perf_options.sizes[i]) != PERF_OK)
			return PERF_FAILED;
	return PERF_OK;
}
