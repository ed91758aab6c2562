/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "config.h"

/* A driver that says of rules it refuses that it took them. */

int __real_mpm_config_add(const char *origin, const char *args);
int __wrap_mpm_config_add(const char *origin, const char *args);

int
__wrap_mpm_config_add(const char *origin, const char *args)
{
	__real_mpm_config_add(origin, args);
	return 0;
}
