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
 * @return 0, or after a message the exit status.
 */
int eal_start(int argc, char **argv);

/** The same for a test that needs a port of the mlx5 driver. */
int eal_start_with_port(int argc, char **argv);

/** End EAL. Returns the exit status after that many failed tests. */
int eal_end(int failed);

/** Packet pool of n mbufs without cache, or a failed assertion. */
struct rte_mempool *make_pool(const char *name, unsigned int n, const char *ops);

/** The same as programs make them themselves, before it has objects. */
struct rte_mempool *hand_made(const char *name, const char *ops, unsigned int n, uint16_t room);

/** Whether the buffer of an mbuf of the driver is in device memory. */
static inline bool
on_device(const struct rte_mbuf *m)
{
	return m->buf_addr != (const char *)m + sizeof(*m) + m->priv_size;
}

/** From here on, what DPDK logs is kept. */
void log_begin(void);
/** Stop that. Returns the text, valid until the next log_begin(). */
const char *log_end(void);

/** Answer of a telemetry command as text, valid until the next call; NULL on failure. */
const char *telemetry(const char *command);

/** Number out of the telemetry of a pool, or -1. */
long long pool_number(const char *pool, const char *key);

#endif /* MEMPOOL_FIXTURE_H */
