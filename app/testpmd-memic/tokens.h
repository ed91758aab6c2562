/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef TPM_TOKENS_H
#define TPM_TOKENS_H

/**
 * @file
 * Kinds of words in commands that DPDK's library has not: they complete to what there is
 * at that time, yet take any word, so that a sentence can say what is wrong with it.
 */

#include <cmdline_rdline.h>
#include <cmdline_parse.h>

/** Room for a name, in the result of a command. */
#define TPM_NAME_LEN 128

/** A mempool; the result is TPM_NAME_LEN characters. */
extern struct cmdline_token_ops tpm_token_pool;
/** A device of the mlx5 driver; the result is TPM_NAME_LEN characters. */
extern struct cmdline_token_ops tpm_token_device;
/** A port; the result is a uint32_t, and only numbers are taken. */
extern struct cmdline_token_ops tpm_token_port;

#endif /* TPM_TOKENS_H */
