/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <rte_common.h>
#include <rte_log.h>
#include <rte_malloc.h>

#include "step.h"
#include "steps.h"

static const struct step_control *control;
static unsigned int (*card_objects)(char *text, size_t len);

/* ---- what the process has ---- */

int
state_init(const struct step_control *step)
{
	control = step;
	*(void **)&card_objects = dlsym(RTLD_DEFAULT, "mlx5emu_objects");
	if (card_objects == NULL)
		fprintf(stderr, "this program wants to be run under mlx5emu\n");
	return card_objects == NULL ? -1 : 0;
}

static unsigned int
lines_of(const char *path)
{
	static char buf[1 << 16];
	FILE *f = fopen(path, "r");
	unsigned int n = 0;
	size_t got;

	while (f != NULL && (got = fread(buf, 1, sizeof(buf), f)) > 0)
		for (size_t i = 0; i < got; i++)
			n += buf[i] == '\n';
	if (f != NULL)
		fclose(f);
	return n;
}

static unsigned int
open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (dir != NULL && readdir(dir) != NULL)
		n++;
	if (dir != NULL)
		closedir(dir);
	return n;
}

void
state_take(struct state *s)
{
	struct rte_malloc_socket_stats eal = { 0 };

	memset(s, 0, sizeof(*s));
	rte_malloc_get_socket_stats(0, &eal);
	/* not bytes: what is left over of a block is the next one's or its own, as it comes */
	s->eal = eal.alloc_count;
	s->objects = card_objects(s->kinds, sizeof(s->kinds));
	s->maps = lines_of("/proc/self/maps");
	s->files = open_files();
	s->heap = control->live_blocks();
}

void
state_growth(const struct state *before, const struct state *now, char *text, size_t len)
{
	size_t used = 0;

	text[0] = '\0';
	if (strcmp(now->kinds, before->kinds) != 0)
		used += (size_t)snprintf(text + used, len - used, " card's objects: %s -> %s;",
					 before->kinds, now->kinds);
	if (now->heap > before->heap && used < len)
		used += (size_t)snprintf(text + used, len - used, " heap: +%zu blocks;",
					 now->heap - before->heap);
	if (now->eal > before->eal && used < len)
		used += (size_t)snprintf(text + used, len - used, " EAL memory: +%zu blocks;",
					 now->eal - before->eal);
	if (now->maps > before->maps && used < len)
		used += (size_t)snprintf(text + used, len - used, " mappings: +%u;",
					 now->maps - before->maps);
	if (now->files > before->files && used < len)
		snprintf(text + used, len - used, " open files: +%u;", now->files - before->files);
}

/* ---- the log, which takes no memory that could fail ---- */

static char log_buf[1 << 17], stream_buf[1 << 12];
static size_t log_len;
static bool log_echo;

static ssize_t
log_write(void *arg, const char *text, size_t len)
{
	size_t n = RTE_MIN(len, sizeof(log_buf) - 1 - log_len);

	RTE_SET_USED(arg);
	memcpy(log_buf + log_len, text, n);
	log_len += n;
	if (log_echo)
		fwrite(text, 1, len, stderr);
	return (ssize_t)len;
}

int
log_init(void)
{
	cookie_io_functions_t io = { .write = log_write };
	FILE *f = fopencookie(NULL, "w", io);

	log_echo = getenv("STEPS_ECHO") != NULL;
	if (f == NULL || setvbuf(f, stream_buf, _IOLBF, sizeof(stream_buf)) != 0)
		return -1;
	return rte_openlog_stream(f);
}

void
log_begin(void)
{
	log_len = 0;
}

const char *
log_text(void)
{
	fflush(rte_log_get_stream());
	log_buf[log_len] = '\0';
	return log_buf;
}
