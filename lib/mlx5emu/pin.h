/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_PIN_H
#define MLX5EMU_PIN_H

/*
 * Pages of the process that the card works in: MRs, umems, rings, doorbell records. The
 * kernel pins them (ib_umem_get() in core/umem.c), so they stay the card's when the process
 * unmaps them, maps something else there or gives their contents up; the process then has
 * other pages. Without a kernel the same comes of moving the old pages to a place of the
 * emulator's just before that happens. What the card holds may then be in several pieces.
 *
 * All of it is called under emu_lock().
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct emu_obj;

/* A run of a pin's pages that lie together. */
struct emu_pin_piece {
	uint64_t off, len;      /* bytes, in the pin */
	uint8_t *at;
	struct emu_pin_place *place; /* where the pages were moved to; NULL: the process's */
};

struct emu_pin {
	LIST_ENTRY(emu_pin) next;
	LIST_ENTRY(emu_pin) of_obj;
	struct emu_obj *obj;
	uint64_t start;         /* first page, an address of the process when it was pinned */
	uint64_t len;           /* whole pages */
	uint64_t counted;       /* pages that count against RLIMIT_MEMLOCK */
	bool doorbell;          /* the page of a record: mlx5_ib_db_map_user() */
	unsigned int n;
	struct emu_pin_piece *pieces; /* ascending, without gaps */
	struct emu_pin_piece whole;   /* the only piece of nearly all pins */
	LIST_HEAD(, emu_view) views;
};

/*
 * What one queue or key uses of a pin. As long as it lies in one piece its owner has a plain
 * pointer to it; when not, or when pages of it are lost, its owner finds the view in torn.
 */
struct emu_view {
	LIST_ENTRY(emu_view) of_pin;
	LIST_ENTRY(emu_view) of_obj;
	struct emu_pin *pin;
	uint64_t off, len;
	void *base;             /* of the owner: the pointer that is kept right */
	struct emu_view **torn; /* of the owner, or NULL where a page boundary cannot matter */
};

/*
 * ib_umem_get()'s checks: 0; -EINVAL for a range that wraps; -EPERM without any right to
 * lock memory; -ENOMEM beyond RLIMIT_MEMLOCK; -EFAULT.
 */
int emu_pin_check(uint64_t addr, uint64_t len, bool writable);
/* Pin checked memory for an object, until the object goes. NULL with *err as above. */
struct emu_pin *emu_pin_add(struct emu_obj *obj, uint64_t addr, uint64_t len, int *err);
/* The page of a doorbell record, which a context pins once for all its records there. */
struct emu_pin *emu_pin_add_doorbell(struct emu_obj *obj, uint64_t addr, int *err);
/* Show len bytes of a pin to an object: *(T **)base, and *torn if not NULL, are kept right. */
void emu_pin_view(struct emu_obj *obj, struct emu_pin *pin, uint64_t off, uint64_t len,
		  void *base, struct emu_view **torn);
/* A pin of its own, seen from addr on. 0 or a negative errno. */
int emu_pin_memory(struct emu_obj *obj, uint64_t addr, uint64_t len, void *base,
		   struct emu_view **torn);
int emu_pin_doorbell(struct emu_obj *obj, uint64_t addr, void *base);
/* Everything that an object pinned or sees. */
void emu_pin_release(struct emu_obj *obj);

/* Whether there is any pin; the only one to be called without the lock. */
bool emu_pin_any(void);
/*
 * The process is about to lose what is mapped in a range, or in two: say so, then move what
 * is pinned of it aside. With keep_mapping the ranges stay mapped and empty (MADV_DONTNEED).
 */
void emu_pin_going(uintptr_t addr, size_t len);
void emu_pin_hold(bool keep_mapping);
/* What came of it: the pages stay where they are, or the system call failed, put them back. */
void emu_pin_settle(bool lost);
/* After mremap(2): the process's pages have moved, and pins with them. */
void emu_pin_moved(uintptr_t from, uintptr_t to, size_t len);

/* Whether the card may touch an address of the process. */
bool emu_pin_covers(uintptr_t addr);
/* It did, and nothing was there: the page is lost. Tells who missed it. */
void emu_pin_lost(uintptr_t addr);

/* Pages now counted, for tests. */
uint64_t emu_pin_pages(void);

#endif
