/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probe.h"

/* The CPU's view of device memory: whether it holds what is stored, and how fast. */

#define BLOCK 4096u
#define MEASURE_NS 10000000.0
/* Where one block takes all that time, it may just be the one that was interrupted. */
#define BLOCKS_MIN 8u

/* Host memory gives gigabytes; write-combining loads about 0.05 bytes a cycle. */
#define CACHED_MB 1000.0
/* One write of 64 bytes against eight of eight, less what they share. */
#define COMBINED_RATIO 3.0

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void
store_lines(void *dm, void *host)
{
	memic_copy_to(dm, host, BLOCK);
}

/* Each word leaves by itself, as there is a fence behind it. */
static void
store_words(void *dm, void *host)
{
	size_t i;

	for (i = 0; i < BLOCK; i += 8)
		memic_copy_to((uint8_t *)dm + i, (uint8_t *)host + i, 8);
}

static void
load(void *dm, void *host)
{
	memic_copy_from(host, dm, BLOCK);
}

/* Megabytes a second of the fastest block in the time: others were interrupted. */
static double
rate(void (*copy)(void *dm, void *host), void *dm, void *host)
{
	double start = now(), last = start, fastest = 0, end;
	unsigned int n = 0;

	do {
		copy(dm, host);
		end = now();
		if (fastest == 0 || end - last < fastest)
			fastest = end - last;
		last = end;
	} while (++n < BLOCKS_MIN || end - start < MEASURE_NS);
	return BLOCK * 1000.0 / (fastest > 1 ? fastest : 1);
}

enum memic_answer
probe_judge_rates(double lines, double words, double loads, const char **why)
{
	if (loads > CACHED_MB) {
		*why = "loads are as fast as from host memory: no card is behind this mapping, so "
		       "nothing is learned about one";
		return MEMIC_UNKNOWN;
	}
	if (lines >= COMBINED_RATIO * words) {
		*why = "whole lines cost less than their words, so the CPU combines stores";
		return MEMIC_YES;
	}
	*why = "whole lines cost about as much as their words: the mapping is uncached, and "
	       "copies into device memory are slow (x86: is PAT disabled, is this a virtual "
	       "machine whose hypervisor overrides the memory type)";
	return MEMIC_NO;
}

static void
tell_rates(struct probe *p, void *dm)
{
	enum memic_answer answer;
	double lines, words, loads;
	static uint8_t host[BLOCK];
	const char *why;

	lines = rate(store_lines, dm, host);
	words = rate(store_words, dm, host);
	loads = rate(load, dm, host);
	answer = probe_judge_rates(lines, words, loads, &why);
	probe_tell(p, "write-combining", "does the CPU write whole lines to the card", false,
		   answer, "stores %.0f MB/s by lines and %.0f MB/s by words, loads %.1f MB/s: %s",
		   lines, words, loads, why);
}

/* Bytes that differ from place to place and from turn to turn. */
static void
fill(uint8_t *host, size_t len, unsigned int turn)
{
	size_t i;

	for (i = 0; i < len; i++)
		host[i] = (uint8_t)(i * 31 + (i >> 8) * 7 + turn * 101 + 1);
}

static void
tell_mapping(struct probe *p, struct memic_dm *dm)
{
	static const char question[] = "does the mapping hold what the CPU stores";
	size_t len = memic_dm_length(dm), i;
	uint8_t *host = malloc(2 * len), *back;
	unsigned int turn;

	if (host == NULL) {
		probe_tell(p, "mapping", question, true, MEMIC_UNKNOWN, "no host memory");
		return;
	}
	back = host + len;
	for (turn = 0; turn < 2; turn++) {
		fill(host, len, turn);
		memic_copy_to(memic_dm_addr(dm), host, len);
		memset(back, 0, len);
		memic_copy_from(back, memic_dm_addr(dm), len);
		for (i = 0; i < len && host[i] == back[i]; i++)
			;
		if (i < len) {
			probe_tell(p, "mapping", question, true, MEMIC_NO, "stored 0x%02x at byte "
				   "%zu of %zu and loaded 0x%02x", host[i], i, len, back[i]);
			goto err_free;
		}
	}
	probe_tell(p, "mapping", question, true, MEMIC_YES,
		   "%zu bytes were stored and loaded twice", len);
err_free:
	free(host);
}

void
probe_memory(struct probe *p)
{
	size_t want = p->largest < 16384 ? p->largest : 16384;
	struct memic_dm *dm;

	if (memic_dm_alloc_most(p->dev, want, MEMIC_UNIT, &dm) != 0) {
		probe_tell(p, "mapping", "does the mapping hold what the CPU stores", true,
			   MEMIC_NO, "%s", memic_last_error());
		return;
	}
	tell_mapping(p, dm);
	if (memic_dm_length(dm) >= BLOCK)
		tell_rates(p, memic_dm_addr(dm));
	else
		probe_tell(p, "write-combining", "does the CPU write whole lines to the card",
			   false, MEMIC_UNKNOWN, "%zu bytes are too few to measure",
			   memic_dm_length(dm));
	probe_destroy(p, "device memory", memic_dm_free, dm);
}
