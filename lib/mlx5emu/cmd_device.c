/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <endian.h>
#include <errno.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "emu.h"
#include "eswitch.h"
#include "inject.h"
#include "removal.h"
#include "uapi.h"
#include "verbs.h"

/* Contexts, and what the device says of itself. */

bool emu_context_opened;

#define DYNAMIC_UARS 0          /* tot_bfregs for a library that allocates UARs itself */

/* room: bytes of the caller's buffer, which may be an older library's */
static void
fill_ucontext(struct mlx5_ib_alloc_ucontext_resp *r, size_t room)
{
	*r = (struct mlx5_ib_alloc_ucontext_resp){
		.qp_tab_size = 1 << 17,
		.bf_reg_size = 512,
		.tot_bfregs = DYNAMIC_UARS,
		.cache_line_size = 64,
		.max_sq_desc_sz = 1024,
		.max_rq_desc_sz = 512,
		.max_send_wqebb = 32768,
		.max_recv_wr = 32768,
		.max_srq_recv_wr = 32767,
		.num_ports = 1,
		.cqe_version = 1,
		.cmds_supp_uhw = MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE |
				 MLX5_USER_CMDS_SUPP_UHW_CREATE_AH,
		.eth_min_inline = MLX5_USER_INLINE_MODE_NONE,
		.log_uar_size = 12,
		.num_uars_per_page = 1,
		.comp_mask = MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY,
		.dump_fill_mkey = 0x700,
		.response_length = room < sizeof(*r) ? room : sizeof(*r),
	};
}

static int
read_ucontext(struct emu_call *call, struct mlx5_ib_alloc_ucontext_req_v2 *req)
{
	size_t len = emu_len(call, UVERBS_ATTR_UHW_IN);
	uint32_t bfregs;
	int err;

	if (len != sizeof(struct mlx5_ib_alloc_ucontext_req) &&
	    len < offsetof(struct mlx5_ib_alloc_ucontext_req_v2, max_cqe_version))
		return -EINVAL;
	err = emu_in(call, UVERBS_ATTR_UHW_IN, req, sizeof(*req));
	if (err != 0)
		return err;
	if (req->flags & ~MLX5_IB_ALLOC_UCTX_DEVX)
		return -EOPNOTSUPP;
	if (req->comp_mask || req->reserved0 || req->reserved1 || req->reserved2)
		return -EOPNOTSUPP;
	bfregs = (req->total_num_bfregs + 1) & ~1u; /* MLX5_NON_FP_BFREGS_PER_UAR */
	return req->num_low_latency_bfregs > bfregs - 1 ? -EINVAL : 0;
}

/* Of all ports that have none yet. */
static int
open_wires(struct emu_dev *dev)
{
	struct emu_dev *port;
	unsigned int i;
	int err = 0;

	for (i = 1; err == 0 && (port = emu_port_find(dev, i)) != NULL; i++)
		if (port->wire == NULL)
			err = emu_wire_open(port);
	return err;
}

/* mlx5_ib_alloc_ucontext() in hw/mlx5/main.c */
static int
get_context(struct emu_call *call)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req;
	struct mlx5_ib_alloc_ucontext_resp resp;
	uint32_t vectors = EMU_COMP_VECTORS;
	uint64_t core = IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS;
	int err;

	if (call->file->has_context)
		return -EINVAL;
	err = read_ucontext(call, &req);
	if (err != 0)
		return err;
	if (!(req.lib_caps & MLX5_LIB_CAP_DYN_UAR)) {
		emu_trace("%s: static UARs are not emulated", call->dev->name);
		return -EOPNOTSUPP;
	}
	/* mlx5_ib_devx_create(): firmware that is told not to serve user contexts */
	if ((req.flags & MLX5_IB_ALLOC_UCTX_DEVX) && call->dev->cfg->fault.no_devx)
		return -EINVAL;
	fill_ucontext(&resp, emu_len(call, UVERBS_ATTR_UHW_OUT));
	err = emu_out(call, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &vectors, sizeof(vectors));
	if (err == 0)
		err = emu_out(call, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, &core, sizeof(core));
	if (err == 0)
		err = emu_out(call, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	if (err == 0)
		err = open_wires(call->dev);
	if (err == 0)
		err = emu_engine_start();
	if (err != 0)
		return err;
	if (call->dev->inject.opened_at == 0)
		call->dev->inject.opened_at = emu_clock();
	call->file->has_context = true;
	call->file->devx = req.flags & MLX5_IB_ALLOC_UCTX_DEVX;
	emu_context_opened = true;
	return 0;
}

