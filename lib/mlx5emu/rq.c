/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <endian.h>
#include <netinet/in.h>
#include <string.h>

#include "emu.h"
#include "eswitch.h"
#include "inject.h"

#define SEG_BYTES 16
#define MAX_SEGS 64
#define INVALID_LKEY 0x100u     /* ends a scatter list, with a byte count of 0 */

/* hds_ip_ext and l4_hdr_type_etc; libmlx5 mlx5dv.h MLX5_CQE_*, DPDK mlx5_prm.h. */
#define L2_OK (1 << 0)
#define L3_OK (1 << 1)
#define L4_OK (1 << 2)
#define L3_OPTIONS (1 << 1)
#define L3_IPV6 (1 << 2)
#define L3_IPV4 (2 << 2)
#define L4_TCP (1 << 4)
#define L4_UDP (2 << 4)
#define L4_TCP_EMPTY_ACK (3 << 4)
#define L4_TCP_ACK (4 << 4)
#define L3_FRAG (1 << 7)

/* Vendor syndromes; the real numbers are not public, these tell our cases apart. */
enum {
	VENDOR_BAD_INDEX = 0xe1,
	VENDOR_TOO_SHORT = 0xe2,
	VENDOR_MKEY = 0xe3,
	VENDOR_FLUSH = 0xf9,
};

struct seg {
	uint64_t addr;
	uint64_t bytes;
	uint32_t lkey;
};

/* Posted WQEs that wait, as 16-bit index arithmetic tells; counts the doorbell. */
static uint16_t
posted(struct emu_rq *rq)
{
	uint16_t pi = (uint16_t)be32toh(__atomic_load_n(rq->dbrec, __ATOMIC_ACQUIRE));

	if (pi != rq->seen_pi) {
		rq->seen_pi = pi;
		rq->dev->stats.doorbells++;
		emu_wc_doorbell(emu_ib_device(rq->dev));
	}
	return (uint16_t)(pi - rq->ci);
}

bool
emu_rq_ready(const struct emu_rq *rq)
{
	uint16_t pi = (uint16_t)be32toh(__atomic_load_n(rq->dbrec, __ATOMIC_ACQUIRE));

	return rq->state == EMU_Q_RDY && pi != rq->ci && !rq->cq->overrun;
}

void
emu_rq_reset(struct emu_rq *rq)
{
	rq->state = EMU_Q_RST;
	rq->ci = 0;
}

static void
fail(struct emu_rq *rq, uint8_t syndrome, uint8_t vendor)
{
	emu_cq_push_error(rq->cq, EMU_CQE_RESP_ERR, rq->user_index, rq->num, rq->ci, syndrome,
			  vendor);
	rq->state = EMU_Q_ERR;
	rq->ci++;
}

/* The scatter list of the next WQE; returns the number of segments. */
static unsigned int
read_wqe(const struct emu_rq *rq, struct seg segs[MAX_SEGS])
{
	size_t off = (size_t)(rq->ci & (rq->entries - 1)) << rq->log_stride;
	unsigned int i, n = (1u << rq->log_stride) / SEG_BYTES;

	if (n > MAX_SEGS)
		n = MAX_SEGS;
	for (i = 0; i < n; i++, off += SEG_BYTES) {
		const uint8_t *wqe = emu_ring_at(rq->buf, rq->torn, off);
		uint32_t bytes, lkey;
		uint64_t addr;

		memcpy(&bytes, wqe, 4);
		memcpy(&lkey, wqe + 4, 4);
		memcpy(&addr, wqe + 8, 8);
		segs[i].bytes = be32toh(bytes);
		segs[i].lkey = be32toh(lkey);
		segs[i].addr = be64toh(addr);
		if (segs[i].bytes == 0 && segs[i].lkey == INVALID_LKEY)
			break;
		/* Why libmlx5 leaves empty segments out: 0 stands for 2^31. */
		if (segs[i].bytes == 0)
			segs[i].bytes = 1ull << 31;
	}
	return i;
}

/*
 * All of each segment must be writable, not only what this frame needs of it: a buffer
 * whose end is out of bounds shows with the first frame, not with the first long one.
 */
static bool
check_wqe(struct emu_rq *rq, struct emu_access *acc, const struct seg *segs, unsigned int n,
	  size_t len)
{
	uint64_t room = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		room += segs[i].bytes;
	if (room < len) {
		emu_report("%s: rq 0x%x wqe %u has room for %llu of a frame of %zu bytes",
			   rq->dev->name, rq->num, rq->ci, (unsigned long long)room, len);
		fail(rq, EMU_SYND_LOCAL_LENGTH, VENDOR_TOO_SHORT);
		return false;
	}
	for (i = 0; i < n; i++) {
		if (emu_mkey_check(acc, segs[i].lkey, segs[i].addr, segs[i].bytes,
				   EMU_ACCESS_LW) < 0) {
			fail(rq, EMU_SYND_LOCAL_PROT, VENDOR_MKEY);
			return false;
		}
	}
	return true;
}

