/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>

#include <rte_common.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_memory.h>

#include <memic.h>

#include "devices.h"
#include "log.h"
#include "mr_hook.h"
#include "process.h"
#include "region.h"
#include "service.h"
#include "way.h"

/*
 * The PMD merges adjoining ranges of a pool into one registration, which no single key
 * could answer: keep other mappings from adjoining the region.
 */
static void *
guard_page(void *where, size_t page)
{
	void *p = mmap(where, page, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	/* kernels before 4.17 take the flag for a hint */
	if (p != where) {
		munmap(p, page);
		return NULL;
	}
	return p;
}

void
mpm_service_bounds(struct mpm_region *r)
{
	size_t page = sysconf(_SC_PAGESIZE);
	uint8_t *addr = memic_dm_addr(r->dm);
	uint8_t *end = addr + memic_dm_length(r->dm);

	r->base = RTE_PTR_ALIGN_CEIL(addr, MPM_GRAIN);
	r->len = RTE_ALIGN_FLOOR((size_t)(end - r->base), MPM_GRAIN);
	r->n_grains = r->len / MPM_GRAIN;
	/* the kernel maps whole pages (mlx5_ib_mmap), so the rounding stays inside */
	r->page_base = RTE_PTR_ALIGN_FLOOR(addr, page);
	r->page_len = (uint8_t *)RTE_PTR_ALIGN_CEIL(end, page) - r->page_base;
	r->guard[0] = guard_page(r->page_base - page, page);
	r->guard[1] = guard_page(r->page_base + r->page_len, page);
}

void
mpm_service_end(struct mpm_region *r)
{
	size_t page = sysconf(_SC_PAGESIZE);
	unsigned int i;

	for (i = 0; i < RTE_DIM(r->guard); i++)
		if (r->guard[i] != NULL)
			munmap(r->guard[i], page);
}

static int
tell_eal(struct mpm_region *r, char *why, size_t why_len)
{
	size_t page = sysconf(_SC_PAGESIZE);

	if (r->extmem)
		return 0;
	/* no IO addresses: only a device that works with virtual ones can use the memory */
	if (rte_extmem_register(r->page_base, r->page_len, NULL, 0, page) != 0) {
		snprintf(why, why_len, "rte_extmem_register of %zu bytes at %p: %s%s", r->page_len,
			 (void *)r->page_base, memic_errno_name(rte_errno),
			 rte_errno == EMFILE ? ": raise the limit of open files (ulimit -n)" : "");
		return -rte_errno;
	}
	r->extmem = true;
	return 0;
}

/*
 * Puts the region into the PMD's global cache, where Tx of clones and of pools that no
 * Rx queue uses finds it.
 */
static int
tell_pmd(struct mpm_region *r, char *why, size_t why_len)
{
	struct rte_device *dev;

	if (r->dma_mapped)
		return 0;
	dev = mpm_nic_eal_device(r->nic);
	if (dev == NULL) {
		snprintf(why, why_len, "no device %s on the PCI or auxiliary bus (ENODEV)",
			 r->nic->address);
		return -ENODEV;
	}
	if (rte_dev_dma_map(dev, r->page_base, (uintptr_t)r->page_base, r->page_len) != 0) {
		snprintf(why, why_len, "rte_dev_dma_map of %zu bytes at %p on %s: %s", r->page_len,
			 (void *)r->page_base, rte_dev_name(dev), rte_strerror(rte_errno));
		return rte_errno == 0 ? -EIO : -rte_errno;
	}
	r->dma_mapped = true;
	r->eal_dev = dev;
	return 0;
}

int
mpm_service_join(struct mpm_region *r, enum mpm_mkey mkey, char *why, size_t why_len)
{
	int ret;

	ret = mpm_process_share(r, why, why_len);
	if (ret != 0)
		return ret;
	if (!r->published) {
		mpm_keys_publish(r);
		r->published = true;
	}
	ret = mpm_way_settle(r, mkey, why, why_len);
	if (ret == 0)
		ret = tell_eal(r, why, why_len);
	if (ret == 0)
		ret = tell_pmd(r, why, why_len);
	return ret;
}

void
mpm_service_untell_pmd(struct mpm_region *r)
{
	struct rte_device *dev = r->eal_dev;

	/* with the PD went the PMD's cache; before, EAL does not give up the device */
	if (!r->dma_mapped || !mpm_nic_alive(r->nic))
		return;
	/* not looked up again: there may be no memory for that, and then the PMD keeps the range */
	if (rte_dev_is_probed(dev) != 0 &&
	    rte_dev_dma_unmap(dev, r->page_base, (uintptr_t)r->page_base, r->page_len) != 0)
		MPM_LOG(WARNING, "rte_dev_dma_unmap of %zu bytes at %p on %s: %s", r->page_len,
			(void *)r->page_base, r->nic->address, rte_strerror(rte_errno));
	r->dma_mapped = false;
}

void
mpm_service_untell_eal(struct mpm_region *r)
{
	if (!r->extmem)
		return;
	if (rte_extmem_unregister(r->page_base, r->page_len) != 0)
		MPM_LOG(WARNING, "rte_extmem_unregister of %zu bytes at %p: %s", r->page_len,
			(void *)r->page_base, rte_strerror(rte_errno));
	r->extmem = false;
}
