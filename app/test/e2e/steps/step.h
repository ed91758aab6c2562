/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef E2E_STEP_H
#define E2E_STEP_H

/**
 * @file
 * The nth call of a thread that takes something fails.
 *
 * A library that is preloaded stands before malloc(3) and its kin, rte_malloc() and its
 * kin, memzones, ioctl(2), the mapping calls, duplicated descriptors and new threads. A
 * program finds struct step_control in it by dlsym(3). A call is known by the library that
 * wanted it: the innermost one of the call's stack, where libc, libibverbs and libmlx5 work
 * for others. Calls of the loader, of the emulated card and of the program itself do not
 * count.
 */

#include <stdbool.h>
#include <stddef.h>

/** Who wants the call. */
enum step_who {
	STEP_OURS = 1,          /**< the mempool driver with libmemic in it */
	STEP_OTHERS = 2,        /**< DPDK, its mlx5 driver included */
};

/** What may fail; several can be put together. */
enum step_kind {
	STEP_HEAP = 1,          /**< malloc, calloc, ...: ENOMEM */
	STEP_EAL = 2,           /**< rte_zmalloc_socket, rte_memzone_reserve, ...: ENOMEM */
	STEP_IOCTL = 4,         /**< ioctl: the errno that is asked for */
	STEP_MAP = 8,           /**< mmap, munmap, mremap, mprotect: ENOMEM */
	STEP_FILE = 16,         /**< open, dup, fcntl: EMFILE */
	STEP_THREAD = 32,       /**< pthread_create: EAGAIN */
	STEP_ANY = 63,
};

/** What was done about the calls of a thread between arm and disarm. */
struct step_report {
	unsigned int seen;      /**< calls that counted */
	bool fired;             /**< one of them failed */
	int err;                /**< errno of that one */
	char what[512];         /**< its name, and where it was called from */
};

struct step_control {
	/**
	 * From now on calls of this thread count, and number n fails; 0: none does.
	 *
	 * @param who    STEP_OURS, STEP_OTHERS or both.
	 * @param kinds  Sum of enum step_kind.
	 * @param err    What a failing ioctl(2) says.
	 */
	void (*arm)(unsigned int n, unsigned int who, unsigned int kinds, int err);
	/** Up to here. */
	void (*disarm)(struct step_report *report);
	/**
	 * Let something go wrong that a test has to find: as many free(3), or ioctls by which
	 * objects of the card are destroyed, do nothing but say that they did. They are those of
	 * this thread that follow a failed call. Or that call ends the program.
	 */
	void (*plant)(unsigned int frees, unsigned int destroys, bool crash);
	/** Blocks that all threads have from malloc(3) and its kin. */
	size_t (*live_blocks)(void);
	/** Whether malloc(3) comes here: a sanitizer or valgrind has one of its own. */
	bool (*works)(void);
};

/** Name of the variable of that type. */
#define STEP_CONTROL "e2e_step_control"

#endif /* E2E_STEP_H */
