/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef TEST_FUZZ_CARD_H
#define TEST_FUZZ_CARD_H

/*
 * A card of two functions without an engine thread: the targets run the queues
 * themselves, so that an input always does the same.
 */

#include "emu.h"
#include "fuzz.h"
#include "wire.h"

#define CARD_DEVS 2

struct card {
	struct emu_config cfg;
	struct emu_dev devs[CARD_DEVS];
};

/* All afresh, for the configuration given; memic bytes a function, 0 for no memory file. */
void card_init(struct card *card, const struct emu_config *cfg, uint64_t memic);
/* Everything on the card must be gone already. */
void card_fini(struct card *card);

#endif
