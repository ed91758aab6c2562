/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "log.h"
#include "mr_hook.h"
#include "process.h"
#include "region.h"
#include "service.h"
#include "wake.h"
#include "way.h"

enum grain {
	GRAIN_FREE,
	GRAIN_USED,
	GRAIN_QUARANTINED,
};

/** Regions that exist, for the end of the process. */
static struct mpm_region *all[MPM_REGIONS_MAX];

/** Where they are, for readers without the lock; a length of 0 is a free place. */
static struct {
	uintptr_t lo;
	size_t len;
	const struct mpm_nic *nic; /* NULL in a secondary process */
} ranges[MPM_REGIONS_MAX];
static unsigned int n_ranges; /* places that were ever in use */

/* ---- slots ---- */

/* Find slots from the start of the region on; offsets may be NULL. */
static unsigned int
find_slots(const struct mpm_region *r, size_t stride, unsigned int want, uint32_t *offsets)
{
	size_t need = stride / MPM_GRAIN;
	unsigned int got = 0;
	size_t run = 0;
	size_t i;

	for (i = 0; i < r->n_grains && got < want; i++) {
		run = r->grains[i] == GRAIN_FREE ? run + 1 : 0;
		if (run < need)
			continue;
		if (offsets != NULL)
			offsets[got] = (i + 1 - need) * MPM_GRAIN;
		got++;
		run = 0;
	}
	return got;
}

unsigned int
mpm_region_take(struct mpm_region *r, size_t stride, unsigned int want, uint32_t *offsets)
{
	unsigned int got = find_slots(r, stride, want, offsets);
	unsigned int i;

	for (i = 0; i < got; i++)
		memset(&r->grains[offsets[i] / MPM_GRAIN], GRAIN_USED, stride / MPM_GRAIN);
	r->used += got * stride;
	return got;
}

static void
mark(struct mpm_region *r, size_t stride, uint32_t offset, enum grain state)
{
	memset(&r->grains[offset / MPM_GRAIN], state, stride / MPM_GRAIN);
	r->used -= stride;
}

void
mpm_region_give(struct mpm_region *r, size_t stride, uint32_t offset)
{
	mark(r, stride, offset, GRAIN_FREE);
}

void
mpm_region_quarantine(struct mpm_region *r, size_t stride, uint32_t offset)
{
	mark(r, stride, offset, GRAIN_QUARANTINED);
	r->quarantined += stride;
}

void
mpm_region_recover(struct mpm_region *r, size_t stride, uint32_t offset)
{
	memset(&r->grains[offset / MPM_GRAIN], GRAIN_FREE, stride / MPM_GRAIN);
	r->quarantined -= stride;
}

/* ---- life ---- */

static int
remember(struct mpm_region *r)
{
	unsigned int i;

	for (i = 0; i < MPM_REGIONS_MAX; i++) {
		if (all[i] == NULL) {
			all[i] = r;
			return 0;
		}
	}
	return -ENOSPC;
}

void
mpm_region_elsewhere(unsigned int i, uintptr_t lo, size_t len)
{
	if (len != 0)
		__atomic_store_n(&ranges[i].lo, lo, __ATOMIC_RELAXED);
	__atomic_store_n(&ranges[i].len, len, __ATOMIC_RELEASE);
	if (i >= n_ranges)
		__atomic_store_n(&n_ranges, i + 1, __ATOMIC_RELEASE);
}

static void
set_range(const struct mpm_region *r, size_t len)
{
	unsigned int i;

	for (i = 0; i < MPM_REGIONS_MAX; i++) {
		if (all[i] != r)
			continue;
		__atomic_store_n(&ranges[i].nic, r->nic, __ATOMIC_RELAXED);
		mpm_region_elsewhere(i, (uintptr_t)r->base, len);
	}
}

/*
 * Place of the range that an address is in, or -1. Whoever asks holds an mbuf, so its
 * region, if any, neither comes nor goes meanwhile.
 */
static int
range_of(const void *addr)
{
	unsigned int n = __atomic_load_n(&n_ranges, __ATOMIC_ACQUIRE);
	size_t len;
	unsigned int i;

	for (i = 0; i < n; i++) {
		len = __atomic_load_n(&ranges[i].len, __ATOMIC_ACQUIRE);
		if ((uintptr_t)addr - __atomic_load_n(&ranges[i].lo, __ATOMIC_RELAXED) < len)
			return (int)i;
	}
	return -1;
}

const struct mpm_nic *
mpm_region_nic_of(const void *addr)
{
	int i = range_of(addr);

	return i < 0 ? NULL : __atomic_load_n(&ranges[i].nic, __ATOMIC_RELAXED);
}

bool
mpm_region_holds(const void *addr)
{
	return range_of(addr) >= 0;
}

