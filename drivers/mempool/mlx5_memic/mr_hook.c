/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <sys/queue.h>

#include <infiniband/verbs.h>

#include <memic.h>

#include "control.h"
#include "devices.h"
#include "hooks.h"
#include "host_mr.h"
#include "log.h"
#include "mr_hook.h"
#include "pool_hook.h"
#include "region.h"

/** The answer to registrations on one PD. The PMD keeps a pointer to the ibv_mr. */
struct key {
	LIST_ENTRY(key) next;
	struct ibv_mr mr;
	struct ibv_pd *pd;
	struct mpm_region *region; /* NULL: only waits for the PMD to let go of the mr */
	struct memic_mkey *mkey;   /* NULL: creation failed, and err says why */
	int err;
	unsigned int refs;         /* registrations that the PMD holds */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(keys, key) keys = LIST_HEAD_INITIALIZER(keys);
static TAILQ_HEAD(mpm_regions, mpm_region) regions = TAILQ_HEAD_INITIALIZER(regions);

/* ---- keys, with the key lock held ---- */

static struct key *
key_find(const struct mpm_region *region, const struct ibv_pd *pd)
{
	struct key *k;

	LIST_FOREACH(k, &keys, next)
		if (k->region == region && k->pd == pd)
			return k;
	return NULL;
}

static struct key *
key_make(struct mpm_region *region, struct ibv_pd *pd)
{
	struct key *k = calloc(1, sizeof(*k));

	if (k == NULL)
		return NULL;
	k->pd = pd;
	k->region = region;
	k->err = -memic_mkey_create(region->dm, pd, region->mode, &k->mkey);
	if (k->err == 0) {
		k->mr.pd = pd;
		k->mr.context = pd->context;
		/* whole pages, as the PMD looks up the start of what it asked for */
		k->mr.addr = region->page_base;
		k->mr.length = region->page_len;
		k->mr.lkey = memic_mkey_lkey(k->mkey);
		k->mr.rkey = k->mr.lkey;
		MPM_LOG(DEBUG, "%s: %s key 0x%x on PD %p over %zu bytes at %p", region->nic->name,
			memic_mkey_mode_name(region->mode), k->mr.lkey, (void *)pd,
			region->page_len, (void *)region->page_base);
	}
	LIST_INSERT_HEAD(&keys, k, next);
	return k;
}

/* The PMD may hold the mr longer than the key lives: it asks for no dereg on some paths. */
static int
key_destroy(struct key *k)
{
	int ret;

	if (k->mkey != NULL) {
		ret = memic_mkey_destroy(k->mkey);
		if (ret != 0) {
			MPM_LOG(ERR, "key 0x%x stays for another try: %s", k->mr.lkey,
				memic_last_error());
			return ret;
		}
		k->mkey = NULL;
	}
	k->region = NULL;
	k->pd = NULL;
	if (k->refs == 0) {
		LIST_REMOVE(k, next);
		free(k);
	} else {
		MPM_LOG(DEBUG, "key 0x%x is gone, the mlx5 driver holds %u registrations of it",
			k->mr.lkey, k->refs);
	}
	return 0;
}

/* Destroy the keys on PDs of a context, or forget about them. */
static void
keys_abandon(const struct ibv_context *ctx)
{
	struct key *k, *after;

	pthread_mutex_lock(&lock);
	for (k = LIST_FIRST(&keys); k != NULL; k = after) {
		after = LIST_NEXT(k, next);
		if (k->pd == NULL || k->pd->context != ctx)
			continue;
		if (k->mkey != NULL && memic_mkey_destroy(k->mkey) != 0)
			MPM_LOG(ERR, "key 0x%x is given up, its device memory stays taken until "
				"the process ends: %s", k->mr.lkey, memic_last_error());
		k->mkey = NULL;
		key_destroy(k);
	}
	pthread_mutex_unlock(&lock);
}

static struct mpm_region *
region_touched(uintptr_t addr, size_t len)
{
	struct mpm_region *r;

	TAILQ_FOREACH(r, &regions, next)
		if (addr < (uintptr_t)r->page_base + r->page_len &&
		    (uintptr_t)r->page_base < addr + len)
			return r;
	return NULL;
}

static void
log_refusal(const struct mpm_region *r, const struct ibv_pd *pd, int err)
{
	const char *dev = ibv_get_device_name(pd->context->device);

	if (err == EXDEV && strcmp(dev, r->nic->name) == 0)
		MPM_LOG(ERR, "%s was closed and opened again since the pools in its device memory "
			"were created (EXDEV): free those pools and create them again", dev);
	else if (err == EXDEV)
		MPM_LOG(ERR, "%s cannot reach buffers in device memory of %s (%s) (EXDEV): give "
			"its ports a pool of their own, as with a rule dev=%s,pools=NAME", dev,
			r->nic->name, r->nic->address, dev);
	else
		MPM_LOG(ERR, "%s: no memory key over the device memory of %s: %s", dev,
			r->nic->name, memic_last_error());
}

static struct ibv_mr *
region_reg(struct mpm_region *r, struct ibv_pd *pd, uintptr_t addr, size_t len)
{
	struct key *k;

	/* ordinary memory that adjoins the region would be left without a key */
	if (addr < (uintptr_t)r->page_base ||
	    addr + len > (uintptr_t)r->page_base + r->page_len) {
		MPM_LOG(ERR, "the mlx5 driver asks for %zu bytes at %p, more than the device "
			"memory of %s at %p, %zu bytes (EINVAL)", len, (void *)addr, r->nic->name,
			(void *)r->page_base, r->page_len);
		errno = EINVAL;
		return NULL;
	}
	k = key_find(r, pd);
	if (k == NULL) {
		k = key_make(r, pd);
		/* once: on the data path the PMD asks again for each packet */
		if (k != NULL && k->err != 0)
			log_refusal(r, pd, k->err);
	}
	if (k == NULL || k->err != 0) {
		errno = k == NULL ? ENOMEM : k->err;
		return NULL;
	}
	k->refs++;
	return &k->mr;
}

/* ---- the PMD's calls ---- */

struct ibv_mr *
mpm_hook_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova,
		      unsigned int access)
{
	struct ibv_mr *mr = NULL;
	struct mpm_region *r;

	pthread_mutex_lock(&lock);
	r = region_touched((uintptr_t)addr, len);
	if (r != NULL)
		mr = region_reg(r, pd, (uintptr_t)addr, len);
	pthread_mutex_unlock(&lock);
	/* an MR whose addresses are others cannot stand for more than was asked */
	if (r == NULL && (iova != (uintptr_t)addr ||
			  !mpm_host_mr_reg(pd, (uintptr_t)addr, len, access, &mr)))
		mr = ibv_reg_mr_iova2(pd, addr, len, iova, access);
	if (r == NULL)
		mpm_host_mr_tell(pd, addr, len, mr);
	return mr;
}

