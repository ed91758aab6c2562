/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <endian.h>
#include <netinet/in.h>
#include <string.h>

#include "emu.h"

#define ETH_LEN 14
#define TYPE_IPV4 0x0800
#define TYPE_IPV6 0x86dd
#define TYPE_CVLAN 0x8100
#define TYPE_SVLAN 0x88a8
#define IPV4_FRAG 0x3fff        /* more-fragments flag and offset */
#define MAX_EXTENSIONS 8

/* Bytes of fte_match_set_lyr_2_4; PRM "fte_match_set_lyr_2_4 format", as in mlx5_ifc.h. */
enum {
	F_SMAC = 0,
	F_ETHERTYPE = 6,
	F_DMAC = 8,
	F_VLAN = 14,            /* priority, CFI, VID */
	F_IP_PROTOCOL = 16,
	F_IP_DSCP_ECN = 17,
	F_FLAGS = 18,           /* cvlan, svlan, frag, ip_version[4], tcp_flags[8] */
	F_TCP_FLAGS = 19,
	F_TCP_SPORT = 20,
	F_IHL_OK = 26,          /* ipv4_ihl[4], l3_ok, l4_ok, ipv4_checksum_ok, l4_checksum_ok */
	F_TTL = 27,
	F_UDP_SPORT = 28,
	F_SRC_IP = 32,
	F_DST_IP = 48,
};

static uint16_t
get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

uint64_t
emu_csum_add(uint64_t sum, const uint8_t *data, size_t len)
{
	/* 32-bit words: 2^32 of them would have to overflow the sum. */
	for (; len >= 8; data += 8, len -= 8) {
		uint32_t w[2];

		memcpy(w, data, sizeof(w));
		sum += w[0];
		sum += w[1];
	}
	for (; len >= 2; data += 2, len -= 2) {
		uint16_t h;

		memcpy(&h, data, sizeof(h));
		sum += h;
	}
	if (len > 0) {
		uint16_t h = 0;

		memcpy(&h, data, 1);
		sum += h;
	}
	return sum;
}

