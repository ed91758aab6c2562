/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_DEVICES_H
#define MPM_DEVICES_H

/**
 * @file
 * Devices that the mlx5 PMD opened: contexts on which it made a PD.
 *
 * All calls need the control lock held, but for the first one, which takes it.
 */

#include <stdbool.h>
#include <stddef.h>

#include <sys/queue.h>

#include <infiniband/verbs.h>

#include <memic.h>

#include <rte_dev.h>

#include "config.h"

struct mpm_region;

struct mpm_pd {
	LIST_ENTRY(mpm_pd) next;
	struct ibv_pd *pd;
};

/** Whether frames pass through a kind of key, as the probe has it. */
struct mpm_nic_way {
	bool known;
	enum memic_answer answer;
	char reason[512];
};

struct mpm_nic {
	TAILQ_ENTRY(mpm_nic) next;
	char name[MPM_DEV_NAME_LEN];    /**< IB device, as "mlx5_0". */
	char address[MPM_DEV_NAME_LEN]; /**< PCI or auxiliary bus address. */
	struct ibv_context *ctx;        /**< Context of the PMD; NULL once it was closed. */
	LIST_HEAD(mpm_pds, mpm_pd) pds; /**< PDs of the PMD; none: the device is gone. */
	LIST_HEAD(mpm_nic_regions, mpm_region) regions; /**< Device memory. */
	struct mpm_nic_way ways[MEMIC_MKEY_MODES]; /**< What the probe found out. */
	bool drained;                   /**< There was no more of it at the last try. */
};

/**
 * The PMD has got a PD.
 *
 * @return 0, or -ENOMEM after a message: then nobody knows of it.
 */
int mpm_devices_pd_made(struct ibv_pd *pd);

/**
 * The PMD's PD has gone.
 *
 * @return the device when this was its last PD, else NULL.
 */
struct mpm_nic *mpm_devices_pd_gone(struct ibv_pd *pd);

/** A PD of a context that is still known, or NULL. */
struct ibv_pd *mpm_devices_pd_left(const struct ibv_context *ctx);

/** The PMD has closed a context. */
void mpm_devices_closed(struct ibv_context *ctx);

/** Whether the PMD still has a PD on the device. */
bool mpm_nic_alive(const struct mpm_nic *nic);

/**
 * Find the device of a rule.
 *
 * @param dev IB name or address; "" for the only device.
 * @param[out] nic the device.
 * @param[out] why sentence on failure.
 * @param why_len its size.
 * @return 0; -ENODEV none such, -EINVAL several and none named.
 */
int mpm_devices_find(const char *dev, struct mpm_nic **nic, char *why, size_t why_len);

/** The open device after one, or the first after NULL; NULL at the end. */
struct mpm_nic *mpm_devices_after(const struct mpm_nic *nic);

/**
 * Call for each device, open or with regions that live on.
 *
 * @param fn callback; a return other than 0 ends the walk.
 * @param arg its argument.
 * @return what the last callback returned.
 */
int mpm_devices_walk(int (*fn)(const struct mpm_nic *nic, void *arg), void *arg);

/** The open device at a bus address, or NULL. */
const struct mpm_nic *mpm_devices_at(const char *address);

/** EAL's device of a NIC, or NULL. */
struct rte_device *mpm_nic_eal_device(const struct mpm_nic *nic);

/** Forget a device that is closed and has no region. */
void mpm_nic_put(struct mpm_nic *nic);

#endif /* MPM_DEVICES_H */
