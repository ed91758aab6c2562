/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <linux/capability.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "emu.h"
#include "pin.h"
#include "place.h"
#include "verbs.h"
#include "vma.h"

#define PAGE 4096ull

static LIST_HEAD(, emu_pin) pins = LIST_HEAD_INITIALIZER(pins);
static atomic_uint n_pins;
static uint64_t pinned;         /* mm->pinned_vm */

bool
emu_pin_any(void)
{
	return n_pins > 0;
}

uint64_t
emu_pin_pages(void)
{
	return pinned;
}

/* ---- limits ---- */

static uint64_t
pages_of(uint64_t addr, uint64_t len)
{
	return (addr % PAGE + len + PAGE - 1) / PAGE;
}

/* can_do_mlock() and what follows it in ib_umem_get(): pages on top of what is pinned */
static int
check_limit(uint64_t pages)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return 0;
	if (pinned + pages <= limit.rlim_cur / PAGE)
		return 0;
	if (emu_capable(CAP_IPC_LOCK))
		return 0;
	emu_trace("  %llu pages pinned, %llu more wanted, RLIMIT_MEMLOCK is %llu bytes",
		  (unsigned long long)pinned, (unsigned long long)pages,
		  (unsigned long long)limit.rlim_cur);
	return limit.rlim_cur == 0 ? -EPERM : -ENOMEM;
}

int
emu_pin_check(uint64_t addr, uint64_t len, bool writable)
{
	int err;

	if (addr + len < addr || addr + len + PAGE - 1 < addr + len)
		return -EINVAL;
	err = check_limit(pages_of(addr, len));
	return err != 0 ? err : emu_user_range_check(addr, len, writable);
}

/* ---- pins and views ---- */

static struct emu_pin *
pin_new(struct emu_obj *obj, uint64_t addr, uint64_t len, uint64_t counted, int *err)
{
	struct emu_pin *pin;

	*err = check_limit(counted);
	if (*err != 0)
		return NULL;
	pin = calloc(1, sizeof(*pin));
	if (pin == NULL) {
		*err = -ENOMEM;
		return NULL;
	}
	pin->obj = obj;
	pin->start = addr & ~(PAGE - 1);
	pin->len = pages_of(addr, len) * PAGE;
	pin->counted = counted;
	pin->whole = (struct emu_pin_piece){
		.len = pin->len, .at = (uint8_t *)(uintptr_t)pin->start,
	};
	pin->pieces = &pin->whole;
	pin->n = 1;
	pinned += counted;
	n_pins++;
	LIST_INIT(&pin->views);
	LIST_INSERT_HEAD(&pins, pin, next);
	LIST_INSERT_HEAD(&obj->pins, pin, of_obj);
	return pin;
}

struct emu_pin *
emu_pin_add(struct emu_obj *obj, uint64_t addr, uint64_t len, int *err)
{
	return pin_new(obj, addr, len, pages_of(addr, len), err);
}

/* Another record of the same context in the same page. */
static struct emu_pin *
same_doorbell(const struct emu_file *file, uint64_t page)
{
	struct emu_pin *pin;

	LIST_FOREACH(pin, &pins, next)
		if (pin->doorbell && pin->obj->file == file && pin->start == page &&
		    pin->n == 1 && pin->pieces->place == NULL)
			return pin;
	return NULL;
}

struct emu_pin *
emu_pin_add_doorbell(struct emu_obj *obj, uint64_t addr, int *err)
{
	bool shared = same_doorbell(obj->file, addr & ~(PAGE - 1)) != NULL;
	struct emu_pin *pin = pin_new(obj, addr, EMU_DBREC_SIZE, shared ? 0 : 1, err);

	if (pin != NULL)
		pin->doorbell = true;
	return pin;
}

/* Give the owner of a view what is right now. */
static void
refresh(struct emu_view *view)
{
	const struct emu_pin *pin = view->pin;
	const struct emu_pin_piece *piece = emu_piece_at(pin, view->off);
	uint8_t *at = piece->at + (view->off - piece->off);
	bool whole = view->off + view->len <= piece->off + piece->len &&
		     !emu_piece_is_lost(piece);

	if (view->torn != NULL)
		*view->torn = whole ? NULL : view;
	memcpy(view->base, &at, sizeof(at));
}

void
emu_pin_refresh(struct emu_pin *pin)
{
	struct emu_view *view;

	LIST_FOREACH(view, &pin->views, of_pin)
		refresh(view);
}

void
emu_pin_view(struct emu_obj *obj, struct emu_pin *pin, uint64_t off, uint64_t len, void *base,
	     struct emu_view **torn)
{
	struct emu_view *view = calloc(1, sizeof(*view));

	if (view == NULL)
		abort(); /* a few bytes: nothing sensible is left to do */
	*view = (struct emu_view){ .pin = pin, .off = off, .len = len, .base = base, .torn = torn };
	LIST_INSERT_HEAD(&pin->views, view, of_pin);
	LIST_INSERT_HEAD(&obj->views, view, of_obj);
	refresh(view);
}

int
emu_pin_memory(struct emu_obj *obj, uint64_t addr, uint64_t len, void *base,
	       struct emu_view **torn)
{
	struct emu_pin *pin;
	int err;

	pin = emu_pin_add(obj, addr, len, &err);
	if (pin != NULL)
		emu_pin_view(obj, pin, addr % PAGE, len, base, torn);
	return err;
}

int
emu_pin_doorbell(struct emu_obj *obj, uint64_t addr, void *base)
{
	struct emu_pin *pin;
	int err;

	pin = emu_pin_add_doorbell(obj, addr, &err);
	if (pin != NULL)
		emu_pin_view(obj, pin, addr % PAGE, EMU_DBREC_SIZE, base, NULL);
	return err;
}

/* ---- release ---- */

static void
view_free(struct emu_view *view)
{
	LIST_REMOVE(view, of_pin);
	LIST_REMOVE(view, of_obj);
	free(view);
}

static void
pin_free(struct emu_pin *pin)
{
	struct emu_pin *heir;

	LIST_REMOVE(pin, next);
	LIST_REMOVE(pin, of_obj);
	n_pins--;
	heir = pin->doorbell && pin->counted > 0 ? same_doorbell(pin->obj->file, pin->start) : NULL;
	if (heir != NULL && heir->counted == 0)
		heir->counted = pin->counted;
	else
		pinned -= pin->counted;
	/* queues over a umem go before it */
	while (!LIST_EMPTY(&pin->views))
		view_free(LIST_FIRST(&pin->views));
	for (unsigned int i = 0; i < pin->n; i++)
		emu_place_put(pin->pieces[i].place);
	if (pin->pieces != &pin->whole)
		free(pin->pieces);
	free(pin);
}

void
emu_pin_release(struct emu_obj *obj)
{
	while (!LIST_EMPTY(&obj->views))
		view_free(LIST_FIRST(&obj->views));
	while (!LIST_EMPTY(&obj->pins))
		pin_free(LIST_FIRST(&obj->pins));
}

struct emu_pin *
emu_pin_next(const struct emu_pin *pin)
{
	return pin == NULL ? LIST_FIRST(&pins) : LIST_NEXT(pin, next);
}
