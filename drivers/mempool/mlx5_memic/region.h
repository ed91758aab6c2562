/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_REGION_H
#define MPM_REGION_H

/**
 * @file
 * One region of device memory per device, shared by pools.
 *
 * The region is allocated on a context of our own, so that it outlives the PMD's. It
 * is made for the first pool and goes with the last one; where buffers were still out
 * when a pool was freed, not before the device has closed. All calls need the control
 * lock held.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <memic.h>

#include "config.h"
#include "devices.h"

/** Grain of the region's map of slots: the device's own granularity. */
#define MPM_GRAIN 64u

struct mpm_region {
	TAILQ_ENTRY(mpm_region) next;
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
	uint8_t *grains;         /**< State of each grain. */
	size_t n_grains;
	unsigned int users;      /**< Pools that hold slots. */
	size_t used;             /**< Bytes in slots of pools. */
	size_t quarantined;      /**< Bytes in slots that never came back. */
};

/**
 * The region of a device, made if there is none.
 *
 * @param nic device.
 * @param mkey what the rule asks of keys.
 * @param least fewest bytes of use.
 * @param[out] region the region, one user more; give back with mpm_region_put().
 * @param[out] why sentence on failure.
 * @param why_len its size.
 * @return 0; -EBUSY when the region has keys of another mode, otherwise what the
 *         failed step gave.
 */
int mpm_region_get(struct mpm_nic *nic, enum mpm_mkey mkey, size_t least,
		   struct mpm_region **region, char *why, size_t why_len);

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

/** Give a slot back. */
void mpm_region_give(struct mpm_region *region, size_t stride, uint32_t offset);

/** Set a slot aside that somebody may still write to. */
void mpm_region_quarantine(struct mpm_region *region, size_t stride, uint32_t offset);

/** The device of a region was closed. */
void mpm_region_device_gone(struct mpm_region *region);

/** At exit: free the regions whose device is closed, without a call into EAL. */
void mpm_region_exit(void);

#endif /* MPM_REGION_H */
