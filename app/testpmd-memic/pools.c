/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <stdio.h>

#include <rte_string_fns.h>

#include "pools.h"

struct search {
	unsigned int i;
	char *name;
	size_t len;
};

static void
count(struct rte_mempool *mp __rte_unused, void *arg)
{
	unsigned int *n = arg;

	(*n)++;
}

static void
pick(struct rte_mempool *mp, void *arg)
{
	struct search *s = arg;

	if (s->i-- == 0)
		strlcpy(s->name, mp->name, s->len);
}

static void
print(struct rte_mempool *mp, void *arg)
{
	const char **separator = arg;

	printf("%s%s", *separator, mp->name);
	*separator = ", ";
}

unsigned int
tpm_pool_count(void)
{
	unsigned int n = 0;

	rte_mempool_walk(count, &n);
	return n;
}

int
tpm_pool_name(unsigned int i, char *name, size_t len)
{
	struct search s = { i, name, len };

	name[0] = '\0';
	rte_mempool_walk(pick, &s);
	return name[0] == '\0' ? -1 : 0;
}

struct rte_mempool *
tpm_pool_find(const char *name)
{
	struct rte_mempool *mp = rte_mempool_lookup(name);
	const char *separator = "; pools: ";

	if (mp != NULL)
		return mp;
	printf("There is no pool %s", name);
	rte_mempool_walk(print, &separator);
	printf(".\n");
	return NULL;
}