int
mpm_hook_dereg_mr(struct ibv_mr *mr)
{
	struct key *k;
	int ret = 0;

	pthread_mutex_lock(&lock);
	LIST_FOREACH(k, &keys, next)
		if (&k->mr == mr)
			break;
	/* a key of a live region stays for the next registration */
	if (k != NULL && k->refs > 0 && --k->refs == 0 && k->region == NULL)
		key_destroy(k);
	pthread_mutex_unlock(&lock);
	if (k == NULL && !mpm_host_mr_dereg(mr))
		ret = ibv_dereg_mr(mr);
	return ret;
}

/* A PD that nobody knows of would be one on which no pool ever gets device memory. */
static bool
pd_made(struct ibv_pd *pd)
{
	if (mpm_devices_pd_made(pd) != 0)
		return false;
	/* the drivers that EAL loads are there by now */
	mpm_control_lock();
	mpm_pool_hook_install();
	mpm_control_unlock();
	return true;
}

struct ibv_pd *
mpm_hook_alloc_pd(struct ibv_context *ctx)
{
	struct ibv_pd *pd = ibv_alloc_pd(ctx);

	if (pd == NULL || pd_made(pd))
		return pd;
	ibv_dealloc_pd(pd);
	errno = ENOMEM;
	return NULL;
}

