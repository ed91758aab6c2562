/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_PRM_H
#define MLX5EMU_PRM_H

/*
 * Fields of the device's command mailboxes and contexts, as bit offset and width
 * from the start of the structure named in the prefix. Big endian, bit 0 is the
 * most significant bit of the first byte. Offsets from the Adapters Programmer's
 * Reference Manual, as public in the kernel's include/linux/mlx5/mlx5_ifc.h. A
 * table of our own, since names change between releases of DPDK and rdma-core.
 */

#include <endian.h>
#include <stdint.h>
#include <string.h>

/* Offset in the upper bits, width in the lowest 7. */
#define PRM_FIELD(offset, width) ((offset) << 7 | (width))
/* A field of a structure that itself starts at a byte offset. */
#define PRM_BYTES(bits) ((bits) / 8)

enum {
	/* every command */
	PRM_IN_OPCODE = PRM_FIELD(0x00, 16),
	PRM_IN_VHCA_TUNNEL_ID = PRM_FIELD(0x20, 16),
	PRM_IN_OP_MOD = PRM_FIELD(0x30, 16),
	PRM_IN_OBJ_TYPE = PRM_FIELD(0x30, 16),
	PRM_IN_OBJECT = PRM_FIELD(0x48, 24),    /* number that MODIFY, QUERY name */
	PRM_IN_QUEUE_STATE = PRM_FIELD(0x40, 4), /* modify_rq, modify_sq: from */
	PRM_OUT_STATUS = PRM_FIELD(0x00, 8),
	PRM_OUT_SYNDROME = PRM_FIELD(0x20, 32),
	PRM_OUT_OBJECT = PRM_FIELD(0x48, 24),   /* number that CREATE gives */

	/* cmd_hca_cap */
	PRM_CAP_VHCA_ID = PRM_FIELD(0x30, 16),
	PRM_CAP_LOG_MAX_QP_SZ = PRM_FIELD(0x88, 8),
	PRM_CAP_LOG_MAX_QP = PRM_FIELD(0x9b, 5),
	PRM_CAP_LOG_MAX_CQ_SZ = PRM_FIELD(0xc8, 8),
	PRM_CAP_LOG_MAX_CQ = PRM_FIELD(0xdb, 5),
	PRM_CAP_RELAXED_ORDERING_WRITE = PRM_FIELD(0xe8, 1),
	PRM_CAP_RELAXED_ORDERING_READ = PRM_FIELD(0xe9, 1),
	PRM_CAP_LOG_MAX_MKEY = PRM_FIELD(0xea, 6),
	PRM_CAP_MAX_INDIRECTION = PRM_FIELD(0x100, 8),
	PRM_CAP_FIXED_BUFFER_SIZE = PRM_FIELD(0x108, 1),
	PRM_CAP_LOG_MAX_MRW_SZ = PRM_FIELD(0x109, 7),
	PRM_CAP_LOG_MAX_KLM_LIST_SIZE = PRM_FIELD(0x11a, 6),
	PRM_CAP_NIC_FLOW_TABLE = PRM_FIELD(0x1a6, 1),
	PRM_CAP_DEVICE_MEMORY = PRM_FIELD(0x1a8, 1),
	PRM_CAP_PORT_TYPE = PRM_FIELD(0x1b6, 2),
	PRM_CAP_NUM_PORTS = PRM_FIELD(0x1b8, 8),
	PRM_CAP_ETH_NET_OFFLOADS = PRM_FIELD(0x21c, 1),
	PRM_CAP_MAX_WQE_SZ_SQ = PRM_FIELD(0x290, 16),
	PRM_CAP_MAX_WQE_SZ_RQ = PRM_FIELD(0x2b0, 16),
	PRM_CAP_LOG_MAX_TRANSPORT_DOMAIN = PRM_FIELD(0x323, 5),
	PRM_CAP_LOG_MAX_PD = PRM_FIELD(0x32b, 5),
	PRM_CAP_LOG_MAX_RQ = PRM_FIELD(0x363, 5),
	PRM_CAP_LOG_MAX_SQ = PRM_FIELD(0x36b, 5),
	PRM_CAP_LOG_MAX_TIR = PRM_FIELD(0x373, 5),
	PRM_CAP_LOG_MAX_TIS = PRM_FIELD(0x37b, 5),
	PRM_CAP_LOG_MAX_RQT = PRM_FIELD(0x38b, 5),
	PRM_CAP_LOG_MAX_RQT_SIZE = PRM_FIELD(0x393, 5),
	PRM_CAP_MKC_ORDER_READ_AFTER_WRITE = PRM_FIELD(0x3a8, 1),
	PRM_CAP_LOG_MAX_WQ_SZ = PRM_FIELD(0x3db, 5),
	PRM_CAP_GENERAL_OBJ_TYPES_LO = PRM_FIELD(0x420, 32),
	PRM_CAP_STEERING_FORMAT_VERSION = PRM_FIELD(0x444, 4),
	PRM_CAP_DEVICE_FREQUENCY_KHZ = PRM_FIELD(0x4e0, 32),
	PRM_CAP_CQE_128_ALWAYS = PRM_FIELD(0x5bd, 1),

