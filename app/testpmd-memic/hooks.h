/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef TPM_HOOKS_H
#define TPM_HOOKS_H

/**
 * @file
 * What testpmd calls instead of functions of libc and DPDK.
 *
 * The distribution's testpmd exports no function to add commands or flags with, but it
 * calls getopt_long() with a table of flags and makes command lines of a table of
 * commands. Both tables are handed on with ours at their end. Slots of the executable
 * lead here, as the driver's do (plt_hook.h).
 */

#include <stdbool.h>

/** Divert what flags and commands need. */
void tpm_hooks_install(void);

/**
 * Have the thread that writes statistics wait whenever the executable changes or ends
 * ports.
 *
 * @return whether that is so; otherwise a sentence was logged.
 */
bool tpm_hooks_watch(void);

#endif /* TPM_HOOKS_H */
