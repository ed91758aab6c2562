/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "destroy.h"
#include "probe.h"

/* Whether frames pass through a key over device memory, unchanged and both ways. */

#define PAGE 4096u
#define PARTS 3

/* With the FCS that hardware adds: the shortest one, odd ones, around lines and pages. */
static const uint16_t sizes[] = { 60, 61, 127, 128, 511, 1514, 4096, 4097, 9000 };

static bool
same(const uint8_t *a, const uint8_t *b, size_t len, size_t *at)
{
	for (*at = 0; *at < len; (*at)++)
		if (a[*at] != b[*at])
			return false;
	return true;
}

/* What is wrong with a pass; empty text if nothing. */
static bool
good(struct memic_loop *loop, enum loop_end end, size_t len, const char *what, char *why,
     size_t why_len)
{
	char text[256];
	size_t at;

	if (end != LOOP_ARRIVED) {
		memic_loop_explain(loop, end, text, sizeof(text));
		snprintf(why, why_len, "a frame of %zu bytes %s %s", len, what, text);
		return false;
	}
	if (loop->bytes != len) {
		snprintf(why, why_len, "a frame of %zu bytes %s came back with %u", len, what,
			 loop->bytes);
		return false;
	}
	if (!same(loop->tx, loop->rx, len, &at)) {
		snprintf(why, why_len, "a frame of %zu bytes %s came back with a wrong byte at %zu "
			 "(0x%02x for 0x%02x)", len, what, at, loop->rx[at], loop->tx[at]);
		return false;
	}
	return true;
}

enum memic_answer
probe_baseline(struct memic_loop *loop, char *why, size_t why_len)
{
	struct ibv_sge from = loop_host_sge(loop, loop->tx, 60);
	struct ibv_sge to = loop_host_sge(loop, loop->rx, LOOP_FRAME_MAX);
	enum loop_end end;
	char text[256];

	memic_loop_make(loop, loop->tx, 60);
	memset(loop->rx, 0, 60);
	end = memic_loop_pass(loop, &from, 1, &to, 1);
	if (end == LOOP_LOST) {
		memic_loop_excuse(loop, text, sizeof(text));
		snprintf(why, why_len, "a frame in host memory did not come back: %s", text);
		return MEMIC_UNKNOWN;
	}
	return good(loop, end, 60, "in host memory", why, why_len) ? MEMIC_YES : MEMIC_NO;
}

/*
 * Split bytes of device memory into segments, as many as 1 or PARTS, the last part first:
 * what is one after the other in the frame is not in memory.
 */
static int
segments(const struct way *w, size_t off, size_t len, int parts, struct ibv_sge *sge)
{
	size_t part = len / (size_t)parts, first = len - part * (size_t)(parts - 1), end;
	int i;

	end = off + len;
	for (i = 0; i < parts; i++) {
		size_t n = i == 0 ? first : part;

		end -= n;
		sge[i] = way_sge(w, end, n);
	}
	return parts;
}

static void
copy_parts(const struct way *w, const struct ibv_sge *sge, int parts, uint8_t *host, bool to_dm)
{
	uint8_t *base = memic_dm_addr(w->dm);
	int i;

	for (i = 0; i < parts; i++) {
		uint8_t *dm = base + (sge[i].addr - memic_mkey_base(w->mkey));

		if (to_dm)
			memic_copy_to(dm, host, sge[i].length);
		else
			memic_copy_from(host, dm, sge[i].length);
		host += sge[i].length;
	}
}

/* From host memory to the device. */
static bool
receive(struct way *w, size_t off, size_t len, int parts, char *why, size_t why_len)
{
	struct memic_loop *loop = w->loop;
	struct ibv_sge from = loop_host_sge(loop, loop->tx, len), to[PARTS];
	enum loop_end end;

	memic_loop_make(loop, loop->tx, len);
	segments(w, off, len, parts, to);
	memset(loop->rx, 0, len);
	copy_parts(w, to, parts, loop->rx, true);
	end = memic_loop_pass(loop, &from, 1, to, parts);
	if (end == LOOP_ARRIVED)
		copy_parts(w, to, parts, loop->rx, false);
	return good(loop, end, len, parts == 1 ? "received into device memory" :
		    "received into three segments of device memory", why, why_len);
}

/*
 * From the device to host memory. Some cards want a header inline, for which libmlx5
 * reads the first segment: with a direct key its address is none of the CPU's, so the
 * header comes from host memory then.
 */
