/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <fcntl.h>
#include <netinet/in.h>

#include "card.h"

/*
 * Frames with any content through the parser and through flows with any match. The
 * frame is an allocation of its exact length.
 */
#define FLOWS 6
#define QUEUES 4
#define FRAMES 4
#define RING 64                 /* receive WQEs, more than there are frames */
#define ROOM 2048

struct port {
	struct card card;
	struct emu_dev *dev;
	struct emu_flow flows[FLOWS];
	unsigned int n_flows;
	struct emu_tir tirs[2];
	struct emu_rq rqs[QUEUES], *all[QUEUES];
	struct emu_cq cq;
	struct emu_mkey key;
	uint32_t cq_db[2], rq_db[QUEUES];
	uint8_t wqes[RING * 16], cqes[RING * 64], memory[ROOM];
};

static struct port port;

/* ---- the port ---- */

static void
make_queues(struct port *p)
{
	uint32_t be[4];

	p->key = (struct emu_mkey){
		.dev = p->dev, .access = EMU_ACCESS_LW, .mode = EMU_MKEY_MTT, .len = ROOM,
		.base = p->memory,
	};
	fuzz_expect(emu_mkey_add(&p->key) == 0, "no key");
	be[0] = htobe32(ROOM);
	be[1] = htobe32(p->key.key);
	be[2] = be[3] = 0;
	for (unsigned int i = 0; i < RING; i++)
		memcpy(p->wqes + i * 16, be, 16);
	p->cq = (struct emu_cq){
		.dev = p->dev, .entries = RING, .entry_size = 64, .buf = p->cqes,
		.dbrec = p->cq_db,
	};
	for (unsigned int i = 0; i < QUEUES; i++) {
		p->rq_db[i] = htobe32(RING);
		p->rqs[i] = (struct emu_rq){
			.dev = p->dev, .num = i, .buf = p->wqes, .entries = RING, .log_stride = 4,
			.dbrec = &p->rq_db[i], .state = EMU_Q_RDY, .cq = &p->cq,
		};
		p->all[i] = &p->rqs[i];
	}
}

static void
make_tirs(struct port *p, struct fuzz_in *in)
{
	p->tirs[0] = (struct emu_tir){ .dev = p->dev, .n = 1, .rqs = p->all };
	p->tirs[1] = (struct emu_tir){
		.dev = p->dev, .n = 1 + fuzz_u8(in) % QUEUES, .rqs = p->all, .toeplitz = true,
		.symmetric = fuzz_u8(in) & 1, .fields = fuzz_u8(in) & 0xf,
	};
	fuzz_bytes(in, p->tirs[1].key, sizeof(p->tirs[1].key));
}

static void
add_flow(struct port *p, struct fuzz_in *in)
{
	struct emu_flow *flow = &p->flows[p->n_flows++];
	uint8_t kind = fuzz_u8(in), tir = fuzz_u8(in);

	*flow = (struct emu_flow){
		.dev = p->dev, .kind = kind % 3, .priority = kind >> 4, .drop = tir & 4,
		.tir = tir & 4 ? NULL : &p->tirs[tir & 1], .tag = fuzz_u16(in),
	};
	/* few bytes, or nothing would ever match */
	for (unsigned int i = 0, n = fuzz_u8(in) % 5; i < n; i++) {
		unsigned int at = fuzz_u8(in) % EMU_MATCH_BYTES;

		flow->mask[at] = fuzz_u8(in);
		flow->value[at] = fuzz_u8(in);
	}
	emu_flow_add(flow);
}

static void
begin(struct port *p, struct fuzz_in *in)
{
	struct emu_config cfg;

	memset(p, 0, sizeof(*p));
	emu_config_init(&cfg);
	card_init(&p->card, &cfg, 0);
	p->dev = &p->card.devs[0];
	make_queues(p);
	make_tirs(p, in);
	for (unsigned int n = fuzz_u8(in) % (FLOWS + 1); n > 0; n--)
		add_flow(p, in);
}

static void
end(struct port *p)
{
	for (unsigned int i = 0; i < p->n_flows; i++)
		emu_flow_remove(&p->flows[i]);
	emu_mkey_remove(&p->key);
	card_fini(&p->card);
}

/* ---- what must be true ---- */

