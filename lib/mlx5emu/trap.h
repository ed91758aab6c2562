/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_TRAP_H
#define MLX5EMU_TRAP_H

/*
 * CPU touches of device memory, found by taking the pages' access rights away. What the
 * engine does is not seen: it has mappings of its own.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct emu_dev;

#define EMU_TRAP_RANGES 64

/* Device memory as the process has it mapped; whole pages. */
struct emu_trap_range {
	uintptr_t start, end;
	struct emu_dev *dev;
};

/* Whether anything was ever mapped under a trap. */
bool emu_trap_on(void);
/* Device memory gets mapped: watch, if --fault trap asks for it. */
void emu_trap_start(struct emu_dev *dev);
/* All ranges there are now, instead of those before. Call under emu_lock(). */
void emu_trap_set(const struct emu_trap_range *ranges, unsigned int n);
/* The places that touched device memory, with their call stacks, and how often. */
void emu_trap_print(FILE *out);

#endif
