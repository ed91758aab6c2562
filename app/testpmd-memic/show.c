/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ethdev.h>
#include <rte_mempool.h>

#include "driver.h"
#include "pools.h"
#include "sample.h"
#include "show.h"
#include "table.h"

/* ---- devices ---- */

static void
devices(const struct tpm_sample *s)
{
	static const char *const heads[] = {
		"<device", "<address", "memory [B]", "held [B]", "in slots [B]",
		"quarantined [B]", "pools", "<state",
	};
	const struct rte_pmd_mlx5_memic_device *d;
	struct tpm_table *t;
	unsigned int i;

	if (s->n_devices == 0) {
		printf("No device: the mlx5 driver has opened none.\n");
		return;
	}
	t = tpm_table_new(heads, RTE_DIM(heads));
	for (i = 0; i < s->n_devices; i++) {
		d = &s->devices[i];
		tpm_table_cell(t, "%s", d->name);
		tpm_table_cell(t, "%s", d->address);
		tpm_table_cell(t, "%" PRIu64, d->max_bytes);
		tpm_table_cell(t, "%" PRIu64, d->region_bytes);
		tpm_table_cell(t, "%" PRIu64, d->used_bytes);
		tpm_table_cell(t, "%" PRIu64, d->quarantined_bytes);
		tpm_table_cell(t, "%" PRIu32, d->pools);
		tpm_table_cell(t, "%s", d->open ? "open" : "closed");
	}
	tpm_table_print(t);
}

void
tpm_show_devices(void)
{
	struct tpm_sample *s;

	if (tpm_driver_or_say() == NULL)
		return;
	s = tpm_sample_take();
	if (s != NULL)
		devices(s);
	tpm_sample_free(s);
}

/* ---- pools ---- */

static void
add_pool(struct tpm_table *t, const struct rte_pmd_mlx5_memic_pool *p)
{
	const struct rte_pmd_mlx5_memic_stats *s = &p->stats;

	tpm_table_cell(t, "%s", p->name);
	tpm_table_cell(t, "%s", s->device_slots == 0 ? "-" : s->device);
	tpm_table_cell(t, "%s", s->device_slots == 0 ? "-" : p->mkey);
	tpm_table_cell(t, "%" PRIu64, s->slot_bytes);
	tpm_table_cell(t, "%" PRIu32, s->device_slots);
	tpm_table_cell(t, "%" PRIu32, s->device_free);
	tpm_table_cell(t, "%" PRIu32, s->device_out);
	tpm_table_cell(t, "%" PRIu32, s->device_peak);
	tpm_table_cell(t, "%" PRIu32, s->host_slots);
	tpm_table_cell(t, "%" PRIu32, s->host_free);
	tpm_table_cell(t, "%" PRIu32, s->host_out);
}

static struct tpm_table *
pool_table(void)
{
	static const char *const heads[] = {
		"<pool", "<device", "<key", "slot [B]", "slots", "free", "out", "peak",
		"host mbufs", "host free", "host out",
	};

	return tpm_table_new(heads, RTE_DIM(heads));
}

/* Of one device's pools on another device's ports; where there are none this says nothing. */
static void
foreign(const struct tpm_sample *s)
{
	static const char *const heads[] = {
		"<pool", "foreign dropped [frames]", "foreign bounced [frames]",
	};
	struct tpm_table *t = NULL;
	unsigned int i;

	for (i = 0; i < s->n_pools; i++) {
		const struct rte_pmd_mlx5_memic_stats *p = &s->pools[i].stats;

		if (p->foreign_dropped == 0 && p->foreign_bounced == 0)
			continue;
		if (t == NULL)
			t = tpm_table_new(heads, RTE_DIM(heads));
		tpm_table_cell(t, "%s", s->pools[i].name);
		tpm_table_cell(t, "%" PRIu64, p->foreign_dropped);
		tpm_table_cell(t, "%" PRIu64, p->foreign_bounced);
	}
	tpm_table_print(t);
}

