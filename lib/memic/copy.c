/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <string.h>

#include "memic.h"

/*
 * The stores go through volatile lvalues: the compiler must neither merge, split,
 * repeat nor reorder them, nor make a libc memcpy() of the loop, which on device memory
 * would write bytes twice, in any order, or (DC ZVA on arm64) fault. A vector of 16
 * bytes is one SSE2 or NEON instruction in the baseline of both architectures; four in
 * ascending order fill a write-combining buffer, which then leaves as one 64 B write.
 */
typedef uint16_t word16 __attribute__((may_alias));
typedef uint32_t word32 __attribute__((may_alias));
typedef uint64_t word64 __attribute__((may_alias));
typedef uint8_t word128 __attribute__((vector_size(16), may_alias));

/* Stores to device memory leave the CPU before anything stored after, as a doorbell. */
static inline void
store_fence(void)
{
#if defined(__x86_64__)
	__asm__ volatile("sfence" ::: "memory");
#elif defined(__aarch64__)
	/* as mmio_flush_writes() of rdma-core's util/udma_barrier.h */
	__asm__ volatile("dsb st" ::: "memory");
#else
	__sync_synchronize();
#endif
}

/* No load of device memory runs before a load that came earlier, as of a CQE. */
static inline void
load_fence(void)
{
#if defined(__x86_64__)
	__asm__ volatile("lfence" ::: "memory");
#elif defined(__aarch64__)
	__asm__ volatile("dsb ld" ::: "memory");
#else
	__sync_synchronize();
#endif
}

/* The widest naturally aligned word, of 1 to @p max bytes, that starts at an address. */
static inline size_t
word_at(const volatile void *addr, size_t left, size_t max)
{
	size_t align = (uintptr_t)addr | max, word = align & (0 - align);

	while (word > left)
		word /= 2;
	return word;
}

static inline void
store_word(volatile uint8_t *dst, const uint8_t *src, size_t word)
{
	word128 w128;
	word64 w64;
	word32 w32;
	word16 w16;

	switch (word) {
	case 16:
		memcpy(&w128, src, sizeof(w128));
		*(volatile word128 *)dst = w128;
		break;
	case 8:
		memcpy(&w64, src, sizeof(w64));
		*(volatile word64 *)dst = w64;
		break;
	case 4:
		memcpy(&w32, src, sizeof(w32));
		*(volatile word32 *)dst = w32;
		break;
	case 2:
		memcpy(&w16, src, sizeof(w16));
		*(volatile word16 *)dst = w16;
		break;
	default:
		*dst = *src;
	}
}

static inline void
load_word(uint8_t *dst, const volatile uint8_t *src, size_t word)
{
	word64 w64;
	word32 w32;
	word16 w16;

	switch (word) {
	case 8:
		w64 = *(const volatile word64 *)src;
		memcpy(dst, &w64, sizeof(w64));
		break;
	case 4:
		w32 = *(const volatile word32 *)src;
		memcpy(dst, &w32, sizeof(w32));
		break;
	case 2:
		w16 = *(const volatile word16 *)src;
		memcpy(dst, &w16, sizeof(w16));
		break;
	default:
		*dst = *src;
	}
}

static inline void
store_line(volatile uint8_t *dst, const uint8_t *src)
{
	word128 a, b, c, d;

	memcpy(&a, src, 16);
	memcpy(&b, src + 16, 16);
	memcpy(&c, src + 32, 16);
	memcpy(&d, src + 48, 16);
	*(volatile word128 *)dst = a;
	*(volatile word128 *)(dst + 16) = b;
	*(volatile word128 *)(dst + 32) = c;
	*(volatile word128 *)(dst + 48) = d;
}

void
memic_copy_to(void *dst, const void *src, size_t len)
{
	volatile uint8_t *d = dst;
	const uint8_t *s = src;
	size_t word;

	while (len > 0) {
		if (((uintptr_t)d & 63) == 0 && len >= 64) {
			word = 64;
			store_line(d, s);
		} else {
			word = word_at(d, len, 16);
			store_word(d, s, word);
		}
		d += word;
		s += word;
		len -= word;
	}
	store_fence();
}

void
memic_copy_from(void *dst, const void *src, size_t len)
{
	const volatile uint8_t *s = src;
	uint8_t *d = dst;
	size_t word;

	load_fence();
	while (len > 0) {
		word = word_at(s, len, 8);
		load_word(d, s, word);
		d += word;
		s += word;
		len -= word;
	}
}

void
memic_fill(void *dst, uint8_t byte, size_t len)
{
	volatile uint8_t *d = dst;
	uint8_t line[64];
	size_t word;

	memset(line, byte, sizeof(line));
	while (len > 0) {
		if (((uintptr_t)d & 63) == 0 && len >= 64) {
			word = 64;
			store_line(d, line);
		} else {
			word = word_at(d, len, 16);
			store_word(d, line, word);
		}
		d += word;
		len -= word;
	}
	store_fence();
}
