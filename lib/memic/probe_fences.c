/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <string.h>

#include "probe.h"

/* Whether stores and loads of the CPU keep the order that fences ask for, and keys hold. */

#define TURNS 64
#define LEN 256u

static const char nothing_to_try[] =
	"no key is known to work, or there are no 256 bytes of device memory to try with";

/* A way that is known to work, with memory for it. */
static bool
open_way(struct probe *p, struct way *w)
{
	enum memic_mkey_mode mode;

	w->loop = p->loop;
	if (p->loop == NULL)
		return false;
	for (mode = 0; mode < MEMIC_MKEY_MODES; mode++)
		if (p->way[mode] == MEMIC_YES)
			break;
	if (mode == MEMIC_MKEY_MODES)
		return false;
	if (memic_dm_alloc_most(p->dev, 4096, LEN, &w->dm) != 0)
		return false;
	if (memic_mkey_create(w->dm, p->loop->pd, mode, &w->mkey) == 0)
		return true;
	probe_destroy(p, "device memory", memic_dm_free, w->dm);
	return false;
}

static void
close_way(struct probe *p, struct way *w)
{
	probe_destroy(p, "a key", memic_mkey_destroy, w->mkey);
	probe_destroy(p, "device memory", memic_dm_free, w->dm);
}

/* A store, a fence, a doorbell, over the same bytes again and again: an old one shows. */
static unsigned int
stale_stores(struct way *w)
{
	struct memic_loop *loop = w->loop;
	unsigned int i, stale = 0;

	for (i = 0; i < TURNS; i++) {
		struct ibv_sge from[2] = {
			loop_host_sge(loop, loop->tx, LOOP_HEADER),
			way_sge(w, LOOP_HEADER, LEN - LOOP_HEADER),
		};
		struct ibv_sge to = loop_host_sge(loop, loop->rx, LOOP_FRAME_MAX);

		memic_loop_make(loop, loop->tx, LEN);
		memic_copy_to(memic_dm_addr(w->dm), loop->tx, LEN);
		if (memic_loop_pass(loop, from, 2, &to, 1) != LOOP_ARRIVED ||
		    memcmp(loop->tx, loop->rx, LEN) != 0)
			stale++;
	}
	return stale;
}

/* A completion, a fence, a load. */
static unsigned int
stale_loads(struct way *w)
{
	struct memic_loop *loop = w->loop;
	unsigned int i, stale = 0;

	for (i = 0; i < TURNS; i++) {
		struct ibv_sge from = loop_host_sge(loop, loop->tx, LEN), to = way_sge(w, 0, LEN);

		memic_loop_make(loop, loop->tx, LEN);
		if (memic_loop_pass(loop, &from, 1, &to, 1) != LOOP_ARRIVED)
			stale++;
		memic_copy_from(loop->rx, memic_dm_addr(w->dm), LEN);
		if (memcmp(loop->tx, loop->rx, LEN) != 0)
			stale++;
	}
	return stale;
}

static void
tell_fence(struct probe *p, const char *name, const char *question, int stale)
{
	if (stale < 0)
		probe_tell(p, name, question, true, MEMIC_UNKNOWN, "%s", nothing_to_try);
	else
		probe_tell(p, name, question, true, stale == 0 ? MEMIC_YES : MEMIC_NO,
			   "%d of %d frames had old bytes", stale, TURNS);
}

void
probe_fences(struct probe *p)
{
	int stores = -1, loads = -1;
	struct way w = { 0 };

	if (open_way(p, &w)) {
		stores = (int)stale_stores(&w);
		loads = (int)stale_loads(&w);
		close_way(p, &w);
	}
	tell_fence(p, "store-fence", "does the card see what was stored before a fence", stores);
	tell_fence(p, "load-fence", "does the CPU see what came before a completion", loads);
}

/* ---- wrong keys ---- */

struct wrong {
	const char *what;
	struct ibv_sge sge;
};

/* One frame sent from where it may not be read. */
static bool
is_refused(struct memic_loop *loop, struct ibv_sge sge, bool receive)
{
	struct ibv_sge host = loop_host_sge(loop, receive ? loop->tx : loop->rx,
					    receive ? LEN : LOOP_FRAME_MAX);
	struct ibv_sge from[2] = { loop_host_sge(loop, loop->tx, LOOP_HEADER), sge };
	enum loop_end end;

	memic_loop_make(loop, loop->tx, LEN);
	if (receive)
		end = memic_loop_pass(loop, &host, 1, &sge, 1);
	else
		end = memic_loop_pass(loop, from, 2, &host, 1);
	return end == LOOP_SEND_ERROR || end == LOOP_RECV_ERROR;
}

static const char *
first_accepted(struct way *w, struct memic_mkey *foreign)
{
	size_t size = memic_dm_length(w->dm);
	struct wrong wrong[] = {
		{ "a key that does not exist", way_sge(w, 0, LEN) },
		{ "bytes behind the end", way_sge(w, size - LEN + MEMIC_UNIT, LEN) },
		{ "an address of the host", way_sge(w, 0, LEN) },
		{ "a key of another protection domain", way_sge(w, 0, LEN) },
	};
	size_t i, n = sizeof(wrong) / sizeof(wrong[0]);

	/* the variant, the low byte, tells keys that share an index apart */
	wrong[0].sge.lkey ^= 0x5a;
	wrong[2].sge.addr = (uintptr_t)w->loop->tx;
	if (foreign == NULL)
		n--;
	else
		wrong[3].sge.lkey = memic_mkey_lkey(foreign);
	for (i = 0; i < n; i++)
		if (!is_refused(w->loop, wrong[i].sge, false) ||
		    !is_refused(w->loop, wrong[i].sge, true))
			return wrong[i].what;
	return NULL;
}

void
probe_keys(struct probe *p)
{
	static const char question[] = "are wrong keys refused, rather than wrong bytes sent";
	struct memic_mkey *foreign = NULL;
	const char *accepted;
	struct way w = { 0 };
	struct ibv_pd *pd;

	if (!open_way(p, &w)) {
		probe_tell(p, "wrong-keys", question, false, MEMIC_UNKNOWN, "%s",
			   nothing_to_try);
		return;
	}
	pd = ibv_alloc_pd(p->dev->ctx);
	if (pd != NULL)
		memic_mkey_create(w.dm, pd, memic_mkey_mode(w.mkey), &foreign);
	accepted = first_accepted(&w, foreign);
	if (accepted == NULL)
		probe_tell(p, "wrong-keys", question, false, MEMIC_YES, "a key that does not "
			   "exist, bytes behind the end, an address of the host%s: all refused, "
			   "sending and receiving", foreign != NULL ?
			   " and a key of another protection domain" : "");
	else
		probe_tell(p, "wrong-keys", question, false, MEMIC_NO, "%s: the frame was not "
			   "refused", accepted);
	probe_destroy(p, "a key", memic_mkey_destroy, foreign);
	if (pd != NULL)
		probe_destroy(p, "a protection domain", ibv_dealloc_pd, pd);
	close_way(p, &w);
}