	/* per_protocol_networking_offload_caps */
	PRM_ETH_CSUM_CAP = PRM_FIELD(0x00, 1),
	PRM_ETH_MULTI_PKT_SEND_WQE = PRM_FIELD(0x10, 2),
	PRM_ETH_WQE_INLINE_MODE = PRM_FIELD(0x12, 2),
	PRM_ETH_RSS_IND_TBL_CAP = PRM_FIELD(0x14, 4),
	PRM_ETH_ENHANCED_MULTI_PKT_SEND_WQE = PRM_FIELD(0x1a, 1),

	/* device_mem_cap */
	PRM_DM_MEMIC = PRM_FIELD(0x00, 1),
	PRM_DM_LOG_MIN_ALLOC_SIZE = PRM_FIELD(0x2b, 5),
	PRM_DM_LOG_MAX_ALIGNMENT = PRM_FIELD(0x38, 8),
	PRM_DM_BAR_START_HI = PRM_FIELD(0x40, 32),
	PRM_DM_BAR_START_LO = PRM_FIELD(0x60, 32),
	PRM_DM_BAR_SIZE = PRM_FIELD(0x80, 32),
	PRM_DM_MAX_SIZE = PRM_FIELD(0xa0, 32),
	PRM_DM_LOG_HEADER_MODIFY_ICM_SIZE = PRM_FIELD(0x108, 8),
	PRM_DM_LOG_ICM_GRANULARITY = PRM_FIELD(0x112, 6),
	PRM_DM_LOG_STEERING_ICM_SIZE = PRM_FIELD(0x118, 8),
	PRM_DM_LOG_PATTERN_ICM_SIZE = PRM_FIELD(0x138, 8),

	/* flow_table_nic_cap */
	PRM_FT_RX_SW_OWNER_V2 = PRM_FIELD(0x200 + 0x1e, 1),
	PRM_FT_TX_SW_OWNER_V2 = PRM_FIELD(0x800 + 0x1e, 1),

	/* create_mkey_in */
	PRM_CREATE_MKEY_OCTWORDS = PRM_FIELD(0x300, 32),
	PRM_CREATE_MKEY_UMEM_ID = PRM_FIELD(0x320, 32),

	/* mkc */
	PRM_MKC_FREE = PRM_FIELD(0x01, 1),
	PRM_MKC_ACCESS_MODE_HI = PRM_FIELD(0x03, 3),
	PRM_MKC_RELAXED_ORDERING_WRITE = PRM_FIELD(0x0d, 1),
	PRM_MKC_UMR_EN = PRM_FIELD(0x10, 1),
	PRM_MKC_ATOMIC = PRM_FIELD(0x11, 1),
	PRM_MKC_RW = PRM_FIELD(0x12, 1),
	PRM_MKC_RR = PRM_FIELD(0x13, 1),
	PRM_MKC_LW = PRM_FIELD(0x14, 1),
	PRM_MKC_LR = PRM_FIELD(0x15, 1),
	PRM_MKC_ACCESS_MODE_LO = PRM_FIELD(0x16, 2),
	PRM_MKC_QPN = PRM_FIELD(0x20, 24),
	PRM_MKC_VARIANT = PRM_FIELD(0x38, 8),
	PRM_MKC_LENGTH64 = PRM_FIELD(0x60, 1),
	PRM_MKC_BSF_EN = PRM_FIELD(0x61, 1),
	PRM_MKC_PD = PRM_FIELD(0x68, 24),
	PRM_MKC_OCTWORDS = PRM_FIELD(0x1a0, 32),
	PRM_MKC_ORDER_READ_AFTER_WRITE = PRM_FIELD(0x1d6, 2),
	PRM_MKC_RELAXED_ORDERING_READ = PRM_FIELD(0x1d9, 1),
	PRM_MKC_LOG_PAGE_SIZE = PRM_FIELD(0x1db, 5),

