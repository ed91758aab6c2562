/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_COMPAT_H
#define MPM_COMPAT_H

/**
 * @file
 * All that depends on the DPDK release, in one place.
 *
 * Distributions ship libdpdk without the headers for drivers, yet
 * rte_vdev_register() is exported. Its structures are declared here under names of
 * our own, so that they never clash with bus_vdev_driver.h where that is installed.
 */

#include <stdint.h>

#include <rte_common.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_os.h>
#include <rte_telemetry.h>
#include <rte_version.h>

#define MPM_CACHE_ALIGNED __attribute__((aligned(RTE_CACHE_LINE_SIZE)))

/*
 * struct rte_driver, rte_device, rte_vdev_device and rte_vdev_driver. The same from
 * 22.11 to 26.03; 26.07 took the list entries out of the vdev structures and put the
 * bus into rte_driver.
 */
#if RTE_VERSION >= RTE_VERSION_NUM(26, 7, 0, 0)
#define MPM_VDEV_HAS_NEXT 0
#else
#define MPM_VDEV_HAS_NEXT 1
#endif

struct mpm_eal_driver {
	RTE_TAILQ_ENTRY(mpm_eal_driver) next;
	const char *name;
	const char *alias;
#if !MPM_VDEV_HAS_NEXT
	const struct rte_bus *bus;
#endif
};

struct mpm_eal_device {
	RTE_TAILQ_ENTRY(mpm_eal_device) next;
	const char *name;
	const char *bus_info;
	const struct mpm_eal_driver *driver;
	const struct rte_bus *bus;
	int numa_node;
	struct rte_devargs *devargs;
};

struct mpm_vdev_device {
#if MPM_VDEV_HAS_NEXT
	RTE_TAILQ_ENTRY(mpm_vdev_device) next;
#endif
	struct mpm_eal_device device;
};

struct mpm_vdev_driver {
#if MPM_VDEV_HAS_NEXT
	RTE_TAILQ_ENTRY(mpm_vdev_driver) next;
#endif
	struct mpm_eal_driver driver;
	int (*probe)(struct mpm_vdev_device *dev);
	int (*remove)(struct mpm_vdev_device *dev);
	int (*dma_map)(struct mpm_vdev_device *dev, void *addr, uint64_t iova, size_t len);
	int (*dma_unmap)(struct mpm_vdev_device *dev, void *addr, uint64_t iova, size_t len);
	uint32_t drv_flags;
};

/* Exported by librte_bus_vdev for drivers (version node INTERNAL). */
void rte_vdev_register(struct mpm_vdev_driver *driver);

/** Add an unsigned 64-bit value; the call was renamed in DPDK 23.03. */
static inline int
mpm_tel_add_u64(struct rte_tel_data *d, const char *name, uint64_t value)
{
#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)
	return rte_tel_data_add_dict_uint(d, name, value);
#else
	return rte_tel_data_add_dict_u64(d, name, value);
#endif
}

#endif /* MPM_COMPAT_H */
