/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/* Calls of libc that may fail. */

/* or the headers make open() another name of open64(), and both are defined here */
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "step_count.h"

#define EXPORT __attribute__((visibility("default")))

/* glibc's own, for the time before dlsym(3) has found anything */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_memalign(size_t align, size_t size);
extern void __libc_free(void *p);

/* The definition behind this library's; it may be the emulated card's. */
#define GENUINE(name) \
	static __typeof__(name) *genuine; \
	if (genuine == NULL) \
		*(void **)&genuine = dlsym(RTLD_NEXT, #name)

/* ---- memory ---- */

/*
 * mallinfo(3) takes what a thread keeps for its next calls for memory in use, and what a block
 * has room for is not the same each time: blocks are counted, and not bytes.
 */
static size_t live_blocks;

static void *
count(void *p)
{
	if (p != NULL)
		__atomic_add_fetch(&live_blocks, 1, __ATOMIC_RELAXED);
	return p;
}

size_t
step_live_blocks(void)
{
	return __atomic_load_n(&live_blocks, __ATOMIC_RELAXED);
}

EXPORT void *
malloc(size_t size)
{
	return step_fails(STEP_HEAP, "malloc", ENOMEM) ? NULL : count(__libc_malloc(size));
}

EXPORT void *
calloc(size_t n, size_t size)
{
	return step_fails(STEP_HEAP, "calloc", ENOMEM) ? NULL : count(__libc_calloc(n, size));
}

static void *
resize(void *p, size_t size)
{
	void *to = __libc_realloc(p, size);

	if (p == NULL)
		return count(to);
	if (to == NULL && size == 0)
		__atomic_sub_fetch(&live_blocks, 1, __ATOMIC_RELAXED);
	return to;
}

EXPORT void *
realloc(void *p, size_t size)
{
	return step_fails(STEP_HEAP, "realloc", ENOMEM) ? NULL : resize(p, size);
}

EXPORT void *
reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return step_fails(STEP_HEAP, "reallocarray", ENOMEM) ? NULL : resize(p, bytes);
}

EXPORT void *
memalign(size_t align, size_t size)
{
	return step_fails(STEP_HEAP, "memalign", ENOMEM) ? NULL :
		count(__libc_memalign(align, size));
}

EXPORT void *
aligned_alloc(size_t align, size_t size)
{
	return step_fails(STEP_HEAP, "aligned_alloc", ENOMEM) ? NULL :
		count(__libc_memalign(align, size));
}

EXPORT int
posix_memalign(void **out, size_t align, size_t size)
{
	int saved = errno;
	void *p = step_fails(STEP_HEAP, "posix_memalign", ENOMEM) ? NULL :
		count(__libc_memalign(align, size));

	errno = saved;
	if (p == NULL)
		return ENOMEM;
	*out = p;
	return 0;
}

EXPORT void
free(void *p)
{
	if (p == NULL || step_loses_free())
		return;
	__atomic_sub_fetch(&live_blocks, 1, __ATOMIC_RELAXED);
	__libc_free(p);
}

/* ---- mappings ---- */

EXPORT void *
mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	GENUINE(mmap);

	return step_fails(STEP_MAP, "mmap", ENOMEM) ? MAP_FAILED :
		genuine(addr, len, prot, flags, fd, offset);
}

EXPORT void *
mmap64(void *addr, size_t len, int prot, int flags, int fd, off64_t offset)
{
	GENUINE(mmap64);

	return step_fails(STEP_MAP, "mmap", ENOMEM) ? MAP_FAILED :
		genuine(addr, len, prot, flags, fd, offset);
}

EXPORT int
munmap(void *addr, size_t len)
{
	GENUINE(munmap);

	return step_fails(STEP_MAP, "munmap", ENOMEM) ? -1 : genuine(addr, len);
}

EXPORT int
mprotect(void *addr, size_t len, int prot)
{
	GENUINE(mprotect);

	return step_fails(STEP_MAP, "mprotect", ENOMEM) ? -1 : genuine(addr, len, prot);
}

