/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <string.h>

#include "eswitch.h"
#include "rig.h"

/* Microsoft, "Verifying the RSS Hash Calculation": key and results. */
static const uint8_t ms_key[40] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

static const struct {
	uint8_t src[4], dst[4];
	uint16_t sport, dport;
	uint32_t ip, tcp;
} ms_ipv4[] = {
	{ { 66, 9, 149, 187 }, { 161, 142, 100, 80 }, 2794, 1766, 0x323e8fc2, 0x51ccc178 },
	{ { 199, 92, 111, 2 }, { 65, 69, 140, 83 }, 14230, 4739, 0xd718262a, 0xc626b0ea },
	{ { 24, 19, 198, 95 }, { 12, 22, 207, 184 }, 12898, 38024, 0xd2d0a5de, 0x5c2b394a },
	{ { 38, 27, 205, 30 }, { 209, 142, 163, 6 }, 48228, 2217, 0x82989176, 0xafc7327f },
	{ { 153, 39, 163, 191 }, { 202, 188, 127, 2 }, 44251, 1303, 0x5d1809c5, 0x10e828a2 },
};

static const struct {
	uint8_t src[16], dst[16];
	uint16_t sport, dport;
	uint32_t ip, tcp;
} ms_ipv6[] = {
	{ { 0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x1f, 0xff, 0, 0, 0, 0, 0, 0, 0, 7 },
	  { 0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x00, 0x03, 0, 0, 0, 0, 0, 0, 0, 1 },
	  2794, 1766, 0x2cc18cd5, 0x40207d3d },
	{ { 0x3f, 0xfe, 0x05, 0x01, 0x00, 0x08, 0, 0, 0x02, 0x60, 0x97, 0xff, 0xfe, 0x40, 0xef,
	    0xab },
	  { 0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
	  14230, 4739, 0x0f0c461c, 0xdde51bbf },
	{ { 0x3f, 0xfe, 0x19, 0x00, 0x45, 0x45, 0x00, 0x03, 0x02, 0x00, 0xf8, 0xff, 0xfe, 0x21,
	    0x67, 0xcf },
	  { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x02, 0x00, 0xf8, 0xff, 0xfe, 0x21, 0x67, 0xcf },
	  44251, 38024, 0x4b61e985, 0x02d1feef },
};

static struct rig *
new_port(void)
{
	struct rig *r = rig_new();
	uint32_t i;

	rig_make_cq(r, 64, 64);
	rig_make_rq(r, 64, 1);
	for (i = 0; i < 64; i++)
		rig_rq_seg(r, i, 0, 1024, r->memic_key.key, i * 1024ull);
	rig_set_db(&r->rq_db, 64);
	return r;
}

static uint32_t
last_hash(const struct rig *r)
{
	return rig_get32(rig_cqe(r, r->cq.pi - 1) + 12);
}

static void
put_ports(uint8_t *p, uint16_t sport, uint16_t dport)
{
	memcpy(p, (uint8_t[]){ (uint8_t)(sport >> 8), (uint8_t)sport, (uint8_t)(dport >> 8),
			       (uint8_t)dport }, 4);
}

static struct rig *
new_hashing_port(uint32_t fields)
{
	struct rig *r = new_port();

	r->tir.toeplitz = true;
	r->tir.fields = fields;
	memcpy(r->tir.key, ms_key, 40);
	emu_flow_add(&r->flow);
	return r;
}

#define IPS (EMU_HASH_SRC_IP | EMU_HASH_DST_IP)
#define PORTS (EMU_HASH_L4_SPORT | EMU_HASH_L4_DPORT)

static void
toeplitz_ipv4(void **state)
{
	struct rig *r = new_hashing_port(IPS);
	uint8_t frame[60];
	size_t i;

	for (i = 0; i < sizeof(ms_ipv4) / sizeof(ms_ipv4[0]); i++) {
		rig_ip_frame(frame, sizeof(frame), 6);
		memcpy(frame + 26, ms_ipv4[i].src, 4);
		memcpy(frame + 30, ms_ipv4[i].dst, 4);
		put_ports(frame + 34, ms_ipv4[i].sport, ms_ipv4[i].dport);
		r->tir.fields = IPS;
		emu_steer_receive(&r->devs[0], frame, sizeof(frame));
		assert_int_equal(last_hash(r), ms_ipv4[i].ip);
		assert_int_equal(rig_cqe(r, r->cq.pi - 1)[16], 1 << 2);
		r->tir.fields = IPS | PORTS;
		emu_steer_receive(&r->devs[0], frame, sizeof(frame));
		assert_int_equal(last_hash(r), ms_ipv4[i].tcp);
		assert_int_equal(rig_cqe(r, r->cq.pi - 1)[16], 1 << 2 | 1 << 6);
	}
	r->tir.toeplitz = false;
	emu_steer_receive(&r->devs[0], frame, sizeof(frame));
	assert_int_equal(last_hash(r), 0);
	rig_free(r);
}

static void
toeplitz_ipv6(void **state)
{
	struct rig *r = new_hashing_port(IPS);
	uint8_t frame[74];
	size_t i;

	for (i = 0; i < sizeof(ms_ipv6) / sizeof(ms_ipv6[0]); i++) {
		memset(frame, 0, sizeof(frame));
		memcpy(frame, (uint8_t[]){ 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd, 0x60, 0,
					   0, 0, 0, 20, 6, 64 }, 22);
		memcpy(frame + 22, ms_ipv6[i].src, 16);
		memcpy(frame + 38, ms_ipv6[i].dst, 16);
		put_ports(frame + 54, ms_ipv6[i].sport, ms_ipv6[i].dport);
		frame[66] = 0x50;
		r->tir.fields = IPS;
		emu_steer_receive(&r->devs[0], frame, sizeof(frame));
		assert_int_equal(last_hash(r), ms_ipv6[i].ip);
		r->tir.fields = IPS | PORTS;
		emu_steer_receive(&r->devs[0], frame, sizeof(frame));
		assert_int_equal(last_hash(r), ms_ipv6[i].tcp);
	}
	rig_free(r);
}

static void
symmetric_hash(void **state)
{
	struct rig *r = new_hashing_port(IPS | PORTS);
	uint8_t frame[60], there[60];
	uint32_t hash;

	r->tir.symmetric = true;
	rig_ip_frame(there, sizeof(there), 17);
	emu_steer_receive(&r->devs[0], there, sizeof(there));
	hash = last_hash(r);
	memcpy(frame, there, sizeof(frame));
	memcpy(frame + 26, there + 30, 4);
	memcpy(frame + 30, there + 26, 4);
	memcpy(frame + 34, there + 36, 2);
	memcpy(frame + 36, there + 34, 2);
	emu_steer_receive(&r->devs[0], frame, sizeof(frame));
	assert_int_equal(last_hash(r), hash);
	frame[29] ^= 1;
	emu_steer_receive(&r->devs[0], frame, sizeof(frame));
	assert_int_not_equal(last_hash(r), hash);
	rig_free(r);
}

static void
rss_spreads_by_the_hash(void **state)
{
	struct rig *r = new_hashing_port(IPS);
	struct emu_rq second = r->rq, *rqs[2] = { &r->rq, &second };
	uint32_t second_db = 0;
	uint8_t frame[60];

	/* 0x323e8fc2 is even, 0xd718262a even, 0x5d1809c5 odd. */
	r->tir.n = 2;
	r->tir.rqs = rqs;
	second.num = 0x78;
	second.user_index = 0x99;
	second.dbrec = &second_db;
	rig_set_db(&second_db, 4);
	rig_ip_frame(frame, sizeof(frame), 6);
	memcpy(frame + 26, ms_ipv4[0].src, 4);
	memcpy(frame + 30, ms_ipv4[0].dst, 4);
	emu_steer_receive(&r->devs[0], frame, sizeof(frame));
	memcpy(frame + 26, ms_ipv4[4].src, 4);
	memcpy(frame + 30, ms_ipv4[4].dst, 4);
	emu_steer_receive(&r->devs[0], frame, sizeof(frame));
	assert_int_equal(rig_get32(rig_cqe(r, 0) + 32), RIG_UIDX);
	assert_int_equal(rig_get32(rig_cqe(r, 1) + 32), 0x99);
	/* Whether a wire may send depends on the queue of that frame. */
	r->rq.state = EMU_Q_RST;
	assert_int_equal(emu_steer_offer(&r->devs[0], frame, 60), EMU_OFFER_TAKEN);
	second.state = EMU_Q_RST;
	r->rq.state = EMU_Q_RDY;
	assert_int_equal(emu_steer_offer(&r->devs[0], frame, 60), EMU_OFFER_NO_WQE);
	rig_free(r);
}

/* A flow on the destination MAC, fields 8 to 13 of the match. */
static struct emu_flow
mac_flow(struct rig *r, uint32_t priority, const uint8_t *mac, uint32_t tag)
{
	struct emu_flow flow = {
		.dev = &r->devs[0], .kind = EMU_FLOW_NORMAL, .priority = priority,
		.tir = &r->tir, .tag = tag,
	};

	memset(flow.mask + 8, 0xff, 6);
	memcpy(flow.value + 8, mac, 6);
	return flow;
}

static uint32_t
tag_of(struct rig *r, const uint8_t *frame)
{
	uint32_t pi = r->cq.pi;

	emu_steer_receive(&r->devs[0], frame, 60);
	return r->cq.pi == pi ? 0 : rig_get32(rig_cqe(r, pi) + 56);
}

static void
flows_by_priority(void **state)
{
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 1 };
	struct rig *r = new_port();
	struct emu_flow low = mac_flow(r, 9, mac, 9), high = mac_flow(r, 3, mac, 3);
	struct emu_flow same = mac_flow(r, 3, mac, 4), drop = mac_flow(r, 1, mac, 1);
	struct emu_flow mc = { .dev = &r->devs[0], .kind = EMU_FLOW_MC_DEFAULT, .tir = &r->tir,
			       .tag = 70 };
	uint8_t frame[60] = { 2, 0, 0, 0, 0, 1 }, other[60] = { 2, 0, 0, 0, 0, 2 };
	uint8_t multi[60] = { 1, 0, 0x5e, 0, 0, 1 };

	assert_int_equal(emu_steer_offer(&r->devs[0], frame, 60), EMU_OFFER_NO_MATCH);
	assert_int_equal(tag_of(r, frame), 0);
	assert_int_equal(r->devs[0].stats.rx_no_match, 1);
	r->flow.priority = 0; /* of a default: behind all normal ones even so */
	r->flow.tag = 77;
	emu_flow_add(&r->flow);
	emu_flow_add(&mc);
	emu_flow_add(&low);
	assert_int_equal(tag_of(r, frame), 9);
	emu_flow_add(&high);
	emu_flow_add(&same);
	assert_int_equal(tag_of(r, frame), 3);
	assert_int_equal(tag_of(r, other), 77);
	assert_int_equal(tag_of(r, multi), 70);
	drop.drop = true;
	emu_flow_add(&drop);
	assert_int_equal(tag_of(r, frame), 0);
	assert_int_equal(drop.count.packets, 1);
	assert_int_equal(r->devs[0].stats.rx_dropped, 1);
	emu_flow_remove(&drop);
	emu_flow_remove(&high);
	assert_int_equal(tag_of(r, frame), 4);
	assert_int_equal(high.count.packets, 1);
	assert_int_equal(low.count.packets, 1);
	emu_flow_remove(&same);
	emu_flow_remove(&low);
	assert_int_equal(tag_of(r, frame), 77);
	rig_free(r);
}