static int
query_context(struct emu_call *call)
{
	struct mlx5_ib_alloc_ucontext_resp resp;
	uint32_t vectors = EMU_COMP_VECTORS;
	uint64_t core = IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS;
	int err;

	fill_ucontext(&resp, emu_len(call, MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX));
	err = emu_out(call, UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, &vectors,
		      sizeof(vectors));
	if (err == 0)
		err = emu_out(call, UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, &core, sizeof(core));
	if (err == 0)
		err = emu_out(call, MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, &resp, sizeof(resp));
	return err;
}

/* ---- port ---- */

static void
fill_port(const struct emu_dev *dev, struct ib_uverbs_query_port_resp *r)
{
	*r = (struct ib_uverbs_query_port_resp){
		.port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS,
		.max_msg_sz = 1 << 30,
		.gid_tbl_len = 1,
		.pkey_tbl_len = 1,
		.state = dev->link_down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE,
		.max_mtu = IBV_MTU_4096,
		.active_mtu = IBV_MTU_1024,
		.active_width = 2,      /* 4X */
		.active_speed = 32,     /* EDR: 4 x 25 = 100 Gb/s */
		.phys_state = dev->link_down ? 3 : 5, /* disabled, link up */
		.link_layer = IBV_LINK_LAYER_ETHERNET,
	};
}

static int
query_port(struct emu_call *call)
{
	struct ib_uverbs_query_port_resp_ex resp = { 0 };
	const struct emu_dev *port = emu_port_find(call->dev,
		emu_in_u64(call, UVERBS_ATTR_QUERY_PORT_PORT_NUM, 0));

	if (port == NULL)
		return -EINVAL;
	fill_port(port, &resp.legacy_resp);
	return emu_out(call, UVERBS_ATTR_QUERY_PORT_RESP, &resp, sizeof(resp));
}

/*
 * fill_switchdev_info() in hw/mlx5/std_types.c, with metadata for matching, as cards of these
 * generations have it. No addresses of steering memory, as there is no sw_owner of the FDB.
 */
static void
fill_switch_port(const struct emu_dev *port, struct mlx5_ib_uapi_query_port *resp)
{
	resp->flags = MLX5_IB_UAPI_QUERY_PORT_VPORT | MLX5_IB_UAPI_QUERY_PORT_ESW_OWNER_VHCA_ID |
		      MLX5_IB_UAPI_QUERY_PORT_VPORT_REG_C0;
	resp->vport = emu_port_vport(port);
	if (resp->vport != EMU_VPORT_UPLINK) {
		resp->flags |= MLX5_IB_UAPI_QUERY_PORT_VPORT_VHCA_ID;
		resp->vport_vhca_id = (uint16_t)port->index;
	}
	resp->esw_owner_vhca_id = (uint16_t)emu_ib_device(port)->index;
	resp->reg_c0.value = emu_port_metadata(port);
	resp->reg_c0.mask = EMU_METADATA_MASK;
}

/* Without an e-switch no flag is set. */
static int
mlx5_query_port(struct emu_call *call)
{
	struct mlx5_ib_uapi_query_port resp = { 0 };
	const struct emu_dev *port = emu_port_find(call->dev,
		emu_in_u64(call, MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, 0));

	if (port == NULL)
		return -EINVAL;
	if (emu_eswitch_on(port))
		fill_switch_port(port, &resp);
	return emu_out(call, MLX5_IB_ATTR_QUERY_PORT, &resp, sizeof(resp));
}

