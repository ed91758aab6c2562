/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <rte_string_fns.h>

#include "control.h"
#include "devices.h"
#include "log.h"

static TAILQ_HEAD(mpm_nics, mpm_nic) nics = TAILQ_HEAD_INITIALIZER(nics);

bool
mpm_nic_alive(const struct mpm_nic *nic)
{
	return nic->ctx != NULL && !LIST_EMPTY(&nic->pds);
}

static struct mpm_nic *
nic_of_context(struct ibv_context *ctx)
{
	struct mpm_nic *nic;

	TAILQ_FOREACH(nic, &nics, next)
		if (nic->ctx == ctx)
			return nic;
	nic = calloc(1, sizeof(*nic));
	if (nic == NULL)
		return NULL;
	strlcpy(nic->name, ibv_get_device_name(ctx->device), sizeof(nic->name));
	memic_bus_address(ctx->device, nic->address, sizeof(nic->address));
	nic->ctx = ctx;
	LIST_INIT(&nic->pds);
	LIST_INIT(&nic->regions);
	TAILQ_INSERT_TAIL(&nics, nic, next);
	return nic;
}

int
mpm_devices_pd_made(struct ibv_pd *pd)
{
	struct mpm_pd *entry = calloc(1, sizeof(*entry));
	struct mpm_nic *nic;

	mpm_control_lock();
	/*
	 * The context that made the PD, not the one opened last: newer PMDs open a second
	 * one, make no PD on it and close it with the port.
	 */
	nic = entry == NULL ? NULL : nic_of_context(pd->context);
	if (nic == NULL) {
		mpm_control_unlock();
		MPM_LOG(ERR, "%s: no memory to note its PD (ENOMEM): the device is not probed; "
			"free some memory and probe it again",
			ibv_get_device_name(pd->context->device));
		free(entry);
		return -ENOMEM;
	}
	entry->pd = pd;
	LIST_INSERT_HEAD(&nic->pds, entry, next);
	MPM_LOG(DEBUG, "%s (%s): PD %p", nic->name, nic->address, (void *)pd);
	mpm_control_unlock();
	return 0;
}

struct mpm_nic *
mpm_devices_pd_gone(struct ibv_pd *pd)
{
	struct mpm_nic *nic;
	struct mpm_pd *entry;

	TAILQ_FOREACH(nic, &nics, next) {
		LIST_FOREACH(entry, &nic->pds, next) {
			if (entry->pd != pd)
				continue;
			LIST_REMOVE(entry, next);
			free(entry);
			return LIST_EMPTY(&nic->pds) ? nic : NULL;
		}
	}
	return NULL;
}

struct ibv_pd *
mpm_devices_pd_left(const struct ibv_context *ctx)
{
	struct mpm_nic *nic;

	TAILQ_FOREACH(nic, &nics, next)
		if (nic->ctx == ctx && !LIST_EMPTY(&nic->pds))
			return LIST_FIRST(&nic->pds)->pd;
	return NULL;
}

void
mpm_devices_closed(struct ibv_context *ctx)
{
	struct mpm_nic *nic;

	TAILQ_FOREACH(nic, &nics, next)
		if (nic->ctx == ctx)
			break;
	if (nic == NULL)
		return;
	nic->ctx = NULL;
	mpm_nic_put(nic);
}

void
mpm_nic_put(struct mpm_nic *nic)
{
	struct mpm_pd *entry;

	if (nic->ctx != NULL || !LIST_EMPTY(&nic->regions))
		return;
	while ((entry = LIST_FIRST(&nic->pds)) != NULL) {
		LIST_REMOVE(entry, next);
		free(entry);
	}
	TAILQ_REMOVE(&nics, nic, next);
	free(nic);
}

/* EAL and users may leave out the domain of a PCI address: 08:00.0. */
static bool
address_is(const char *address, const char *name)
{
	static const char domain[] = "0000:";

	if (strcasecmp(address, name) == 0)
		return true;
	return strncmp(address, domain, strlen(domain)) == 0 &&
		strcasecmp(address + strlen(domain), name) == 0;
}

const struct mpm_nic *
mpm_devices_at(const char *address)
{
	const struct mpm_nic *nic;

	TAILQ_FOREACH(nic, &nics, next)
		if (mpm_nic_alive(nic) && address_is(nic->address, address))
			return nic;
	return NULL;
}

struct mpm_nic *
mpm_devices_after(const struct mpm_nic *nic)
{
	struct mpm_nic *next = nic == NULL ? TAILQ_FIRST(&nics) : TAILQ_NEXT(nic, next);

	while (next != NULL && !mpm_nic_alive(next))
		next = TAILQ_NEXT(next, next);
	return next;
}

int
mpm_devices_walk(int (*fn)(const struct mpm_nic *nic, void *arg), void *arg)
{
	const struct mpm_nic *nic;
	int ret = 0;

	TAILQ_FOREACH(nic, &nics, next) {
		ret = fn(nic, arg);
		if (ret != 0)
			break;
	}
	return ret;
}

static void
list_devices(char *text, size_t len)
{
	const struct mpm_nic *nic;
	size_t used = 0;

	text[0] = '\0';
	TAILQ_FOREACH(nic, &nics, next) {
		if (!mpm_nic_alive(nic) || used >= len)
			continue;
		used += snprintf(text + used, len - used, "%s%s (%s)", used == 0 ? "" : ", ",
				 nic->name, nic->address);
	}
	if (used == 0)
		snprintf(text, len, "none");
}

int
mpm_devices_find(const char *dev, struct mpm_nic **out, char *why, size_t why_len)
{
	struct mpm_nic *nic, *found = NULL;
	char all[256];

	TAILQ_FOREACH(nic, &nics, next) {
		if (!mpm_nic_alive(nic))
			continue;
		if (dev[0] != '\0' && strcmp(nic->name, dev) != 0 && !address_is(nic->address, dev))
			continue;
		/* two contexts on one device are one device */
		if (found != NULL && strcmp(found->name, nic->name) != 0) {
			list_devices(all, sizeof(all));
			snprintf(why, why_len,
				 "there are several mlx5 devices, name one with dev=: %s", all);
			return -EINVAL;
		}
		if (found == NULL)
			found = nic;
	}
	if (found == NULL && dev[0] == '\0') {
		snprintf(why, why_len, "the mlx5 driver has opened no device so far");
		return -ENODEV;
	}
	if (found == NULL) {
		list_devices(all, sizeof(all));
		snprintf(why, why_len, "the mlx5 driver has not opened device %s; devices: %s", dev,
			 all);
		return -ENODEV;
	}
	*out = found;
	return 0;
}

/* After a port was closed ethdev no longer knows its device; the bus does. */
struct rte_device *
mpm_nic_eal_device(const struct mpm_nic *nic)
{
	static const char *const buses[] = { "bus=pci", "bus=auxiliary" };
	struct rte_device *dev, *found = NULL;
	struct rte_dev_iterator it;
	const char *name;
	unsigned int i;

	for (i = 0; i < RTE_DIM(buses); i++) {
		RTE_DEV_FOREACH(dev, buses[i], &it) {
			name = rte_dev_name(dev);
			if (name != NULL && address_is(nic->address, name))
				found = dev;
		}
	}
	return found;
}
