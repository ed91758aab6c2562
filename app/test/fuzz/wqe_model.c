/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <endian.h>

#include "wqe_model.h"

#define SQ_NUM 0x123456
#define RQ_NUM 0x77
#define FLUSHED 0x05            /* EMU_SYND_WR_FLUSH */

/* ---- a wire that counts ---- */

static struct model *wire_model;

static void
count_frame(struct emu_wire *wire, const uint8_t *frame, size_t len)
{
	volatile uint8_t sum = 0;

	(void)wire;
	for (size_t i = 0; i < len; i++) /* all of it must be there */
		sum = (uint8_t)(sum + frame[i]);
	wire_model->wire_frames++;
	wire_model->wire_bytes += len;
}

static void
wire_close(struct emu_wire *wire)
{
	(void)wire;
}

static const struct emu_wire_ops count_ops = {
	.name = "count", .transmit = count_frame, .close = wire_close,
};

/* ---- building ---- */

static void
add_key(struct model *m, unsigned int i, struct emu_mkey key)
{
	key.dev = m->dev;
	m->keys[i] = key;
	fuzz_expect(emu_mkey_add(&m->keys[i]) == 0, "no key %u", i);
}

/* Entries over the keys that are there already, or over any number at all. */
static void
fill_entries(struct model *m, struct emu_klm *klms, unsigned int keys, struct fuzz_in *in)
{
	for (unsigned int i = 0; i < MODEL_ENTRIES; i++) {
		uint8_t target = fuzz_u8(in);

		klms[i].key = target & 0x80 ? fuzz_u32(in) : m->keys[target % keys].key;
		klms[i].bytes = fuzz_u16(in);
		klms[i].addr = target & 0x40 ? fuzz_u64(in) :
			       (target & 0x80 ? 0 : m->keys[target % keys].start) + fuzz_u16(in);
	}
}

static void
make_keys(struct model *m, struct fuzz_in *in)
{
	uint32_t rw = EMU_ACCESS_LR | EMU_ACCESS_LW;

	add_key(m, 0, (struct emu_mkey){ .pdn = MODEL_PD, .access = rw, .mode = EMU_MKEY_MTT,
		.start = (uintptr_t)m->host, .len = MODEL_MEM, .base = m->host, .key = 0xa5 });
	add_key(m, 1, (struct emu_mkey){ .pdn = MODEL_PD, .access = rw, .mode = EMU_MKEY_MEMIC,
		.len = MODEL_MEM, .base = m->memic });
	fill_entries(m, m->klms[0], 2, in);
	add_key(m, 2, (struct emu_mkey){ .pdn = MODEL_PD, .access = rw, .mode = EMU_MKEY_KLM,
		.start = fuzz_u16(in), .len = fuzz_u16(in), .n = MODEL_ENTRIES,
		.entries = m->klms[0] });
	fill_entries(m, m->klms[1], 3, in);
	add_key(m, 3, (struct emu_mkey){ .pdn = MODEL_PD, .access = rw, .mode = EMU_MKEY_KSM,
		.len = fuzz_u16(in), .log_entry = 6 + fuzz_u8(in) % 8, .n = MODEL_ENTRIES,
		.entries = m->klms[1] });
	add_key(m, 4, (struct emu_mkey){ .pdn = MODEL_PD + 1, .access = rw,
		.mode = EMU_MKEY_MTT, .len = MODEL_MEM, .base = m->host });
	add_key(m, 5, (struct emu_mkey){ .pdn = MODEL_PD, .access = EMU_ACCESS_LR,
		.mode = EMU_MKEY_MTT, .len = MODEL_MEM, .base = m->host });
}

static void *
ring(size_t entries, size_t size)
{
	void *p = calloc(entries, size);

	fuzz_expect(p != NULL, "no memory for a ring");
	return p;
}

static void
count_event(struct emu_cq *cq)
{
	((struct model *)cq->event_arg)->events++;
}