static bool
transmit(struct way *w, size_t off, size_t len, int parts, bool header, char *why,
	 size_t why_len)
{
	struct memic_loop *loop = w->loop;
	struct ibv_sge from[1 + PARTS], to = loop_host_sge(loop, loop->rx, LOOP_FRAME_MAX);
	size_t skip = header ? LOOP_HEADER : 0;
	int first = header ? 1 : 0;
	enum loop_end end;

	memic_loop_make(loop, loop->tx, len);
	if (header)
		from[0] = loop_host_sge(loop, loop->tx, LOOP_HEADER);
	segments(w, off, len - skip, parts, from + first);
	copy_parts(w, from + first, parts, loop->tx + skip, true);
	memset(loop->rx, 0, len);
	end = memic_loop_pass(loop, from, first + parts, &to, 1);
	return good(loop, end, len, parts == 1 ? "sent from device memory" :
		    "sent from three segments of device memory", why, why_len);
}

/*
 * A frame goes from host memory to the device, and the same bytes from there back. The CPU
 * touches no device memory, so a program that must not do so can have this.
 */
static bool
there_and_back(struct way *w, size_t len, char *why, size_t why_len)
{
	struct memic_loop *loop = w->loop;
	size_t at = memic_dm_length(w->dm) - len;
	struct ibv_sge host = loop_host_sge(loop, loop->tx, len), dm = way_sge(w, at, len);
	struct ibv_sge from[2] = {
		loop_host_sge(loop, loop->tx, LOOP_HEADER),
		way_sge(w, at + LOOP_HEADER, len - LOOP_HEADER),
	};
	struct ibv_sge to = loop_host_sge(loop, loop->rx, LOOP_FRAME_MAX);
	enum loop_end end;

	memic_loop_make(loop, loop->tx, len);
	memset(loop->rx, 0, len);
	end = memic_loop_pass(loop, &host, 1, &dm, 1);
	if (end != LOOP_ARRIVED)
		return good(loop, end, len, "received into device memory", why, why_len);
	end = memic_loop_pass(loop, from, 2, &to, 1);
	return good(loop, end, len, "received into device memory and sent from it", why, why_len);
}

/* The start of the memory, its end, and across a page at an odd address. */
static size_t
place(const struct way *w, size_t len, unsigned int i)
{
	size_t size = memic_dm_length(w->dm);

	if (i % 3 == 1)
		return size - len;
	if (i % 3 == 2 && size >= PAGE + len)
		return PAGE - 31;
	return 0;
}

static bool
all_shapes(struct way *w, size_t len, unsigned int i, char *why, size_t why_len)
{
	bool direct = memic_mkey_mode(w->mkey) == MEMIC_MKEY_DIRECT;
	size_t off = place(w, len, i);

	if (!receive(w, off, len, 1, why, why_len) ||
	    !receive(w, place(w, len, i + 1), len, PARTS, why, why_len) ||
	    !transmit(w, off, len, 1, true, why, why_len) ||
	    !transmit(w, place(w, len, i + 1), len, PARTS, true, why, why_len))
		return false;
	return direct || transmit(w, place(w, len, i + 2), len, 1, false, why, why_len);
}

static enum memic_answer
brief(struct way *w, char *why, size_t why_len)
{
	size_t room = memic_dm_length(w->dm), len = memic_loop_longest(w->loop);

	len = len > 1514 ? 1514 : len;
	len = len > room ? room : len;
	if (len < 60) {
		snprintf(why, why_len, "%zu bytes of device memory are not enough for a frame",
			 room);
		return MEMIC_UNKNOWN;
	}
	if (!there_and_back(w, 60, why, why_len) || !there_and_back(w, len, why, why_len))
		return MEMIC_NO;
	snprintf(why, why_len, "frames of 60 and %zu bytes passed unchanged", len);
	return MEMIC_YES;
}

/* Frames through a key; MEMIC_YES or MEMIC_NO, and what was seen. */
static enum memic_answer
probe_way(struct way *w, bool thorough, char *why, size_t why_len)
{
	size_t room = memic_dm_length(w->dm), longest = memic_loop_longest(w->loop), last = 0;
	unsigned int i, n = 0;

	if (!thorough)
		return brief(w, why, why_len);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (sizes[i] > room || sizes[i] > longest)
			continue;
		if (!all_shapes(w, sizes[i], i, why, why_len))
			return MEMIC_NO;
		last = sizes[i];
		n++;
	}
	if (n == 0) {
		snprintf(why, why_len, "%zu bytes of device memory are not enough for a frame",
			 room);
		return MEMIC_UNKNOWN;
	}
	snprintf(why, why_len, "frames of %u sizes from 60 to %zu bytes, in one and three "
		 "segments, passed unchanged both ways%s", n, last, last == 9000 ? "" :
		 longest < 9000 ? "; longer ones were not tried, as the MTU of the interface does "
		 "not allow them" : "; longer ones were not tried, as there is no memory for them");
	return MEMIC_YES;
}