bool
mpm_region_of_others(const struct mpm_nic *nic, uintptr_t *lo, uintptr_t *hi)
{
	const struct mpm_region *r;
	unsigned int i;

	*lo = UINTPTR_MAX;
	*hi = 0;
	for (i = 0; i < MPM_REGIONS_MAX; i++) {
		r = all[i];
		if (r == NULL || r->nic == nic || r->base == NULL)
			continue;
		*lo = RTE_MIN(*lo, (uintptr_t)r->base);
		*hi = RTE_MAX(*hi, (uintptr_t)r->base + r->len);
	}
	return *hi != 0;
}

static void
forget(struct mpm_region *r)
{
	unsigned int i;

	for (i = 0; i < MPM_REGIONS_MAX; i++)
		if (all[i] == r)
			all[i] = NULL;
}

/* A region that cannot be freed stays with its device, to be tried again or used again. */
static void
region_destroy(struct mpm_region *r, bool eal)
{
	struct mpm_nic *nic = r->nic;

	if (eal)
		mpm_service_untell_pmd(r);
	if (r->published && mpm_keys_withdraw(r) != 0)
		return;
	r->published = false;
	mpm_process_unshare(r, eal);
	if (eal)
		mpm_service_untell_eal(r);
	if (memic_dm_free(r->dm) != 0) {
		/* once: what is given up is met at each later try */
		if (!r->stuck)
			MPM_LOG(ERR, "%s: %zu bytes of device memory stay for another try: %s",
				nic->name, r->len, memic_last_error());
		r->stuck = true;
		return;
	}
	if (memic_device_close(r->dev) != 0)
		MPM_LOG(WARNING, "%s: %s", nic->name, memic_last_error());
	mpm_wake_region_gone(r);
	set_range(r, 0);
	mpm_service_end(r);
	forget(r);
	free(r->grains);
	LIST_REMOVE(r, of_nic);
	nic->drained = false;
	free(r);
	mpm_nic_put(nic);
}

/* A size of 0 is common: many VFs, and firmware that was told so. */
static int
check_caps(const struct mpm_region *r, size_t least, char *why, size_t why_len)
{
	const struct memic_caps *caps = memic_device_caps(r->dev);

	if (!caps->memic || caps->max_dm_size == 0) {
		snprintf(why, why_len, "%s (%s) has no device memory (EOPNOTSUPP)", r->nic->name,
			 r->nic->address);
		return -EOPNOTSUPP;
	}
	if (caps->max_dm_size < least) {
		snprintf(why, why_len, "%s (%s) has %" PRIu64 " bytes of device memory, one buffer "
			 "takes %zu (ENOMEM)", r->nic->name, r->nic->address, caps->max_dm_size,
			 least);
		return -ENOMEM;
	}
	return 0;
}

static int
region_alloc(struct mpm_region *r, enum mpm_mkey mkey, size_t least, size_t most, char *why,
	     size_t why_len)
{
	size_t lost = mpm_way_lost(mkey);
	uint64_t max;
	int ret;

	ret = memic_device_adopt(r->nic->ctx, &r->dev);
	if (ret != 0)
		goto err_explain;
	ret = check_caps(r, least + lost, why, why_len);
	if (ret != 0)
		goto err_close;
	max = memic_device_caps(r->dev)->max_dm_size;
	ret = memic_dm_alloc_most(r->dev, RTE_MIN(most, max - lost) + lost, least + lost, &r->dm);
	if (ret != 0) {
		snprintf(why, why_len, "%s", memic_last_error());
		goto err_close;
	}
	/* where addresses are offsets there is no choice */
	if (mkey != MPM_MKEY_DIRECT)
		mpm_process_place(r->dm);
	ret = mpm_way_prepare(r, mkey, why, why_len);
	if (ret != 0)
		goto err_free_dm;
	mpm_service_bounds(r);
	set_range(r, r->len);
	r->grains = calloc(r->n_grains, sizeof(*r->grains));
	if (r->grains == NULL) {
		snprintf(why, why_len, "no memory for a map of slots (ENOMEM)");
		ret = -ENOMEM;
		goto err_free_dm;
	}
	return 0;

err_free_dm:
	set_range(r, 0);
	mpm_service_end(r);
	memic_dm_free(r->dm);
err_close:
	memic_device_close(r->dev);
	return ret;
err_explain:
	snprintf(why, why_len, "%s", memic_last_error());
	return ret;
}

static void
tell_shortage(const struct mpm_region *r, size_t most)
{
	uint64_t max = memic_device_caps(r->dev)->max_dm_size - mpm_way_lost_of(r);

	if (r->len < RTE_MIN(most, max))
		MPM_LOG(WARNING, "%s (%s): %zu of %" PRIu64 " bytes of device memory could be had "
			"(ENOMEM): other processes, pools or firmware hold the rest, or it lies in "
			"pieces",
			r->nic->name, r->nic->address, r->len, RTE_MIN(most, max));
}

