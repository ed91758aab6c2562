/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

struct tpm_table {
	const char *const *heads;
	unsigned int columns;
	unsigned int cells;
	unsigned int room;
	char **texts;
};

struct tpm_table *
tpm_table_new(const char *const *heads, unsigned int n)
{
	struct tpm_table *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->heads = heads;
	t->columns = n;
	return t;
}

void
tpm_table_cell(struct tpm_table *t, const char *fmt, ...)
{
	unsigned int room;
	char **texts;
	va_list args;

	if (t == NULL)
		return;
	if (t->cells == t->room) {
		room = t->room * 2 + t->columns;
		texts = realloc(t->texts, room * sizeof(*texts));
		if (texts == NULL)
			return;
		t->texts = texts;
		t->room = room;
	}
	va_start(args, fmt);
	if (vasprintf(&t->texts[t->cells], fmt, args) >= 0)
		t->cells++;
	va_end(args);
}

static int
width(const struct tpm_table *t, unsigned int column)
{
	size_t w = strlen(t->heads[column]) - (t->heads[column][0] == '<');
	unsigned int i;

	for (i = column; i < t->cells; i += t->columns)
		w = RTE_MAX(w, strlen(t->texts[i]));
	return w;
}

static void
put(const struct tpm_table *t, unsigned int column, const char *text)
{
	bool left = t->heads[column][0] == '<';
	int w = width(t, column);

	/* no blanks at the end of lines */
	if (left && column + 1 == t->columns)
		w = 0;
	printf("  %*s%s", left ? -w : w, text, column + 1 == t->columns ? "\n" : "");
}

void
tpm_table_print(struct tpm_table *t)
{
	unsigned int i;

	if (t == NULL)
		return;
	for (i = 0; i < t->columns; i++)
		put(t, i, t->heads[i] + (t->heads[i][0] == '<'));
	for (i = 0; i < t->cells; i++)
		put(t, i % t->columns, t->texts[i]);
	for (i = 0; i < t->cells; i++)
		free(t->texts[i]);
	free(t->texts);
	free(t);
}
