/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "ioctl.h"

/*
 * Numbers as the ABI has them, the driver's own marked by the highest bit of a byte, so
 * that inputs keep their meaning when the tables grow. Others choose one by its place.
 */
static uint16_t
number(uint8_t byte)
{
	return (byte & 0x7f) | (byte & 0x80 ? 1u << UVERBS_ID_NS_SHIFT : 0);
}

const struct emu_method *
ioctl_method(uint8_t object, uint8_t method)
{
	const struct emu_method *methods[256];
	unsigned int n = 0;

	for (unsigned int t = 0; t < emu_n_tables; t++) {
		for (unsigned int i = 0; i < emu_tables[t]->n_methods; i++) {
			const struct emu_method *m = &emu_tables[t]->methods[i];

			if (m->object == number(object) && m->method == number(method))
				return m;
			fuzz_expect(n < EMU_COUNT(methods), "more methods than thought of");
			methods[n++] = m;
		}
	}
	return methods[(object + method) % n];
}

uint32_t
ioctl_write(uint8_t byte)
{
	uint32_t cmds[256], want;
	unsigned int n = 0;

	want = (byte & 0x7f) | (byte & 0x80 ? IB_USER_VERBS_CMD_FLAG_EXTENDED : 0);
	for (unsigned int t = 0; t < emu_n_tables; t++) {
		for (unsigned int i = 0; i < emu_tables[t]->n_writes; i++) {
			if (emu_tables[t]->writes[i].cmd == want)
				return want;
			fuzz_expect(n < EMU_COUNT(cmds), "more commands than thought of");
			cmds[n++] = emu_tables[t]->writes[i].cmd;
		}
	}
	return cmds[byte % n];
}

uint8_t
ioctl_method_byte(uint16_t id)
{
	return (id & 0x7f) | (id >> UVERBS_ID_NS_SHIFT & 1 ? 0x80 : 0);
}

uint8_t
ioctl_write_byte(uint64_t cmd)
{
	return (cmd & 0x7f) | (cmd & IB_USER_VERBS_CMD_FLAG_EXTENDED ? 0x80 : 0);
}