/* A refusal by firmware, kernel or layout is an answer, a shortage is none. */
static int
take_refusal(struct memic_check *check, int rc)
{
	if (rc != -EREMOTEIO && rc != -EOPNOTSUPP && rc != -EINVAL)
		return rc;
	check->answer = MEMIC_NO;
	snprintf(check->reason, sizeof(check->reason), "%s", memic_last_error());
	return 0;
}

/* A key of its own protection domain, for want of a loop's. */
static int
key_alone(struct memic_dm *dm, enum memic_mkey_mode mode, struct memic_check *check)
{
	struct memic_mkey *mkey;
	struct ibv_pd *pd;
	int rc, left;

	errno = 0;
	pd = ibv_alloc_pd(dm->dev->ctx);
	if (pd == NULL) {
		rc = memic_null_errno();
		return memic_fail(rc, "ibv_alloc_pd on %s: %s", dm->dev->caps.name,
				  memic_errno_name(rc));
	}
	rc = memic_mkey_create(dm, pd, mode, &mkey);
	if (rc != 0)
		rc = take_refusal(check, rc);
	else
		rc = -memic_destroy(memic_mkey_destroy, mkey);
	left = memic_destroy(ibv_dealloc_pd, pd);
	if (rc == 0 && left != 0)
		rc = memic_fail(left, "ibv_dealloc_pd on %s: %s", dm->dev->caps.name,
				memic_errno_name(left));
	return rc;
}

int
probe_mkey(struct memic_dm *dm, enum memic_mkey_mode mode, struct memic_loop *loop,
	   bool thorough, struct memic_check *check)
{
	static const char *const questions[MEMIC_MKEY_MODES] = {
		[MEMIC_MKEY_KLM] = "do frames pass through a KLM key over device memory",
		[MEMIC_MKEY_KSM] = "do frames pass through a KSM key over device memory",
		[MEMIC_MKEY_DIRECT] = "do frames pass through the memory's own key, by offset",
	};
	struct way w = { .dm = dm, .loop = loop };
	int rc;

	check->name = memic_mkey_mode_name(mode);
	check->question = questions[mode];
	check->needed = false;
	check->answer = MEMIC_UNKNOWN;
	if (loop == NULL)
		return key_alone(dm, mode, check);
	rc = memic_mkey_create(dm, loop->pd, mode, &w.mkey);
	if (rc != 0)
		return take_refusal(check, rc);
	check->answer = probe_way(&w, thorough, check->reason, sizeof(check->reason));
	return -memic_destroy(memic_mkey_destroy, w.mkey);
}

int
memic_probe_mkey(struct memic_dm *dm, enum memic_mkey_mode mode, unsigned int port,
		 bool thorough, struct memic_check *check)
{
	struct memic_loop *loop = NULL;
	char why[sizeof(check->reason)];
	int rc;

	if (dm == NULL || check == NULL || (unsigned int)mode >= MEMIC_MKEY_MODES)
		return memic_fail(EINVAL, "memic_probe_mkey: %s: EINVAL", dm == NULL ||
				  check == NULL ? "NULL argument" : "no such mode");
	if (dm->type != MEMIC_DM_MEMIC)
		return memic_fail(EOPNOTSUPP, "memic_probe_mkey: EOPNOTSUPP: allocate MEMIC");
	if (dm->lost != 0)
		return memic_fail(EINVAL, "memic_probe_mkey: EINVAL: the mapping was moved; probe "
				  "before that");
	if (memic_loop_open(dm->dev, port, &loop) != 0) {
		snprintf(why, sizeof(why), "%s", memic_last_error());
	} else if (probe_baseline(loop, why, sizeof(why)) != MEMIC_YES) {
		memic_loop_close(loop);
		loop = NULL;
	}
	/* why there is no loop, unless something worse comes */
	snprintf(check->reason, sizeof(check->reason), "%s", loop == NULL ? why : "");
	rc = probe_mkey(dm, mode, loop, thorough, check);
	if (memic_loop_close(loop) != 0 && rc == 0)
		check->answer = MEMIC_UNKNOWN;
	return rc;
}
