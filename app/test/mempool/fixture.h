/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MEMPOOL_FIXTURE_H
#define MEMPOOL_FIXTURE_H

/**
 * @file
 * What the tests of the mempool driver share.
 *
 * Each program is called as: PROGRAM PLUGIN [EAL option]... Without options EAL sees
 * no device. Under mlx5emu the options name the emulated port, and pools of the driver
 * get device memory.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#define OPS "mlx5_memic"
#define REFERENCE "ring_mp_mc"
#define ROOM 2176u

/** Exit status of a test that cannot run here. */
#define SKIPPED 77

/**
 * Start EAL with the plugin.
 *
 * @return 0, or -1 after a message.
 */
int eal_start(int argc, char **argv);

/** Packet pool of n mbufs without cache, or a failed assertion. */
struct rte_mempool *make_pool(const char *name, unsigned int n, const char *ops);

/** From here on, what DPDK logs is kept. */
void log_begin(void);
/** Stop that. Returns the text, valid until the next log_begin(). */
const char *log_end(void);

/** Answer of a telemetry command as text, valid until the next call; NULL on failure. */
const char *telemetry(const char *command);

/** Number out of the telemetry of a pool, or -1. */
long long pool_number(const char *pool, const char *key);

#endif /* MEMPOOL_FIXTURE_H */
