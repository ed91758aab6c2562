/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * What the emulated card cannot do without: each frame is copied into a buffer of the
 * program and out of it. Prints how many frames of BYTES a second one CPU could pass if
 * that were all.
 */
#define BUFFERS 1024            /* as many as a ring has */
#define STRIDE 2304             /* bytes from buffer to buffer, as in testpmd's pool */
#define SECONDS 0.5
#define ROUND 4096

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* others on the CPU do not count */
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double
measure(uint8_t *buffers, size_t bytes)
{
	uint8_t in[STRIDE] = { 1 }, out[STRIDE];
	double start = now(), end;
	uint64_t frames = 0;

	do {
		for (unsigned int i = 0; i < ROUND; i++) {
			uint8_t *buffer = buffers + (size_t)(i % BUFFERS) * STRIDE;

			memcpy(buffer, in, bytes);
			memcpy(out, buffer, bytes);
			/* the copies are wanted */
			__asm__ volatile("" : : "r"(buffer), "r"(out) : "memory");
		}
		frames += ROUND;
		end = now();
	} while (end - start < SECONDS);
	return (double)frames / (end - start);
}

int
main(int argc, char **argv)
{
	char *end = NULL;
	unsigned long bytes = argc == 2 ? strtoul(argv[1], &end, 10) : 0;
	uint8_t *buffers;

	if (bytes == 0 || bytes > STRIDE || *end != '\0') {
		fprintf(stderr, "usage: %s BYTES, 1 to %d\n", argv[0], STRIDE);
		return 2;
	}
	buffers = calloc(BUFFERS, STRIDE);
	if (buffers == NULL) {
		fprintf(stderr, "%s: no memory (ENOMEM)\n", argv[0]);
		return 1;
	}
	printf("%.0f\n", measure(buffers, bytes));
	free(buffers);
	return 0;
}
