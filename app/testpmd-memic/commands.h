/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef TPM_COMMANDS_H
#define TPM_COMMANDS_H

/**
 * @file
 * Commands among testpmd's own.
 */

#include <cmdline_rdline.h>
#include <cmdline_parse.h>

/**
 * Testpmd's commands and ours.
 *
 * @param ctx table of commands, which ends with NULL.
 * @return the same with ours at its end; ctx itself when there is no memory.
 */
cmdline_parse_ctx_t *tpm_commands_with(cmdline_parse_ctx_t *ctx);

#endif /* TPM_COMMANDS_H */