static void
match_needs_all_masked_bits(void **state)
{
	struct rig *r = new_port();
	struct emu_flow flow = { .dev = &r->devs[0], .tir = &r->tir, .tag = 5 };
	uint8_t frame[60], changed[60];
	size_t i;
	/* VLAN flag, IP version, protocol, ports, destination: offsets as in mlx5_ifc.h. */
	static const struct {
		size_t field;
		uint8_t mask, value;
		size_t off;     /* of a byte whose change ends the match */
	} cases[] = {
		{ 18, 0x1e, 4 << 1, 12 }, { 16, 0xff, 17, 23 }, { 28, 0xff, 0x12, 34 },
		{ 31, 0xff, 0x78, 37 }, { 48 + 15, 0xff, 2, 33 }, { 6, 0xff, 8, 12 },
		{ 18, 0x80, 0, 0 },
	};

	rig_ip_frame(frame, sizeof(frame), 17);
	emu_flow_add(&flow);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(flow.mask, 0, sizeof(flow.mask));
		memset(flow.value, 0xff, sizeof(flow.value)); /* outside the mask: no matter */
		flow.mask[cases[i].field] = cases[i].mask;
		flow.value[cases[i].field] = cases[i].value;
		assert_int_equal(tag_of(r, frame), 5);
		memcpy(changed, frame, sizeof(frame));
		changed[cases[i].off] ^= 0x40;
		assert_int_equal(tag_of(r, changed), cases[i].off == 0 ? 5 : 0);
	}
	rig_free(r);
}

