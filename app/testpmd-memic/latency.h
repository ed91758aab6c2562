/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef TPM_LATENCY_H
#define TPM_LATENCY_H

/**
 * @file
 * How long a frame takes round a loop: from before its time is written into the payload
 * to after it is read there, one frame at a time.
 */

#include "forward.h"

/** Most frames that are sent. */
#define LATENCY_MAX 100000u

struct latency {
	unsigned int n;      /**< Frames that came back. */
	unsigned int lost;   /**< Frames that did not. */
	unsigned int on_device; /**< Frames that were sent out of device memory. */
	double us[LATENCY_MAX]; /**< In microseconds, ascending in the end. */
};

/**
 * Send frames round by the first port.
 *
 * @param f ports; nothing of ours is on the wire.
 * @param seconds how long.
 * @param[out] l what was measured.
 */
void latency_run(const struct fwd *f, uint32_t seconds, struct latency *l);

/** The time that this many percent of the frames take at most. */
double latency_percentile(const struct latency *l, double percent);

#endif /* TPM_LATENCY_H */
