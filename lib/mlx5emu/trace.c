/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "emu.h"

bool emu_tracing;

static FILE *trace_file;
static pthread_mutex_t trace_lock = PTHREAD_MUTEX_INITIALIZER;

void
emu_trace_open(const char *path)
{
	FILE *f;

	if (path[0] == '\0')
		return;
	if (strcmp(path, "-") == 0) {
		f = stderr;
	} else {
		f = fopen(path, "ae"); /* whoever shares the run writes there, too */
		if (f == NULL) {
			fprintf(stderr, "mlx5emu: cannot write the trace %s: %s\n", path,
				strerror(errno));
			return;
		}
		setvbuf(f, NULL, _IOLBF, 0);
	}
	pthread_mutex_lock(&trace_lock);
	if (trace_file != NULL && trace_file != stderr)
		fclose(trace_file);
	trace_file = f;
	emu_tracing = true;
	pthread_mutex_unlock(&trace_lock);
}

void
emu_trace_line(const char *fmt, ...)
{
	int saved = errno; /* traced calls report theirs after this */
	struct timespec now;
	va_list ap;

	clock_gettime(CLOCK_MONOTONIC, &now);
	pthread_mutex_lock(&trace_lock);
	if (trace_file != NULL) {
		fprintf(trace_file, "%ld.%06ld %d ", (long)now.tv_sec, now.tv_nsec / 1000,
			(int)gettid());
		va_start(ap, fmt);
		vfprintf(trace_file, fmt, ap);
		va_end(ap);
		fputc('\n', trace_file);
	}
	pthread_mutex_unlock(&trace_lock);
	errno = saved;
}