static int
region_new(struct mpm_nic *nic, enum mpm_mkey mkey, size_t least, size_t most,
	   struct mpm_region **out, char *why, size_t why_len)
{
	struct mpm_region *r = calloc(1, sizeof(*r));
	int ret;

	if (r == NULL || remember(r) != 0) {
		snprintf(why, why_len, "no memory for one more region (ENOMEM)");
		free(r);
		return -ENOMEM;
	}
	r->nic = nic;
	ret = region_alloc(r, mkey, least, most, why, why_len);
	if (ret != 0) {
		forget(r);
		free(r);
		return ret;
	}
	LIST_INSERT_HEAD(&nic->regions, r, of_nic);
	ret = mpm_service_join(r, mkey, why, why_len);
	if (ret != 0) {
		region_destroy(r, true);
		return ret;
	}
	MPM_LOG(INFO, "%s (%s): %zu bytes of device memory at %p, %s keys", nic->name, nic->address,
		r->len, (void *)r->base, memic_mkey_mode_name(r->mode));
	*out = r;
	return 0;
}

static bool
other_mode(const struct mpm_region *r, enum mpm_mkey mkey)
{
	return r->settled && mkey != MPM_MKEY_AUTO &&
		strcmp(mpm_mkey_name(mkey), memic_mkey_mode_name(r->mode)) != 0;
}

/* One more region, used if it has more room than the best of those there are. */
static int
region_add(struct mpm_nic *nic, const struct mpm_rule *rule, size_t stride, unsigned int want,
	   struct mpm_region **best, char *why, size_t why_len)
{
	size_t most = rule->size == MPM_SIZE_ALL ? SIZE_MAX : want * stride;
	struct mpm_region *r;
	int ret;

	/* a search takes dozens of calls: not for each pool that spills */
	if (*best != NULL && nic->drained)
		return 0;
	ret = region_new(nic, rule->mkey, stride, most, &r, why, why_len);
	nic->drained = ret != 0 || most == SIZE_MAX || r->len < most;
	if (ret != 0)
		return *best == NULL ? ret : 0;
	if (*best == NULL) {
		tell_shortage(r, most);
	} else if (find_slots(r, stride, want, NULL) <= find_slots(*best, stride, want, NULL)) {
		region_destroy(r, true);
		return 0;
	}
	*best = r;
	return 0;
}

int
mpm_region_get(struct mpm_nic *nic, const struct mpm_rule *rule, size_t stride, unsigned int want,
	       struct mpm_region **out, char *why, size_t why_len)
{
	struct mpm_region *r, *best = NULL;
	unsigned int n, most = 0;
	int ret;

	LIST_FOREACH(r, &nic->regions, of_nic) {
		if (other_mode(r, rule->mkey)) {
			snprintf(why, why_len, "mkey=%s, but another pool has settled %s keys for "
				 "the device memory of %s: give both rules the same mkey=",
				 mpm_mkey_name(rule->mkey), memic_mkey_mode_name(r->mode),
				 nic->name);
			return MPM_OTHER_MKEY;
		}
		n = find_slots(r, stride, want, NULL);
		if (best == NULL || n > most) {
			best = r;
			most = n;
		}
	}
	if (most < want) {
		ret = region_add(nic, rule, stride, want, &best, why, why_len);
		if (ret != 0)
			return ret;
	}
	/* one that was left behind by a failure may have to be brought back */
	ret = mpm_service_join(best, rule->mkey, why, why_len);
	if (ret != 0)
		return ret;
	best->users++;
	*out = best;
	return 0;
}

/* Somebody may still write to a quarantined slot as long as the device is open. */
static void
region_reap(struct mpm_region *r)
{
	if (r->users == 0 && (r->quarantined == 0 || !mpm_nic_alive(r->nic)))
		region_destroy(r, true);
}

void
mpm_region_retry(void)
{
	unsigned int i;

	for (i = 0; i < MPM_REGIONS_MAX; i++)
		if (all[i] != NULL)
			region_reap(all[i]);
}

void
mpm_region_put(struct mpm_region *r)
{
	r->users--;
	region_reap(r);
}

void
mpm_region_device_gone(struct mpm_nic *nic)
{
	struct mpm_region *r, *after;

	for (r = LIST_FIRST(&nic->regions); r != NULL; r = after) {
		after = LIST_NEXT(r, of_nic);
		r->dma_mapped = false;
		region_reap(r);
	}
}

void
mpm_region_exit(void)
{
	unsigned int i;

	/* where the PMD's PD lives its queues do too, and the kernel takes all at once */
	for (i = 0; i < MPM_REGIONS_MAX; i++)
		if (all[i] != NULL && !mpm_nic_alive(all[i]->nic))
			region_destroy(all[i], false);
}
