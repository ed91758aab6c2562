/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <stdio.h>

#include "probe.h"

/* The three ways to a key for queues that post addresses, and which one is taken. */

/* Two frames of 9000 bytes, where there is so much. */
#define WANT 32768u

static void
tell_loop(struct probe *p)
{
	static const char question[] = "does a frame that the port sends to itself come back";
	enum memic_answer answer;
	char why[400];

	if (memic_loop_open(p->dev, p->port, &p->loop) != 0) {
		probe_tell(p, "loop", question, false, MEMIC_NO, "%s", memic_last_error());
		return;
	}
	answer = probe_baseline(p->loop, why, sizeof(why));
	if (answer == MEMIC_YES)
		probe_tell(p, "loop", question, false, answer, "a frame in host memory came back "
			   "unchanged; longest %zu bytes", memic_loop_longest(p->loop));
	else
		probe_tell(p, "loop", question, false, MEMIC_NO, "%s", why);
	if (answer == MEMIC_YES)
		return;
	probe_note(p, "an object of the looped frames", -memic_loop_close(p->loop));
	p->loop = NULL;
}

static void
tell_way(struct probe *p, struct memic_dm *dm, enum memic_mkey_mode mode)
{
	struct memic_check check = {
		.reason = "the key can be made, but frames that the port sends to itself do not "
			  "come back unchanged from any memory: see loop",
	};

	if (probe_mkey(dm, mode, p->loop, true, &check) != 0) {
		check.answer = MEMIC_UNKNOWN;
		snprintf(check.reason, sizeof(check.reason), "%s", memic_last_error());
	}
	p->way[mode] = check.answer;
	probe_tell(p, check.name, check.question, false, check.answer, "%s", check.reason);
}

/* In the order in which mkey=auto tries them; direct is taken by name only. */
static void
tell_choice(struct probe *p)
{
	static const char question[] = "which key does mkey=auto take";
	enum memic_mkey_mode mode;

	for (mode = MEMIC_MKEY_KLM; mode <= MEMIC_MKEY_KSM; mode++) {
		if (p->way[mode] != MEMIC_YES)
			continue;
		probe_tell(p, "auto", question, true, MEMIC_YES, "%s, as frames pass through it",
			   memic_mkey_mode_name(mode));
		return;
	}
	for (mode = MEMIC_MKEY_KLM; mode <= MEMIC_MKEY_KSM; mode++) {
		if (p->way[mode] != MEMIC_UNKNOWN)
			continue;
		probe_tell(p, "auto", question, true, MEMIC_UNKNOWN, "%s, as it can be made: "
			   "whether frames pass through it cannot be tried here",
			   memic_mkey_mode_name(mode));
		return;
	}
	probe_tell(p, "auto", question, true, MEMIC_NO, "none: pools live in host memory%s",
		   p->way[MEMIC_MKEY_DIRECT] == MEMIC_YES ?
		   "; frames pass through direct keys, which mkey=direct asks for" : "");
}

void
probe_ways(struct probe *p)
{
	enum memic_mkey_mode mode;
	struct memic_dm *dm;

	for (mode = 0; mode < MEMIC_MKEY_MODES; mode++)
		p->way[mode] = MEMIC_UNKNOWN;
	tell_loop(p);
	if (memic_dm_alloc_most(p->dev, WANT, MEMIC_UNIT, &dm) != 0) {
		probe_tell(p, "auto", "which key does mkey=auto take", true, MEMIC_NO, "%s",
			   memic_last_error());
		return;
	}
	for (mode = 0; mode < MEMIC_MKEY_MODES; mode++)
		tell_way(p, dm, mode);
	tell_choice(p);
	probe_destroy(p, "device memory", memic_dm_free, dm);
}
