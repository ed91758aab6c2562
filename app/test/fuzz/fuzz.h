/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef TEST_FUZZ_H
#define TEST_FUZZ_H

/* What the fuzz targets share: reading their input, and saying what is wrong. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Input that is left. What is read past its end is zero. */
struct fuzz_in {
	const uint8_t *p;
	size_t left;
};

static inline void
fuzz_bytes(struct fuzz_in *in, void *to, size_t len)
{
	size_t n = in->left < len ? in->left : len;

	memset(to, 0, len);
	if (n > 0)
		memcpy(to, in->p, n);
	in->p += n;
	in->left -= n;
}

static inline uint8_t
fuzz_u8(struct fuzz_in *in)
{
	uint8_t v;

	fuzz_bytes(in, &v, sizeof(v));
	return v;
}

static inline uint16_t
fuzz_u16(struct fuzz_in *in)
{
	uint16_t v;

	fuzz_bytes(in, &v, sizeof(v));
	return v;
}

static inline uint32_t
fuzz_u32(struct fuzz_in *in)
{
	uint32_t v;

	fuzz_bytes(in, &v, sizeof(v));
	return v;
}

static inline uint64_t
fuzz_u64(struct fuzz_in *in)
{
	uint64_t v;

	fuzz_bytes(in, &v, sizeof(v));
	return v;
}

/* assert() that no build leaves out. */
#define fuzz_expect(condition, ...) do { \
	if (!(condition)) { \
		fprintf(stderr, "%s:%d: not true: %s: ", __FILE__, __LINE__, #condition); \
		fprintf(stderr, __VA_ARGS__); \
		fputc('\n', stderr); \
		abort(); \
	} \
} while (0)

#endif