/* One device with two ports: flows for each, in one list. */
static void
ports_by_their_source(void **state)
{
	struct rig *r = new_port();
	struct emu_flow drop = { .dev = &r->devs[0], .kind = EMU_FLOW_ALL_DEFAULT, .drop = true };
	uint8_t frame[60];

	r->cfg.one_device = true;
	r->devs[1].device = &r->devs[0];
	emu_source_set(&drop.source, &r->devs[0]);
	emu_source_set(&r->flow.source, &r->devs[1]);
	emu_flow_add(&drop);
	rig_ip_frame(frame, sizeof(frame), 17);
	emu_steer_receive(&r->devs[1], frame, sizeof(frame));
	assert_int_equal(r->devs[1].stats.rx_no_match, 1);
	assert_int_equal(emu_steer_offer(&r->devs[1], frame, sizeof(frame)), EMU_OFFER_NO_MATCH);
	emu_flow_add(&r->flow);
	emu_steer_receive(&r->devs[0], frame, sizeof(frame));
	assert_int_equal(r->devs[0].stats.rx_dropped, 1);
	assert_int_equal(drop.count.packets, 1);
	emu_steer_receive(&r->devs[1], frame, sizeof(frame));
	assert_int_equal(emu_steer_offer(&r->devs[1], frame, sizeof(frame)), EMU_OFFER_TAKEN);
	/* what the queue did counts for the port, what keys it used is the device's affair */
	assert_int_equal(r->devs[1].stats.rx_frames, 2);
	assert_int_equal(r->devs[1].stats.memic_write_bytes, 2 * sizeof(frame));
	assert_int_equal(r->devs[1].stats.cqe_bytes, 2 * 64);
	assert_int_equal(r->devs[0].stats.rx_frames + r->devs[0].stats.cqe_bytes, 0);
	assert_int_equal(r->devs[0].stats.protection_errors, 0);
	/* a flow without a source is for frames of all */
	emu_flow_remove(&r->flow);
	emu_flow_remove(&drop);
	memset(&drop.source, 0, sizeof(drop.source));
	emu_flow_add(&drop);
	emu_steer_receive(&r->devs[0], frame, sizeof(frame));
	emu_steer_receive(&r->devs[1], frame, sizeof(frame));
	assert_int_equal(drop.count.packets, 3);
	rig_free(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(toeplitz_ipv4),
		cmocka_unit_test(toeplitz_ipv6),
		cmocka_unit_test(symmetric_hash),
		cmocka_unit_test(rss_spreads_by_the_hash),
		cmocka_unit_test(flows_by_priority),
		cmocka_unit_test(match_needs_all_masked_bits),
		cmocka_unit_test(ports_by_their_source),
	};

	return cmocka_run_group_tests_name("mlx5emu steer", tests, NULL, NULL);
}
