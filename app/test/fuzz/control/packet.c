/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "emu.h"

/* A card that takes no IPv6 header for one when it fills in checksums. */

void __real_emu_packet_fill_csum(uint8_t *data, size_t len, bool l3, bool l4);
void __wrap_emu_packet_fill_csum(uint8_t *data, size_t len, bool l3, bool l4);

void
__wrap_emu_packet_fill_csum(uint8_t *data, size_t len, bool l3, bool l4)
{
	struct emu_packet p;

	emu_packet_parse(&p, data, len);
	__real_emu_packet_fill_csum(data, len, l3, l4 && p.l3 != 6);
}
