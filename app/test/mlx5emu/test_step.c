/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "step.h"

/* Instructions of arm64 as its assembler writes them; told apart on any machine. */
static const struct {
	uint32_t insn;
	const char *text;
} stores[] = {
	{ 0x39000020, "strb w0, [x1]" },
	{ 0x79000420, "strh w0, [x1, #2]" },
	{ 0xb9000020, "str w0, [x1]" },
	{ 0xf8008c20, "str x0, [x1, #8]!" },
	{ 0xf81f8020, "stur x0, [x1, #-8]" },
	{ 0x3d000020, "str b0, [x1]" },
	{ 0x3d800020, "str q0, [x1]" },
	{ 0x3c9f0020, "stur q0, [x1, #-16]" },
	{ 0x3ca26820, "str q0, [x1, x2]" },
	{ 0xa9000820, "stp x0, x2, [x1]" },
	{ 0xac810420, "stp q0, q1, [x1], #32" },
	{ 0xa8000820, "stnp x0, x2, [x1]" },
	{ 0x4c007020, "st1 {v0.16b}, [x1]" },
	{ 0x0d000c20, "st1 {v0.b}[3], [x1]" },
	{ 0xc89ffc20, "stlr x0, [x1]" },
	{ 0x089ffc20, "stlrb w0, [x1]" },
	{ 0xd9008020, "stlur x0, [x1, #8]" },
	{ 0xf8200022, "ldadd x0, x2, [x1]" },
	{ 0xb820003f, "stadd w0, [x1]" },
	{ 0xf8e08022, "swpal x0, x2, [x1]" },
	{ 0xc8a07c22, "cas x0, x2, [x1]" },
	{ 0x48207c82, "casp x0, x1, x2, x3, [x4]" },
	{ 0xd50b7420, "dc zva, x0" },
	{ 0xe400e020, "st1b {z0.b}, p0, [x1]" },
	{ 0xe5e0e020, "st1d {z0.d}, p0, [x1]" },
	{ 0xe5804020, "str z0, [x1]" },
}, loads[] = {
	{ 0x39400020, "ldrb w0, [x1]" },
	{ 0x39800020, "ldrsb x0, [x1]" },
	{ 0x39c00020, "ldrsb w0, [x1]" },
	{ 0x78802420, "ldrsh x0, [x1], #2" },
	{ 0xb8626820, "ldr w0, [x1, x2]" },
	{ 0xb9800020, "ldrsw x0, [x1]" },
	{ 0xf9400420, "ldr x0, [x1, #8]" },
	{ 0xf85f8020, "ldur x0, [x1, #-8]" },
	{ 0x3d400020, "ldr b0, [x1]" },
	{ 0x3dc00020, "ldr q0, [x1]" },
	{ 0xfc626820, "ldr d0, [x1, x2]" },
	{ 0xa9400820, "ldp x0, x2, [x1]" },
	{ 0x69400820, "ldpsw x0, x2, [x1]" },
	{ 0xad410420, "ldp q0, q1, [x1, #32]" },
	{ 0xac400420, "ldnp q0, q1, [x1]" },
	{ 0x4c402020, "ld1 {v0.16b-v3.16b}, [x1]" },
	{ 0x4d40c820, "ld1r {v0.4s}, [x1]" },
	{ 0x88dffc20, "ldar w0, [x1]" },
	{ 0xf8bfc020, "ldapr x0, [x1]" },
	{ 0x99404020, "ldapur w0, [x1, #4]" },
	{ 0x99800020, "ldapursw x0, [x1]" },
	{ 0xa400a020, "ld1b {z0.b}, p0/z, [x1]" },
	{ 0xc5a0c020, "ld1d {z0.d}, p0/z, [z1.d]" },
	{ 0x85804020, "ldr z0, [x1]" },
}, left_alone[] = {
	{ 0xc85f7c20, "ldxr x0, [x1]" },
	{ 0xc8037c20, "stxr w3, x0, [x1]" },
	{ 0xc87f8820, "ldaxp x0, x2, [x1]" },
	{ 0xc8238820, "stlxp w3, x0, x2, [x1]" },
	{ 0x58000000, "ldr x0, ." },
	{ 0x9c000000, "ldr q0, ." },
};

#define N(a) (sizeof(a) / sizeof((a)[0]))

static void
writes(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < N(stores); i++)
		if (!emu_a64_writes(stores[i].insn))
			fail_msg("%s is taken for a load", stores[i].text);
	for (i = 0; i < N(loads); i++)
		if (emu_a64_writes(loads[i].insn))
			fail_msg("%s is taken for a store", loads[i].text);
}

/* An address that is relative to the instruction, and pairs that any fault tears. */
static void
moves(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < N(stores); i++)
		if (!emu_a64_moves(stores[i].insn))
			fail_msg("%s is not executed", stores[i].text);
	for (i = 0; i < N(loads); i++)
		if (!emu_a64_moves(loads[i].insn))
			fail_msg("%s is not executed", loads[i].text);
	for (i = 0; i < N(left_alone); i++)
		if (emu_a64_moves(left_alone[i].insn))
			fail_msg("%s is executed elsewhere", left_alone[i].text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes),
		cmocka_unit_test(moves),
	};

	return cmocka_run_group_tests_name("step", tests, NULL, NULL);
}
