/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef RTE_PMD_MLX5_MEMIC_H
#define RTE_PMD_MLX5_MEMIC_H

/**
 * @file
 * Packet pools in ConnectX on-chip memory, for applications that ask for them.
 *
 * An application needs none of this: a pool of the ops "mlx5_memic" takes device memory
 * as rules tell (devargs of the vdev mempool_mlx5_memic, environment MLX5_MEMIC). With
 * these calls it decides itself, pool by pool, and learns where its buffers are.
 *
 * No call here is for the data path but rte_pmd_mlx5_memic_mbuf_on_device(). Calls that
 * return a number return 0, or a negative errno and change nothing. All are safe to be
 * called by several threads at once, as long as no pool is freed while it is in use.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Name of the mempool ops. */
#define RTE_PMD_MLX5_MEMIC_OPS "mlx5_memic"

/** First member of a conf, by which it is known. */
#define RTE_PMD_MLX5_MEMIC_MAGIC 0x4d454d43u

/** As much device memory as the pool needs and the device has. */
#define RTE_PMD_MLX5_MEMIC_SIZE_ALL UINT64_MAX

/** Kind of memory key through which the NIC's queues reach the buffers. */
enum rte_pmd_mlx5_memic_mkey {
	RTE_PMD_MLX5_MEMIC_MKEY_AUTO, /**< KLM, then KSM: the first that frames pass through. */
	RTE_PMD_MLX5_MEMIC_MKEY_KLM,  /**< Indirect key with one entry. */
	RTE_PMD_MLX5_MEMIC_MKEY_KSM,  /**< Indirect key with an entry for each 4 KiB. */
	/** The memory's own key: puts device memory at low addresses, one page is lost. */
	RTE_PMD_MLX5_MEMIC_MKEY_DIRECT,
};

/** What becomes of a frame in device memory on a port that cannot reach it. */
enum rte_pmd_mlx5_memic_foreign {
	RTE_PMD_MLX5_MEMIC_FOREIGN_DROP,   /**< It is handed back to the sender, counted. */
	RTE_PMD_MLX5_MEMIC_FOREIGN_BOUNCE, /**< It is copied to host memory, counted. */
};

/**
 * What an application wants of a pool. To be filled by rte_pmd_mlx5_memic_conf_init()
 * first, then changed. Later versions add members at the end; the size tells which a
 * caller knows.
 */
struct rte_pmd_mlx5_memic_conf {
	uint32_t magic;   /**< RTE_PMD_MLX5_MEMIC_MAGIC. */
	uint32_t size;    /**< Bytes of the structure as the caller knows it. */
	const char *dev;  /**< IB name, PCI or auxiliary address; NULL: the only one. */
	uint64_t max_bytes; /**< Most device memory to take, in bytes. */
	uint32_t spill;   /**< 1: what does not fit is in host memory; 0: creation fails. */
	uint32_t mkey;    /**< enum rte_pmd_mlx5_memic_mkey. */
	uint32_t foreign; /**< enum rte_pmd_mlx5_memic_foreign. */
	uint32_t siblings; /**< 1: ports of other devices receive into a pool of their own. */
};

/**
 * Where the buffers of a pool are. A glance: numbers may be off by what moves meanwhile.
 * Later versions add members at the end.
 */
