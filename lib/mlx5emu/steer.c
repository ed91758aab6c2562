/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <endian.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "emu.h"
#include "eswitch.h"

#define ETH_LEN 14
#define VLAN_LEN 4
#define HASH_INPUT_MAX 36            /* two IPv6 addresses and two ports */

/* fte_match_set_lyr_2_4: where the addresses are; IPv4 ones are at the end of 16 bytes. */
#define SRC_IP 32
#define DST_IP 48

/* rss_hash_type of a CQE, bits [3:2] and [7:6]; Linux include/linux/mlx5/device.h. */
#define HASH_IPV4 (1 << 2)
#define HASH_IPV6 (2 << 2)
#define HASH_TCP (1 << 6)
#define HASH_UDP (2 << 6)

struct hash {
	uint32_t value;
	uint8_t type;
};

/* Where a frame goes. */
struct route {
	struct emu_flow *flow;
	struct emu_rq *rq;      /* NULL to drop */
	struct hash hash;
};

/* Normal flows by priority first, then the defaults, multicast before all. */
static bool
goes_before(const struct emu_flow *a, const struct emu_flow *b)
{
	static const int rank[] = {
		[EMU_FLOW_NORMAL] = 0, [EMU_FLOW_MC_DEFAULT] = 1, [EMU_FLOW_ALL_DEFAULT] = 2,
	};

	if (rank[a->kind] != rank[b->kind])
		return rank[a->kind] < rank[b->kind];
	return a->priority < b->priority;
}

/* What a flow asks for: 32-bit words of its mask that are not 0, each with its value. */
static void
trace_flow(const struct emu_flow *flow)
{
	char text[EMU_MATCH_BYTES / 4 * 24 + 1] = "";
	unsigned int i, len = 0;

	for (i = 0; i < EMU_MATCH_BYTES; i += 4) {
		uint32_t mask, value;

		memcpy(&mask, flow->mask + i, 4);
		memcpy(&value, flow->value + i, 4);
		if (mask != 0)
			len += (unsigned int)snprintf(text + len, sizeof(text) - len,
						      " %u:%08x/%08x", i, be32toh(value),
						      be32toh(mask));
	}
	emu_trace("  flow kind %d priority %u%s to %u queues", flow->kind, flow->priority, text,
		  flow->tir == NULL ? 0 : flow->tir->n);
}

static bool
matches_all(const struct emu_flow *flow)
{
	static const uint8_t nothing[EMU_MATCH_BYTES];

	return flow->kind == EMU_FLOW_ALL_DEFAULT ||
	       (flow->kind == EMU_FLOW_NORMAL && memcmp(flow->mask, nothing, sizeof(nothing)) == 0);
}

static struct emu_flow_list *
list_of(struct emu_flow *flow)
{
	return flow->egress ? &flow->dev->tx_flows : &flow->dev->flows;
}

void
emu_flow_add(struct emu_flow *flow)
{
	struct emu_flow_list *list = list_of(flow);
	struct emu_flow *other;

	if (emu_tracing)
		trace_flow(flow);
	flow->any = matches_all(flow);
	flow->dev->flows_changed = emu_clock();
	TAILQ_FOREACH(other, list, next) {
		if (goes_before(flow, other)) {
			TAILQ_INSERT_BEFORE(other, flow, next);
			return;
		}
	}
	TAILQ_INSERT_TAIL(list, flow, next);
}

void
emu_flow_remove(struct emu_flow *flow)
{
	flow->dev->flows_changed = emu_clock();
	TAILQ_REMOVE(list_of(flow), flow, next);
}

static bool
match_fields(const struct emu_flow *flow, const struct emu_packet *p)
{
	uint64_t diff = 0;
	unsigned int i;

	for (i = 0; i < EMU_MATCH_BYTES; i += 8) {
		uint64_t field, mask, value;

		memcpy(&field, p->fields + i, 8);
		memcpy(&mask, flow->mask + i, 8);
		memcpy(&value, flow->value + i, 8);
		diff |= (field ^ value) & mask;
	}
	return diff == 0;
}