struct ibv_pd *
mpm_hook_import_pd(struct ibv_context *ctx, uint32_t handle)
{
	struct ibv_pd *pd = ibv_import_pd(ctx, handle);

	if (pd == NULL || pd_made(pd))
		return pd;
	ibv_unimport_pd(pd);
	errno = ENOMEM;
	return NULL;
}

static void
pd_gone(struct ibv_pd *pd)
{
	struct mpm_nic *nic = mpm_devices_pd_gone(pd);

	if (nic != NULL)
		mpm_region_device_gone(nic);
}

int
mpm_hook_dealloc_pd(struct ibv_pd *pd)
{
	int ret;

	mpm_control_lock();
	mpm_keys_drop_pd(pd);
	mpm_host_mr_drop_pd(pd);
	ret = ibv_dealloc_pd(pd);
	if (ret == 0)
		pd_gone(pd);
	mpm_control_unlock();
	return ret;
}

/* What the PMD calls instead of ibv_dealloc_pd() for a PD that it imported. */
void
mpm_hook_unimport_pd(struct ibv_pd *pd)
{
	mpm_control_lock();
	mpm_keys_drop_pd(pd);
	mpm_host_mr_drop_pd(pd);
	ibv_unimport_pd(pd);
	pd_gone(pd);
	mpm_control_unlock();
}

/*
 * Keys and PDs of a context cannot be touched any more once it is closed, so what could
 * not be destroyed before is tried again now, and then given up: the kernel takes it at
 * the end of the process.
 */
static void
last_chance(struct ibv_context *ctx)
{
	struct ibv_pd *pd;
	int err;

	keys_abandon(ctx);
	mpm_host_mr_abandon(ctx);
	while ((pd = mpm_devices_pd_left(ctx)) != NULL) {
		err = ibv_dealloc_pd(pd);
		if (err != 0)
			MPM_LOG(ERR, "%s: a PD that the mlx5 driver could not deallocate is given "
				"up: %s", ibv_get_device_name(ctx->device), memic_errno_name(err));
		pd_gone(pd);
	}
}

int
mpm_hook_close_device(struct ibv_context *ctx)
{
	int ret;

	/* held over all, as the next context may get the address of this one */
	mpm_control_lock();
	last_chance(ctx);
	ret = ibv_close_device(ctx);
	mpm_devices_closed(ctx);
	mpm_control_unlock();
	return ret;
}

/* ---- what the rest of the driver calls ---- */

void
mpm_keys_publish(struct mpm_region *region)
{
	pthread_mutex_lock(&lock);
	TAILQ_INSERT_TAIL(&regions, region, next);
	pthread_mutex_unlock(&lock);
}

int
mpm_keys_make(struct mpm_region *region, struct ibv_pd *pd)
{
	struct key *k;
	int ret;

	pthread_mutex_lock(&lock);
	k = key_find(region, pd);
	if (k == NULL)
		k = key_make(region, pd);
	ret = k == NULL ? -ENOMEM : -k->err;
	/* the caller may try another mode */
	if (ret != 0 && k != NULL)
		key_destroy(k);
	pthread_mutex_unlock(&lock);
	return ret;
}

static int
keys_drop(const struct mpm_region *region, const struct ibv_pd *pd)
{
	struct key *k, *after;
	int ret = 0;

	for (k = LIST_FIRST(&keys); k != NULL; k = after) {
		after = LIST_NEXT(k, next);
		if ((region != NULL && k->region == region) || (pd != NULL && k->pd == pd))
			ret = key_destroy(k) != 0 ? -EBUSY : ret;
	}
	return ret;
}

void
mpm_keys_drop_pd(struct ibv_pd *pd)
{
	pthread_mutex_lock(&lock);
	keys_drop(NULL, pd);
	pthread_mutex_unlock(&lock);
}

int
mpm_keys_withdraw(struct mpm_region *region)
{
	int ret;

	pthread_mutex_lock(&lock);
	ret = keys_drop(region, NULL);
	if (ret == 0)
		TAILQ_REMOVE(&regions, region, next);
	pthread_mutex_unlock(&lock);
	return ret;
}