static void
make_queues(struct model *m, struct fuzz_in *in)
{
	uint8_t sizes = fuzz_u8(in), flags = fuzz_u8(in);
	uint32_t cqes = 1u << (sizes & 7), bbs = 1u << (sizes >> 3 & 7);
	uint32_t entries = 1u << (flags & 3);

	m->cq = (struct emu_cq){
		.dev = m->dev, .num = 0x33, .entries = cqes, .entry_size = flags & 4 ? 128 : 64,
		.dbrec = m->cq_db, .ignore_overrun = flags & 8, .event = count_event,
		.event_arg = m,
	};
	m->cq.buf = ring(cqes, m->cq.entry_size);
	m->lossy = m->cq.ignore_overrun;
	m->sq = (struct emu_sq){
		.dev = m->dev, .num = SQ_NUM, .pdn = MODEL_PD, .user_index = 0x4321,
		.buf = ring(bbs, 64), .wqebbs = bbs, .dbrec = &m->sq_db, .state = EMU_Q_RDY,
		.allow_mpw = flags & 16, .cq = &m->cq,
	};
	m->rq = (struct emu_rq){
		.dev = m->dev, .num = RQ_NUM, .pdn = MODEL_PD, .user_index = 0x4322,
		.entries = entries, .log_stride = 4 + (flags >> 5), .dbrec = &m->rq_db,
		.state = EMU_Q_RDY, .cq = &m->cq,
	};
	m->rq.buf = ring(entries, 1u << m->rq.log_stride);
	LIST_INSERT_HEAD(&m->dev->cqs, &m->cq, next);
	LIST_INSERT_HEAD(&m->dev->sqs, &m->sq, next);
	LIST_INSERT_HEAD(&m->dev->rqs, &m->rq, next);
}

void
model_init(struct model *m, struct fuzz_in *in)
{
	struct emu_config cfg;

	memset(m, 0, sizeof(*m));
	wire_model = m;
	emu_config_init(&cfg);
	card_init(&m->card, &cfg, 0);
	m->dev = &m->card.devs[0];
	m->dev->mtu = 0;
	m->wire = (struct emu_wire){ .ops = &count_ops, .dev = m->dev };
	m->dev->wire = &m->wire;
	m->host = ring(1, MODEL_MEM);
	m->memic = ring(1, MODEL_MEM);
	make_keys(m, in);
	make_queues(m, in);
	m->rqs[0] = &m->rq;
	m->tir = (struct emu_tir){ .dev = m->dev, .n = 1, .rqs = m->rqs };
	m->flow = (struct emu_flow){
		.dev = m->dev, .kind = EMU_FLOW_ALL_DEFAULT, .tir = &m->tir, .tag = 0xabcdef,
	};
	emu_flow_add(&m->flow);
}

void
model_fini(struct model *m)
{
	emu_flow_remove(&m->flow);
	LIST_REMOVE(&m->cq, next);
	LIST_REMOVE(&m->sq, next);
	LIST_REMOVE(&m->rq, next);
	for (unsigned int i = 0; i < MODEL_KEYS; i++)
		emu_mkey_remove(&m->keys[i]);
	free(m->cq.buf);
	free(m->sq.buf);
	free(m->rq.buf);
	free(m->host);
	free(m->memic);
	card_fini(&m->card);
}

/* ---- running ---- */