uint16_t
emu_csum_fold(uint64_t sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* Sum of the pseudo header of TCP and UDP; RFC 793, RFC 8200 section 8.1. */
static uint64_t
pseudo_sum(const struct emu_packet *p)
{
	const uint8_t *ip = p->data + p->l3_off;
	uint64_t sum = htobe16((uint16_t)p->l4) + htobe16((uint16_t)p->l4_len);

	return p->l3 == 4 ? emu_csum_add(sum, ip + 12, 8) : emu_csum_add(sum, ip + 8, 32);
}

static size_t
csum_offset(const struct emu_packet *p)
{
	return p->l4_off + (p->l4 == IPPROTO_TCP ? 16 : 6);
}

static bool
l4_csum_good(const struct emu_packet *p)
{
	const uint8_t *l4 = p->data + p->l4_off;

	/* RFC 768: no checksum; RFC 8200: not allowed over IPv6. */
	if (p->l4 == IPPROTO_UDP && get16(l4 + 6) == 0)
		return p->l3 == 4;
	return emu_csum_fold(emu_csum_add(pseudo_sum(p), l4, p->l4_len)) == 0;
}

static void
parse_tcp(struct emu_packet *p, const uint8_t *l4)
{
	memcpy(p->fields + F_TCP_SPORT, l4, 4);
	p->fields[F_TCP_FLAGS] = l4[13];
	p->fields[F_FLAGS] |= l4[12] & 1;
}

/* TCP or UDP at off, of which the IP header promises len bytes. */
static void
parse_l4(struct emu_packet *p, unsigned int protocol, size_t off, size_t len)
{
	const uint8_t *l4 = p->data + off;
	size_t need = protocol == IPPROTO_TCP ? 20 : 8;

	p->fields[F_IP_PROTOCOL] = (uint8_t)protocol;
	if (p->frag || (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP) || len < need ||
	    off + len > p->len)
		return;
	if (protocol == IPPROTO_TCP) {
		parse_tcp(p, l4);
	} else {
		memcpy(p->fields + F_UDP_SPORT, l4, 4);
		/* A UDP length beyond the IP payload is no UDP header that can be checked. */
		if (get16(l4 + 4) < 8 || get16(l4 + 4) > len)
			return;
		len = get16(l4 + 4);
	}
	p->l4 = protocol;
	p->l4_off = off;
	p->l4_len = len;
	p->l4_csum_ok = l4_csum_good(p);
}

static void
parse_ipv4(struct emu_packet *p, size_t off)
{
	const uint8_t *ip = p->data + off;
	size_t ihl, total;

	if (p->len < off + 20 || ip[0] >> 4 != 4)
		return;
	ihl = (size_t)(ip[0] & 0xf) * 4;
	total = get16(ip + 2);
	if (ihl < 20 || total < ihl || p->len < off + ihl)
		return;
	p->l3 = 4;
	p->l3_off = off;
	p->ip_options = ihl > 20;
	p->frag = get16(ip + 6) & IPV4_FRAG;
	p->l3_csum_ok = emu_csum_fold(emu_csum_add(0, ip, ihl)) == 0;
	p->fields[F_IP_DSCP_ECN] = ip[1];
	p->fields[F_FLAGS] |= (uint8_t)(p->frag << 5 | 4 << 1);
	p->fields[F_IHL_OK] = (uint8_t)(ip[0] << 4);
	p->fields[F_TTL] = ip[8];
	memcpy(p->fields + F_SRC_IP + 12, ip + 12, 4);
	memcpy(p->fields + F_DST_IP + 12, ip + 16, 4);
	parse_l4(p, ip[9], off + ihl, total - ihl);
}

static bool
is_extension(unsigned int next)
{
	return next == IPPROTO_HOPOPTS || next == IPPROTO_ROUTING ||
	       next == IPPROTO_FRAGMENT || next == IPPROTO_DSTOPTS;
}

/* Walk the extension headers from *off; returns the protocol behind them. */
static unsigned int
skip_extensions(struct emu_packet *p, unsigned int next, size_t *off, size_t end)
{
	unsigned int i;

	for (i = 0; i < MAX_EXTENSIONS && is_extension(next); i++) {
		const uint8_t *ext = p->data + *off;

		if (*off + 8 > end)
			break;
		p->ip_options = true;
		if (next == IPPROTO_FRAGMENT) {
			/* An atomic fragment (RFC 6946) is a whole packet. */
			p->frag |= (get16(ext + 2) & 0xfff9) != 0;
			*off += 8;
		} else {
			*off += ((size_t)ext[1] + 1) * 8;
		}
		next = ext[0];
	}
	return next;
}

static void
parse_ipv6(struct emu_packet *p, size_t off)
{
	const uint8_t *ip = p->data + off;
	size_t end, l4_off = off + 40;
	unsigned int protocol;

	if (p->len < off + 40 || ip[0] >> 4 != 6)
		return;
	end = l4_off + get16(ip + 4);
	if (end > p->len)
		end = p->len;
	p->l3 = 6;
	p->l3_off = off;
	p->l3_csum_ok = true; /* there is none: the header is valid */
	protocol = skip_extensions(p, ip[6], &l4_off, end);
	p->fields[F_IP_DSCP_ECN] = (uint8_t)(get16(ip) >> 4);
	p->fields[F_FLAGS] |= (uint8_t)(p->frag << 5 | 6 << 1);
	p->fields[F_TTL] = ip[7];
	memcpy(p->fields + F_SRC_IP, ip + 8, 16);
	memcpy(p->fields + F_DST_IP, ip + 24, 16);
	if (l4_off <= end)
		parse_l4(p, protocol, l4_off, end - l4_off);
}

/* Skip the VLAN tag; returns the Ethernet type behind it. */
static uint16_t
parse_vlan(struct emu_packet *p, uint16_t type, size_t *off)
{
	if ((type != TYPE_CVLAN && type != TYPE_SVLAN) || p->len < *off + 4)
		return type;
	p->fields[F_FLAGS] |= type == TYPE_CVLAN ? 0x80 : 0x40;
	memcpy(p->fields + F_VLAN, p->data + *off, 2);
	*off += 4;
	return get16(p->data + *off - 2);
}

void
emu_packet_parse(struct emu_packet *p, const uint8_t *data, size_t len)
{
	size_t off = ETH_LEN;
	uint16_t type;

	memset(p, 0, sizeof(*p));
	p->data = data;
	p->len = len;
	if (len < ETH_LEN)
		return;
	memcpy(p->fields + F_DMAC, data, 6);
	memcpy(p->fields + F_SMAC, data + 6, 6);
	type = parse_vlan(p, get16(data + 12), &off);
	p->fields[F_ETHERTYPE] = (uint8_t)(type >> 8);
	p->fields[F_ETHERTYPE + 1] = (uint8_t)type;
	if (type == TYPE_IPV4)
		parse_ipv4(p, off);
	else if (type == TYPE_IPV6)
		parse_ipv6(p, off);
	p->fields[F_IHL_OK] |= (uint8_t)((p->l3 != 0) << 3 | (p->l4 != 0) << 2 |
					 (p->l3 == 4 && p->l3_csum_ok) << 1 | p->l4_csum_ok);
}

void
emu_packet_fill_csum(uint8_t *data, size_t len, bool l3, bool l4)
{
	struct emu_packet p;
	uint16_t csum;
	uint8_t *ip;

	emu_packet_parse(&p, data, len);
	ip = data + p.l3_off;
	if (l3 && p.l3 == 4) {
		memset(ip + 10, 0, 2);
		csum = emu_csum_fold(emu_csum_add(0, ip, (size_t)(ip[0] & 0xf) * 4));
		memcpy(ip + 10, &csum, 2);
	}
	if (l4 && p.l4 != 0) {
		memset(data + csum_offset(&p), 0, 2);
		csum = emu_csum_fold(emu_csum_add(pseudo_sum(&p), data + p.l4_off, p.l4_len));
		if (csum == 0 && p.l4 == IPPROTO_UDP)
			csum = 0xffff;
		memcpy(data + csum_offset(&p), &csum, 2);
	}
}
