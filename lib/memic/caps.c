/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prm.h"
#include "private.h"

void
memic_bus_address(const struct ibv_device *device, char *address, size_t size)
{
	char link[IBV_SYSFS_PATH_MAX + sizeof("/device")];
	char path[PATH_MAX], *base;

	/* the last part of the path that the link leads to */
	address[0] = '\0';
	snprintf(link, sizeof(link), "%s/device", device->ibdev_path);
	if (realpath(link, path) == NULL)
		return;
	base = strrchr(path, '/');
	snprintf(address, size, "%s", base != NULL ? base + 1 : path);
}

static int
query_hca_cap(struct ibv_context *ctx, unsigned int type, uint32_t *out)
{
	uint32_t in[PRM_CAP_IN_BYTES / sizeof(uint32_t)] = { 0 };
	int err;

	memset(out, 0, PRM_CAP_OUT_BYTES);
	prm_set(in, 0, PRM_IN_OPCODE, PRM_OP_QUERY_HCA_CAP);
	prm_set(in, 0, PRM_IN_OP_MOD, type << 1 | PRM_CAP_CURRENT);
	err = memic_verbs_errno(mlx5dv_devx_general_cmd(ctx, in, sizeof(in), out,
							PRM_CAP_OUT_BYTES));
	if (err == 0 && prm_get(out, 0, PRM_OUT_STATUS) != 0)
		err = EREMOTEIO;
	return err;
}

static bool
cap_bit(const uint32_t *out, struct prm_field f)
{
	return prm_get(out, PRM_CAP_AT, f) != 0;
}

/*
 * Whether the kernel context takes DevX commands. QUERY_HCA_CAP tells nothing, since
 * the kernel answers it on any context (devx_is_whitelist_cmd in its
 * drivers/infiniband/hw/mlx5/devx.c); another command that only reads comes back
 * with EINVAL from a context without DevX, and with the others from kernels without it.
 * What firmware thinks of it is no matter, and a failure that says nothing about DevX is
 * left to the creation of a key, which then tells it.
 */
static bool
devx_accepted(struct ibv_context *ctx)
{
	uint32_t in[4] = { 0 };
	uint32_t out[(16 + 256) / sizeof(uint32_t)] = { 0 };
	int err;

	prm_set(in, 0, PRM_IN_OPCODE, PRM_OP_QUERY_NIC_VPORT_CONTEXT);
	err = memic_verbs_errno(mlx5dv_devx_general_cmd(ctx, in, sizeof(in), out, sizeof(out)));
	return prm_get(out, 0, PRM_OUT_STATUS) != 0 ||
		(err != EINVAL && err != EPERM && err != EOPNOTSUPP && err != EPROTONOSUPPORT);
}

/* The conditions under which the kernel serves SW_ICM: handle_alloc_dm_sw_icm() in its
 * hw/mlx5/dm.c and mlx5_dm_create() in mlx5/core/lib/dm.c.
 */
static void
query_sw_icm(struct memic_device *dev, const uint32_t *mem, uint32_t *out)
{
	bool *icm = dev->caps.sw_icm;
	bool owner, owner_v2;

	if (query_hca_cap(dev->ctx, PRM_CAP_NIC_FLOW_TABLE, out) != 0)
		return;
	owner_v2 = cap_bit(out, PRM_FT_RX_SW_OWNER_V2) && cap_bit(out, PRM_FT_TX_SW_OWNER_V2);
	owner = cap_bit(out, PRM_FT_RX_SW_OWNER) || cap_bit(out, PRM_FT_TX_SW_OWNER) ||
		cap_bit(out, PRM_FT_RX_SW_OWNER_V2) || cap_bit(out, PRM_FT_TX_SW_OWNER_V2);
	icm[MEMIC_DM_STEERING_SW_ICM] = owner && cap_bit(mem, PRM_DM_STEERING_START);
	icm[MEMIC_DM_HEADER_MODIFY_SW_ICM] = owner && cap_bit(mem, PRM_DM_HEADER_MODIFY_START);
	icm[MEMIC_DM_HEADER_MODIFY_PATTERN_SW_ICM] =
		owner_v2 && cap_bit(mem, PRM_DM_PATTERN_START);
	icm[MEMIC_DM_ENCAP_SW_ICM] = owner_v2 && cap_bit(mem, PRM_DM_ENCAP_START);
}

/* What only firmware knows. Where it cannot be asked the capabilities stay at "no". */
static void
query_firmware(struct memic_device *dev)
{
	uint32_t out[PRM_CAP_OUT_BYTES / sizeof(uint32_t)];
	uint32_t mem[PRM_CAP_OUT_BYTES / sizeof(uint32_t)];
	struct memic_caps *caps = &dev->caps;
	bool sw_icm;

	if (query_hca_cap(dev->ctx, PRM_CAP_GENERAL, out) != 0)
		return;
	caps->relaxed_ordering_write = cap_bit(out, PRM_GEN_RELAXED_ORDERING_WRITE);
	caps->relaxed_ordering_read = cap_bit(out, PRM_GEN_RELAXED_ORDERING_READ) ||
				      cap_bit(out, PRM_GEN_PCI_RELAXED_ORDERED_READ);
	dev->order_read_after_write = cap_bit(out, PRM_GEN_MKC_ORDER_READ_AFTER_WRITE);
	sw_icm = prm_get(out, PRM_CAP_AT, PRM_GEN_GENERAL_OBJ_TYPES) >>
		 PRM_GENERAL_OBJ_SW_ICM & 1;

	if (query_hca_cap(dev->ctx, PRM_CAP_DEVICE_MEMORY, mem) != 0)
		return;
	caps->log_max_align += prm_get(mem, PRM_CAP_AT, PRM_DM_LOG_MAX_ADDR_ALIGNMENT);
	caps->memic_bar_size = prm_get(mem, PRM_CAP_AT, PRM_DM_BAR_SIZE);
	if (sw_icm)
		query_sw_icm(dev, mem, out);
}

int
memic_caps_query(struct memic_device *dev)
{
	struct ibv_device_attr_ex attr = { 0 };
	struct memic_caps *caps = &dev->caps;
	int err;

	snprintf(caps->name, sizeof(caps->name), "%s", ibv_get_device_name(dev->ctx->device));
	memic_bus_address(dev->ctx->device, caps->address, sizeof(caps->address));
	err = memic_verbs_errno(ibv_query_device_ex(dev->ctx, NULL, &attr));
	if (err != 0)
		return memic_fail(err, "ibv_query_device_ex on %s (%s): %s: the device does not "
				  "answer; see dmesg for the reason", caps->name, caps->address,
				  memic_errno_name(err));
	snprintf(caps->fw_ver, sizeof(caps->fw_ver), "%s", attr.orig_attr.fw_ver);
	caps->max_dm_size = attr.max_dm_size;
	caps->memic = attr.max_dm_size > 0;
	caps->log_max_align = 6;
	caps->devx = devx_accepted(dev->ctx);
	query_firmware(dev);
	return 0;
}
