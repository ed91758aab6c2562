/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <endian.h>
#include <string.h>

#include "emu.h"
#include "eswitch.h"
#include "guard.h"
#include "inject.h"
#include "wqe.h"

/* Completion mode, fm_ce_se[3:2]; DPDK mlx5_prm.h enum mlx5_completion_mode. */
enum { CE_ON_ERROR = 0, CE_ON_FIRST_ERROR = 1, CE_ALWAYS = 2 };

/* Posted WQEBBs; counts the doorbell. */
static uint16_t
posted(struct emu_sq *sq)
{
	uint16_t pi = (uint16_t)be32toh(__atomic_load_n(sq->dbrec, __ATOMIC_ACQUIRE));

	if (pi != sq->seen_pi) {
		sq->seen_pi = pi;
		sq->dev->stats.doorbells++;
		emu_wc_doorbell(emu_ib_device(sq->dev));
	}
	return (uint16_t)(pi - sq->ci);
}

void
emu_sq_reset(struct emu_sq *sq)
{
	sq->state = EMU_Q_RST;
	sq->ci = 0;
	sq->seen_pi = 0;
	/*
	 * The card looks at the record when the doorbell rings, so the old index in there
	 * does no harm, and DPDK's tx_recover_qp() leaves it. We have only the record.
	 */
	emu_guard_store(sq->dbrec, 0);
}

/* Copy the WQE at ci out of the ring, so that no wrap is left in it. */
static void
copy_wqe(const struct emu_sq *sq, uint8_t *to, size_t from, size_t len)
{
	size_t ring = (size_t)sq->wqebbs * WQEBB_BYTES;
	size_t off = ((size_t)(sq->ci & (sq->wqebbs - 1)) * WQEBB_BYTES + from) & (ring - 1);
	size_t first = ring - off < len ? ring - off : len;

	if (__builtin_expect(sq->torn != NULL, 0)) {
		emu_view_read(sq->torn, off, to, first);
		emu_view_read(sq->torn, 0, to + first, len - first);
		return;
	}
	memcpy(to, sq->buf + off, first);
	memcpy(to + first, sq->buf, len - first);
}

static void
read_ctrl(const struct emu_sq *sq, struct wqe *wqe)
{
	const uint8_t *ctrl = wqe->data;

	copy_wqe(sq, wqe->data, 0, WQE_SEG_BYTES);
	wqe->opmod = ctrl[0];
	wqe->index = (uint16_t)(ctrl[1] << 8 | ctrl[2]);
	wqe->opcode = ctrl[3];
	wqe->qpn = (uint32_t)(ctrl[4] << 16 | ctrl[5] << 8 | ctrl[6]);
	wqe->ds = ctrl[7];
	wqe->ce = ctrl[11] >> 2 & 3;
	wqe->bbs = (uint16_t)((wqe->ds * WQE_SEG_BYTES + WQEBB_BYTES - 1) / WQEBB_BYTES);
}

static int
check_ctrl(struct wqe *wqe, uint16_t avail)
{
	const struct emu_sq *sq = wqe->sq;

	if (wqe->index != sq->ci)
		return emu_wqe_fail(wqe, EMU_SYND_LOCAL_QP_OP, VENDOR_CTRL,
				    "has index %u", wqe->index);
	if (wqe->qpn != sq->num)
		return emu_wqe_fail(wqe, EMU_SYND_LOCAL_QP_OP, VENDOR_CTRL,
				    "names queue 0x%x", wqe->qpn);
	if (wqe->ds < 1 || wqe->ds > WQE_MAX_DS)
		return emu_wqe_fail(wqe, EMU_SYND_LOCAL_QP_OP, VENDOR_CTRL,
				    "has %u segments, not 1 to %u", wqe->ds, WQE_MAX_DS);
	if (wqe->bbs > avail)
		return emu_wqe_fail(wqe, EMU_SYND_LOCAL_QP_OP, VENDOR_CTRL,
				    "has %u basic blocks of which %u are posted", wqe->bbs,
				    avail);
	return 0;
}

