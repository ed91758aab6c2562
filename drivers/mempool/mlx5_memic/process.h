/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_PROCESS_H
#define MPM_PROCESS_H

/**
 * @file
 * Primary and secondary processes.
 *
 * Pools and what get and put need are in EAL's shared memory. Regions, keys, hooks and
 * devices are the primary's: a secondary maps the device memory of each region at the
 * address that it has in the primary, and that is all. What it needs for that is in a
 * table in shared memory, but for the descriptor of the device's file, which it asks the
 * primary for. Of regions that come later the primary hands it the descriptor, and a
 * region is used only once all secondaries have mapped it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_mempool.h>

#include "config.h"

struct memic_dm;
struct mpm_region;

/** Said where MLX5_IB_METHOD_DM_QUERY is missing. */
#define MPM_NO_QUERY ": the kernel does not say where in the device's file the memory is; " \
	"linux 5.13 does"

/** The device by which EAL calls when it starts; secondaries hear of it from the primary. */
#define MPM_PROCESS_VDEV "mempool_mlx5_memic_processes"
/** Memzone of the table, and name of the messages. */
#define MPM_PROCESS_NAME "mlx5_memic"
/** Most regions; pages of the BAR (dm.c in the kernel's mlx5_ib). */
#define MPM_REGIONS_MAX 256

struct mpm_shared_region {
	uint64_t number;         /**< Differs for all regions there ever were; 0: none here. */
	uint64_t addr;           /**< Where the mapping starts in all processes. */
	uint64_t bytes;          /**< Of the mapping; 0: nobody else can have one. */
	uint64_t offset;         /**< In the device's file. */
	uint64_t base;           /**< First usable byte. */
	uint64_t len;            /**< Usable bytes. */
	char nic[MPM_DEV_NAME_LEN];
};

struct mpm_shared {
	uint32_t magic;          /**< MPM_POOL_MAGIC. */
	uint32_t pool_size;      /**< Bytes of a struct mpm_pool: another build has another. */
	uint64_t thunks;         /**< Address of the page; 0: there is none. */
	uint32_t n_ops;
	char ops[RTE_MEMPOOL_MAX_OPS_IDX][RTE_MEMPOOL_OPS_NAMESIZE]; /**< By index. */
	struct mpm_shared_region regions[MPM_REGIONS_MAX];
};

/** Orders between the processes; the answer is the same with a result. */
enum mpm_order {
	MPM_ORDER_FD,     /**< Secondary to primary: the descriptor of a region's file. */
	MPM_ORDER_MAP,    /**< Primary to secondaries, with the descriptor. */
	MPM_ORDER_UNMAP,  /**< Primary to secondaries. */
};

struct mpm_message {
	uint32_t order;
	int32_t result;          /**< 0 or a negative errno. */
	uint32_t index;          /**< Place in the table. */
	uint64_t number;
};

/** Have EAL call mpm_process_probe() when it starts, where there can be secondaries. */
void mpm_process_init(void);

/**
 * EAL has started. In a secondary the device memory of all regions is mapped after this;
 * where that is not possible the process ends.
 */
int mpm_process_probe(void);

/* ---- in the primary, with the control lock held ---- */

/**
 * Map an allocation where other processes will have nothing else, if there can be any.
 * Where that fails it stays where it is.
 */
void mpm_process_place(struct memic_dm *dm);

/**
 * Have all secondaries map a region, those to come, too. Again does nothing.
 *
 * @return 0; otherwise what failed in one of them, and the region must not be used.
 */
int mpm_process_share(struct mpm_region *r, char *why, size_t why_len);

/**
 * Have all secondaries unmap a region.
 *
 * @param r region.
 * @param eal EAL and its memory are still there.
 */
void mpm_process_unshare(struct mpm_region *r, bool eal);

/* ---- in secondaries (attach.c) ---- */

/** Map what the table has; ends the process where that fails. */
void mpm_attach(const struct mpm_shared *shared);
/** Follow an order of the primary. */
int mpm_attach_order(const struct mpm_message *msg, int fd);

/* ---- pools that this process cannot use ---- */

/** Why a pool is refused is said once. */
void mpm_process_refuse(const struct rte_mempool *mp);

#endif /* MPM_PROCESS_H */
