/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef TPM_TABLE_H
#define TPM_TABLE_H

/**
 * @file
 * Tables whose columns line up: text to the left, numbers to the right, under headers
 * with units. Cells are added row by row; memory that is not to be had prints nothing.
 */

#include <stdint.h>

#include <rte_common.h>

struct tpm_table;

/**
 * Begin a table.
 *
 * @param heads headers, with a '<' first where the column is text; to stay valid.
 * @param n their number.
 */
struct tpm_table *tpm_table_new(const char *const *heads, unsigned int n);

/** Add a cell. */
void tpm_table_cell(struct tpm_table *t, const char *fmt, ...) __rte_format_printf(2, 3);

/** Print the table and free it. */
void tpm_table_print(struct tpm_table *t);

#endif /* TPM_TABLE_H */
