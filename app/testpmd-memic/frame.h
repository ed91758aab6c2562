/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef TPM_FRAME_H
#define TPM_FRAME_H

/**
 * @file
 * Frames of our own: from a port to itself, of a type that is for experiments, with a
 * time in the payload. Whether their data is in device memory makes no difference here.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

/** Make a frame of up to 1500 bytes, as the pool's data room allows; NULL without mbuf. */
struct rte_mbuf *fwd_frame_make(struct rte_mempool *mp, uint16_t port);

/** Write the time now into a frame. */
void fwd_frame_stamp(struct rte_mbuf *m);

/** Read it; false for a frame that is not ours. */
bool fwd_frame_time(const struct rte_mbuf *m, uint64_t *tsc);

#endif /* TPM_FRAME_H */