/* CQEs since the last look; a round ends before the ring can hold them twice. */
static void
look_at_cqes(struct model *m)
{
	for (; m->seen_pi != m->cq.pi; m->seen_pi++) {
		const uint8_t *cqe = m->cq.buf +
			(size_t)(m->seen_pi & (m->cq.entries - 1)) * m->cq.entry_size +
			m->cq.entry_size - 64;
		unsigned int opcode = cqe[63] >> 4, owner = cqe[63] & 1;
		bool error = opcode == EMU_CQE_REQ_ERR || opcode == EMU_CQE_RESP_ERR;
		bool send = opcode == EMU_CQE_REQ || opcode == EMU_CQE_REQ_ERR;
		struct model_side *side = send ? &m->send : &m->receive;

		if (m->cq.pi - m->seen_pi > m->cq.entries) {
			fuzz_expect(m->lossy, "CQEs were overwritten");
			m->seen_pi = m->cq.pi - m->cq.entries - 1;
			continue;
		}
		fuzz_expect(opcode == EMU_CQE_REQ || opcode == EMU_CQE_RESP_SEND || error,
			    "CQE with opcode %u", opcode);
		fuzz_expect(owner == !!(m->seen_pi & m->cq.entries), "CQE of owner %u", owner);
		/* the error that came first may be lost */
		fuzz_expect(!side->failed || error || m->lossy,
			    "good CQE after an error");
		fuzz_expect(!side->failed || cqe[55] == FLUSHED || m->lossy,
			    "two errors, the second of syndrome 0x%x", cqe[55]);
		side->failed |= error && cqe[55] != FLUSHED;
		side->errors += error;
		side->good += !error;
	}
}

void
model_run(struct model *m, unsigned int budget)
{
	uint16_t ci = m->sq.ci;
	bool work = emu_sq_run(&m->sq, budget);

	fuzz_expect(!work || m->sq.ci != ci, "work on the SQ without progress");
	look_at_cqes(m);
	ci = m->rq.ci;
	work = emu_rq_run(&m->rq, budget);
	fuzz_expect(!work || m->rq.ci != ci, "work on the RQ without progress");
	look_at_cqes(m);
	emu_cq_poll_arm(&m->cq);
}

/* Who gives back CQEs that were not written yet is believed once they are, as by a card. */
void
model_consume(struct model *m, uint32_t record)
{
	uint16_t ahead = (uint16_t)(be32toh(record) - m->cq.pi);

	m->cq_db[0] = record;
	m->lossy |= ahead != 0 && ahead < 0x8000;
}

void
model_drain(struct model *m, unsigned int budget)
{
	uint16_t sq_ci, rq_ci;
	uint32_t rounds = 0;

	do {
		sq_ci = m->sq.ci;
		rq_ci = m->rq.ci;
		model_run(m, budget);
		/* indexes have 16 bits, so that many WQEs can be posted */
		fuzz_expect(rounds++ <= 0x20000, "there is no end to the work");
	} while (m->sq.ci != sq_ci || m->rq.ci != rq_ci);
}

void
model_receive(struct model *m, struct fuzz_in *in)
{
	uint8_t *frame;
	size_t len = fuzz_u16(in) % 2048;

	if (len < 14)
		len = 14;
	frame = ring(1, len);
	fuzz_bytes(in, frame, len);
	m->offered++;
	emu_steer_receive(m->dev, frame, len);
	free(frame);
	look_at_cqes(m);
}

void
model_forget_errors(struct model *m, bool send)
{
	if (send)
		m->send.failed = false;
	else
		m->receive.failed = false;
}

void
model_check(struct model *m)
{
	const struct emu_stats *s = &m->dev->stats;

	look_at_cqes(m);
	fuzz_expect(s->tx_frames == m->wire_frames && s->tx_bytes == m->wire_bytes,
		    "sent frames are not those on the wire");
	fuzz_expect(s->host_read_bytes + s->memic_read_bytes + s->inline_bytes == s->tx_bytes,
		    "bytes of sent frames do not add up");
	fuzz_expect(s->host_write_bytes + s->memic_write_bytes == s->rx_bytes,
		    "bytes of received frames do not add up");
	fuzz_expect(s->cqe_bytes == (uint64_t)m->cq.pi * m->cq.entry_size,
		    "bytes of CQEs do not add up");
	fuzz_expect(s->rx_frames + s->rx_no_wqe <= m->offered, "more frames than were offered");
	if (m->lossy)
		return;
	fuzz_expect(m->receive.good == s->rx_frames, "a received frame has no CQE");
	fuzz_expect(m->send.errors + m->receive.errors == s->errors, "an error has no CQE");
}