static void
check_parse(const struct emu_packet *p)
{
	size_t header = p->l4 == IPPROTO_TCP ? 20 : 8;

	fuzz_expect(p->l3 == 0 || p->l3 == 4 || p->l3 == 6, "layer 3 is %u", p->l3);
	fuzz_expect(p->l4 == 0 || p->l3 != 0, "layer 4 on none");
	fuzz_expect(p->l4 == 0 || p->l4 == IPPROTO_TCP || p->l4 == IPPROTO_UDP, "layer 4 is %u",
		    p->l4);
	fuzz_expect(p->l3 == 0 || p->l3_off + (p->l3 == 4 ? 20 : 40) <= p->len,
		    "IP header outside the frame");
	fuzz_expect(p->l4 == 0 || (p->l4_len >= header && p->l4_off > p->l3_off &&
		    p->l4_off + p->l4_len <= p->len), "layer 4 outside the frame");
	fuzz_expect(!p->l4_csum_ok || p->l4 != 0, "checksum of nothing is good");
}

/* What is filled in is good, and filling in changes nothing else. */
static void
check_fill(const uint8_t *data, size_t len)
{
	struct emu_packet before, after;
	uint8_t *copy = malloc(len), *parsed = malloc(len);

	fuzz_expect(copy != NULL && parsed != NULL, "no memory");
	memcpy(copy, data, len);
	memcpy(parsed, data, len);
	emu_packet_parse(&before, parsed, len);
	emu_packet_fill_csum(copy, len, true, true);
	emu_packet_parse(&after, copy, len);
	fuzz_expect(after.l3 == before.l3 && after.l4 == before.l4 &&
		    after.l4_off == before.l4_off && after.l4_len == before.l4_len,
		    "a checksum moved the headers");
	fuzz_expect(after.l3 == 0 || after.l3_csum_ok, "IP checksum filled in wrong");
	fuzz_expect(after.l4 == 0 || after.l4_csum_ok, "layer 4 checksum filled in wrong");
	if (after.l3 == 4)
		memcpy(copy + after.l3_off + 10, data + after.l3_off + 10, 2);
	if (after.l4 != 0) {
		size_t at = after.l4_off + (after.l4 == IPPROTO_TCP ? 16 : 6);

		memcpy(copy + at, data + at, 2);
	}
	fuzz_expect(memcmp(copy, data, len) == 0, "more than checksums was filled in");
	free(copy);
	free(parsed);
}

/* The first flow in order that matches, byte by byte. */
static const struct emu_flow *
expected_flow(const struct port *p, const struct emu_packet *packet)
{
	const struct emu_flow *flow;

	TAILQ_FOREACH(flow, &p->dev->flows, next) {
		bool match = flow->kind != EMU_FLOW_MC_DEFAULT || (packet->data[0] & 1);

		for (unsigned int i = 0; flow->kind == EMU_FLOW_NORMAL && i < EMU_MATCH_BYTES; i++)
			match &= ((packet->fields[i] ^ flow->value[i]) & flow->mask[i]) == 0;
		if (match)
			return flow;
	}
	return NULL;
}

static uint64_t
outcomes(const struct port *p)
{
	const struct emu_stats *s = &p->dev->stats;

	return s->rx_frames + s->rx_dropped + s->rx_no_match + s->rx_no_wqe;
}

static void
steer(struct port *p, const struct emu_packet *packet, bool offer)
{
	const struct emu_flow *want = expected_flow(p, packet);
	uint64_t packets = want != NULL ? want->count.packets : 0, before = outcomes(p);
	uint64_t oversize = p->dev->rx_oversize;
	bool taken = true;

	if (offer)
		taken = emu_steer_offer(p->dev, packet->data, packet->len) == EMU_OFFER_TAKEN;
	else
		emu_steer_receive(p->dev, packet->data, packet->len);
	if (p->dev->rx_oversize != oversize || !taken) {
		fuzz_expect(outcomes(p) == before, "a refused frame was counted");
		return;
	}
	fuzz_expect(outcomes(p) == before + 1, "a frame has not one outcome");
	fuzz_expect(want == NULL || want->count.packets == packets + 1,
		    "another flow took the frame");
}

static void
one_frame(struct port *p, struct fuzz_in *in)
{
	size_t len = fuzz_u16(in) % 2048;
	struct emu_packet packet;
	uint8_t how = fuzz_u8(in), *data;

	if (len < 14)
		len = 14;
	data = malloc(len);
	fuzz_expect(data != NULL, "no memory");
	fuzz_bytes(in, data, len);
	if (how & 1)
		emu_packet_fill_csum(data, len, true, true);
	emu_packet_parse(&packet, data, len);
	check_parse(&packet);
	check_fill(data, len);
	steer(p, &packet, how & 2);
	free(data);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	emu_trace_open("/dev/null"); /* what flows say of themselves is code, too */
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, size };

	begin(&port, &in);
	for (unsigned int i = 0; i < FRAMES && in.left > 0; i++)
		one_frame(&port, &in);
	end(&port);
	return 0;
}
