/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "emu.h"

#define REPORT_LEN 200

static char reports[EMU_REPORTS][REPORT_LEN];
static uint64_t report_count;
static pthread_mutex_t report_lock = PTHREAD_MUTEX_INITIALIZER;

void
emu_report(const char *fmt, ...)
{
	char text[REPORT_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	emu_trace("%s", text);
	pthread_mutex_lock(&report_lock);
	snprintf(reports[report_count++ % EMU_REPORTS], REPORT_LEN, "%s", text);
	pthread_mutex_unlock(&report_lock);
}

unsigned int
emu_report_print(FILE *out)
{
	uint64_t i, first;

	pthread_mutex_lock(&report_lock);
	first = report_count > EMU_REPORTS ? report_count - EMU_REPORTS : 0;
	if (first > 0)
		fprintf(out, "mlx5emu: the last %u of %llu reports:\n", EMU_REPORTS,
			(unsigned long long)report_count);
	for (i = first; i < report_count; i++)
		fprintf(out, "mlx5emu: %s\n", reports[i % EMU_REPORTS]);
	i = report_count - first;
	pthread_mutex_unlock(&report_lock);
	return (unsigned int)i;
}
