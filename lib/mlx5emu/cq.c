/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <endian.h>
#include <string.h>
#include <time.h>

#include "emu.h"

#define CI_MASK 0xffffffu       /* consumer indexes have 24 bits in records */
#define ARM_SOLICITED (1u << 24) /* libmlx5's MLX5_CQ_DB_REQ_NOT_SOL */

uint64_t
emu_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* CQEs between two indexes. */
static uint32_t
unseen(uint32_t pi, uint32_t ci)
{
	return (pi - ci) & CI_MASK;
}

static void
overrun(struct emu_cq *cq, uint32_t ci)
{
	cq->overrun = true;
	cq->dev->stats.cq_overruns++;
	emu_report("%s: cq 0x%x of %u entries overrun: producer 0x%x, consumer 0x%x",
		   cq->dev->name, cq->num, cq->entries, cq->pi & CI_MASK, ci);
	if (cq->error != NULL)
		cq->error(cq);
}

/*
 * CQEs that software has not given back. DPDK's Tx keeps its index in 16 bits and writes
 * it so (cq_ci in mlx5_tx.h), which works for ever on cards: they cannot look at more
 * bits than the ring needs. That it is 16 where that is enough is an assumption.
 */
static uint32_t
occupied(const struct emu_cq *cq, uint32_t ci)
{
	return (cq->pi - ci) & (cq->entries <= 0x8000 ? 0xffff : CI_MASK);
}

static bool
has_room(struct emu_cq *cq)
{
	uint32_t ci;

	if (cq->overrun)
		return false;
	if (cq->ignore_overrun)
		return true;
	/* Software writes the record all the time: only look when the ring seems full. */
	if (occupied(cq, cq->seen_ci) < cq->entries)
		return true;
	ci = be32toh(__atomic_load_n(&cq->dbrec[0], __ATOMIC_ACQUIRE)) & CI_MASK;
	cq->seen_ci = ci;
	if (occupied(cq, ci) < cq->entries)
		return true;
	overrun(cq, ci);
	return false;
}

bool
emu_cq_push(struct emu_cq *cq, uint8_t cqe[64], unsigned int opcode)
{
	uint8_t owner = (cq->pi & cq->entries) != 0;
	bool error = opcode == EMU_CQE_REQ_ERR || opcode == EMU_CQE_RESP_ERR;
	uint64_t now;
	uint8_t *slot;

	if (!has_room(cq))
		return false;
	/* In a 128 B entry the CQE is the second half; libmlx5 cq.c, get_sw_cqe(). */
	slot = emu_ring_at(cq->buf, cq->torn, (size_t)(cq->pi & (cq->entries - 1)) *
			   cq->entry_size + cq->entry_size - 64);
	if (!error) { /* where errors have their syndrome */
		now = htobe64(emu_clock());
		memcpy(cqe + EMU_CQE_TIMESTAMP, &now, sizeof(now));
	}
	if (cq->padded)
		memset(slot - 64, 0, 64); /* assumption: with zeros */
	memcpy(slot, cqe, EMU_CQE_OP_OWN);
	__atomic_store_n(slot + EMU_CQE_OP_OWN, (uint8_t)(opcode << 4 | owner),
			 __ATOMIC_RELEASE);
	cq->pi++;
	if (error) {
		cq->urgent_pi = cq->pi;
		cq->dev->stats.errors++;
	}
	cq->dev->stats.cqe_bytes += cq->entry_size;
	return true;
}

bool
emu_cq_push_error(struct emu_cq *cq, unsigned int opcode, uint32_t user_index,
		  uint32_t sop_qpn, uint16_t wqe_counter, uint8_t syndrome, uint8_t vendor)
{
	uint8_t cqe[64] = { 0 };
	uint32_t uidx = htobe32(user_index), sop = htobe32(sop_qpn);
	uint16_t counter = htobe16(wqe_counter);

	memcpy(cqe + EMU_CQE_UIDX, &uidx, sizeof(uidx));
	memcpy(cqe + EMU_CQE_SOP_QPN, &sop, sizeof(sop));
	memcpy(cqe + EMU_CQE_WQE_COUNTER, &counter, sizeof(counter));
	cqe[EMU_CQE_VENDOR_SYNDROME] = vendor;
	cqe[EMU_CQE_SYNDROME] = syndrome;
	return emu_cq_push(cq, cqe, opcode);
}

bool
emu_cq_poll_arm(struct emu_cq *cq)
{
	uint32_t word, ci, last;

	if (cq->event == NULL)
		return false;
	/*
	 * Software arms through the UAR page as well, but the last word written there may
	 * be of another CQ, so the record it is. An arming is a new one if its sequence
	 * number or its index is another: cards are assumed to look at the number only,
	 * which libmlx5 and the PMD change with each event they read.
	 */
	word = be32toh(__atomic_load_n(&cq->dbrec[1], __ATOMIC_ACQUIRE));
	if (word == EMU_CQ_NOT_ARMED || (cq->arm_answered && word == cq->armed_sn))
		return false;
	ci = word & CI_MASK;
	last = word & ARM_SOLICITED ? cq->urgent_pi : cq->pi;
	if (unseen(last, ci) - 1 >= cq->entries)
		return false;
	cq->dev->stats.doorbells++;
	cq->armed_sn = word;
	cq->arm_answered = true;
	cq->event(cq);
	return true;
}
