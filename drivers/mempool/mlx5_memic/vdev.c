/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <string.h>

#include <rte_eal.h>

#include "compat.h"
#include "config.h"
#include "log.h"
#include "process.h"
#include "vdev.h"

static int
probe(struct mpm_vdev_device *dev)
{
	const char *args = dev->device.devargs == NULL ? NULL : dev->device.devargs->args;

	if (strcmp(dev->device.name, MPM_PROCESS_VDEV) == 0)
		return mpm_process_probe();
	/* a secondary process places no buffers, so rules mean nothing to it */
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return 0;
	return mpm_config_add(dev->device.name, args);
}

/* Pools that the rule has placed stay where they are. */
static int
drop(struct mpm_vdev_device *dev)
{
	mpm_config_remove(dev->device.name);
	return 0;
}

static struct mpm_vdev_driver driver = {
	.driver = { .name = "mempool_mlx5_memic" },
	.probe = probe,
	.remove = drop,
};

void
mpm_vdev_init(void)
{
	rte_vdev_register(&driver);
}
