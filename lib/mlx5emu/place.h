/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_PLACE_H
#define MLX5EMU_PLACE_H

/* Where pinned pages are: pieces of pins, and the places that hold moved pages. */

#include "pin.h"

/* Memory that is the emulator's alone; goes with the last piece that lies in it. */
struct emu_pin_place {
	LIST_ENTRY(emu_pin_place) next; /* of those not yet settled */
	uint8_t *at;
	size_t len;
	uintptr_t origin;       /* address of the process that it was moved from */
	unsigned int refs;
	bool fresh;             /* not yet settled */
	bool lost;              /* the pages are not the process's: those went unseen */
};

/* The piece of a pin at an offset. */
struct emu_pin_piece *emu_piece_at(const struct emu_pin *pin, uint64_t off);
bool emu_piece_is_lost(const struct emu_pin_piece *piece);
/* The part of a piece of the process's that lies in a range; false if there is none. */
bool emu_piece_in(const struct emu_pin_piece *piece, uintptr_t from, uintptr_t to,
		  uintptr_t *start, uintptr_t *end);
/* Cut the pieces of the process's at the ends of a range of its addresses. */
void emu_pin_cut(struct emu_pin *pin, uintptr_t from, uintptr_t to);
/* Put together what lies together. */
void emu_pin_join(struct emu_pin *pin);

/* NULL is ignored. */
void emu_place_put(struct emu_pin_place *place);

/* ---- pin.c ---- */
struct emu_pin *emu_pin_next(const struct emu_pin *pin);
/* Pieces of the pin changed: tell its views. */
void emu_pin_refresh(struct emu_pin *pin);

#endif
