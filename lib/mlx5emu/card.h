/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_CARD_H
#define MLX5EMU_CARD_H

#include <stdbool.h>
#include <stddef.h>

#include "shim.h"

/* The character device that the generated sysfs names, as the kernel's IB_UVERBS_MAJOR. */
enum { EMU_NODE_MAJOR = 231, EMU_NODE_MINOR = 192 };

/*
 * Something was created or destroyed. After the exit report was written (from a
 * destructor) other destructors may still tear down: then it is written again.
 */
void emu_card_changed(void);

/*
 * For programs under the emulator that look for leaks while they run; found by dlsym(3).
 * How many objects of all cards are alive, with up to len bytes of text that say how many of
 * each kind: "PD 1, MR 3". Takes the emulator's lock.
 */
EXPORT unsigned int mlx5emu_objects(char *text, size_t len);

/* This process was forked from one with a card, and has none. */
extern bool emu_forked;
/* What the device files it inherited answer: -1 with EIO, as if the device had been removed. */
int emu_refuse_child(const char *call);

#endif
