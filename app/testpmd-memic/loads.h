/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/** What loader.c of the driver loads here, and what it says where it does not. */
#define MPM_LOADS "libtestpmd_memic_commands.so." MEMIC_ABI
#define MPM_LOG_AS "TESTPMD_MEMIC"
#define MPM_LOSS "The plugin stays off, and there are no flags --memic-* and no commands"
#define MPM_IN_STATIC ""
