/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu.h"
#include "objects.h"
#include "place.h"

#define PAGE 4096ull
#define HUGE_2M (1ull << 21)
#define HUGE_1G (1ull << 30)

static LIST_HEAD(, emu_pin_place) fresh = LIST_HEAD_INITIALIZER(fresh);
/* What the process is about to lose, until that is settled. */
static struct { uintptr_t start, end; } going[2];
static unsigned int n_going;

/* ---- places ---- */

void
emu_place_put(struct emu_pin_place *place)
{
	if (place == NULL || --place->refs > 0)
		return;
	if (place->fresh)
		LIST_REMOVE(place, next);
	syscall(SYS_munmap, place->at, place->len);
	free(place);
}

/* All that is pinned of the process's pages in the place's origin is in the place now. */
static void
move_in(struct emu_pin_place *place)
{
	uintptr_t from = place->origin, to = from + place->len, start, end;
	struct emu_pin *pin = NULL;

	place->refs++; /* the last piece may be put below */
	while ((pin = emu_pin_next(pin)) != NULL) {
		emu_pin_cut(pin, from, to);
		for (unsigned int i = 0; i < pin->n; i++) {
			struct emu_pin_piece *piece = &pin->pieces[i];

			if (!emu_piece_in(piece, from, to, &start, &end))
				continue;
			piece->at = place->at + (start - from);
			piece->place = place;
			place->refs++;
		}
		emu_pin_join(pin);
		emu_pin_refresh(pin);
	}
	emu_place_put(place);
}

static struct emu_pin_place *
place_new(void *at, uintptr_t origin, size_t len)
{
	struct emu_pin_place *place = calloc(1, sizeof(*place));

	if (place == NULL)
		abort(); /* the pages are already in there */
	*place = (struct emu_pin_place){ .at = at, .len = len, .origin = origin, .fresh = true };
	LIST_INSERT_HEAD(&fresh, place, next);
	return place;
}

/* Memory in the stead of pages that are not to be had any more. */
static void
substitute(uintptr_t origin, size_t len)
{
	void *at = (void *)syscall(SYS_mmap, NULL, len, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, (off_t)0);
	struct emu_pin_place *place;

	if (at == MAP_FAILED)
		abort(); /* or the card works in memory that may become anybody's */
	place = place_new(at, origin, len);
	place->lost = true;
	move_in(place);
}

/* End of the mapping that an address lies in, or of the range before. */
static uintptr_t
mapping_end(uintptr_t addr, uintptr_t limit)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uintptr_t start, end;
	char line[512];

	if (maps == NULL)
		return addr + PAGE;
	while (fgets(line, sizeof(line), maps) != NULL) {
		if (sscanf(line, "%lx-%lx", &start, &end) != 2 || end <= addr)
			continue;
		if (start <= addr && end < limit)
			limit = end;
		break;
	}
	fclose(maps);
	return limit;
}

/* Move whole huge pages: what is pinned may begin and end within one. */
static bool
widen(uintptr_t *start, uintptr_t *end, uint64_t size, uintptr_t lo, uintptr_t hi)
{
	uintptr_t from = *start & ~(size - 1), to = (*end + size - 1) & ~(size - 1);

	if (from < lo || to > hi)
		return false;
	*start = from;
	*end = to;
	return true;
}

/* Whether the system call that is about to come unmaps something in the range. */
static bool
goes_away(uintptr_t from, uintptr_t to)
{
	for (unsigned int i = 0; i < n_going; i++)
		if (from < going[i].end && going[i].start < to)
			return true;
	return false;
}

/* Addresses that nobody has, aligned; not the holes in what is to be unmapped. */
static uintptr_t
reserve(size_t len, uint64_t align)
{
	size_t room = len + align - PAGE;
	uintptr_t at = syscall(SYS_mmap, NULL, room, PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, (off_t)0);
	uintptr_t to = (at + align - 1) & ~(align - 1);

	if ((void *)at == MAP_FAILED)
		return at;
	if (goes_away(at, at + room)) {
		to = reserve(len, align); /* elsewhere, as this is taken */
		syscall(SYS_munmap, at, room);
		return to;
	}
	if (to > at)
		syscall(SYS_munmap, at, to - at);
	if (at + room > to + len)
		syscall(SYS_munmap, to + len, at + room - (to + len));
	return to;
}

/* Without a target mremap(2) leaves pages where they are unless they have to grow. */
static void *
move_pages(uintptr_t start, uintptr_t end, uint64_t page_size, bool keep_mapping)
{
	int flags = MREMAP_MAYMOVE | MREMAP_FIXED | (keep_mapping ? MREMAP_DONTUNMAP : 0);
	uintptr_t to = reserve(end - start, page_size);
	void *at;
	int err;

	if ((void *)to == MAP_FAILED)
		return MAP_FAILED;
	at = (void *)syscall(SYS_mremap, start, end - start, end - start, flags, to);
	err = errno;
	if (at == MAP_FAILED)
		syscall(SYS_munmap, to, end - start);
	errno = err;
	return at;
}

