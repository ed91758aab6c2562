/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "ioctl.h"
#include "verbs.h"

static unsigned int
count_uses(const struct emu_file *file, const struct emu_obj *of)
{
	const struct emu_obj *obj;
	unsigned int n = 0;

	TAILQ_FOREACH(obj, &file->objects, next)
		for (unsigned int i = 0; i < obj->n_uses; i++)
			n += obj->uses[i] == of;
	return n;
}

/* Handles and objects name each other, and each object knows how many stand on it. */
static void
check_file(const struct emu_file *file)
{
	const struct emu_obj *obj;
	unsigned int n = 0;

	TAILQ_FOREACH(obj, &file->objects, next) {
		unsigned int uses = count_uses(file, obj);

		fuzz_expect(obj->file == file, "%s %u is of another file", obj->class->name,
			    obj->handle);
		fuzz_expect(obj->users == uses, "%s %u has %u users, counted %u",
			    obj->class->name, obj->handle, obj->users, uses);
		if (obj->class->is_fd)
			continue;
		fuzz_expect(obj->handle < file->table_size && file->table[obj->handle] == obj,
			    "%s %u is not at its handle", obj->class->name, obj->handle);
		n++;
	}
	for (uint32_t i = 0; i < file->table_size; i++)
		n -= file->table[i] != NULL;
	fuzz_expect(n == 0, "handles without an object");
}

static bool
has_rq(const struct emu_dev *dev, const struct emu_rq *rq)
{
	const struct emu_rq *r;

	LIST_FOREACH(r, &dev->rqs, next)
		if (r == rq)
			return true;
	return false;
}

static bool
has_cq(const struct emu_dev *dev, const struct emu_cq *cq)
{
	const struct emu_cq *c;

	LIST_FOREACH(c, &dev->cqs, next)
		if (c == cq)
			return true;
	return false;
}

/* What the engine would follow leads to what is there. */
static void
check_dev(const struct emu_dev *dev)
{
	const struct emu_flow *flow;
	const struct emu_sq *sq;
	const struct emu_rq *rq;

	LIST_FOREACH(sq, &dev->sqs, next)
		fuzz_expect(has_cq(dev, sq->cq), "sq 0x%x has no CQ", sq->num);
	LIST_FOREACH(rq, &dev->rqs, next)
		fuzz_expect(has_cq(dev, rq->cq), "rq 0x%x has no CQ", rq->num);
	TAILQ_FOREACH(flow, &dev->flows, next)
		for (unsigned int i = 0; flow->tir != NULL && i < flow->tir->n; i++)
			fuzz_expect(has_rq(dev, flow->tir->rqs[i]), "tir 0x%x has no RQ %u",
				    flow->tir->num, i);
	for (uint32_t i = 0; i < dev->mkey_slots; i++)
		if (dev->mkeys[i] != NULL)
			fuzz_expect(emu_mkey_find(dev, dev->mkeys[i]->key) == dev->mkeys[i],
				    "mkey 0x%x is not at its index", dev->mkeys[i]->key);
}

void
ioctl_check(const struct process *process)
{
	const struct emu_file *file;

	for (file = emu_file_next(NULL); file != NULL; file = emu_file_next(file))
		check_file(file);
	for (unsigned int i = 0; i < CARD_DEVS; i++)
		check_dev(&process->card.devs[i]);
}
