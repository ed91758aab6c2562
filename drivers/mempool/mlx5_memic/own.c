/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "own.h"
#include "pool.h"

/*
 * A pool says by a number where its entry is. Entries stay where they are, so that nobody
 * needs the lock to look at one. Each pool takes a memzone, of which EAL has 2560.
 */
#define CHUNK 64u
#define CHUNKS 64u

static struct mpm_own *chunks[CHUNKS];
static struct mpm_own nothing;

static struct mpm_own *
entry(unsigned int i)
{
	return &chunks[i / CHUNK][i % CHUNK];
}

int
mpm_own_add(struct mpm_pool *p)
{
	unsigned int i;

	for (i = 0; i < CHUNKS * CHUNK; i++) {
		if (chunks[i / CHUNK] == NULL)
			chunks[i / CHUNK] = calloc(CHUNK, sizeof(struct mpm_own));
		if (chunks[i / CHUNK] == NULL)
			return -ENOMEM;
		if (entry(i)->pool == NULL)
			break;
	}
	if (i == CHUNKS * CHUNK)
		return -ENOMEM;
	entry(i)->pool = p;
	p->own = i;
	return 0;
}

void
mpm_own_remove(struct mpm_pool *p)
{
	struct mpm_own *own = mpm_own(p);

	memset(own, 0, sizeof(*own));
}

struct mpm_own *
mpm_own(const struct mpm_pool *p)
{
	struct mpm_own *chunk = chunks[p->own / CHUNK];

	/* one for which there was no room has the number of another */
	if (!mpm_pool_mine(p) || chunk == NULL || chunk[p->own % CHUNK].pool != p)
		return &nothing;
	return &chunk[p->own % CHUNK];
}