static bool
scatter(struct emu_rq *rq, struct emu_access *acc, const struct emu_packet *p)
{
	struct seg segs[MAX_SEGS];
	unsigned int i, n = read_wqe(rq, segs);
	size_t done = 0;

	rq->dev->stats.wqe_bytes += 1u << rq->log_stride;
	if (!check_wqe(rq, acc, segs, n, p->len))
		return false;
	for (i = 0; i < n && done < p->len; i++) {
		size_t part = p->len - done < segs[i].bytes ? p->len - done : segs[i].bytes;

		if (emu_mkey_write(acc, segs[i].lkey, segs[i].addr, p->data + done, part) < 0) {
			fail(rq, EMU_SYND_LOCAL_PROT, VENDOR_MKEY);
			return false;
		}
		done += part;
	}
	return true;
}

static uint8_t
tcp_type(const struct emu_packet *p)
{
	const uint8_t *tcp = p->data + p->l4_off;

	if (!(tcp[13] & 0x10))
		return L4_TCP;
	return (size_t)(tcp[12] >> 4) * 4 >= p->l4_len ? L4_TCP_EMPTY_ACK : L4_TCP_ACK;
}

static uint8_t
header_types(const struct emu_packet *p)
{
	uint8_t type = 0;

	if (p->l3 != 0)
		type |= p->l3 == 4 ? L3_IPV4 : L3_IPV6;
	if (p->l4 != 0)
		type |= p->l4 == IPPROTO_UDP ? L4_UDP : tcp_type(p);
	if (p->ip_options)
		type |= L3_OPTIONS;
	if (p->frag)
		type |= L3_FRAG;
	return type;
}

static bool
complete(struct emu_rq *rq, const struct emu_packet *p, uint32_t hash, uint8_t hash_type,
	 uint32_t tag)
{
	uint32_t uidx = htobe32(rq->user_index), len = htobe32((uint32_t)p->len);
	uint32_t be_hash = htobe32(hash), be_tag = htobe32(tag & 0xffffff);
	uint16_t counter = htobe16(rq->ci);
	uint8_t cqe[64] = { 0 };

	memcpy(cqe + EMU_CQE_HASH, &be_hash, 4);
	cqe[EMU_CQE_HASH_TYPE] = hash_type;
	cqe[EMU_CQE_HDS_IP_EXT] = (uint8_t)(L2_OK | (p->l3_csum_ok ? L3_OK : 0) |
					    (p->l4_csum_ok ? L4_OK : 0));
	cqe[EMU_CQE_L4_HDR_TYPE] = header_types(p);
	memcpy(cqe + EMU_CQE_UIDX, &uidx, 4);
	memcpy(cqe + EMU_CQE_BYTE_CNT, &len, 4);
	memcpy(cqe + EMU_CQE_SOP_QPN, &be_tag, 4);
	memcpy(cqe + EMU_CQE_WQE_COUNTER, &counter, 2);
	return emu_cq_push(rq->cq, cqe, EMU_CQE_RESP_SEND);
}

/* True if the next WQE can be used; an index that cannot be ends the queue. */
static bool
has_wqe(struct emu_rq *rq)
{
	uint16_t n = posted(rq);

	if (rq->state != EMU_Q_RDY || n == 0)
		return false;
	if (n <= rq->entries)
		return true;
	emu_report("%s: rq 0x%x of %u entries: producer index is %u ahead of %u",
		   rq->dev->name, rq->num, rq->entries, n, rq->ci);
	fail(rq, EMU_SYND_LOCAL_QP_OP, VENDOR_BAD_INDEX);
	return false;
}

void
emu_rq_receive(struct emu_rq *rq, const struct emu_packet *p, uint32_t hash,
	       uint8_t hash_type, uint32_t tag)
{
	struct emu_access acc = { .dev = emu_ib_device(rq->dev), .pdn = rq->pdn };
	struct emu_stats *stats = &rq->dev->stats;

	if (rq->cq->overrun || !has_wqe(rq)) {
		stats->rx_no_wqe++;
		acc.dev->out_of_buffer[rq->counters]++;
		return;
	}
	if (!scatter(rq, &acc, p))
		return;
	if (!complete(rq, p, hash, hash_type, tag)) {
		rq->state = EMU_Q_ERR;
		return;
	}
	rq->ci++;
	if (p->looped)
		return;
	stats->rx_frames++;
	stats->rx_bytes += p->len;
	stats->host_write_bytes += acc.host_bytes;
	stats->memic_write_bytes += acc.memic_bytes;
}

bool
emu_rq_run(struct emu_rq *rq, unsigned int budget)
{
	uint16_t n = posted(rq);
	bool work = false;

	if (rq->state != EMU_Q_ERR)
		return false;
	/* More than the ring holds is the bad index that led here. */
	if (n > rq->entries) {
		rq->ci = (uint16_t)(rq->ci + n);
		return true;
	}
	for (; n > 0 && budget > 0; n--, budget--) {
		if (!emu_cq_push_error(rq->cq, EMU_CQE_RESP_ERR, rq->user_index, rq->num, rq->ci,
				       EMU_SYND_WR_FLUSH, VENDOR_FLUSH))
			return work;
		rq->ci++;
		work = true;
	}
	return work;
}
