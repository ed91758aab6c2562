/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/* Stands for librte_eal of another release: its name is all that counts. */

int e2e_other_eal(void);

int
e2e_other_eal(void)
{
	return 0;
}
