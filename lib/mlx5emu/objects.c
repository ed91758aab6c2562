/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdlib.h>

#include "emu.h"
#include "objects.h"
#include "verbs.h"

static LIST_HEAD(, emu_file) files = LIST_HEAD_INITIALIZER(files);
unsigned int emu_objects_reclaimed;

struct emu_file *
emu_file_new(struct emu_dev *dev, dev_t st_dev, ino_t st_ino)
{
	struct emu_file *file = calloc(1, sizeof(*file));

	if (file == NULL)
		return NULL;
	file->dev = dev;
	file->st_dev = st_dev;
	file->st_ino = st_ino;
	file->fds_open = true;
	TAILQ_INIT(&file->objects);
	LIST_INSERT_HEAD(&files, file, next);
	return file;
}

struct emu_file *
emu_file_find(dev_t st_dev, ino_t st_ino)
{
	struct emu_file *file;

	LIST_FOREACH(file, &files, next)
		if (file->st_ino == st_ino && file->st_dev == st_dev)
			return file;
	return NULL;
}

struct emu_file *
emu_file_next(const struct emu_file *file)
{
	return file == NULL ? LIST_FIRST(&files) : LIST_NEXT(file, next);
}

/* Give up what an object stands on, memory included. */
static void
release_uses(struct emu_obj *obj)
{
	emu_pin_release(obj);
	for (unsigned int i = 0; i < obj->n_uses; i++)
		obj->uses[i]->users--;
	obj->n_uses = 0;
}

/* uverbs_destroy_ufile_hw(): newest first */
void
emu_file_disassociate(struct emu_file *file)
{
	struct emu_obj *obj;

	TAILQ_FOREACH_REVERSE(obj, &file->objects, emu_obj_list, next) {
		if (obj->class->is_fd || obj->dead)
			continue;
		if (obj->class->destroy != NULL)
			obj->class->destroy(obj, true);
		release_uses(obj);
		obj->dead = true;
	}
}

/*
 * Undo everything, newest first. Memory stays for the moment: an older object may stand on
 * a newer one, as an RQ table that was modified does.
 */
static void
undo_all(struct emu_file *file)
{
	struct emu_obj *obj;

	TAILQ_FOREACH_REVERSE(obj, &file->objects, emu_obj_list, next) {
		if (obj->dead)
			continue;
		if (!obj->class->is_fd) {
			emu_objects_reclaimed++;
			emu_trace("%s closed with live %s %u", file->dev->name, obj->class->name,
				  obj->handle);
		}
		if (obj->class->destroy != NULL)
			obj->class->destroy(obj, true);
		release_uses(obj);
	}
}

void
emu_file_put(struct emu_file *file)
{
	struct emu_obj *obj;

	if (file->fds_open || file->vmas > 0)
		return;
	undo_all(file);
	while ((obj = TAILQ_FIRST(&file->objects)) != NULL) {
		TAILQ_REMOVE(&file->objects, obj, next);
		emu_obj_discard(obj);
	}
	emu_trace("%s: file released", file->dev->name);
	LIST_REMOVE(file, next);
	free(file->table);
	free(file);
}

void *
emu_obj_new(struct emu_file *file, const struct emu_class *class, size_t size)
{
	struct emu_obj *obj = calloc(1, size);

	if (obj == NULL)
		return NULL;
	obj->file = file;
	obj->class = class;
	return obj;
}

void
emu_obj_use(struct emu_obj *obj, struct emu_obj *other)
{
	struct emu_obj **uses;

	if (other == NULL)
		return;
	uses = realloc(obj->uses, (obj->n_uses + 1) * sizeof(*uses));
	if (uses == NULL)
		abort(); /* a few bytes: nothing sensible is left to do */
	obj->uses = uses;
	obj->uses[obj->n_uses++] = other;
	other->users++;
}

void
emu_obj_unuse(struct emu_obj *obj, struct emu_obj *other)
{
	for (unsigned int i = 0; i < obj->n_uses; i++) {
		if (obj->uses[i] != other)
			continue;
		obj->uses[i] = obj->uses[--obj->n_uses];
		other->users--;
		return;
	}
}