static void
pools(const struct tpm_sample *s)
{
	struct tpm_table *t;
	unsigned int i;

	if (s->n_pools == 0) {
		printf("No pool of the mempool ops " RTE_PMD_MLX5_MEMIC_OPS ": give a flag "
		       "--memic-*, as --memic-size=all, or EAL --mbuf-pool-ops-name="
		       RTE_PMD_MLX5_MEMIC_OPS ".\n");
		return;
	}
	t = pool_table();
	for (i = 0; i < s->n_pools; i++)
		add_pool(t, &s->pools[i]);
	tpm_table_print(t);
	for (i = 0; i < s->n_pools; i++)
		if (s->pools[i].reason[0] != '\0')
			printf("  %s: in host memory: %s\n", s->pools[i].name,
			       s->pools[i].reason);
	foreign(s);
}

void
tpm_show_pool(const char *name)
{
	const struct rte_pmd_mlx5_memic_pool *p;
	struct tpm_table *t;
	struct tpm_sample *s;

	if (tpm_driver_or_say() == NULL || tpm_pool_find(name) == NULL)
		return;
	s = tpm_sample_take();
	p = tpm_sample_pool(s, name);
	if (p == NULL) {
		printf("Pool %s is none of the mempool ops " RTE_PMD_MLX5_MEMIC_OPS ": all its "
		       "mbufs are in host memory.\n", name);
	} else {
		t = pool_table();
		add_pool(t, p);
		tpm_table_print(t);
		printf("  rule: %s, cache of each lcore: %" PRIu32 " mbufs\n",
		       p->rule[0] == '\0' ? "none" : p->rule, p->stats.cache_size);
		printf("  device memory: %" PRIu64 " B, host memory: %" PRIu64 " B, %s%s\n",
		       p->stats.device_bytes, p->stats.host_bytes,
		       p->stats.device_slots != 0 ? "at " : "none on a device: ",
		       p->stats.device_slots != 0 ? p->address : p->reason);
		printf("  gets: %" PRIu64 " with a slot, %" PRIu64 " without\n",
		       p->stats.device_gets, p->stats.host_gets);
		printf("  on ports of other devices: %" PRIu64 " frames dropped, %" PRIu64
		       " bounced\n", p->stats.foreign_dropped, p->stats.foreign_bounced);
	}
	tpm_sample_free(s);
}

/* ---- ports ---- */

static void
ports(const struct tpm_sample *s)
{
	static const char *const heads[] = {
		"port", "<bus address", "<device", "rx queues", "tx queues", "rx packets",
		"tx packets", "missed", "no mbuf",
	};
	struct rte_eth_dev_info info;
	const struct tpm_port *p;
	struct tpm_table *t;
	unsigned int i;

	if (s->n_ports == 0) {
		printf("No port.\n");
		return;
	}
	t = tpm_table_new(heads, RTE_DIM(heads));
	for (i = 0; i < s->n_ports; i++) {
		p = &s->ports[i];
		if (rte_eth_dev_info_get(p->id, &info) != 0)
			memset(&info, 0, sizeof(info));
		tpm_table_cell(t, "%u", p->id);
		tpm_table_cell(t, "%s", p->device);
		tpm_table_cell(t, "%s", tpm_sample_ib_name(s, p->device));
		tpm_table_cell(t, "%u", info.nb_rx_queues);
		tpm_table_cell(t, "%u", info.nb_tx_queues);
		tpm_table_cell(t, "%" PRIu64, p->stats.ipackets);
		tpm_table_cell(t, "%" PRIu64, p->stats.opackets);
		tpm_table_cell(t, "%" PRIu64, p->stats.imissed);
		tpm_table_cell(t, "%" PRIu64, p->stats.rx_nombuf);
	}
	tpm_table_print(t);
}