EXPORT void *
mremap(void *addr, size_t old_len, size_t new_len, int flags, ...)
{
	GENUINE(mremap);
	va_list ap;
	void *to;

	va_start(ap, flags);
	to = flags & MREMAP_FIXED ? va_arg(ap, void *) : NULL;
	va_end(ap);
	return step_fails(STEP_MAP, "mremap", ENOMEM) ? MAP_FAILED :
		genuine(addr, old_len, new_len, flags, to);
}

/* ---- descriptors ---- */

#define DEFINE_OPEN(name) \
EXPORT int \
name(const char *path, int flags, ...) \
{ \
	GENUINE(name); \
	mode_t mode = 0; \
	va_list ap; \
	va_start(ap, flags); \
	if (flags & (O_CREAT | __O_TMPFILE)) \
		mode = va_arg(ap, mode_t); \
	va_end(ap); \
	return step_fails(STEP_FILE, "open", EMFILE) ? -1 : genuine(path, flags, mode); \
}

DEFINE_OPEN(open)
DEFINE_OPEN(open64)

EXPORT int
dup(int fd)
{
	GENUINE(dup);

	return step_fails(STEP_FILE, "dup", EMFILE) ? -1 : genuine(fd);
}

#define DEFINE_FCNTL(name) \
EXPORT int \
name(int fd, int cmd, ...) \
{ \
	GENUINE(name); \
	va_list ap; \
	void *arg; \
	va_start(ap, cmd); \
	arg = va_arg(ap, void *); \
	va_end(ap); \
	if ((cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC) && \
	    step_fails(STEP_FILE, "fcntl(F_DUPFD)", EMFILE)) \
		return -1; \
	return genuine(fd, cmd, arg); \
}

DEFINE_FCNTL(fcntl)
DEFINE_FCNTL(fcntl64)

/* ---- threads ---- */

EXPORT int
pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	GENUINE(pthread_create);

	return step_fails(STEP_THREAD, "pthread_create", EAGAIN) ? EAGAIN :
		genuine(thread, attr, start, arg);
}

/* ---- ioctl(2) ---- */

static bool
is_uverbs(unsigned long request)
{
	return (unsigned int)request == (unsigned int)RDMA_VERBS_IOCTL;
}

/* Object and method, and the command of those that had a write(2) of their own. */
static void
name_ioctl(char *name, size_t len, unsigned long request, const void *arg)
{
	const struct ib_uverbs_ioctl_hdr *hdr = arg;
	long cmd = -1;

	if (!is_uverbs(request)) {
		snprintf(name, len, "ioctl 0x%lx", request);
		return;
	}
	for (unsigned int i = 0; i < hdr->num_attrs; i++)
		if (hdr->object_id == UVERBS_OBJECT_DEVICE &&
		    hdr->method_id == UVERBS_METHOD_INVOKE_WRITE &&
		    hdr->attrs[i].attr_id == UVERBS_ATTR_WRITE_CMD)
			cmd = (long)hdr->attrs[i].data;
	if (cmd >= 0)
		snprintf(name, len, "ioctl write command %ld", cmd & 0x7fffffff);
	else
		snprintf(name, len, "ioctl object 0x%x method 0x%x", hdr->object_id,
			 hdr->method_id);
}

static bool
frees_device_memory(unsigned long request, const void *arg)
{
	const struct ib_uverbs_ioctl_hdr *hdr = arg;

	return is_uverbs(request) && hdr->object_id == UVERBS_OBJECT_DM &&
		hdr->method_id == UVERBS_METHOD_DM_FREE;
}

EXPORT int
ioctl(int fd, unsigned long request, ...)
{
	GENUINE(ioctl);
	char name[64];
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	name_ioctl(name, sizeof(name), request, arg);
	if (step_fails(STEP_IOCTL, name, EIO))
		return -1;
	if (frees_device_memory(request, arg) && step_loses_destroy())
		return 0;
	return genuine(fd, request, arg);
}
