/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

struct emu_dev *emu_devs;
unsigned int emu_dev_count;

static void
keep_frame(struct emu_wire *wire, const uint8_t *frame, size_t len)
{
	struct rig_wire *w = (struct rig_wire *)wire;

	assert_true(w->n < RIG_FRAMES);
	memcpy(w->frame[w->n], frame, len);
	w->len[w->n++] = len;
}

static const struct emu_wire_ops keep_ops = { .name = "keep", .transmit = keep_frame };

static void
make_dev(struct rig *r, unsigned int i)
{
	struct emu_dev *dev = &r->devs[i];

	emu_dev_init(dev, i, &r->cfg);
	snprintf(dev->name, sizeof(dev->name), "mlx5_%u", i);
	memcpy(dev->mac, (uint8_t[]){ 0x02, 0, 0, 0, 0, (uint8_t)(0x10 + i) }, 6);
}

static void
make_key(struct rig *r, struct emu_mkey *key, enum emu_mkey_mode mode, uint8_t *base,
	 uint64_t start)
{
	*key = (struct emu_mkey){
		.dev = &r->devs[0], .pdn = RIG_PD, .access = EMU_ACCESS_LR | EMU_ACCESS_LW,
		.mode = mode, .start = start, .len = RIG_MEM, .base = base, .key = 0xa5,
	};
	assert_int_equal(emu_mkey_add(key), 0);
}

struct rig *
rig_new(void)
{
	struct rig *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	emu_devs = r->devs;
	emu_dev_count = 2;
	make_dev(r, 0);
	make_dev(r, 1);
	r->host = calloc(1, RIG_MEM);
	r->memic = calloc(1, RIG_MEM);
	make_key(r, &r->host_key, EMU_MKEY_MTT, r->host, (uintptr_t)r->host);
	make_key(r, &r->memic_key, EMU_MKEY_MEMIC, r->memic, 0);
	r->wire.wire.ops = &keep_ops;
	r->wire.wire.dev = &r->devs[0];
	r->devs[0].wire = &r->wire.wire;
	return r;
}

void
rig_free(struct rig *r)
{
	emu_mkey_remove(&r->host_key);
	emu_mkey_remove(&r->memic_key);
	free(r->devs[0].mkeys);
	free(r->devs[1].mkeys);
	free(r->cq.buf);
	free(r->sq.buf);
	free(r->rq.buf);
	free(r->host);
	free(r->memic);
	free(r);
}

void
rig_make_cq(struct rig *r, uint32_t entries, uint32_t entry_size)
{
	uint32_t i;

	r->cq = (struct emu_cq){
		.dev = &r->devs[0], .num = 0x33, .entries = entries, .entry_size = entry_size,
		.buf = calloc(entries, entry_size), .dbrec = r->cq_db,
	};
	for (i = 0; i < entries; i++)
		r->cq.buf[(size_t)i * entry_size + entry_size - 1] = 0xf1;
}

void
rig_make_sq(struct rig *r, uint32_t wqebbs)
{
	r->sq = (struct emu_sq){
		.dev = &r->devs[0], .num = 0x123456, .pdn = RIG_PD, .user_index = RIG_UIDX,
		.buf = calloc(wqebbs, 64), .wqebbs = wqebbs, .dbrec = &r->sq_db,
		.state = EMU_Q_RDY, .allow_mpw = true, .cq = &r->cq,
	};
}

void
rig_make_rq(struct rig *r, uint32_t entries, uint32_t segs)
{
	uint32_t log_stride = 4;

	while (16u << (log_stride - 4) < segs * 16)
		log_stride++;
	r->rq = (struct emu_rq){
		.dev = &r->devs[0], .num = 0x77, .pdn = RIG_PD, .user_index = RIG_UIDX,
		.buf = calloc(entries, 1u << log_stride), .entries = entries,
		.log_stride = log_stride, .dbrec = &r->rq_db, .state = EMU_Q_RDY, .cq = &r->cq,
	};
	r->rqs[0] = &r->rq;
	r->tir = (struct emu_tir){ .dev = &r->devs[0], .n = 1, .rqs = r->rqs };
	r->flow = (struct emu_flow){
		.dev = &r->devs[0], .kind = EMU_FLOW_ALL_DEFAULT, .tir = &r->tir, .tag = 0xabcdef,
	};
}

void
rig_set_db(uint32_t *db, uint32_t value)
{
	__atomic_store_n(db, htobe32(value), __ATOMIC_RELEASE);
}

const uint8_t *
rig_cqe(const struct rig *r, uint32_t ci)
{
	const uint8_t *cqe = r->cq.buf + (size_t)(ci & (r->cq.entries - 1)) * r->cq.entry_size +
			     r->cq.entry_size - 64;
	uint8_t op_own = __atomic_load_n(&cqe[63], __ATOMIC_ACQUIRE);

	if ((op_own & 1) != !!(ci & r->cq.entries) || op_own >> 4 == 0xf)
		return NULL;
	return cqe;
}

