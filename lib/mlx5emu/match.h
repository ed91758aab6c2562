/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_MATCH_H
#define MLX5EMU_MATCH_H

/*
 * Byte offsets in fte_match_set_lyr_2_4 of what a frame can be compared in; PRM
 * "Flow Table Entry match parameters", in public in the kernel's mlx5_ifc.h.
 */

#include <stddef.h>
#include <stdint.h>

enum {
	EMU_MATCH_SMAC = 0,
	EMU_MATCH_ETHERTYPE = 6,
	EMU_MATCH_DMAC = 8,
	EMU_MATCH_VLAN = 14,            /* priority, CFI, VID */
	EMU_MATCH_PROTO = 16,
	EMU_MATCH_TOS = 17,             /* DSCP, ECN */
	EMU_MATCH_FLAGS = 18,           /* cvlan, svlan, frag, ip_version[4], tcp_flags[9] */
	EMU_MATCH_TCP_FLAGS = 19,
	EMU_MATCH_TCP = 20,             /* source and destination port */
	EMU_MATCH_RESERVED = 24,
	EMU_MATCH_IHL = 26,             /* ihl[4], l3_ok, l4_ok, their checksums' two */
	EMU_MATCH_TTL = 27,
	EMU_MATCH_UDP = 28,
	EMU_MATCH_SRC_IP = 32,          /* IPv4 in the last four bytes */
	EMU_MATCH_DST_IP = 48,
};

/* Whether emu_packet_parse() fills a byte, so that a mask may ask for it. */
static inline int
emu_match_fills(size_t byte)
{
	return byte < EMU_MATCH_RESERVED || (byte >= EMU_MATCH_IHL && byte < 64);
}

#endif