static int
write_query_port(struct emu_call *call, const void *in, size_t in_len)
{
	const struct ib_uverbs_query_port *req = in;
	const struct emu_dev *port = emu_port_find(call->dev, req->port_num);
	struct ib_uverbs_query_port_resp resp;

	(void)in_len;
	if (port == NULL)
		return -EINVAL;
	fill_port(port, &resp);
	return emu_out(call, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
}

/* ---- device ---- */

static void
fill_device(const struct emu_dev *dev, struct ib_uverbs_query_device_resp *r)
{
	const struct emu_preset *p = dev->preset;

	*r = (struct ib_uverbs_query_device_resp){
		.fw_ver = (uint64_t)p->fw[0] << 32 | p->fw[1] << 16 | p->fw[2],
		.node_guid = htobe64(0xb8599f0300aabbccull + dev->index),
		.sys_image_guid = htobe64(0xb8599f0300aabbccull),
		.max_mr_size = UINT64_MAX,
		.page_size_cap = 0xfffffffffffff000ull,
		.vendor_id = 0x2c9,
		.vendor_part_id = p->device_id,
		.max_qp = 1 << 17,
		.max_qp_wr = 32768,
		.device_cap_flags = IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_PORT_ACTIVE_EVENT |
				    IBV_DEVICE_RAW_IP_CSUM,
		.max_sge = 30,
		.max_cq = 1 << 20,
		.max_cqe = (1 << 22) - 1,
		.max_mr = 1 << 20,
		.max_pd = 1 << 20,
		.max_pkeys = 128,
		.local_ca_ack_delay = 16,
		.phys_port_cnt = (uint8_t)emu_port_count(dev),
	};
}

static int
write_get_context(struct emu_call *call, const void *in, size_t in_len)
{
	(void)in;
	(void)in_len;
	emu_trace("%s: contexts are opened by ioctl only", call->dev->name);
	return -EOPNOTSUPP;
}

static int
write_query_device(struct emu_call *call, const void *in, size_t in_len)
{
	struct ib_uverbs_query_device_resp resp;

	(void)in;
	(void)in_len;
	fill_device(call->dev, &resp);
	return emu_out(call, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
}

/*
 * mlx5_ib_query_device(). Only what the engine does is said here, with one exception:
 * without CQE compression the PMD cannot create its Rx CQ at default devargs, so the
 * capability is there, and CQEs are never compressed, which hardware may also choose.
 */
static void
fill_mlx5_device(struct mlx5_ib_query_device_resp *r, size_t room)
{
	*r = (struct mlx5_ib_query_device_resp){
		.response_length = room < sizeof(*r) ? room : sizeof(*r),
		.rss_caps = {
			.rx_hash_function = MLX5_RX_HASH_FUNC_TOEPLITZ,
			.rx_hash_fields_mask =
				MLX5_RX_HASH_SRC_IPV4 | MLX5_RX_HASH_DST_IPV4 |
				MLX5_RX_HASH_SRC_IPV6 | MLX5_RX_HASH_DST_IPV6 |
				MLX5_RX_HASH_SRC_PORT_TCP | MLX5_RX_HASH_DST_PORT_TCP |
				MLX5_RX_HASH_SRC_PORT_UDP | MLX5_RX_HASH_DST_PORT_UDP,
		},
		.cqe_comp_caps = {
			.max_num = 64,
			.supported_format = MLX5_IB_CQE_RES_FORMAT_HASH |
					    MLX5_IB_CQE_RES_FORMAT_CSUM,
		},
		/* a PMD for CPUs with cache lines of 128 bytes creates no CQ without */
		.flags = MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_PAD,
		.mlx5_ib_support_multi_pkt_send_wqes = MLX5_IB_ALLOW_MPW | MLX5_IB_SUPPORT_EMPW,
	};
}

static int
write_query_device_ex(struct emu_call *call, const void *in, size_t in_len)
{
	const struct ib_uverbs_ex_query_device *req = in;
	struct ib_uverbs_ex_query_device_resp resp = { 0 };
	struct mlx5_ib_query_device_resp mlx5;
	size_t room;
	int err;

	(void)in_len;
	if (req->comp_mask || req->reserved)
		return -EINVAL;
	fill_device(call->dev, &resp.base);
	resp.timestamp_mask = UINT64_MAX;
	resp.hca_core_clock = 1000000;
	resp.device_cap_flags_ex = resp.base.device_cap_flags;
	resp.rss_caps.supported_qpts = 1 << IBV_QPT_RAW_PACKET;
	resp.rss_caps.max_rwq_indirection_tables = 1 << 20;
	resp.rss_caps.max_rwq_indirection_table_size = 2048;
	resp.max_wq_type_rq = 1 << 20;
	resp.raw_packet_caps = IBV_RAW_PACKET_CAP_IP_CSUM;
	resp.max_dm_size = call->dev->memic.bytes;
	room = emu_len(call, UVERBS_ATTR_CORE_OUT);
	resp.response_length = room < sizeof(resp) ? room : sizeof(resp);
	err = emu_out(call, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	if (err != 0)
		return err;
	fill_mlx5_device(&mlx5, emu_len(call, UVERBS_ATTR_UHW_OUT));
	return emu_out(call, UVERBS_ATTR_UHW_OUT, &mlx5, sizeof(mlx5));
}

/* ---- write commands ---- */

/* UVERBS_METHOD_INVOKE_WRITE in core/uverbs_std_types_device.c */
static int
invoke_write(struct emu_call *call)
{
	uint64_t cmd = emu_in_u64(call, UVERBS_ATTR_WRITE_CMD, 0);
	uint8_t in[4096] __attribute__((aligned(8)));
	size_t len = emu_len(call, UVERBS_ATTR_CORE_IN);
	const struct emu_write *write;
	int err;

	/* uapi_get_method() in core/uverbs.h */
	if (cmd & ~(uint64_t)(IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_CMD_COMMAND_MASK))
		return -EINVAL;
	write = emu_write_find(cmd);
	if (write == NULL) {
		emu_trace("  write command 0x%llx is unknown", (unsigned long long)cmd);
		return -EOPNOTSUPP;
	}
	emu_trace("  %s", write->name);
	if (len < write->in_min || emu_len(call, UVERBS_ATTR_CORE_OUT) < write->out_min)
		return -ENOSPC;
	if (len > sizeof(in) || !call->file->has_context)
		return -EINVAL;
	err = emu_in(call, UVERBS_ATTR_CORE_IN, in, sizeof(in));
	if (err != 0 && err != -ENOENT)
		return err;
	if (emu_removal_refuses_write(call->file, write->cmd))
		return -EIO;
	err = emu_inject_ioctl(call->dev, write->name, false);
	return err != 0 ? err : write->run(call, in, len);
}

static const struct emu_method methods[] = {
	EMU_METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, "INVOKE_WRITE", invoke_write,
		.no_context = true,
		EMU_SPECS(
			EMU_OPT_IN_RANGE(UVERBS_ATTR_CORE_IN, 4, UINT16_MAX),
			EMU_OPT_OUT_MIN(UVERBS_ATTR_CORE_OUT, 0),
			EMU_CONST(UVERBS_ATTR_WRITE_CMD),
			EMU_UHW)),
	EMU_METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, "GET_CONTEXT", get_context,
		.no_context = true,
		EMU_SPECS(
			EMU_OPT_OUT(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, 4),
			EMU_OPT_OUT(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, 8),
			EMU_UHW)),
	EMU_METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, "QUERY_CONTEXT",
		query_context,
		EMU_SPECS(
			EMU_OPT_OUT(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, 4),
			EMU_OPT_OUT(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, 8),
			EMU_OUT_MIN(MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX,
				offsetof(struct mlx5_ib_alloc_ucontext_resp, dump_fill_mkey) + 4))),
	EMU_METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, "QUERY_PORT", query_port,
		EMU_SPECS(
			EMU_CONST(UVERBS_ATTR_QUERY_PORT_PORT_NUM),
			EMU_OUT_MIN(UVERBS_ATTR_QUERY_PORT_RESP,
				sizeof(struct ib_uverbs_query_port_resp_ex)))),
	EMU_METHOD(UVERBS_OBJECT_DEVICE, MLX5_IB_METHOD_QUERY_PORT, "mlx5 QUERY_PORT",
		mlx5_query_port,
		EMU_SPECS(
			EMU_IN(MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, 4),
			EMU_OUT_MIN(MLX5_IB_ATTR_QUERY_PORT,
				    sizeof(struct mlx5_ib_uapi_query_port)))),
};

static const struct emu_write writes[] = {
	/* libibverbs opens by ioctl and sends this one only to see ENOSPC: has_ioctl_write() */
	{ IB_USER_VERBS_CMD_GET_CONTEXT, "GET_CONTEXT", sizeof(struct ib_uverbs_get_context),
	  sizeof(struct ib_uverbs_get_context_resp), write_get_context },
	{ IB_USER_VERBS_CMD_QUERY_DEVICE, "QUERY_DEVICE",
	  sizeof(struct ib_uverbs_query_device), sizeof(struct ib_uverbs_query_device_resp),
	  write_query_device },
	{ IB_USER_VERBS_CMD_QUERY_DEVICE | IB_USER_VERBS_CMD_FLAG_EXTENDED, "EX_QUERY_DEVICE",
	  sizeof(struct ib_uverbs_ex_query_device),
	  offsetof(struct ib_uverbs_ex_query_device_resp, odp_caps), write_query_device_ex },
	{ IB_USER_VERBS_CMD_QUERY_PORT, "QUERY_PORT", sizeof(struct ib_uverbs_query_port),
	  sizeof(struct ib_uverbs_query_port_resp), write_query_port },
};

EMU_TABLE(emu_device_table, methods, writes);
