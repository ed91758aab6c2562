/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/* Calls of EAL that may fail. What they do themselves is part of the one call. */

#include <dlfcn.h>
#include <errno.h>

#include <rte_malloc.h>
#include <rte_memzone.h>

#include "step_count.h"

#define EXPORT __attribute__((visibility("default")))

/* rte_errno of this thread: not every program that this is preloaded into has EAL. */
static void
set_rte_errno(int err)
{
	int *at = dlsym(RTLD_DEFAULT, "per_lcore__rte_errno");

	if (at != NULL)
		*at = err;
}

#define DEFINE(type, name, args, call) \
EXPORT type \
name args \
{ \
	static type (*genuine) args; \
	type ret; \
	if (genuine == NULL) \
		*(void **)&genuine = dlsym(RTLD_NEXT, #name); \
	if (step_fails(STEP_EAL, #name, ENOMEM)) { \
		set_rte_errno(ENOMEM); \
		return NULL; \
	} \
	step_enter(); \
	ret = genuine call; \
	step_leave(); \
	return ret; \
}

DEFINE(void *, rte_malloc, (const char *type, size_t size, unsigned int align),
       (type, size, align))
DEFINE(void *, rte_zmalloc, (const char *type, size_t size, unsigned int align),
       (type, size, align))
DEFINE(void *, rte_calloc, (const char *type, size_t n, size_t size, unsigned int align),
       (type, n, size, align))
DEFINE(void *, rte_realloc, (void *p, size_t size, unsigned int align), (p, size, align))
DEFINE(void *, rte_malloc_socket, (const char *type, size_t size, unsigned int align, int socket),
       (type, size, align, socket))
DEFINE(void *, rte_zmalloc_socket, (const char *type, size_t size, unsigned int align, int socket),
       (type, size, align, socket))
DEFINE(void *, rte_calloc_socket,
       (const char *type, size_t n, size_t size, unsigned int align, int socket),
       (type, n, size, align, socket))
DEFINE(void *, rte_realloc_socket, (void *p, size_t size, unsigned int align, int socket),
       (p, size, align, socket))
DEFINE(const struct rte_memzone *, rte_memzone_reserve,
       (const char *name, size_t len, int socket, unsigned int flags), (name, len, socket, flags))
DEFINE(const struct rte_memzone *, rte_memzone_reserve_aligned,
       (const char *name, size_t len, int socket, unsigned int flags, unsigned int align),
       (name, len, socket, flags, align))
DEFINE(const struct rte_memzone *, rte_memzone_reserve_bounded,
       (const char *name, size_t len, int socket, unsigned int flags, unsigned int align,
	unsigned int bound), (name, len, socket, flags, align, bound))