struct rte_pmd_mlx5_memic_stats {
	uint64_t device_bytes; /**< Device memory of the pool. */
	uint64_t host_bytes;   /**< Data rooms in host memory, bytes. */
	uint32_t device_slots; /**< Mbufs with their data room in device memory. */
	uint32_t device_free;  /**< Those of them that are in the pool now. */
	uint32_t host_slots;   /**< Mbufs with their data room in host memory. */
	uint32_t host_free;    /**< Those of them that are in the pool now. */
	char device[64];       /**< IB name of the device; "" where the pool has none. */
	uint32_t device_cached; /**< Of device_free, those in caches of lcores. */
	uint32_t device_out;    /**< Those in Rx and Tx rings, or with the application. */
	uint32_t device_peak;   /**< Most that were out or in caches at once. */
	uint32_t host_cached;   /**< Of host_free, those in caches of lcores. */
	uint32_t host_out;      /**< Those in Rx and Tx rings, or with the application. */
	uint32_t cache_size;    /**< Cache of each lcore that the application asked for. */
	uint64_t device_gets;   /**< Mbufs of the device handed out since the pool was made. */
	uint64_t host_gets;     /**< Gets served from host memory, in mbufs. */
	uint64_t foreign_dropped; /**< Frames that ports of others handed back to the sender. */
	uint64_t foreign_bounced; /**< Frames that were copied to host memory for such ports. */
	uint64_t slot_bytes;    /**< Device memory of one data room, bytes. */
};

/** A pool of the ops "mlx5_memic". */
struct rte_pmd_mlx5_memic_pool {
	char name[RTE_MEMPOOL_NAMESIZE]; /**< Name of the mempool. */
	char rule[64];         /**< Where the rule that decided came from. */
	char address[64];      /**< Bus address of the device; "" where the pool has none. */
	char mkey[16];         /**< Kind of memory key: "klm", "ksm"; "" without device. */
	char reason[256];      /**< Why the pool has no device memory; "" where it has. */
	struct rte_pmd_mlx5_memic_stats stats; /**< Last, as it may grow. */
};

/** A device that the mlx5 driver has opened, or whose memory is in use still. */
struct rte_pmd_mlx5_memic_device {
	char name[64];         /**< IB name. */
	char address[64];      /**< PCI or auxiliary bus address. */
	uint64_t max_bytes;    /**< Device memory that it says to have, in bytes. */
	uint64_t region_bytes; /**< Held by this process. */
	uint64_t used_bytes;   /**< Of that, in slots of pools. */
	uint64_t quarantined_bytes; /**< Of that, in slots of freed pools that are out. */
	uint32_t pools;        /**< Pools with slots there. */
	uint32_t open;         /**< 1: open; 0: the mlx5 driver has closed it. */
};

/**
 * Fill a conf with defaults: the only device, all that is needed, spilling, any key, no
 * way to ports of other devices.
 *
 * @param[out] conf the conf.
 */
static inline void
rte_pmd_mlx5_memic_conf_init(struct rte_pmd_mlx5_memic_conf *conf)
{
	conf->magic = RTE_PMD_MLX5_MEMIC_MAGIC;
	conf->size = sizeof(*conf);
	conf->dev = NULL;
	conf->max_bytes = RTE_PMD_MLX5_MEMIC_SIZE_ALL;
	conf->spill = 1;
	conf->mkey = RTE_PMD_MLX5_MEMIC_MKEY_AUTO;
	conf->foreign = RTE_PMD_MLX5_MEMIC_FOREIGN_DROP;
	conf->siblings = 0;
}

/**
 * Create a packet pool with buffers in device memory.
 *
 * As rte_pktmbuf_pool_create_by_ops() with the ops of this driver, but that the conf
 * decides and not the rules. The same comes of handing the conf as pool_config to
 * rte_mempool_set_ops_byname(); it must then stay valid until the pool is populated.
 * The port of the device must have been probed. Free the pool with rte_mempool_free().
 *
 * @param name name of the pool, as for rte_mempool_create().
 * @param n number of mbufs.
 * @param cache_size objects in each lcore's cache.
 * @param priv_size bytes of application data in each mbuf, a multiple of 8.
 * @param data_room_size bytes of each data room, headroom included.
 * @param socket_id NUMA socket of the host memory, or SOCKET_ID_ANY.
 * @param conf what is wanted; NULL: the defaults of rte_pmd_mlx5_memic_conf_init().
 * @return the pool, or NULL with rte_errno set: EINVAL (an argument or the conf, or
 *         several devices and none named), ENODEV (spill is 0 and no such device is
 *         open), ENOMEM (host memory; or spill is 0 and not all buffers fit into device
 *         memory), EEXIST (name taken), ENOENT (no memory on that socket), ENAMETOOLONG,
 *         E_RTE_SECONDARY, E_RTE_NO_CONFIG. The log has the reason.
 */
