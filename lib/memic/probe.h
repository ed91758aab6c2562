/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MEMIC_PROBE_H
#define MEMIC_PROBE_H

#include "destroy.h"
#include "loop.h"
#include "private.h"

/* Everything that the checks of one run share. */
struct probe {
	struct memic_device *dev;
	unsigned int port;
	unsigned int removal_seconds;
	memic_check_fn fn;
	void *arg;
	int missing;             /* needed checks that were not answered with yes */
	struct memic_loop *loop; /* NULL where frames cannot be looped */
	enum memic_answer way[MEMIC_MKEY_MODES];
	size_t total, largest;   /* device memory that can be had */
	char left[256];          /* the first object that could not be destroyed, "" if none */
};

/* Give an answer. */
void probe_tell(struct probe *p, const char *name, const char *question, bool needed,
		enum memic_answer answer, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));

/* Destroy an object of the probe; what cannot be is told at the end. Returns an errno. */
#define probe_destroy(p, what, call, obj) probe_note(p, what, memic_destroy(call, obj))
int probe_note(struct probe *p, const char *what, int err);

/* The groups of checks, in the order in which they run. */
void probe_sizes(struct probe *p);    /* probe_sizes.c */
void probe_memory(struct probe *p);   /* probe_memory.c */
void probe_objects(struct probe *p);  /* probe_objects.c */
void probe_identity(struct probe *p);
void probe_ways(struct probe *p);     /* probe_ways.c */
void probe_fences(struct probe *p);   /* probe_fences.c */
void probe_keys(struct probe *p);
void probe_removal(struct probe *p);  /* probe_removal.c */

/* What rates in MB/s, of whole lines, of single words and of loads, say of a mapping. */
enum memic_answer probe_judge_rates(double lines, double words, double loads, const char **why);

/* ---- probe_mkey.c ---- */

struct way {
	struct memic_loop *loop;
	struct memic_dm *dm;
	struct memic_mkey *mkey;
};

/* An SGE over bytes of device memory. */
static inline struct ibv_sge
way_sge(const struct way *w, size_t off, size_t len)
{
	return (struct ibv_sge){
		.addr = memic_mkey_base(w->mkey) + off,
		.length = (uint32_t)len,
		.lkey = memic_mkey_lkey(w->mkey),
	};
}

/*
 * Send one frame in host memory to host memory, without which no other says anything.
 * Returns MEMIC_YES, or another answer with a reason.
 */
enum memic_answer probe_baseline(struct memic_loop *loop, char *why, size_t why_len);
/* memic_probe_mkey() through a loop that is known to work, or NULL for want of one. */
int probe_mkey(struct memic_dm *dm, enum memic_mkey_mode mode, struct memic_loop *loop,
		bool thorough, struct memic_check *check);

#endif /* MEMIC_PROBE_H */
