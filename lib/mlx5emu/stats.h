/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_STATS_H
#define MLX5EMU_STATS_H

#include <stdint.h>

/*
 * What one port counted, where the bytes were resolved. host_* and memic_* are
 * payload bytes that the engine moved; the rest is what else crosses PCIe.
 * Conservation: host_read + memic_read + inline == tx_bytes, and
 * host_write + memic_write == rx_bytes. So bytes count when their frame is sent or
 * received, not when an earlier segment of a frame that fails was moved.
 */
struct emu_stats {
	uint64_t tx_frames, rx_frames;
	uint64_t tx_bytes, rx_bytes;
	uint64_t host_read_bytes, host_write_bytes;
	uint64_t memic_read_bytes, memic_write_bytes;
	uint64_t inline_bytes;      /* payload carried in send WQEs */
	uint64_t wqe_bytes;         /* whole 64 B WQEBBs of SQs and 16 B segments of RQs */
	uint64_t cqe_bytes;
	uint64_t doorbells;         /* changes seen of SQ, RQ and CQ arm records */
	uint64_t errors;            /* error CQEs */
	uint64_t protection_errors; /* mkey uses refused */
	uint64_t cq_overruns;       /* CQs that died because a CQE found no room */
	uint64_t rx_no_match;       /* frames for which no flow was found */
	uint64_t rx_dropped;        /* by a drop flow; sent to oneself where that is not allowed */
	uint64_t tx_no_rule;        /* frames for which the e-switch had no rule */
	uint64_t rx_no_wqe;         /* frames that found no receive WQE (out_of_buffer) */
	uint64_t looped_frames;     /* that the function sent to itself: not in all of the above
				     * but wqe_bytes, cqe_bytes, doorbells and what went wrong */
};

#endif
