/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <string.h>

#include "devx.h"
#include "emu.h"
#include "inject.h"
#include "sw_icm.h"
#include "prm.h"

/* What the device can do, in the firmware's words. Nothing is set that is not there. */

enum { CAP_GENERAL = 0, CAP_ETHERNET = 1, CAP_NIC_FLOW_TABLE = 7, CAP_DEVICE_MEMORY = 0xf };

#define BAR_START 0x1000000u    /* of the MEMIC window in the device's BAR */
#define BAR_SIZE (256u * 4096)
#define INLINE_NOT_REQUIRED 2   /* wqe_inline_mode */

static void
general(const struct emu_dev *dev, uint8_t *cap)
{
	const struct emu_faults *f = &dev->cfg->fault;

	prm_set(cap, PRM_CAP_VHCA_ID, dev->index);
	prm_set(cap, PRM_CAP_LOG_MAX_QP_SZ, 15);
	prm_set(cap, PRM_CAP_LOG_MAX_WQ_SZ, 15);
	prm_set(cap, PRM_CAP_LOG_MAX_QP, 17);
	prm_set(cap, PRM_CAP_LOG_MAX_CQ_SZ, 22);
	prm_set(cap, PRM_CAP_LOG_MAX_CQ, 20);
	prm_set(cap, PRM_CAP_RELAXED_ORDERING_WRITE, f->ordering != EMU_ORDERING_REFUSED);
	prm_set(cap, PRM_CAP_RELAXED_ORDERING_READ, f->ordering != EMU_ORDERING_REFUSED);
	prm_set(cap, PRM_CAP_MKC_ORDER_READ_AFTER_WRITE, f->ordering == EMU_ORDERING_DEMANDED);
	prm_set(cap, PRM_CAP_LOG_MAX_MKEY, 24);
	prm_set(cap, PRM_CAP_MAX_INDIRECTION, EMU_MAX_INDIRECTION);
	prm_set(cap, PRM_CAP_FIXED_BUFFER_SIZE, 1);
	prm_set(cap, PRM_CAP_LOG_MAX_MRW_SZ, 63);
	prm_set(cap, PRM_CAP_LOG_MAX_KLM_LIST_SIZE, 16);
	prm_set(cap, PRM_CAP_NIC_FLOW_TABLE, 1);
	prm_set(cap, PRM_CAP_DEVICE_MEMORY, dev->memic.bytes > 0);
	prm_set(cap, PRM_CAP_PORT_TYPE, 1); /* Ethernet */
	prm_set(cap, PRM_CAP_NUM_PORTS, 1);
	prm_set(cap, PRM_CAP_ETH_NET_OFFLOADS, 1);
	prm_set(cap, PRM_CAP_MAX_WQE_SZ_SQ, 1024);
	prm_set(cap, PRM_CAP_MAX_WQE_SZ_RQ, 512);
	prm_set(cap, PRM_CAP_LOG_MAX_TRANSPORT_DOMAIN, 20);
	prm_set(cap, PRM_CAP_LOG_MAX_PD, 20);
	prm_set(cap, PRM_CAP_LOG_MAX_RQ, 20);
	prm_set(cap, PRM_CAP_LOG_MAX_SQ, 20);
	prm_set(cap, PRM_CAP_LOG_MAX_TIR, 20);
	prm_set(cap, PRM_CAP_LOG_MAX_TIS, 17);
	prm_set(cap, PRM_CAP_LOG_MAX_RQT, 20);
	prm_set(cap, PRM_CAP_LOG_MAX_RQT_SIZE, 11);
	prm_set(cap, PRM_CAP_DEVICE_FREQUENCY_KHZ, 1000000);
	prm_set(cap, PRM_CAP_CQE_128_ALWAYS, 1);
	emu_sw_icm_general_caps(dev, cap);
}

static void
ethernet(uint8_t *cap)
{
	prm_set(cap, PRM_ETH_CSUM_CAP, 1);
	prm_set(cap, PRM_ETH_MULTI_PKT_SEND_WQE, 1);
	prm_set(cap, PRM_ETH_ENHANCED_MULTI_PKT_SEND_WQE, 1);
	prm_set(cap, PRM_ETH_WQE_INLINE_MODE, INLINE_NOT_REQUIRED);
	prm_set(cap, PRM_ETH_RSS_IND_TBL_CAP, 11);
}

static void
device_memory(const struct emu_dev *dev, uint8_t *cap)
{
	prm_set(cap, PRM_DM_MEMIC, dev->memic.bytes > 0);
	prm_set(cap, PRM_DM_LOG_MIN_ALLOC_SIZE, 6);
	prm_set(cap, PRM_DM_LOG_MAX_ALIGNMENT, emu_inject_log_max_align(dev));
	prm_set(cap, PRM_DM_BAR_START_LO, BAR_START);
	prm_set(cap, PRM_DM_BAR_SIZE, BAR_SIZE);
	prm_set(cap, PRM_DM_MAX_SIZE, dev->memic.bytes);
	emu_sw_icm_memory_caps(dev, cap);
}

static int
query_hca_cap(struct emu_devx_call *call)
{
	uint8_t cap[4096] = { 0 }; /* op_mod bit 0 asks for maximum or current: the same */
	size_t room = call->out_len - PRM_CAP_AT;

	switch (prm_get(call->in, PRM_IN_OP_MOD) >> 1) {
	case CAP_GENERAL:
		general(call->dev, cap);
		break;
	case CAP_ETHERNET:
		ethernet(cap);
		break;
	case CAP_NIC_FLOW_TABLE:
		/* root tables through the kernel only: no sw_owner but for --fault sw-icm */
		emu_sw_icm_flow_table_caps(call->dev, cap);
		break;
	case CAP_DEVICE_MEMORY:
		device_memory(call->dev, cap);
		break;
	default:
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "no such capability group");
	}
	memcpy(call->out + PRM_CAP_AT, cap, room < sizeof(cap) ? room : sizeof(cap));
	return PRM_STATUS_OK;
}

/* The vport asks for no inlining and has no limits of its own: all fields zero. */
static int
query_nic_vport(struct emu_devx_call *call)
{
	(void)call;
	return PRM_STATUS_OK;
}

static const struct emu_devx_cmd cmds[] = {
	{ .opcode = PRM_CMD_QUERY_HCA_CAP, .name = "QUERY_HCA_CAP", .in_min = 16, .out_min = 16,
	  .general = query_hca_cap },
	{ .opcode = PRM_CMD_QUERY_NIC_VPORT_CONTEXT, .name = "QUERY_NIC_VPORT_CONTEXT",
	  .in_min = 16, .out_min = 16, .general = query_nic_vport },
};

EMU_DEVX_TABLE(emu_devx_caps, cmds);
