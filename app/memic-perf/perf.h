/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef PERF_H
#define PERF_H

/**
 * @file
 * What the benchmarks share.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_mempool.h>

#include "rounds.h"

/** Exit statuses. */
enum {
	PERF_OK,
	PERF_FAILED = 1,
	PERF_USAGE = 2,
	PERF_NOTHING = 77, /**< No buffer in device memory to measure. */
};

#define OPS_MEMIC "mlx5_memic"
#define OPS_RING "ring_mp_mc"
#define OPS_FLOOR "perf_floor"

struct perf_options {
	const char *json;
	const char *csv;
	const char *tests[8]; /**< Names given; none for all. */
	unsigned int n_tests;
	unsigned int rounds;
	unsigned int sizes[8]; /**< mbufs of the pools of create and start. */
	unsigned int n_sizes;  /**< 0: what each test thinks best. */
	bool quick;
};

extern struct perf_options perf_options;

/* ---- options.c ---- */

/**
 * Take our own options from the front of the command line.
 *
 * @param argc words.
 * @param argv words.
 * @return index of the first word that is EAL's; -1 after a message for wrong usage, -2
 *         after --help.
 */
int options_parse(int argc, char **argv);

/** Whether a test was asked for. */
bool test_wanted(const char *name);

/* ---- report.c ---- */

int report_open(void);

/** Begin a result of a test. */
void result_begin(const char *test);
void result_string(const char *key, const char *value);
void result_number(const char *key, double value);
void result_integer(const char *key, long long value);
/** Add what was measured, under a name with its unit, and the ratios. */
void result_variant(const char *key, const struct variant *v, const char *ratio_to);
void result_end(void);

/** Print the table and write the files. Returns whether all of that went well. */
bool report_close(void);

/** Buffers in device memory that any result was measured with. */
extern unsigned int report_device_slots;

/* ---- pools.c ---- */

/** Data room of most pools: small, so that many slots fit into little device memory. */
#define PERF_ROOM 192u

enum perf_spill {
	SPILL_NONE,
	SPILL_HALF,
};

/** Rules for the pools here, unless the user has some. To be called before EAL starts. */
void pools_rules(int argc, char **argv);

/**
 * Make a pool.
 *
 * @param ops mempool ops.
 * @param n mbufs.
 * @param cache size of the lcore caches.
 * @param room bytes of the data room.
 * @param spill for mlx5_memic: how much is to live in host memory.
 * @return pool or NULL after a message.
 */
struct rte_mempool *pool_make(const char *ops, unsigned int n, unsigned int cache, uint16_t room,
			      enum perf_spill spill);

/** Pool of external buffers in host memory, as DPDK has them. NULL after a message. */
struct rte_mempool *pool_make_extbuf(unsigned int n, unsigned int cache);

/**
 * The same pool on the least that ops can be, for one lcore (floor.c).
 *
 * @return pool or NULL; without a message where DPDK has no room for ops of ours.
 */
struct rte_mempool *pool_make_floor(unsigned int n);

void pool_free(struct rte_mempool *mp);

/** Number of mbufs of a pool whose buffer is not inside the mbuf. */
unsigned int pool_device_slots(struct rte_mempool *mp);

/* ---- tests; each returns an exit status ---- */

int test_get_put(void);
int test_pktmbuf(void);
int test_create(void);
int test_start(void);
int test_copy(void);

#endif /* PERF_H */