static bool
match(const struct emu_flow *flow, const struct emu_dev *port, const struct emu_packet *p)
{
	if (!emu_source_matches(&flow->source, port))
		return false;
	switch (flow->kind) {
	case EMU_FLOW_NORMAL:
		return match_fields(flow, p);
	case EMU_FLOW_MC_DEFAULT:
		return p->data[0] & 1;
	default:
		return true;
	}
}

/* Hash of len bytes; the key has at least len + 4 bytes. */
static uint32_t
toeplitz(const uint8_t *key, const uint8_t *data, size_t len)
{
	uint64_t window = 0;
	uint32_t hash = 0;
	size_t i;

	for (i = 0; i < 4; i++)
		window = window << 8 | key[i];
	for (i = 0; i < len; i++) {
		int bit;

		window = window << 8 | key[i + 4];
		for (bit = 7; bit >= 0; bit--)
			hash ^= (uint32_t)(window >> (bit + 1)) & -(uint32_t)(data[i] >> bit & 1);
	}
	return hash;
}

/* Two fields of len bytes, in the order of their values if the hash is symmetric. */
static size_t
add_pair(const struct emu_tir *tir, uint8_t *input, const uint8_t *src, bool use_src,
	 const uint8_t *dst, bool use_dst, size_t len)
{
	size_t n = 0;

	/* What a symmetric hash sorts by is not public; any order serves its users. */
	if (tir->symmetric && use_src && use_dst && memcmp(src, dst, len) > 0) {
		const uint8_t *tmp = src;

		src = dst;
		dst = tmp;
	}
	if (use_src) {
		memcpy(input, src, len);
		n = len;
	}
	if (use_dst) {
		memcpy(input + n, dst, len);
		n += len;
	}
	return n;
}

static struct hash
hash_packet(const struct emu_tir *tir, const struct emu_packet *p)
{
	bool src = tir->fields & EMU_HASH_SRC_IP, dst = tir->fields & EMU_HASH_DST_IP;
	bool sport = tir->fields & EMU_HASH_L4_SPORT, dport = tir->fields & EMU_HASH_L4_DPORT;
	struct hash hash = { 0, 0 };
	uint8_t input[HASH_INPUT_MAX];
	size_t n = 0;

	_Static_assert(sizeof(tir->key) >= HASH_INPUT_MAX + 4, "the key covers the input");
	if (p->l3 != 0 && (src || dst)) {
		size_t len = p->l3 == 4 ? 4 : 16;

		n = add_pair(tir, input, p->fields + SRC_IP + 16 - len, src,
			     p->fields + DST_IP + 16 - len, dst, len);
		hash.type = p->l3 == 4 ? HASH_IPV4 : HASH_IPV6;
	}
	if (p->l4 != 0 && (sport || dport)) {
		const uint8_t *ports = p->data + p->l4_off;

		n += add_pair(tir, input + n, ports, sport, ports + 2, dport, 2);
		hash.type |= p->l4 == IPPROTO_TCP ? HASH_TCP : HASH_UDP;
	}
	if (n > 0)
		hash.value = toeplitz(tir->key, input, n);
	return hash;
}

/* False if no flow wants the frame. */
static bool
find_route(struct emu_dev *port, const struct emu_packet *p, struct route *route)
{
	struct emu_dev *dev = emu_ib_device(port);
	const struct emu_tir *tir;
	struct emu_flow *flow;

	TAILQ_FOREACH(flow, &dev->flows, next)
		if (match(flow, port, p))
			break;
	if (flow == NULL)
		return false;
	memset(route, 0, sizeof(*route));
	route->flow = flow;
	tir = flow->tir;
	if (flow->drop || tir == NULL || tir->n == 0)
		return true;
	if (tir->toeplitz)
		route->hash = hash_packet(tir, p);
	route->rq = tir->rqs[route->hash.value % tir->n];
	return true;
}

static void
count(struct emu_flow_counter *counter, size_t len)
{
	counter->packets++;
	counter->bytes += len;
}

