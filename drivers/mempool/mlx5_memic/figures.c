/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <rte_common.h>
#include <rte_debug.h>

#include "cache.h"
#include "figures.h"
#include "region.h"

struct list {
	struct mpm_figure *at;
	unsigned int n;
};

static void
add(struct list *list, const char *name, uint64_t value)
{
	RTE_VERIFY(list->n < MPM_FIGURES);
	list->at[list->n++] = (struct mpm_figure){ name, value };
}

static void
add_tiers(struct list *list, const struct mpm_pool *p, const struct mpm_where *w)
{
	unsigned int hosts = p->mp->populated_size - p->slots;

	add(list, "objects", p->mp->populated_size);
	add(list, "device_slots", p->slots);
	add(list, "device_bytes", (uint64_t)p->slots * p->stride);
	add(list, "device_free", w->dev_free);
	add(list, "host_slots", hosts);
	add(list, "host_bytes", (uint64_t)hosts * p->stride);
	add(list, "host_free", w->host_free);
}

static void
add_where(struct list *list, const struct mpm_where *w)
{
	add(list, "device_cached", w->dev_cached);
	add(list, "device_out", w->dev_out);
	add(list, "device_peak", w->dev_peak);
	add(list, "host_cached", w->host_cached);
	add(list, "host_out", w->host_out);
	add(list, "cache_size", w->cache_size);
	add(list, "device_gets", w->got_dev);
	add(list, "host_gets", w->got_host);
}

unsigned int
mpm_figures(const struct mpm_pool *p, struct mpm_figure *figures)
{
	const struct mpm_region *region = mpm_pool_region(p);
	struct list list = { .at = figures };
	struct mpm_where where;

	mpm_cache_where(p, &where);
	add_tiers(&list, p, &where);
	add_where(&list, &where);
	add(&list, "pinned", __atomic_load_n(&p->state, __ATOMIC_RELAXED) == MPM_PINNED);
	add(&list, "repinned", p->repinned);
	add(&list, "foreign_dropped", __atomic_load_n(&p->foreign.dropped, __ATOMIC_RELAXED));
	add(&list, "foreign_bounced", __atomic_load_n(&p->foreign.bounced, __ATOMIC_RELAXED));
	if (region != NULL) {
		add(&list, "region_bytes", region->len);
		add(&list, "region_used_bytes", region->used);
		add(&list, "region_quarantined_bytes", region->quarantined);
	}
	return list.n;
}
