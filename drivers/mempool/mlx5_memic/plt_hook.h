/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_PLT_HOOK_H
#define MPM_PLT_HOOK_H

/**
 * @file
 * Replacing functions where other objects import them.
 *
 * An ELF object calls an imported function through a slot that the dynamic linker
 * fills in. Writing another address into the slots of chosen objects diverts their
 * calls, and nobody else's.
 */

#include <stdbool.h>
#include <stddef.h>

struct mpm_plt_hook {
	const char *symbol;  /**< Imported function. */
	void *replacement;   /**< What to call instead. */
	void *genuine;       /**< The function itself, to tell it from somebody else's hook. */
	unsigned int slots;  /**< Out: slots that call the replacement now. */
};

/**
 * Divert functions in the loaded objects that a filter picks. May be called again
 * after more objects were loaded. Not thread safe.
 *
 * @param hooks functions.
 * @param n number of functions.
 * @param match whether to touch an object, by base name ("" is the executable). The
 *        object that holds this code is never touched.
 * @param[out] why sentence on failure.
 * @param why_len its size.
 * @return 0; -EEXIST when a slot already belongs to somebody else, -EACCES or -ENOMEM
 *         when a slot cannot be made writable. Slots written so far stay written.
 */
int mpm_plt_divert(struct mpm_plt_hook *hooks, unsigned int n, bool (*match)(const char *object),
		   char *why, size_t why_len);

#endif /* MPM_PLT_HOOK_H */