unsigned int
rig_cqe_opcode(const uint8_t *cqe)
{
	return cqe[63] >> 4;
}

uint16_t
rig_cqe_counter(const uint8_t *cqe)
{
	return (uint16_t)(cqe[60] << 8 | cqe[61]);
}

uint32_t
rig_get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return be32toh(v);
}

static void
put32(uint8_t *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, 4);
}

static uint16_t
sq_pi(const struct rig *r)
{
	return (uint16_t)be32toh(r->sq_db);
}

void
rig_wqe_start(struct rig *r, struct rig_wqe *w, uint8_t opmod, uint8_t opcode, unsigned int ce)
{
	memset(w, 0, sizeof(*w));
	put32(w->bytes, (uint32_t)opmod << 24 | (uint32_t)sq_pi(r) << 8 | opcode);
	put32(w->bytes + 4, r->sq.num << 8);
	w->bytes[11] = (uint8_t)(ce << 2);
	w->len = 16;
}

void
rig_wqe_eth(struct rig_wqe *w, uint8_t cs_flags, uint16_t mss, const void *inl, size_t n)
{
	uint8_t *eth = w->bytes + w->len;

	eth[4] = cs_flags;
	eth[6] = (uint8_t)(mss >> 8);
	eth[7] = (uint8_t)mss;
	eth[12] = (uint8_t)(n >> 8);
	eth[13] = (uint8_t)n;
	if (n > 0)
		memcpy(eth + 14, inl, n);
	w->len += n > 2 ? (14 + n + 15) / 16 * 16 : 16;
}

void
rig_wqe_ptr(struct rig_wqe *w, uint32_t len, uint32_t lkey, uint64_t addr)
{
	uint8_t *seg = w->bytes + w->len;
	uint64_t be = htobe64(addr);

	put32(seg, len);
	put32(seg + 4, lkey);
	memcpy(seg + 8, &be, 8);
	w->len += 16;
}

void
rig_wqe_inline(struct rig_wqe *w, const void *data, size_t n)
{
	put32(w->bytes + w->len, 0x80000000u | (uint32_t)n);
	memcpy(w->bytes + w->len + 4, data, n);
	w->len += (4 + n + 15) / 16 * 16;
}

void
rig_wqe_post_raw(struct rig *r, struct rig_wqe *w)
{
	size_t ring = (size_t)r->sq.wqebbs * 64, at = (size_t)sq_pi(r) * 64, i;

	for (i = 0; i < w->len; i++)
		r->sq.buf[(at + i) % ring] = w->bytes[i];
	rig_set_db(&r->sq_db, (uint16_t)(sq_pi(r) + (w->len + 63) / 64));
}

void
rig_wqe_post(struct rig *r, struct rig_wqe *w)
{
	w->bytes[7] = (uint8_t)(w->len / 16);
	rig_wqe_post_raw(r, w);
}

void
rig_rq_seg(struct rig *r, uint32_t index, unsigned int seg, uint32_t len, uint32_t lkey,
	   uint64_t addr)
{
	struct rig_wqe w = { .len = 0 };

	rig_wqe_ptr(&w, len, lkey, addr);
	memcpy(r->rq.buf + ((size_t)(index & (r->rq.entries - 1)) << r->rq.log_stride) +
	       (size_t)seg * 16, w.bytes, 16);
}

void
rig_pattern(uint8_t *p, size_t n, unsigned int seed)
{
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = (uint8_t)(i * 7 + (i >> 8) * 13 + seed);
}

void
rig_ip_frame(uint8_t *p, size_t n, unsigned int protocol)
{
	rig_pattern(p, n, 1);
	memcpy(p, (uint8_t[]){ 0x02, 0, 0, 0, 0, 0x10, 0x02, 0, 0, 0, 0, 0x99, 8, 0 }, 14);
	memcpy(p + 14, (uint8_t[]){ 0x45, 0, (uint8_t)((n - 14) >> 8), (uint8_t)(n - 14), 0, 1, 0,
				    0, 64, (uint8_t)protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2 }, 20);
	memcpy(p + 34, (uint8_t[]){ 0x12, 0x34, 0x56, 0x78 }, 4);
	if (protocol == 17) {
		p[38] = (uint8_t)((n - 34) >> 8);
		p[39] = (uint8_t)(n - 34);
	} else {
		p[46] = 0x50; /* 20 bytes of header */
		p[47] = 0x10; /* ACK */
	}
	emu_packet_fill_csum(p, n, true, true);
}
