/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MEMIC_PRM_H
#define MEMIC_PRM_H

/*
 * Offsets and widths of the few firmware command fields that the library uses, in
 * bits from the start of their structure, as the kernel numbers them in
 * include/linux/mlx5/mlx5_ifc.h. A table of our own, since the names and files in
 * which rdma-core and DPDK keep theirs change from release to release.
 */

#include <endian.h>
#include <stdint.h>

struct prm_field {
	uint16_t bit;
	uint16_t width; /* 1 to 32 inside one dword, or 64 */
};

#define PRM_FIELD(bit_, width_) ((struct prm_field){ (bit_), (width_) })

enum {
	PRM_OP_QUERY_HCA_CAP = 0x100,
	PRM_OP_CREATE_MKEY = 0x200,
	PRM_OP_QUERY_NIC_VPORT_CONTEXT = 0x754,
};

/* what every command has in common: mbox_in, mbox_out */
#define PRM_IN_OPCODE PRM_FIELD(0x00, 16)
#define PRM_IN_OP_MOD PRM_FIELD(0x30, 16)
#define PRM_OUT_STATUS PRM_FIELD(0x00, 8)
#define PRM_OUT_SYNDROME PRM_FIELD(0x20, 32)

/* query_hca_cap: op_mod is type << 1 | current (not maximal) values */
enum {
	PRM_CAP_GENERAL = 0x0,
	PRM_CAP_NIC_FLOW_TABLE = 0x7,
	PRM_CAP_DEVICE_MEMORY = 0xf,
	PRM_CAP_CURRENT = 1,
	PRM_CAP_IN_BYTES = 16,
	PRM_CAP_OUT_BYTES = 16 + 4096,
	PRM_CAP_AT = 0x80, /* where the capability starts in query_hca_cap_out */
};

/* cmd_hca_cap */
#define PRM_GEN_RELAXED_ORDERING_WRITE PRM_FIELD(0xe8, 1)
#define PRM_GEN_RELAXED_ORDERING_READ PRM_FIELD(0xe9, 1)
#define PRM_GEN_PCI_RELAXED_ORDERED_READ PRM_FIELD(0x32a, 1)
#define PRM_GEN_MKC_ORDER_READ_AFTER_WRITE PRM_FIELD(0x3a8, 1)
#define PRM_GEN_GENERAL_OBJ_TYPES PRM_FIELD(0x400, 64)
#define PRM_GENERAL_OBJ_SW_ICM 0x8 /* MLX5_OBJ_TYPE_SW_ICM, a bit number */

/* flow_table_nic_cap: flow_table_properties of the two directions */
#define PRM_FT_RX_SW_OWNER PRM_FIELD(0x200 + 0x11, 1)
#define PRM_FT_RX_SW_OWNER_V2 PRM_FIELD(0x200 + 0x1e, 1)
#define PRM_FT_TX_SW_OWNER PRM_FIELD(0x800 + 0x11, 1)
#define PRM_FT_TX_SW_OWNER_V2 PRM_FIELD(0x800 + 0x1e, 1)

/* device_mem_cap */
#define PRM_DM_LOG_MAX_ADDR_ALIGNMENT PRM_FIELD(0x38, 8) /* in units of 64 bytes */
#define PRM_DM_BAR_SIZE PRM_FIELD(0x80, 32)
#define PRM_DM_STEERING_START PRM_FIELD(0xc0, 64)
#define PRM_DM_HEADER_MODIFY_START PRM_FIELD(0x140, 64)
#define PRM_DM_PATTERN_START PRM_FIELD(0x1c0, 64)
#define PRM_DM_ENCAP_START PRM_FIELD(0x240, 64)

/* query_nic_vport_context_out and nic_vport_context: permanent_address, 48 bits */
enum {
	PRM_VPORT_AT = 0x80,
	PRM_VPORT_BYTES = 256,
};
#define PRM_VPORT_MAC_HIGH PRM_FIELD(0x7b0, 16)
#define PRM_VPORT_MAC_LOW PRM_FIELD(0x7c0, 32)