/* Move pages of one mapping, which begin at start; returns where those moved end. */
static uintptr_t
take(uintptr_t start, uintptr_t end, uintptr_t lo, uintptr_t hi, bool keep_mapping)
{
	static const uint64_t sizes[] = { HUGE_2M, HUGE_1G };
	void *at;

	end = mapping_end(start, end);
	at = move_pages(start, end, PAGE, keep_mapping);
	for (unsigned int i = 0; at == MAP_FAILED && errno == EINVAL && i < 2; i++)
		if (widen(&start, &end, sizes[i], lo, hi))
			at = move_pages(start, end, sizes[i], keep_mapping);
	if (at != MAP_FAILED) {
		move_in(place_new(at, start, end - start));
	} else if (!keep_mapping) {
		emu_report("0x%lx to 0x%lx cannot be kept for the card: mremap: %s", start, end,
			   strerrorname_np(errno));
		substitute(start, end - start);
	} else {
		emu_trace("madvise: 0x%lx to 0x%lx stay the card's and the process's: %s", start,
			  end, strerrorname_np(errno));
	}
	return end;
}

/* The first run of the process's pages in a range that any pin has. */
static bool
pinned_run(uintptr_t from, uintptr_t to, uintptr_t *start, uintptr_t *end)
{
	const struct emu_pin *pin = NULL;
	uintptr_t s, e;

	*start = *end = to;
	while ((pin = emu_pin_next(pin)) != NULL)
		for (unsigned int i = 0; i < pin->n; i++)
			if (emu_piece_in(&pin->pieces[i], from, to, &s, &e) && s < *start) {
				*start = s;
				*end = e;
			}
	if (*start == to)
		return false;
	for (bool grown = true; grown;) {
		grown = false;
		while ((pin = emu_pin_next(pin)) != NULL)
			for (unsigned int i = 0; i < pin->n; i++)
				if (emu_piece_in(&pin->pieces[i], from, to, &s, &e) && s <= *end &&
				    e > *end) {
					*end = e;
					grown = true;
				}
	}
	return true;
}

static void
hold(uintptr_t from, uintptr_t to, bool keep_mapping)
{
	uintptr_t at = from, start, end;

	while (pinned_run(at, to, &start, &end))
		for (at = start; at < end;)
			at = take(at, end, from, to, keep_mapping);
}

void
emu_pin_going(uintptr_t addr, size_t len)
{
	uintptr_t end = addr + ((len + PAGE - 1) & ~(PAGE - 1));

	if (addr % PAGE != 0 || end <= addr || n_going == 2)
		return; /* EINVAL */
	going[n_going].start = addr;
	going[n_going++].end = end;
}

void
emu_pin_hold(bool keep_mapping)
{
	for (unsigned int i = 0; i < n_going; i++)
		hold(going[i].start, going[i].end, keep_mapping);
}

/* Pages go back to where they were; pieces with them. */
static void
put_back(struct emu_pin_place *place)
{
	void *at = (void *)place->origin;
	struct emu_pin *pin = NULL;

	if (place->lost || (void *)syscall(SYS_mremap, place->at, place->len, place->len,
					   MREMAP_MAYMOVE | MREMAP_FIXED, at) != at)
		return;
	place->refs++;
	while ((pin = emu_pin_next(pin)) != NULL) {
		for (unsigned int i = 0; i < pin->n; i++) {
			struct emu_pin_piece *piece = &pin->pieces[i];

			if (piece->place != place)
				continue;
			piece->at = (uint8_t *)place->origin + (piece->at - place->at);
			piece->place = NULL;
			place->refs--;
		}
		emu_pin_join(pin);
		emu_pin_refresh(pin);
	}
	free(place);
}

void
emu_pin_settle(bool lost)
{
	struct emu_pin_place *place;

	n_going = 0;
	while ((place = LIST_FIRST(&fresh)) != NULL) {
		LIST_REMOVE(place, next);
		place->fresh = false;
		if (!lost)
			put_back(place);
		else
			emu_trace("%zu bytes at 0x%lx stay the card's", place->len, place->origin);
	}
}

void
emu_pin_moved(uintptr_t from, uintptr_t to, size_t len)
{
	struct emu_pin *pin = NULL;
	uintptr_t start, end;

	len = (len + PAGE - 1) & ~(PAGE - 1);
	while ((pin = emu_pin_next(pin)) != NULL) {
		emu_pin_cut(pin, from, from + len);
		for (unsigned int i = 0; i < pin->n; i++)
			if (emu_piece_in(&pin->pieces[i], from, from + len, &start, &end))
				pin->pieces[i].at += to - from;
		emu_pin_join(pin);
		emu_pin_refresh(pin);
	}
}

/* ---- pages that went unseen ---- */

static const struct emu_pin *
pin_at(uintptr_t addr)
{
	const struct emu_pin *pin = NULL;
	uintptr_t start, end;

	while ((pin = emu_pin_next(pin)) != NULL)
		for (unsigned int i = 0; i < pin->n; i++)
			if (emu_piece_in(&pin->pieces[i], addr, addr + 1, &start, &end))
				return pin;
	return NULL;
}

bool
emu_pin_covers(uintptr_t addr)
{
	return pin_at(addr) != NULL;
}

void
emu_pin_lost(uintptr_t addr)
{
	const struct emu_pin *pin = pin_at(addr);
	const struct emu_obj *obj = pin->obj;

	obj->file->dev->stats.protection_errors++;
	emu_report("%s: %s %u: nothing to reach at 0x%lx: unmapped within libc, cut off a file, "
		   "or closed by mprotect()", obj->file->dev->name, obj->class->name, obj->handle,
		   addr);
	substitute(addr & ~(PAGE - 1), PAGE);
	emu_pin_settle(true);
}
