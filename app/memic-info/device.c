/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "info.h"

static unsigned int
lane_gbps(unsigned int speed)
{
	/* enum ib_port_speed of the kernel's ib_verbs.h, rounded */
	static const struct { unsigned int bit, gbps; } lanes[] = {
		{ 1, 2 }, { 2, 5 }, { 4, 10 }, { 8, 10 }, { 16, 14 }, { 32, 25 }, { 64, 50 },
		{ 128, 100 },
	};
	size_t i;

	for (i = 0; i < sizeof(lanes) / sizeof(lanes[0]); i++)
		if (lanes[i].bit == speed)
			return lanes[i].gbps;
	return 0;
}

static unsigned int
lanes(unsigned int width)
{
	/* enum ib_port_width */
	return width == 1 ? 1 : width == 2 ? 4 : width == 4 ? 8 : width == 8 ? 12 :
	       width == 16 ? 2 : 0;
}

static void
look_at_ports(struct info_device *d, struct ibv_context *ctx, unsigned int ports)
{
	struct ibv_port_attr attr;
	unsigned int i;

	for (i = 0; i < ports && i < INFO_PORTS; i++) {
		struct info_port *port = &d->ports[i];

		if (ibv_query_port(ctx, (uint8_t)(i + 1), &attr) != 0)
			break;
		port->state = ibv_port_state_str(attr.state);
		port->link_layer = attr.link_layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet" :
				   attr.link_layer == IBV_LINK_LAYER_INFINIBAND ? "InfiniBand" :
				   "unspecified";
		port->speed_gbps = lane_gbps(attr.active_speed) * lanes(attr.active_width);
	}
	d->n_ports = i;
}

static void
look_around(struct info_device *d, struct memic_device *dev)
{
	struct ibv_context *ctx = memic_device_context(dev);
	struct ibv_device_attr attr;
	char text[32];

	d->caps = *memic_device_caps(dev);
	info_sysfs_text(ctx->device, "board_id", d->board, sizeof(d->board));
	info_sysfs_text(ctx->device, "device/numa_node", text, sizeof(text));
	d->numa = text[0] != '\0' ? atoi(text) : -1;
	info_sysfs_pcie(ctx->device, d->pcie, sizeof(d->pcie));
	if (ibv_query_device(ctx, &attr) != 0)
		return;
	d->part_id = attr.vendor_part_id;
	look_at_ports(d, ctx, attr.phys_port_cnt);
}

/* The errno and what comes after it: which call failed on which device is known here. */
static const char *
short_reason(int err)
{
	const char *name = memic_errno_name(err);
	const char *at = strstr(memic_last_error(), name);

	return at != NULL ? at : memic_last_error();
}

/* What stays would keep the device open, and there is no later to come back to it. */
static int
give_back(struct memic_dm *dm)
{
	int rc = memic_dm_free(dm), tries;

	for (tries = 1; rc != 0 && tries < 3; tries++)
		rc = memic_dm_free(dm);
	return rc;
}

/* One unit of each type: what the kernel and firmware say to that is the answer. */
static void
look_at_types(struct info_device *d, struct memic_device *dev)
{
	enum memic_dm_type type;
	struct memic_dm *dm;
	const char *why;
	int rc;

	for (type = 0; type < MEMIC_DM_TYPES; type++) {
		struct info_type *t = &d->types[type];

		rc = memic_dm_alloc(dev, type, 64, 0, &dm);
		if (rc != 0) {
			snprintf(t->why, sizeof(t->why), "%s", short_reason(rc));
			continue;
		}
		t->may = true;
		if (memic_dm_type_is_packet_memory(type, &why))
			why = "packets are sent from it and received into it";
		snprintf(t->why, sizeof(t->why), "%s", why);
		give_back(dm);
	}
}

static void
allocate(struct info_device *d, struct memic_device *dev, const struct info_options *o)
{
	struct memic_dm *dm;

	d->alloc_tried = true;
	d->alloc_rc = memic_dm_alloc(dev, o->alloc_type, o->alloc_bytes, 0, &dm);
	if (d->alloc_rc == 0) {
		snprintf(d->alloc_text, sizeof(d->alloc_text), "%zu bytes of %s, %s, freed again",
			 memic_dm_length(dm), memic_dm_type_name(o->alloc_type),
			 memic_dm_addr(dm) != NULL ? "mapped for the CPU" :
			 "which the CPU cannot map");
		d->alloc_rc = give_back(dm);
	}
	if (d->alloc_rc != 0)
		snprintf(d->alloc_text, sizeof(d->alloc_text), "%s", memic_last_error());
}

static void
take_check(const struct memic_check *check, void *arg)
{
	struct info_device *d = arg;

	if (d->n_checks < INFO_CHECKS)
		d->checks[d->n_checks++] = *check;
}

static void
probe(struct info_device *d, struct memic_device *dev, const struct info_options *o)
{
	struct memic_probe_options options = {
		.port = o->port, .removal_seconds = o->removal_seconds,
	};

	d->probed = true;
	d->missing = memic_probe(dev, &options, take_check, d);
	if (d->missing < 0)
		snprintf(d->error, sizeof(d->error), "%s", memic_last_error());
}

void
info_device_look(struct info_device *d, const char *name, const struct info_options *o)
{
	struct memic_device *dev;

	snprintf(d->name, sizeof(d->name), "%s", name);
	if (memic_device_open(name, &dev) != 0) {
		snprintf(d->error, sizeof(d->error), "%s", memic_last_error());
		return;
	}
	d->open = true;
	look_around(d, dev);
	d->measured = memic_dm_available(dev, &d->total, &d->largest) == 0;
	look_at_types(d, dev);
	if (o->alloc)
		allocate(d, dev, o);
	if (o->probe)
		probe(d, dev, o);
	if (memic_device_close(dev) != 0)
		snprintf(d->error, sizeof(d->error), "%s", memic_last_error());
}