static uint32_t
sop_qpn(const struct wqe *wqe)
{
	return (uint32_t)wqe->opcode << 24 | wqe->sq->num;
}

static bool
push_good(const struct wqe *wqe)
{
	uint32_t uidx = htobe32(wqe->sq->user_index), sop = htobe32(sop_qpn(wqe));
	uint16_t counter = htobe16(wqe->sq->ci);
	uint8_t cqe[64] = { 0 };

	memcpy(cqe + EMU_CQE_UIDX, &uidx, 4);
	memcpy(cqe + EMU_CQE_SOP_QPN, &sop, 4);
	memcpy(cqe + EMU_CQE_WQE_COUNTER, &counter, 2);
	return emu_cq_push(wqe->sq->cq, cqe, EMU_CQE_REQ);
}

static bool
push_error(const struct wqe *wqe, uint8_t syndrome, uint8_t vendor)
{
	return emu_cq_push_error(wqe->sq->cq, EMU_CQE_REQ_ERR, wqe->sq->user_index,
				 sop_qpn(wqe), wqe->sq->ci, syndrome, vendor);
}

static void
run_one(struct emu_sq *sq, struct wqe *wqe, uint16_t avail)
{
	int ret;

	read_ctrl(sq, wqe);
	ret = check_ctrl(wqe, avail);
	if (ret == 0) {
		copy_wqe(sq, wqe->data + WQE_SEG_BYTES, WQE_SEG_BYTES,
			 (size_t)(wqe->ds - 1) * WQE_SEG_BYTES);
		sq->dev->stats.wqe_bytes += (uint64_t)wqe->bbs * WQEBB_BYTES;
		ret = emu_wqe_run(wqe);
	} else {
		wqe->bbs = 1;
	}
	if (ret < 0) {
		push_error(wqe, wqe->syndrome, wqe->vendor);
		sq->state = EMU_Q_ERR;
	} else if (wqe->ce >= CE_ALWAYS && !push_good(wqe)) {
		sq->state = EMU_Q_ERR;
	}
	sq->ci = (uint16_t)(sq->ci + wqe->bbs);
}

/*
 * A queue in error completes what is posted as flushed, where the WQE asks for every
 * error; ce = 1 had its one with the first. What cannot be walked is skipped.
 */
static bool
flush_one(struct emu_sq *sq, struct wqe *wqe, uint16_t avail)
{
	read_ctrl(sq, wqe);
	if (wqe->bbs == 0 || wqe->bbs > avail)
		wqe->bbs = 1;
	if (wqe->ce != CE_ON_FIRST_ERROR && !push_error(wqe, EMU_SYND_WR_FLUSH, VENDOR_FLUSH))
		return false;
	sq->ci = (uint16_t)(sq->ci + wqe->bbs);
	return true;
}

static void
bad_index(struct emu_sq *sq, struct wqe *wqe, uint16_t avail)
{
	read_ctrl(sq, wqe);
	emu_wqe_fail(wqe, EMU_SYND_LOCAL_QP_OP, VENDOR_CTRL,
		     "producer index is %u basic blocks ahead, the ring has %u", avail,
		     sq->wqebbs);
	push_error(wqe, wqe->syndrome, wqe->vendor);
	sq->state = EMU_Q_ERR;
	sq->ci = (uint16_t)(sq->ci + avail);
}

bool
emu_sq_run(struct emu_sq *sq, unsigned int budget)
{
	struct wqe wqe;
	uint16_t avail;

	if (sq->state != EMU_Q_RDY && sq->state != EMU_Q_ERR)
		return false;
	avail = posted(sq);
	if (avail == 0)
		return false;
	wqe.sq = sq;
	for (; budget > 0 && avail > 0; budget--) {
		if (sq->state == EMU_Q_RDY && avail > sq->wqebbs)
			bad_index(sq, &wqe, avail);
		else if (sq->state == EMU_Q_RDY)
			run_one(sq, &wqe, avail);
		else if (!flush_one(sq, &wqe, avail))
			return false;
		avail = posted(sq);
	}
	return true;
}
