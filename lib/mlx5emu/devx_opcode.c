/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <stddef.h>

#include "devx.h"

/*
 * Which way into firmware a command may take, whether this firmware knows it or not:
 * devx_is_obj_create_cmd(), _modify_cmd(), _query_cmd() and devx_is_general_cmd() in the
 * kernel's hw/mlx5/devx.c; numbers from its include/linux/mlx5/mlx5_ifc.h.
 */

static const uint16_t creates[] = {
	0x200,                                  /* MKEY */
	0x400, 0x500,                           /* CQ, QP */
	0x700, 0x705, 0x710, 0x717,             /* SRQ, XRC SRQ, DCT, XRQ */
	0x771, 0x782,                           /* Q counter, scheduling element */
	0x800, 0x806, 0x80e, 0x816,             /* PD, attach to MCG, XRCD, transport domain */
	0x827, 0x829,                           /* VXLAN UDP port, L2 table entry */
	0x900, 0x904, 0x908, 0x90c, 0x912, 0x916, /* TIR, SQ, RQ, RMP, TIS, RQT */
	0x930, 0x933, 0x939, 0x93d, 0x940,      /* flow table, group, counter; headers */
	0xa00,                                  /* general object */
};

static const uint16_t modifies[] = {
	0x403,                                  /* CQ */
	0x502, 0x503, 0x504, 0x505, 0x506, 0x507, 0x50a, 0x50e, /* QP */
	0x703, 0x708, 0x714, 0x71a, 0x726, 0x729, 0x72a,
	0x785, 0x827, 0x829,
	0x901, 0x905, 0x909, 0x90d, 0x913, 0x917,
	0x93c, 0xa01,
};

static const uint16_t queries[] = {
	0x201, 0x402, 0x50b, 0x702, 0x707, 0x713, 0x719, 0x725, 0x727,
	0x773, 0x784, 0x82a,
	0x903, 0x907, 0x90b, 0x90f, 0x915, 0x919,
	0x932, 0x935, 0x937, 0x93b, 0x93f, 0x942, 0xa02,
};

static const uint16_t generals[] = {
	0x100, 0x101, 0x10a,                    /* HCA caps, adapter, ISSI */
	0x750, 0x752, 0x754, 0x760, 0x762, 0x76f, 0x770, /* vports */
	0x80a, 0x80d,                           /* dropped packet log, NOP */
	0x822, 0x824, 0x826, 0x842,             /* congestion, LAG */
};

enum { GENERAL_START = 0xb00, GENERAL_END = 0xd00 };
enum { SET_FLOW_TABLE_ENTRY = 0x936, CREATE_PSV = 0x600 };

static bool
listed(const uint16_t *list, size_t n, uint16_t opcode)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == opcode)
			return true;
	return false;
}

bool
emu_devx_is_create(uint16_t opcode, uint16_t op_mod)
{
	if (opcode == SET_FLOW_TABLE_ENTRY)
		return op_mod == 0;
	return opcode == CREATE_PSV || listed(creates, EMU_COUNT(creates), opcode);
}

bool
emu_devx_is_modify(uint16_t opcode, uint16_t op_mod)
{
	if (opcode == SET_FLOW_TABLE_ENTRY)
		return op_mod == 1;
	return listed(modifies, EMU_COUNT(modifies), opcode);
}

bool
emu_devx_is_query(uint16_t opcode)
{
	return listed(queries, EMU_COUNT(queries), opcode);
}

bool
emu_devx_is_general(uint16_t opcode)
{
	return (opcode >= GENERAL_START && opcode < GENERAL_END) ||
	       listed(generals, EMU_COUNT(generals), opcode);
}

/* devx_is_whitelist_cmd(): for contexts without DevX, too */
bool
emu_devx_is_open(uint16_t opcode)
{
	return opcode == 0x100 || opcode == 0x752 || opcode == 0x762;
}
