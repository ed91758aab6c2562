/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <stdlib.h>
#include <string.h>

#include "emu.h"
#include "place.h"

/* The pieces that a pin is in, and what queues and keys see of them. */

struct emu_pin_piece *
emu_piece_at(const struct emu_pin *pin, uint64_t off)
{
	unsigned int lo = 0, hi = pin->n - 1;

	while (lo < hi) {
		unsigned int mid = (lo + hi + 1) / 2;

		if (pin->pieces[mid].off <= off)
			lo = mid;
		else
			hi = mid - 1;
	}
	return &pin->pieces[lo];
}

bool
emu_piece_is_lost(const struct emu_pin_piece *piece)
{
	return piece->place != NULL && piece->place->lost;
}

uint8_t *
emu_view_at(const struct emu_view *view, uint64_t off, uint64_t *room)
{
	const struct emu_pin_piece *piece = emu_piece_at(view->pin, view->off + off);
	uint64_t in = view->off + off - piece->off;

	if (room != NULL)
		*room = piece->len - in;
	return piece->at + in;
}

bool
emu_view_is_lost(const struct emu_view *view, uint64_t off, uint64_t len, uint64_t *addr)
{
	const struct emu_pin *pin = view->pin;

	for (unsigned int i = 0; i < pin->n; i++) {
		const struct emu_pin_piece *piece = &pin->pieces[i];

		if (!emu_piece_is_lost(piece) || piece->off >= view->off + off + len ||
		    piece->off + piece->len <= view->off + off)
			continue;
		*addr = pin->start + piece->off;
		return true;
	}
	return false;
}

void
emu_view_read(const struct emu_view *view, uint64_t off, void *to, size_t len)
{
	uint64_t room;
	size_t n;

	for (; len > 0; off += n, to = (uint8_t *)to + n, len -= n) {
		const uint8_t *from = emu_view_at(view, off, &room);

		n = room < len ? room : len;
		memcpy(to, from, n);
	}
}

void
emu_view_write(const struct emu_view *view, uint64_t off, const void *from, size_t len)
{
	uint64_t room;
	size_t n;

	for (; len > 0; off += n, from = (const uint8_t *)from + n, len -= n) {
		uint8_t *to = emu_view_at(view, off, &room);

		n = room < len ? room : len;
		memcpy(to, from, n);
	}
}

/* Split the piece that goes across an offset; what is split is shared by two. */
static void
split(struct emu_pin *pin, uint64_t off)
{
	struct emu_pin_piece *piece = emu_piece_at(pin, off), *pieces;
	unsigned int i = piece - pin->pieces;

	if (piece->off == off || off >= pin->len)
		return;
	pieces = calloc(pin->n + 1, sizeof(*pieces));
	if (pieces == NULL)
		abort(); /* a few bytes: nothing sensible is left to do */
	memcpy(pieces, pin->pieces, (i + 1) * sizeof(*pieces));
	memcpy(pieces + i + 1, pin->pieces + i, (pin->n - i) * sizeof(*pieces));
	pieces[i].len = off - pieces[i].off;
	pieces[i + 1].off = off;
	pieces[i + 1].at += pieces[i].len;
	pieces[i + 1].len -= pieces[i].len;
	if (pieces[i].place != NULL)
		pieces[i].place->refs++;
	if (pin->pieces != &pin->whole)
		free(pin->pieces);
	pin->pieces = pieces;
	pin->n++;
}

void
emu_pin_join(struct emu_pin *pin)
{
	unsigned int to = 0;

	for (unsigned int i = 1; i < pin->n; i++) {
		struct emu_pin_piece *last = &pin->pieces[to], *piece = &pin->pieces[i];

		if (piece->place == last->place && piece->at == last->at + last->len) {
			last->len += piece->len;
			emu_place_put(piece->place);
		} else {
			pin->pieces[++to] = *piece;
		}
	}
	pin->n = to + 1;
}

bool
emu_piece_in(const struct emu_pin_piece *piece, uintptr_t from, uintptr_t to,
	     uintptr_t *start, uintptr_t *end)
{
	uintptr_t at = (uintptr_t)piece->at;

	if (piece->place != NULL || at >= to || at + piece->len <= from)
		return false;
	*start = at > from ? at : from;
	*end = at + piece->len < to ? at + piece->len : to;
	return true;
}

void
emu_pin_cut(struct emu_pin *pin, uintptr_t from, uintptr_t to)
{
	uintptr_t start, end;

	for (unsigned int i = 0; i < pin->n; i++) {
		const struct emu_pin_piece *piece = &pin->pieces[i];
		uintptr_t at = (uintptr_t)piece->at;
		uint64_t off = piece->off;

		if (!emu_piece_in(piece, from, to, &start, &end))
			continue;
		split(pin, off + (end - at));
		split(pin, off + (start - at));
	}
}
