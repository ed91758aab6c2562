/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "card.h"
#include "inject.h"

struct emu_dev *emu_devs;
unsigned int emu_dev_count;

/* ---- in the place of engine.c: one thread, which locks against nobody ---- */

void
emu_lock(void)
{
}

void
emu_unlock(void)
{
}

int
emu_engine_start(void)
{
	return 0;
}

void
emu_engine_stop(void)
{
}

/* ---- the card ---- */

static void
make_dev(struct card *card, unsigned int i, uint64_t memic)
{
	struct emu_dev *dev = &card->devs[i];

	memset(dev, 0, sizeof(*dev));
	emu_dev_init(dev, i, &card->cfg);
	dev->preset = emu_preset_find("cx6dx");
	dev->next_num = 0x40;
	dev->mtu = 1500;
	snprintf(dev->name, sizeof(dev->name), "mlx5_%u", i);
	memcpy(dev->mac, (uint8_t[]){ 0x02, 0, 0, 0, 0, (uint8_t)(0x10 + i) }, 6);
	if (memic > 0)
		fuzz_expect(emu_memic_init(&dev->memic, memic) == 0, "no memory for MEMIC");
}

void
card_init(struct card *card, const struct emu_config *cfg, uint64_t memic)
{
	card->cfg = *cfg;
	emu_devs = card->devs;
	emu_dev_count = CARD_DEVS;
	for (unsigned int i = 0; i < CARD_DEVS; i++)
		make_dev(card, i, memic);
}

static void
free_dev(struct emu_dev *dev)
{
	fuzz_expect(LIST_EMPTY(&dev->cqs), "%s: a CQ is left", dev->name);
	fuzz_expect(LIST_EMPTY(&dev->sqs), "%s: an SQ is left", dev->name);
	fuzz_expect(LIST_EMPTY(&dev->rqs), "%s: an RQ is left", dev->name);
	fuzz_expect(TAILQ_EMPTY(&dev->flows), "%s: a flow is left", dev->name);
	fuzz_expect(dev->memic.bytes_used == 0, "%s: %llu bytes of MEMIC are taken", dev->name,
		    (unsigned long long)dev->memic.bytes_used);
	for (uint32_t i = 0; i < dev->mkey_slots; i++)
		fuzz_expect(dev->mkeys[i] == NULL, "%s: mkey slot %u is taken", dev->name, i);
	if (dev->wire != NULL)
		emu_wire_close(dev);
	emu_wc_close(dev);
	if (dev->memic.va != NULL) {
		munmap(dev->memic.va, (size_t)dev->memic.pages * EMU_MEMIC_PAGE);
		close(dev->memic.fd);
	}
	free(dev->memic.page_used);
	free(dev->mkeys);
}

void
card_fini(struct card *card)
{
	for (unsigned int i = 0; i < CARD_DEVS; i++)
		free_dev(&card->devs[i]);
}
