/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_REGION_H
#define MPM_REGION_H

/**
 * @file
 * Regions: pieces of device memory that are one allocation each, shared by pools.
 *
 * A pool takes all its slots out of one region. Without size= the first pool's region
 * is all that the device has left; with size= it is no larger than the pool may take,
 * and what remains is there for others, also for other processes. A region is allocated
 * on a context of our own, so that it outlives the PMD's. It goes with its last pool;
 * where buffers were still out when a pool was freed, not before these are back or the
 * device has closed. All calls need the control lock held.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <memic.h>

#include "config.h"
#include "devices.h"

/** Grain of the region's map of slots: the device's own granularity. */
#define MPM_GRAIN 64u

/** Another pool has settled keys of another mode; no errno, as the kernel may say any. */
#define MPM_OTHER_MKEY 1

struct mpm_region {
	TAILQ_ENTRY(mpm_region) next;    /**< Regions that the hooks answer for. */
	LIST_ENTRY(mpm_region) of_nic;
	struct mpm_nic *nic;
	struct memic_device *dev;
	struct memic_dm *dm;
	uint8_t *base;           /**< First usable byte, aligned to MPM_GRAIN. */
	size_t len;              /**< Usable bytes. */
	uint8_t *page_base;      /**< Mapping, rounded out to whole pages. */
	size_t page_len;
	void *guard[2];          /**< Inaccessible pages before and after the mapping. */
	enum memic_mkey_mode mode; /**< Mode of all keys, settled by the first one. */
	bool settled;            /**< The mode has proved to work here. */
	bool published;          /**< The hooks answer for the region. */
	bool extmem;             /**< Known to EAL as external memory. */
	bool dma_mapped;         /**< Known to the PMD. */
	struct rte_device *eal_dev; /**< By which it is, meanwhile. */
	unsigned int shared;     /**< Place in the table of process.h plus 1; 0: none. */
	bool stuck;              /**< Could not be freed, and that was told. */
	uint8_t *grains;         /**< State of each grain. */
	size_t n_grains;
	unsigned int users;      /**< Pools that hold slots. */
	size_t used;             /**< Bytes in slots of pools. */
	size_t quarantined;      /**< Bytes in slots that never came back. */
};

/**
 * The region of a device that has most room for a pool, made where there is none that
 * has room for all of it.
 *
 * @param nic device.
 * @param rule what it says of keys and size.
 * @param stride bytes of a slot.
 * @param want number of slots wished for.
 * @param[out] region the region, one user more; give back with mpm_region_put(). It may
 *             have room for fewer slots, or for none.
 * @param[out] why sentence on failure.
 * @param why_len its size.
 * @return 0; MPM_OTHER_MKEY when the device has keys of another mode, otherwise what the
 *         failed step gave.
 */
int mpm_region_get(struct mpm_nic *nic, const struct mpm_rule *rule, size_t stride,
		   unsigned int want, struct mpm_region **region, char *why, size_t why_len);

/** One user less; the region goes when nothing needs it any more. */
void mpm_region_put(struct mpm_region *region);

/**
 * Cut slots.
 *
 * @param region region.
 * @param stride bytes of a slot, a multiple of MPM_GRAIN.
 * @param want number of slots wished for.
 * @param[out] offsets offset of each slot from the base, ascending.
 * @return number of slots cut.
 */
unsigned int mpm_region_take(struct mpm_region *region, size_t stride, unsigned int want,
			     uint32_t *offsets);

/** Whether an address is in device memory; needs no lock. */
bool mpm_region_holds(const void *addr);

/**
 * In a secondary process: where a region of the primary's is.
 *
 * @param i place in the table of process.h.
 * @param lo first usable byte.
 * @param len usable bytes; 0: it is gone.
 */
void mpm_region_elsewhere(unsigned int i, uintptr_t lo, size_t len);

/**
 * The device in whose memory an address is, or NULL; needs no lock. For the primary
 * process, as others know no devices.
 */
const struct mpm_nic *mpm_region_nic_of(const void *addr);

/**
 * Where memory of other devices than one is.
 *
 * @param nic the one, or NULL.
 * @param[out] lo the lowest address of the regions of all others.
 * @param[out] hi the address behind the highest.
 * @return whether there is any.
 */
bool mpm_region_of_others(const struct mpm_nic *nic, uintptr_t *lo, uintptr_t *hi);

/** Give a slot back. */
void mpm_region_give(struct mpm_region *region, size_t stride, uint32_t offset);

/** Set a slot aside that somebody may still write to. */
void mpm_region_quarantine(struct mpm_region *region, size_t stride, uint32_t offset);

/** A slot that was set aside has come back. */
void mpm_region_recover(struct mpm_region *region, size_t stride, uint32_t offset);

/** Try once more to free regions that nothing needs any more. */
void mpm_region_retry(void);

/** A device was closed. */
void mpm_region_device_gone(struct mpm_nic *nic);

/** At exit: free the regions whose device is closed, without a call into EAL. */
void mpm_region_exit(void);

#endif /* MPM_REGION_H */