	/* klm */
	PRM_KLM_BYTE_COUNT = PRM_FIELD(0x00, 32),
	PRM_KLM_MKEY = PRM_FIELD(0x20, 32),

	/* create_cq_in, cqc */
	PRM_CREATE_CQ_UMEM_ID = PRM_FIELD(0x2c0, 32),
	PRM_CREATE_CQ_UMEM_VALID = PRM_FIELD(0x2e0, 1),
	PRM_CQC_CQE_SZ = PRM_FIELD(0x08, 3),
	PRM_CQC_OI = PRM_FIELD(0x0e, 1),
	PRM_CQC_DBR_UMEM_ID = PRM_FIELD(0x20, 32),
	PRM_CQC_LOG_SIZE = PRM_FIELD(0x63, 5),
	PRM_CQC_EQN = PRM_FIELD(0xb8, 8),

	/* rqc */
	PRM_RQC_SCATTER_FCS = PRM_FIELD(0x02, 1),
	PRM_RQC_VLAN_STRIP_DISABLE = PRM_FIELD(0x03, 1),
	PRM_RQC_MEM_TYPE = PRM_FIELD(0x04, 4),
	PRM_RQC_DELAY_DROP_EN = PRM_FIELD(0x01, 1),
	PRM_RQC_COUNTER_SET = PRM_FIELD(0x60, 8),
	PRM_RQC_HAIRPIN = PRM_FIELD(0x0e, 1),
	/* rqc and sqc */
	PRM_QC_STATE = PRM_FIELD(0x08, 4),
	PRM_QC_USER_INDEX = PRM_FIELD(0x28, 24),
	PRM_QC_CQN = PRM_FIELD(0x48, 24),

	/* wq */
	PRM_WQ_TYPE = PRM_FIELD(0x00, 4),
	PRM_WQ_SIGNATURE = PRM_FIELD(0x04, 1),
	PRM_WQ_PD = PRM_FIELD(0x48, 24),
	PRM_WQ_LOG_STRIDE = PRM_FIELD(0x10c, 4),
	PRM_WQ_LOG_SIZE = PRM_FIELD(0x11b, 5),
	PRM_WQ_DBR_UMEM_VALID = PRM_FIELD(0x120, 1),
	PRM_WQ_UMEM_VALID = PRM_FIELD(0x121, 1),
	PRM_WQ_DBR_UMEM_ID = PRM_FIELD(0x140, 32),
	PRM_WQ_UMEM_ID = PRM_FIELD(0x160, 32),

	/* sqc */
	PRM_SQC_ALLOW_MPW = PRM_FIELD(0x04, 1),
	PRM_SQC_ALLOW_SWP = PRM_FIELD(0x0d, 1),
	PRM_SQC_HAIRPIN = PRM_FIELD(0x0e, 1),
	PRM_SQC_NON_WIRE = PRM_FIELD(0x0f, 1),
	PRM_SQC_TIS_LIST_SIZE = PRM_FIELD(0x100, 16),
	PRM_SQC_TIS = PRM_FIELD(0x168, 24),

	/* rqtc */
	PRM_RQTC_MAX_SIZE = PRM_FIELD(0xb0, 16),
	PRM_RQTC_ACTUAL_SIZE = PRM_FIELD(0xd0, 16),

