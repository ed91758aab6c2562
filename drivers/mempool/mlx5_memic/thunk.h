/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_THUNK_H
#define MPM_THUNK_H

/**
 * @file
 * Free callbacks that can be called in every process.
 *
 * The last clone of a pinned mbuf is freed by calling shinfo->free_cb, which is in shared
 * memory, in whatever process that happens. The driver is at another address in each of
 * them. So what is stored there is the address of a jump in a page that all processes
 * have at the same address, and the page is each process's own: its jumps lead to the
 * functions of that process.
 */

#include <stdint.h>

#include <rte_mbuf.h>

enum mpm_thunk {
	MPM_THUNK_PINNED,   /**< The mbuf goes back to its pool. */
	MPM_THUNK_ORPHAN,   /**< Its pool is gone. */
	MPM_THUNKS,
};

/** Say which function of this process a jump leads to; before the page is made. */
void mpm_thunk_set(enum mpm_thunk which, rte_mbuf_extbuf_free_callback_t fn);

/**
 * Make the page.
 *
 * @param addr where it must be.
 * @return 0; -EEXIST where something else is mapped there, -ENOTSUP on other machines than
 *         x86-64 and arm64, otherwise what mmap(2) or mprotect(2) gave.
 */
int mpm_thunk_make(uintptr_t addr);

/** What to store as free_cb: the jump, or the function itself where there is no page. */
rte_mbuf_extbuf_free_callback_t mpm_thunk_get(enum mpm_thunk which);

#endif /* MPM_THUNK_H */
