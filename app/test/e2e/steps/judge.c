/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>

#include "steps.h"

/* What names the pool, the device or the port of this program, and the plugin. */
static const char *const subjects[] = {
	"pool steps", "mlx5_0", "0000:08:00.0", "port 0", "secondary processes", "rule",
};

/* A line of somebody in the log that has two texts; any text will do where one is NULL. */
static bool
has_line(const char *log, const char *by, const char *a, const char *b)
{
	const char *line, *end;
	char text[1024];

	for (line = log; *line != '\0'; line = end + (*end != '\0')) {
		end = strchrnul(line, '\n');
		snprintf(text, sizeof(text), "%.*s", (int)(end - line), line);
		if (strstr(text, by) != NULL && (a == NULL || strstr(text, a) != NULL) &&
		    (b == NULL || strstr(text, b) != NULL))
			return true;
	}
	return false;
}

const char *
judge_errno(const struct outcome *o)
{
	if (o->ret >= 0)
		return NULL;
	if (-o->ret == o->err || o->ret == -ENOMEM)
		return NULL;
	return strerrorname_np(-o->ret) == NULL ? "the errno has no name" :
	       "the errno is neither that of the failure nor ENOMEM";
}

/*
 * The errno may be the one that failed or the one that the caller is told; where the
 * program asked for host memory as the second best there is none to be told.
 */
const char *
judge_message(const struct outcome *o)
{
	const char *inside = strerrorname_np(o->err);
	const char *outside = o->ret < 0 ? strerrorname_np(-o->ret) : inside;
	static const char by[] = "MLX5_MEMIC: ";
	unsigned int i;

	/* what the PMD asked libibverbs for, and the driver passed on */
	if (strstr(o->what, "< librte_common_mlx5.so") != NULL &&
	    has_line(o->log, "mlx5_common: ", strerror(o->err), NULL))
		return NULL;
	if (!has_line(o->log, by, NULL, NULL))
		return "no message";
	for (i = 0; i < RTE_DIM(subjects); i++)
		if (has_line(o->log, by, subjects[i], inside) ||
		    has_line(o->log, by, subjects[i], outside))
			return NULL;
	return "no message that names the errno and the pool, device or port";
}