static void
deliver(struct emu_dev *dev, const struct emu_packet *p, const struct route *route)
{
	struct emu_rq *rq = route->rq;

	count(&route->flow->count, p->len);
	if (route->flow->counter != NULL)
		count(route->flow->counter, p->len);
	if (rq == NULL) {
		dev->stats.rx_dropped++;
		return;
	}
	rq->dev = rq->cq->dev = dev; /* the port that its work counts for */
	emu_rq_receive(rq, p, route->hash.value, route->hash.type, route->flow->tag);
}

void
emu_vport_count(struct emu_vport *vport, const uint8_t *frame, size_t len)
{
	static const uint8_t broadcast[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	unsigned int cast = !(frame[0] & 1) ? EMU_UNICAST :
			    memcmp(frame, broadcast, 6) == 0 ? EMU_BROADCAST : EMU_MULTICAST;

	vport->packets[cast]++;
	vport->bytes[cast] += len;
}

/*
 * Whether the port takes a frame off the cable: its link is up, and the frame is no
 * longer than MLX5E_SW2HW_MTU() of the interface's MTU, an Ethernet header with a VLAN
 * tag more (mlx5e_set_mtu() in ethernet/mellanox/mlx5/core/en_main.c).
 */
static bool
port_takes(struct emu_dev *dev, const uint8_t *frame, size_t len)
{
	if (dev->removed || dev->link_down || len < ETH_LEN)
		return false;
	dev->rx_phy++;
	if (dev->mtu != 0 && len > dev->mtu + ETH_LEN + VLAN_LEN) {
		if (dev->rx_oversize++ == 0)
			emu_report("%s: frame of %zu bytes dropped: the MTU of %s is %u",
				   dev->name, len, dev->netdev, dev->mtu);
		return false;
	}
	emu_vport_count(&dev->rx, frame, len);
	return true;
}

bool
emu_steer_transmit(struct emu_dev *port, const uint8_t *frame, size_t len)
{
	struct emu_flow *flow;
	bool parsed = false;
	struct emu_packet p;

	TAILQ_FOREACH(flow, &emu_ib_device(port)->tx_flows, next) {
		/* the PMD has one for all frames, which need no look at them */
		if (flow->any)
			break;
		if (!parsed)
			emu_packet_parse(&p, frame, len);
		parsed = true;
		if (match(flow, port, &p))
			break;
	}
	if (flow == NULL)
		return true;
	count(&flow->count, len);
	if (flow->counter != NULL)
		count(flow->counter, len);
	return !flow->drop;
}

void
emu_steer_receive(struct emu_dev *dev, const uint8_t *frame, size_t len)
{
	struct emu_packet p;
	struct route route;

	if (!port_takes(dev, frame, len))
		return;
	emu_packet_parse(&p, frame, len);
	if (!find_route(dev, &p, &route))
		dev->stats.rx_no_match++;
	else
		deliver(dev, &p, &route);
}

enum emu_offer
emu_steer_offer(struct emu_dev *dev, const uint8_t *frame, size_t len)
{
	struct emu_packet p;
	struct route route;

	if (dev->removed || dev->link_down || TAILQ_EMPTY(&emu_ib_device(dev)->flows) || len == 0)
		return EMU_OFFER_NO_MATCH;
	emu_packet_parse(&p, frame, len);
	if (!find_route(dev, &p, &route))
		return EMU_OFFER_NO_MATCH;
	if (route.rq != NULL && !emu_rq_ready(route.rq))
		return EMU_OFFER_NO_WQE;
	if (port_takes(dev, frame, len))
		deliver(dev, &p, &route);
	return EMU_OFFER_TAKEN;
}

void
emu_steer_loopback(struct emu_dev *dev, const uint8_t *frame, size_t len)
{
	struct emu_packet p;
	struct route route;

	emu_packet_parse(&p, frame, len);
	p.looped = true;
	emu_vport_count(&dev->rx, frame, len);
	if (!find_route(dev, &p, &route))
		dev->stats.rx_no_match++;
	else if (route.rq != NULL && !route.flow->tir->self_lb)
		dev->stats.rx_dropped++;
	else
		deliver(dev, &p, &route);
}
