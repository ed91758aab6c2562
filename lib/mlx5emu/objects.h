/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_OBJECTS_H
#define MLX5EMU_OBJECTS_H

/*
 * What the kernel keeps: open uverbs files, handles, references. Every object
 * names the objects it stands on; one that others stand on cannot be destroyed
 * (EBUSY), except when its file goes, which takes them newest first as the
 * kernel's uverbs_destroy_ufile_hw() does.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "hw.h"
#include "pin.h"

struct emu_obj;
struct emu_peer;

struct emu_class {
	uint16_t type;          /* UVERBS_OBJECT_* or MLX5_IB_OBJECT_* */
	const char *name;
	bool is_fd;             /* named by a file descriptor, has no handle */
	int busy;               /* errno while others stand on it; 0 means -EBUSY */
	/*
	 * Undo the object's part of the hardware. May refuse with a negative errno
	 * unless forced. NULL where there is nothing to undo.
	 */
	int (*destroy)(struct emu_obj *obj, bool forced);
};

/* First member of every object. */
struct emu_obj {
	TAILQ_ENTRY(emu_obj) next;
	const struct emu_class *class;
	struct emu_file *file;
	uint32_t handle;
	unsigned int users;     /* objects that stand on this one */
	bool dead;              /* its device was removed: only the handle is left */
	unsigned int n_uses;
	struct emu_obj **uses;
	LIST_HEAD(, emu_pin) pins;
	LIST_HEAD(, emu_view) views;
};

/* One open file of /dev/infiniband/uverbsN, shared by all its descriptors. */
struct emu_file {
	LIST_ENTRY(emu_file) next;
	struct emu_dev *dev;
	dev_t st_dev;           /* identity of the memfd behind the descriptors */
	ino_t st_ino;
	struct emu_peer *peer;  /* who opened it, if not this process; see share.h */
	bool fds_open;          /* a descriptor of it is still there */
	unsigned int vmas;      /* mappings hold the file, as in the kernel */
	bool gone;              /* its device was removed, and for this file stays so */
	bool has_context;
	bool devx;              /* the context was opened with DevX */
	TAILQ_HEAD(emu_obj_list, emu_obj) objects; /* oldest first */
	struct emu_obj **table; /* by handle */
	uint32_t table_size;
};

/* ---- files ---- */
struct emu_file *emu_file_new(struct emu_dev *dev, dev_t st_dev, ino_t st_ino);
struct emu_file *emu_file_find(dev_t st_dev, ino_t st_ino);
/* The files in turn: the first after NULL, NULL after the last. */
struct emu_file *emu_file_next(const struct emu_file *file);
/* The device went: undo what the objects are on it; handles and event files stay. */
void emu_file_disassociate(struct emu_file *file);
/* Release the file when neither descriptors nor mappings hold it any more. */
void emu_file_put(struct emu_file *file);

/* ---- objects ---- */
/* A zeroed object of size bytes, not yet visible; commit or discard it. */
void *emu_obj_new(struct emu_file *file, const struct emu_class *class, size_t size);
/* Stand on another object; NULL is ignored. */
void emu_obj_use(struct emu_obj *obj, struct emu_obj *other);
/* No longer stand on it, if it did; once for each emu_obj_use(). */
void emu_obj_unuse(struct emu_obj *obj, struct emu_obj *other);
/* Give it a handle and make it visible; 0 or -ENOMEM. */
int emu_obj_commit(struct emu_obj *obj);
/* Forget an object that was not committed. */
void emu_obj_discard(struct emu_obj *obj);
/* 0, -EBUSY when others stand on it, or what the class says. */
int emu_obj_destroy(struct emu_obj *obj, bool forced);
/*
 * Object of a handle: NULL with *err -ENOENT (no such handle) or -EINVAL (another
 * type), as rdma_lookup_get_uobject() answers. Type 0 takes any.
 */
struct emu_obj *emu_obj_find(struct emu_file *file, uint64_t handle, uint16_t type, int *err);

/* Objects alive in all files; each one is described through the callback if given. */
unsigned int emu_objects_alive(void (*tell)(const struct emu_obj *obj));
/* Objects that closing a file took away because its owner had not destroyed them. */
extern unsigned int emu_objects_reclaimed;

#endif