struct rte_mempool *rte_pmd_mlx5_memic_pool_create(const char *name, unsigned int n,
						   unsigned int cache_size, uint16_t priv_size,
						   uint16_t data_room_size, int socket_id,
						   const struct rte_pmd_mlx5_memic_conf *conf);

/**
 * Tell where the buffers of a pool are.
 *
 * @param mp pool.
 * @param[out] stats numbers.
 * @param size sizeof(*stats) of the caller; members that it does not know are left out,
 *        those that this version does not know are set to 0.
 * @return 0; -EINVAL (NULL or size 0), -ENOTSUP (not a pool of these ops).
 */
int rte_pmd_mlx5_memic_stats_get(const struct rte_mempool *mp,
				 struct rte_pmd_mlx5_memic_stats *stats, size_t size);

/**
 * List the pools of these ops and where their buffers are.
 *
 * @param[out] pools room for n of them; NULL if n is 0.
 * @param n how many there is room for.
 * @param size sizeof(*pools) of the caller, as with rte_pmd_mlx5_memic_stats_get().
 * @return number of pools there are, which may be more than n; -EINVAL (no room given
 *         for n pools, or size 0).
 */
int rte_pmd_mlx5_memic_pools_get(struct rte_pmd_mlx5_memic_pool *pools, unsigned int n,
				 size_t size);

/**
 * List the devices that pools can have buffers in.
 *
 * @param[out] devices room for n of them; NULL if n is 0.
 * @param n how many there is room for.
 * @param size sizeof(*devices) of the caller, as with rte_pmd_mlx5_memic_stats_get().
 * @return number of devices there are, which may be more than n; -EINVAL (no room given
 *         for n devices, or size 0).
 */
int rte_pmd_mlx5_memic_devices_get(struct rte_pmd_mlx5_memic_device *devices, unsigned int n,
				   size_t size);

/**
 * Start the watermark device_peak of a pool anew, from the slots that are out now.
 *
 * @param mp pool.
 * @return 0; -EINVAL (NULL), -ENOTSUP (not a pool of these ops).
 */
int rte_pmd_mlx5_memic_peak_reset(struct rte_mempool *mp);

/**
 * Print what is known of a pool, one line for each figure; names are those of telemetry.
 * After them a line for each piece of the device's memory that its slots are.
 *
 * @param f file.
 * @param mp pool.
 * @return 0; -EINVAL (NULL), -ENOTSUP (not a pool of these ops).
 */
int rte_pmd_mlx5_memic_dump(FILE *f, const struct rte_mempool *mp);

/**
 * Add a rule for the pools that are made from now on, behind the rules of vdevs and those
 * that were added before, and ahead of those of the environment.
 *
 * @param origin who gives it, for the log and the member "rule" of pools.
 * @param args the rule, as a vdev's arguments: "size=128K,pools=rx*"; "" for defaults.
 * @param[out] why what is wrong with the rule, beginning with its key=value where it is
 *        about one; "" on success.
 * @param why_len its size in bytes, more than 0.
 * @return 0; -EINVAL (the rule, or an argument is NULL), -ENOMEM. Nothing is changed then.
 */
int rte_pmd_mlx5_memic_rule_add(const char *origin, const char *args, char *why, size_t why_len);

/**
 * Whether the data of an mbuf is in device memory, which the CPU should not read.
 *
 * Right for clones and for mbufs of any pool. Looks at the first segment only. Takes no
 * lock and does not touch the data.
 *
 * @param m mbuf.
 * @return whether it is. In a secondary process always false.
 */
bool rte_pmd_mlx5_memic_mbuf_on_device(const struct rte_mbuf *m);

#ifdef __cplusplus
}
#endif

#endif /* RTE_PMD_MLX5_MEMIC_H */