static int
take_handle(struct emu_obj *obj)
{
	struct emu_file *file = obj->file;
	struct emu_obj **table;
	uint32_t i, size;

	/* the lowest free one, as xa_alloc() in alloc_idr_uobject() */
	for (i = 0; i < file->table_size; i++)
		if (file->table[i] == NULL)
			break;
	if (i == file->table_size) {
		size = file->table_size == 0 ? 64 : 2 * file->table_size;
		table = reallocarray(file->table, size, sizeof(*table));
		if (table == NULL)
			return -ENOMEM;
		for (uint32_t k = file->table_size; k < size; k++)
			table[k] = NULL;
		file->table = table;
		file->table_size = size;
	}
	file->table[i] = obj;
	obj->handle = i;
	return 0;
}

int
emu_obj_commit(struct emu_obj *obj)
{
	int err = obj->class->is_fd ? 0 : take_handle(obj);

	if (err == 0)
		TAILQ_INSERT_TAIL(&obj->file->objects, obj, next);
	return err;
}

void
emu_obj_discard(struct emu_obj *obj)
{
	release_uses(obj);
	free(obj->uses);
	free(obj);
}

static const struct emu_class *
freed_class(const struct emu_dev *dev)
{
	switch (dev->cfg->fault.not_busy) {
	case EMU_BUSY_DM_FREED:
		return &emu_dm_class;
	case EMU_BUSY_PD_FREED:
		return &emu_pd_class;
	default:
		return NULL;
	}
}

/*
 * --fault not-busy: forget the memory regions that stand on an object, so that it can go.
 * A memory region knows its protection domain by number and its memory by the card's
 * address: nothing of it points at what goes. Other users would, and keep it.
 */
static void
forget_regions(struct emu_obj *obj)
{
	unsigned int regions = 0;
	struct emu_obj *o;

	if (obj->class != freed_class(obj->file->dev))
		return;
	TAILQ_FOREACH(o, &obj->file->objects, next)
		for (unsigned int i = 0; o->class == &emu_mr_class && i < o->n_uses; i++)
			regions += o->uses[i] == obj;
	if (regions == 0 || regions != obj->users)
		return;
	TAILQ_FOREACH(o, &obj->file->objects, next)
		emu_obj_unuse(o, obj);
	emu_report("%s: --fault not-busy: %s %u goes under %u memory region(s)",
		   obj->file->dev->name, obj->class->name, obj->handle, regions);
}

int
emu_obj_destroy(struct emu_obj *obj, bool forced)
{
	int err;

	if (!forced)
		forget_regions(obj);
	if (obj->users > 0 && !forced)
		return obj->class->busy != 0 ? obj->class->busy : -EBUSY;
	if (obj->class->destroy != NULL && !obj->dead) {
		err = obj->class->destroy(obj, forced);
		if (err != 0 && !forced)
			return err;
	}
	if (!obj->class->is_fd)
		obj->file->table[obj->handle] = NULL;
	TAILQ_REMOVE(&obj->file->objects, obj, next);
	emu_obj_discard(obj);
	return 0;
}

struct emu_obj *
emu_obj_find(struct emu_file *file, uint64_t handle, uint16_t type, int *err)
{
	struct emu_obj *obj = handle < file->table_size ? file->table[handle] : NULL;

	*err = obj == NULL ? -ENOENT : 0;
	if (obj != NULL && type != 0 && obj->class->type != type) {
		*err = -EINVAL;
		return NULL;
	}
	return obj;
}

unsigned int
emu_objects_alive(void (*tell)(const struct emu_obj *obj))
{
	const struct emu_file *file;
	const struct emu_obj *obj;
	unsigned int n = 0;

	LIST_FOREACH(file, &files, next) {
		TAILQ_FOREACH(obj, &file->objects, next) {
			if (obj->dead)
				continue;
			n++;
			if (tell != NULL)
				tell(obj);
		}
	}
	return n;
}