static void
add_queue_pool(struct tpm_table *t, const struct tpm_sample *s, const struct tpm_port *port,
	       const struct rte_mempool *mp)
{
	const struct rte_pmd_mlx5_memic_pool *p = mp == NULL ? NULL : tpm_sample_pool(s, mp->name);

	tpm_table_cell(t, "%s", mp == NULL ? "-" : mp->name);
	tpm_table_cell(t, "%" PRIu32, p == NULL ? 0 : p->stats.device_slots);
	if (mp == NULL)
		tpm_table_cell(t, "one pool for each segment");
	else if (p == NULL || p->stats.device_slots == 0)
		tpm_table_cell(t, "host");
	else if (strcmp(p->address, port->device) != 0)
		tpm_table_cell(t, "another device's: %s", p->stats.device);
	else
		tpm_table_cell(t, "%s%s", p->stats.device,
			       p->stats.host_slots == 0 ? "" : ", then host");
}

static void
queues(const struct tpm_sample *s, const struct tpm_port *port, unsigned int rx, unsigned int tx)
{
	static const char *const heads[] = {
		"queue", "rx ring", "tx ring", "<pool", "slots", "<memory",
	};
	struct tpm_table *t = tpm_table_new(heads, RTE_DIM(heads));
	struct rte_eth_rxq_info rxq;
	struct rte_eth_txq_info txq;
	unsigned int q;

	for (q = 0; q < RTE_MAX(rx, tx); q++) {
		if (q >= rx || rte_eth_rx_queue_info_get(port->id, q, &rxq) != 0)
			memset(&rxq, 0, sizeof(rxq));
		if (q >= tx || rte_eth_tx_queue_info_get(port->id, q, &txq) != 0)
			memset(&txq, 0, sizeof(txq));
		tpm_table_cell(t, "%u", q);
		tpm_table_cell(t, "%u", rxq.nb_desc);
		tpm_table_cell(t, "%u", txq.nb_desc);
		if (rxq.nb_desc != 0) {
			add_queue_pool(t, s, port, rxq.mp);
			continue;
		}
		tpm_table_cell(t, "-");
		tpm_table_cell(t, "0");
		tpm_table_cell(t, "no rx queue");
	}
	tpm_table_print(t);
}

void
tpm_show_port(uint32_t id)
{
	struct rte_eth_dev_info info;
	const struct tpm_port *port;
	struct tpm_sample *s;
	const char *ib;

	if (tpm_driver_or_say() == NULL)
		return;
	s = tpm_sample_take();
	port = id > UINT16_MAX ? NULL : tpm_sample_port(s, id);
	if (port == NULL || rte_eth_dev_info_get(port->id, &info) != 0) {
		printf("There is no port %" PRIu32 ".\n", id);
	} else {
		ib = tpm_sample_ib_name(s, port->device);
		printf("  port %u: %s, %s%s\n", port->id, port->device,
		       ib[0] == '\0' ? "no device of the mlx5 driver" : ib,
		       RTE_MAX(info.nb_rx_queues, info.nb_tx_queues) == 0 ? ", no queue" : "");
		queues(s, port, info.nb_rx_queues, info.nb_tx_queues);
	}
	tpm_sample_free(s);
}

void
tpm_show_all(void)
{
	struct tpm_sample *s;

	if (tpm_driver_or_say() == NULL)
		return;
	s = tpm_sample_take();
	if (s == NULL)
		return;
	devices(s);
	pools(s);
	ports(s);
	tpm_sample_free(s);
}

void
tpm_show_dump(const char *name)
{
	const struct tpm_driver *d = tpm_driver_or_say();
	struct rte_mempool *mp = d == NULL ? NULL : tpm_pool_find(name);

	if (mp == NULL)
		return;
	rte_mempool_dump(stdout, mp);
	if (d->dump(stdout, mp) != 0)
		printf("Pool %s is none of the mempool ops " RTE_PMD_MLX5_MEMIC_OPS ": all its "
		       "mbufs are in host memory.\n", name);
}