	/* tirc */
	PRM_TIRC_DISP_TYPE = PRM_FIELD(0x20, 4),
	PRM_TIRC_TLS_EN = PRM_FIELD(0x24, 1),
	PRM_TIRC_LRO_MASK = PRM_FIELD(0x94, 4),
	PRM_TIRC_RQN = PRM_FIELD(0xe8, 24),
	PRM_TIRC_SYMMETRIC = PRM_FIELD(0x100, 1),
	PRM_TIRC_TUNNELED_OFFLOAD = PRM_FIELD(0x102, 1),
	PRM_TIRC_RQT = PRM_FIELD(0x108, 24),
	PRM_TIRC_HASH_FN = PRM_FIELD(0x120, 4),
	PRM_TIRC_TRANSPORT_DOMAIN = PRM_FIELD(0x128, 24),
	PRM_TIRC_FIELDS_OUTER = PRM_FIELD(0x282, 30),

	/* tisc */
	PRM_TISC_TRANSPORT_DOMAIN = PRM_FIELD(0x128, 24),

	/* fte_match_set_lyr_2_4; more in match.h */
	PRM_FTE_CVLAN_TAG = PRM_FIELD(0x90, 1),
	PRM_FTE_IP_VERSION = PRM_FIELD(0x93, 4),
	/* in misc_parameters_2 of fte_match_param */
	PRM_FTE_METADATA_REG_C_0 = PRM_FIELD(0x760, 32),

	/* q counters */
	PRM_Q_COUNTER_ID = PRM_FIELD(0x58, 8),          /* alloc_q_counter_out */
	PRM_QUERY_Q_COUNTER_CLEAR = PRM_FIELD(0xc0, 1),
	PRM_QUERY_Q_COUNTER_ID = PRM_FIELD(0xf8, 8),
	PRM_QUERY_Q_COUNTER_OUT_OF_BUFFER = PRM_FIELD(0x180, 32),

	/* alloc_flow_counter_in, query_flow_counter_in */
	PRM_ALLOC_FLOW_COUNTER_BULK = PRM_FIELD(0x78, 8),
	PRM_QUERY_FLOW_COUNTER_CLEAR = PRM_FIELD(0xc0, 1),
	PRM_QUERY_FLOW_COUNTER_TO_MEMORY = PRM_FIELD(0xc1, 1),
	PRM_QUERY_FLOW_COUNTER_COUNT = PRM_FIELD(0xc2, 30),
	PRM_QUERY_FLOW_COUNTER_ID = PRM_FIELD(0xe0, 32),
};

/* Byte offsets of structures inside others, and 64-bit fields. */
enum {
	PRM_QUERY_FLOW_COUNTER_PACKETS_AT = 16, /* traffic_counter in the answer */
	PRM_QUERY_FLOW_COUNTER_OCTETS_AT = 24,
	PRM_CAP_AT = PRM_BYTES(0x80),           /* capability in query_hca_cap_out */
	PRM_DM_STEERING_ICM_START_AT = PRM_BYTES(0xc0), /* device_mem_cap */
	PRM_DM_HEADER_MODIFY_ICM_START_AT = PRM_BYTES(0x140),
	PRM_DM_PATTERN_ICM_START_AT = PRM_BYTES(0x1c0),
	PRM_MKC_AT = PRM_BYTES(0x80),           /* mkc in create_mkey_in */
	PRM_MKC_SIZE = PRM_BYTES(0x200),
	PRM_MKC_START_ADDR_AT = PRM_BYTES(0x80),
	PRM_MKC_LEN_AT = PRM_BYTES(0xc0),
	PRM_CREATE_MKEY_UMEM_OFFSET_AT = PRM_BYTES(0x340),
	PRM_CREATE_MKEY_SIZE = PRM_BYTES(0x880), /* entries follow */
	PRM_KLM_SIZE = 16,
	PRM_KLM_ADDRESS_AT = 8,
	PRM_CQC_AT = PRM_BYTES(0x80),           /* in create_cq_in */
	PRM_CREATE_CQ_UMEM_OFFSET_AT = PRM_BYTES(0x280),
	PRM_CQC_DBR_ADDR_AT = PRM_BYTES(0x1c0),
	PRM_CREATE_CQ_SIZE = PRM_BYTES(0x880),
	PRM_CREATE_WQ_SIZE = PRM_BYTES(0x440),  /* create and modify of SQ and RQ, to wq's umem */
	PRM_CTX_AT = PRM_BYTES(0x100),          /* rqc, sqc, tirc, tisc in create and modify */
	PRM_QC_WQ_AT = PRM_BYTES(0x180),        /* wq in rqc and sqc */
	PRM_WQ_DBR_ADDR_AT = PRM_BYTES(0x80),
	PRM_WQ_UMEM_OFFSET_AT = PRM_BYTES(0x180),
	PRM_RQTC_LIST_AT = PRM_BYTES(0x780),
	PRM_TIRC_KEY_AT = PRM_BYTES(0x140),
	PRM_QUERY_TIS_CTX_AT = PRM_BYTES(0x80),
};

