/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_string_fns.h>

#include "driver.h"
#include "sample.h"

/* More are made between counting and asking only by other threads: try for a while. */
#define TRIES 4

static void
take_ports(struct tpm_sample *s)
{
	struct rte_eth_dev_info info;
	struct tpm_port *p;
	uint16_t id;

	RTE_ETH_FOREACH_DEV(id) {
		p = &s->ports[s->n_ports];
		memset(p, 0, sizeof(*p));
		p->id = id;
		if (rte_eth_stats_get(id, &p->stats) != 0)
			memset(&p->stats, 0, sizeof(p->stats));
		if (rte_eth_dev_info_get(id, &info) == 0 && info.device != NULL)
			strlcpy(p->device, rte_dev_name(info.device), sizeof(p->device));
		s->n_ports++;
	}
}

static void
take_pools(const struct tpm_driver *d, struct tpm_sample *s)
{
	int n = d->pools_get(NULL, 0, sizeof(*s->pools));
	int got, i;

	for (i = 0; i < TRIES && n > 0; i++) {
		free(s->pools);
		s->pools = calloc(n, sizeof(*s->pools));
		if (s->pools == NULL)
			return;
		got = d->pools_get(s->pools, n, sizeof(*s->pools));
		s->n_pools = RTE_MIN(got, n);
		if (got <= n)
			return;
		n = got;
	}
}

static void
take_devices(const struct tpm_driver *d, struct tpm_sample *s)
{
	int n = d->devices_get(NULL, 0, sizeof(*s->devices));

	if (n <= 0)
		return;
	s->devices = calloc(n, sizeof(*s->devices));
	if (s->devices != NULL)
		s->n_devices = RTE_MIN(d->devices_get(s->devices, n, sizeof(*s->devices)), n);
}

struct tpm_sample *
tpm_sample_take(void)
{
	const struct tpm_driver *d = tpm_driver();
	struct tpm_sample *s = calloc(1, sizeof(*s));
	struct timespec now;

	if (s == NULL)
		return NULL;
	clock_gettime(CLOCK_REALTIME, &now);
	s->time = now.tv_sec + now.tv_nsec / 1e9;
	s->tsc = rte_rdtsc();
	take_ports(s);
	if (d != NULL) {
		take_pools(d, s);
		take_devices(d, s);
	}
	return s;
}

void
tpm_sample_free(struct tpm_sample *s)
{
	if (s == NULL)
		return;
	free(s->pools);
	free(s->devices);
	free(s);
}

const struct rte_pmd_mlx5_memic_pool *
tpm_sample_pool(const struct tpm_sample *s, const char *name)
{
	unsigned int i;

	for (i = 0; s != NULL && i < s->n_pools; i++)
		if (strcmp(s->pools[i].name, name) == 0)
			return &s->pools[i];
	return NULL;
}

const struct tpm_port *
tpm_sample_port(const struct tpm_sample *s, uint16_t id)
{
	unsigned int i;

	for (i = 0; s != NULL && i < s->n_ports; i++)
		if (s->ports[i].id == id)
			return &s->ports[i];
	return NULL;
}

const char *
tpm_sample_ib_name(const struct tpm_sample *s, const char *address)
{
	unsigned int i;

	for (i = 0; i < s->n_devices; i++)
		if (strcmp(s->devices[i].address, address) == 0)
			return s->devices[i].name;
	return "";
}

double
tpm_sample_seconds(const struct tpm_sample *before, const struct tpm_sample *now)
{
	return (double)(now->tsc - before->tsc) / rte_get_tsc_hz();
}