/* create_mkey: the mkey context, then 16-byte KLM or KSM entries in fours */
enum {
	PRM_MKC_AT = 0x80,
	PRM_MKEY_IN_BYTES = 0x880 / 8,
	PRM_MKEY_OUT_BYTES = 16,
	PRM_MKEY_ENTRY_BYTES = 16,
	PRM_MKEY_ENTRY_MULTIPLE = 4,
	PRM_ACCESS_MODE_KLM = 2,
	PRM_ACCESS_MODE_KSM = 3,
	PRM_MKC_ANY_QPN = 0xffffff,
	PRM_RAW_ORDERING_RELAXED = 2,
};

#define PRM_MKEY_IN_OCTWORDS PRM_FIELD(0x300, 32)
#define PRM_MKEY_OUT_INDEX PRM_FIELD(0x48, 24)

/* mkc */
#define PRM_MKC_RELAXED_ORDERING_WRITE PRM_FIELD(0x0d, 1)
#define PRM_MKC_RW PRM_FIELD(0x12, 1)
#define PRM_MKC_RR PRM_FIELD(0x13, 1)
#define PRM_MKC_LW PRM_FIELD(0x14, 1)
#define PRM_MKC_LR PRM_FIELD(0x15, 1)
#define PRM_MKC_ACCESS_MODE PRM_FIELD(0x16, 2)
#define PRM_MKC_QPN PRM_FIELD(0x20, 24)
#define PRM_MKC_KEY_VARIANT PRM_FIELD(0x38, 8)
#define PRM_MKC_PD PRM_FIELD(0x68, 24)
#define PRM_MKC_START_ADDR PRM_FIELD(0x80, 64)
#define PRM_MKC_LEN PRM_FIELD(0xc0, 64)
#define PRM_MKC_OCTWORDS PRM_FIELD(0x1a0, 32)
#define PRM_MKC_ORDER_READ_AFTER_WRITE PRM_FIELD(0x1d6, 2)
#define PRM_MKC_RELAXED_ORDERING_READ PRM_FIELD(0x1d9, 1)
#define PRM_MKC_LOG_PAGE_SIZE PRM_FIELD(0x1db, 5)

/* klm, which is also the layout of a KSM entry */
#define PRM_KLM_BYTE_COUNT PRM_FIELD(0x00, 32)
#define PRM_KLM_MKEY PRM_FIELD(0x20, 32)
#define PRM_KLM_ADDRESS PRM_FIELD(0x40, 64)

static inline uint32_t
prm_mask(struct prm_field f)
{
	return f.width >= 32 ? UINT32_MAX : (UINT32_C(1) << f.width) - 1;
}

/* Set a field of the structure that starts @p at bits into the big endian @p buf. */
static inline void
prm_set(uint32_t *buf, unsigned int at, struct prm_field f, uint64_t value)
{
	unsigned int bit = at + f.bit, shift;
	uint32_t dword, mask = prm_mask(f);

	if (f.width == 64) {
		buf[bit / 32] = htobe32((uint32_t)(value >> 32));
		buf[bit / 32 + 1] = htobe32((uint32_t)value);
		return;
	}
	shift = 32 - bit % 32 - f.width;
	dword = be32toh(buf[bit / 32]) & ~(mask << shift);
	buf[bit / 32] = htobe32(dword | ((uint32_t)value & mask) << shift);
}

/* Read a field, as prm_set(). */
static inline uint64_t
prm_get(const uint32_t *buf, unsigned int at, struct prm_field f)
{
	unsigned int bit = at + f.bit;

	if (f.width == 64)
		return (uint64_t)be32toh(buf[bit / 32]) << 32 | be32toh(buf[bit / 32 + 1]);
	return be32toh(buf[bit / 32]) >> (32 - bit % 32 - f.width) & prm_mask(f);
}

#endif /* MEMIC_PRM_H */
