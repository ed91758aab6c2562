/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <dlfcn.h>
#include <stdio.h>

#include <rte_common.h>

#include "driver.h"

static struct tpm_driver driver;

static const struct {
	const char *name;
	void **fn;
} calls[] = {
	{ "rte_pmd_mlx5_memic_devices_get", (void **)&driver.devices_get },
	{ "rte_pmd_mlx5_memic_dump", (void **)&driver.dump },
	{ "rte_pmd_mlx5_memic_mbuf_on_device", (void **)&driver.mbuf_on_device },
	{ "rte_pmd_mlx5_memic_peak_reset", (void **)&driver.peak_reset },
	{ "rte_pmd_mlx5_memic_pools_get", (void **)&driver.pools_get },
	{ "rte_pmd_mlx5_memic_rule_add", (void **)&driver.rule_add },
	{ "rte_pmd_mlx5_memic_stats_get", (void **)&driver.stats_get },
};

const struct tpm_driver *
tpm_driver(void)
{
	static bool found;
	unsigned int i;
	void *lib;

	if (found)
		return &driver;
	lib = dlopen("librte_pmd_mlx5_memic.so." MEMIC_ABI, RTLD_NOW | RTLD_NOLOAD);
	if (lib == NULL)
		return NULL;
	for (i = 0; i < RTE_DIM(calls); i++) {
		*calls[i].fn = dlsym(lib, calls[i].name);
		if (*calls[i].fn == NULL) {
			dlclose(lib);
			return NULL;
		}
	}
	found = true;
	return &driver;
}

const struct tpm_driver *
tpm_driver_or_say(void)
{
	const struct tpm_driver *d = tpm_driver();

	if (d == NULL)
		printf("No figures: %s\n", TPM_NO_DRIVER);
	return d;
}