/* Commands, "Command Interface" chapter; the low half of the kernel's MLX5_CMD_OP_*. */
enum {
	PRM_CMD_QUERY_HCA_CAP = 0x100,
	PRM_CMD_CREATE_MKEY = 0x200,
	PRM_CMD_CREATE_CQ = 0x400,
	PRM_CMD_QUERY_NIC_VPORT_CONTEXT = 0x754,
	PRM_CMD_ALLOC_Q_COUNTER = 0x771,
	PRM_CMD_QUERY_Q_COUNTER = 0x773,
	PRM_CMD_ALLOC_FLOW_COUNTER = 0x939,
	PRM_CMD_QUERY_FLOW_COUNTER = 0x93b,
	PRM_CMD_ALLOC_TRANSPORT_DOMAIN = 0x816,
	PRM_CMD_ACCESS_REGISTER = 0x805,
	PRM_CMD_QUERY_LAG = 0x842,
	PRM_CMD_CREATE_TIR = 0x900,
	PRM_CMD_MODIFY_TIR = 0x901,
	PRM_CMD_CREATE_SQ = 0x904,
	PRM_CMD_MODIFY_SQ = 0x905,
	PRM_CMD_CREATE_RQ = 0x908,
	PRM_CMD_MODIFY_RQ = 0x909,
	PRM_CMD_CREATE_TIS = 0x912,
	PRM_CMD_QUERY_TIS = 0x915,
	PRM_CMD_CREATE_RQT = 0x916,
	PRM_CMD_MODIFY_RQT = 0x917,
};

/* Command status, first byte of every output. */
enum {
	PRM_STATUS_OK = 0x00,
	PRM_STATUS_BAD_OP = 0x02,
	PRM_STATUS_BAD_PARAM = 0x03,
	PRM_STATUS_BAD_RESOURCE = 0x05,
	PRM_STATUS_RESOURCE_BUSY = 0x06,
	PRM_STATUS_LIMIT = 0x08,
	PRM_STATUS_BAD_RES_STATE = 0x09,
	PRM_STATUS_BAD_INPUT_LEN = 0x50,
	PRM_STATUS_BAD_OUTPUT_LEN = 0x51,
};

static inline uint32_t prm_get(const void *base, unsigned int field)
{
	unsigned int off = field >> 7, width = field & 0x7f;
	uint32_t dword;

	memcpy(&dword, (const uint8_t *)base + off / 32 * 4, 4);
	dword = be32toh(dword) >> (32 - off % 32 - width);
	return width == 32 ? dword : dword & ((1u << width) - 1);
}

static inline void prm_set(void *base, unsigned int field, uint32_t value)
{
	unsigned int off = field >> 7, width = field & 0x7f, shift = 32 - off % 32 - width;
	uint32_t mask = (width == 32 ? ~0u : (1u << width) - 1) << shift;
	uint8_t *p = (uint8_t *)base + off / 32 * 4;
	uint32_t dword;

	memcpy(&dword, p, 4);
	dword = htobe32((be32toh(dword) & ~mask) | (value << shift & mask));
	memcpy(p, &dword, 4);
}

static inline void prm_set64(void *base, unsigned int byte, uint64_t value)
{
	value = htobe64(value);
	memcpy((uint8_t *)base + byte, &value, 8);
}

static inline uint64_t prm_get64(const void *base, unsigned int byte)
{
	uint64_t v;

	memcpy(&v, (const uint8_t *)base + byte, 8);
	return be64toh(v);
}

#endif
