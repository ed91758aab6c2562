/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ethdev.h>
#include <rte_string_fns.h>

#include <cmdline_parse_num.h>

#include "driver.h"
#include "pools.h"
#include "tokens.h"

/** Devices that completion knows of. */
#define DEVICES_MAX 32

static int
parse_name(cmdline_parse_token_hdr_t *token __rte_unused, const char *text, void *result,
	   unsigned int size)
{
	unsigned int n = 0;

	while (!cmdline_isendoftoken(text[n]))
		n++;
	if (n == 0 || n >= TPM_NAME_LEN || (result != NULL && n >= size))
		return -1;
	if (result != NULL)
		snprintf(result, n + 1, "%s", text);
	return n;
}

/* ---- pools ---- */

static int
pool_count(cmdline_parse_token_hdr_t *token __rte_unused)
{
	return tpm_pool_count();
}

static int
pool_name(cmdline_parse_token_hdr_t *token __rte_unused, int i, char *text, unsigned int size)
{
	return tpm_pool_name(i, text, size);
}

static int
pool_help(cmdline_parse_token_hdr_t *token __rte_unused, char *text, unsigned int size)
{
	strlcpy(text, "Name of a pool", size);
	return 0;
}

struct cmdline_token_ops tpm_token_pool = {
	.parse = parse_name,
	.complete_get_nb = pool_count,
	.complete_get_elt = pool_name,
	.get_help = pool_help,
};

/* ---- devices ---- */

static int
devices(struct rte_pmd_mlx5_memic_device *list)
{
	const struct tpm_driver *d = tpm_driver();
	int n = d == NULL ? 0 : d->devices_get(list, DEVICES_MAX, sizeof(*list));

	return RTE_MIN(n, DEVICES_MAX);
}

static int
device_count(cmdline_parse_token_hdr_t *token __rte_unused)
{
	struct rte_pmd_mlx5_memic_device list[DEVICES_MAX];

	return devices(list);
}

static int
device_name(cmdline_parse_token_hdr_t *token __rte_unused, int i, char *text, unsigned int size)
{
	struct rte_pmd_mlx5_memic_device list[DEVICES_MAX];

	if (i >= devices(list))
		return -1;
	strlcpy(text, list[i].name, size);
	return 0;
}

static int
device_help(cmdline_parse_token_hdr_t *token __rte_unused, char *text, unsigned int size)
{
	strlcpy(text, "IB name or bus address of a device", size);
	return 0;
}

struct cmdline_token_ops tpm_token_device = {
	.parse = parse_name,
	.complete_get_nb = device_count,
	.complete_get_elt = device_name,
	.get_help = device_help,
};

/* ---- ports ---- */

static struct cmdline_token_num any_number = {
	.hdr = { .ops = &cmdline_token_num_ops, .offset = 0 },
	.num_data = { .type = RTE_UINT32 },
};

static int
parse_port(cmdline_parse_token_hdr_t *token __rte_unused, const char *text, void *result,
	   unsigned int size)
{
	return cmdline_parse_num(&any_number.hdr, text, result, size);
}

static int
port_count(cmdline_parse_token_hdr_t *token __rte_unused)
{
	return rte_eth_dev_count_avail();
}

static int
port_name(cmdline_parse_token_hdr_t *token __rte_unused, int i, char *text, unsigned int size)
{
	uint16_t port;

	RTE_ETH_FOREACH_DEV(port) {
		if (i-- == 0) {
			snprintf(text, size, "%u", port);
			return 0;
		}
	}
	return -1;
}

static int
port_help(cmdline_parse_token_hdr_t *token __rte_unused, char *text, unsigned int size)
{
	strlcpy(text, "Number of a port", size);
	return 0;
}

struct cmdline_token_ops tpm_token_port = {
	.parse = parse_port,
	.complete_get_nb = port_count,
	.complete_get_elt = port_name,
	.get_help = port_help,
};
