/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <stdlib.h>
#include <string.h>

#include "rig.h"

static void
checksum_known_values(void **state)
{
	/* RFC 1071, section 3, and an IPv4 header with checksum b861. */
	static const uint8_t rfc[] = { 0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7 };
	static const uint8_t ip[] = {
		0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb8, 0x61,
		0xc0, 0xa8, 0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7,
	};
	uint8_t zeroed[20], data[1000];
	uint16_t csum;
	size_t n;

	csum = (uint16_t)~emu_csum_fold(emu_csum_add(0, rfc, sizeof(rfc)));
	assert_memory_equal(&csum, ((uint8_t[]){ 0xdd, 0xf2 }), 2);
	memcpy(zeroed, ip, 20);
	memset(zeroed + 10, 0, 2);
	csum = emu_csum_fold(emu_csum_add(0, zeroed, 20));
	assert_memory_equal(&csum, ip + 10, 2);
	/* Against the definition, at all lengths. */
	rig_pattern(data, sizeof(data), 250);
	for (n = 0; n <= sizeof(data); n++) {
		uint32_t sum = 0;
		size_t i;

		for (i = 0; i < n; i++)
			sum += i % 2 == 0 ? (uint32_t)data[i] << 8 : data[i];
		while (sum >> 16)
			sum = (sum & 0xffff) + (sum >> 16);
		csum = emu_csum_fold(emu_csum_add(0, data, n));
		assert_int_equal(((uint8_t *)&csum)[0] << 8 | ((uint8_t *)&csum)[1],
				 ~sum & 0xffff);
	}
}

static void
plain_ipv4(void **state)
{
	struct emu_packet p;
	uint8_t frame[75];      /* odd length */

	rig_ip_frame(frame, sizeof(frame), 17);
	emu_packet_parse(&p, frame, sizeof(frame));
	assert_int_equal(p.l3, 4);
	assert_int_equal(p.l4, 17);
	assert_int_equal(p.l3_off, 14);
	assert_int_equal(p.l4_off, 34);
	assert_int_equal(p.l4_len, 41);
	assert_true(p.l3_csum_ok && p.l4_csum_ok);
	assert_false(p.frag || p.ip_options);
	assert_memory_equal(p.fields, frame + 6, 6);
	assert_memory_equal(p.fields + 6, ((uint8_t[]){ 8, 0 }), 2);
	assert_memory_equal(p.fields + 8, frame, 6);
	assert_int_equal(p.fields[16], 17);
	assert_int_equal(p.fields[18], 4 << 1);
	assert_memory_equal(p.fields + 20, ((uint8_t[4]){ 0 }), 4); /* no TCP ports */
	assert_int_equal(p.fields[26], 5 << 4 | 0xf);
	assert_int_equal(p.fields[27], 64);
	assert_memory_equal(p.fields + 28, ((uint8_t[]){ 0x12, 0x34, 0x56, 0x78 }), 4);
	assert_memory_equal(p.fields + 44, ((uint8_t[]){ 10, 0, 0, 1 }), 4);
	assert_memory_equal(p.fields + 60, ((uint8_t[]){ 10, 0, 0, 2 }), 4);
}

static void
tcp_flags_and_ports(void **state)
{
	struct emu_packet p;
	uint8_t frame[60];

	rig_ip_frame(frame, sizeof(frame), 6);
	frame[46] |= 1; /* NS */
	frame[47] = 0x12;
	emu_packet_fill_csum(frame, sizeof(frame), false, true);
	emu_packet_parse(&p, frame, sizeof(frame));
	assert_true(p.l4_csum_ok);
	assert_int_equal((p.fields[18] & 1) << 8 | p.fields[19], 0x112);
	assert_memory_equal(p.fields + 20, ((uint8_t[]){ 0x12, 0x34, 0x56, 0x78 }), 4);
	assert_memory_equal(p.fields + 28, ((uint8_t[4]){ 0 }), 4);
}

static void
vlan_tag(void **state)
{
	uint8_t plain[80], tagged[84];
	struct emu_packet p;

	rig_ip_frame(plain, sizeof(plain), 17);
	memcpy(tagged, plain, 12);
	memcpy(tagged + 12, (uint8_t[]){ 0x81, 0, 0x60 | 0x1, 0x23 }, 4);
	memcpy(tagged + 16, plain + 12, 68);
	emu_packet_parse(&p, tagged, sizeof(tagged));
	assert_int_equal(p.fields[18], 0x80 | 4 << 1);
	assert_memory_equal(p.fields + 14, ((uint8_t[]){ 0x61, 0x23 }), 2);
	assert_memory_equal(p.fields + 6, ((uint8_t[]){ 8, 0 }), 2);
	assert_int_equal(p.l4_off, 38);
	assert_true(p.l3_csum_ok && p.l4_csum_ok);
	tagged[12] = 0x88;
	tagged[13] = 0xa8;
	emu_packet_parse(&p, tagged, sizeof(tagged));
	assert_int_equal(p.fields[18], 0x40 | 4 << 1);
}

static void
trailer_is_no_payload(void **state)
{
	struct emu_packet p;
	uint8_t frame[100];

	rig_ip_frame(frame, 61, 17);
	memset(frame + 61, 0xee, 39);
	emu_packet_parse(&p, frame, sizeof(frame));
	assert_true(p.l3_csum_ok && p.l4_csum_ok);
	assert_int_equal(p.l4_len, 27);
	/* Nor is what IP carries behind the end of UDP. */
	frame[17] += 20;
	emu_packet_fill_csum(frame, sizeof(frame), true, false);
	emu_packet_parse(&p, frame, sizeof(frame));
	assert_true(p.l3_csum_ok && p.l4_csum_ok);
	assert_int_equal(p.l4_len, 27);
}

static void
udp_without_checksum(void **state)
{
	struct emu_packet p;
	uint8_t frame[60];

	rig_ip_frame(frame, sizeof(frame), 17);
	frame[40] = frame[41] = 0;
	emu_packet_parse(&p, frame, sizeof(frame));
	assert_true(p.l4_csum_ok);
	/* One that sums up to 0 is sent as ffff. */
	frame[58] = frame[59] = 0;
	emu_packet_fill_csum(frame, sizeof(frame), false, true);
	memcpy(frame + 58, frame + 40, 2);
	emu_packet_fill_csum(frame, sizeof(frame), false, true);
	assert_memory_equal(frame + 40, ((uint8_t[]){ 0xff, 0xff }), 2);
	emu_packet_parse(&p, frame, sizeof(frame));
	assert_true(p.l4_csum_ok);
}

static void
fragments_have_no_ports(void **state)
{
	struct emu_packet p;
	uint8_t frame[60];
	size_t i;
	static const uint8_t flags[][2] = { { 0x20, 0 }, { 0, 1 }, { 0x40, 0 } };

	for (i = 0; i < 3; i++) {
		rig_ip_frame(frame, sizeof(frame), 17);
		memcpy(frame + 20, flags[i], 2);
		emu_packet_fill_csum(frame, sizeof(frame), true, false);
		emu_packet_parse(&p, frame, sizeof(frame));
		assert_int_equal(p.frag, i < 2);
		assert_int_equal(p.l4, i < 2 ? 0 : 17);
		assert_int_equal(p.fields[16], 17);
		assert_int_equal(p.fields[18] >> 5 & 1, i < 2);
	}
}

static size_t
ipv6_frame(uint8_t *f, bool extensions)
{
	static const uint8_t ext[] = { 60, 0, 1, 4, 0, 0, 0, 0, /* hop by hop */
				       17, 1, 1, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	size_t n = extensions ? sizeof(ext) : 0, l4 = 54 + n;

	memset(f, 0, 128);
	memcpy(f, (uint8_t[]){ 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd, 0x6b, 0x80, 0, 0, 0,
			       (uint8_t)(n + 20), extensions ? 0 : 17, 63 }, 22);
	rig_pattern(f + 22, 32, 5);
	memcpy(f + 54, ext, n);
	memcpy(f + l4, (uint8_t[]){ 0, 80, 0, 81, 0, 20 }, 6);
	rig_pattern(f + l4 + 8, 12, 44);
	emu_packet_fill_csum(f, l4 + 20, true, true);
	return l4 + 20;
}

static void
ipv6(void **state)
{
	struct emu_packet p;
	uint8_t f[128];
	size_t n;
	int ext;

	for (ext = 0; ext < 2; ext++) {
		n = ipv6_frame(f, ext);
		emu_packet_parse(&p, f, n);
		assert_int_equal(p.l3, 6);
		assert_int_equal(p.l4, 17);
		assert_int_equal(p.ip_options, ext);
		assert_true(p.l3_csum_ok && p.l4_csum_ok);
		assert_int_equal(p.fields[17], 0xb8);
		assert_int_equal(p.fields[18], 6 << 1);
		assert_int_equal(p.fields[27], 63);
		assert_memory_equal(p.fields + 32, f + 22, 32);
		f[30] ^= 1;
		emu_packet_parse(&p, f, n);
		assert_false(p.l4_csum_ok);
		f[30] ^= 1;
		memset(f + p.l4_off + 6, 0, 2); /* not allowed over IPv6 */
		emu_packet_parse(&p, f, n);
		assert_false(p.l4_csum_ok);
	}
}

static void
broken_headers(void **state)
{
	struct emu_packet p;
	uint8_t frame[60];
	const struct {
		size_t off;
		uint8_t value;
		unsigned int l3, l4;
	} cases[] = {
		{ 14, 0x55, 0, 0 },     /* version */
		{ 14, 0x44, 0, 0 },     /* header of 16 bytes */
		{ 17, 19, 0, 0 },       /* shorter than its header */
		{ 17, 47, 4, 0 },       /* longer than the frame */
		{ 17, 27, 4, 0 },       /* no room for UDP */
		{ 39, 7, 4, 0 },        /* UDP length below its header */
		{ 39, 27, 4, 0 },       /* beyond the IP packet */
		{ 39, 26, 4, 17 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rig_ip_frame(frame, sizeof(frame), 17);
		frame[cases[i].off] = cases[i].value;
		emu_packet_parse(&p, frame, sizeof(frame));
		assert_int_equal(p.l3, cases[i].l3);
		assert_int_equal(p.l4, cases[i].l4);
	}
}

/* Nothing reads past the frame: what the sanitizers and valgrind look for. */
static void
random_frames(void **state)
{
	unsigned int seed = 1, i;

	for (i = 0; i < 100000; i++) {
		size_t n = (size_t)rand_r(&seed) % 120, j;
		uint8_t *f = malloc(n > 0 ? n : 1);
		struct emu_packet p;

		for (j = 0; j < n; j++)
			f[j] = (uint8_t)(rand_r(&seed) >> 4);
		if (n > 14) {
			f[12] = i & 1 ? 0x08 : 0x86;
			f[13] = i & 1 ? 0x00 : 0xdd;
			f[14] = (uint8_t)(i & 1 ? 0x40 | (f[14] & 7) : 0x60);
		}
		if (n > 24) {
			f[20] = (uint8_t)(rand_r(&seed) % 61);
			f[23] = i & 2 ? 6 : 17;
			if (i & 4)
				f[16] = f[18] = 0;
		}
		emu_packet_parse(&p, f, n);
		emu_packet_fill_csum(f, n, true, true);
		free(f);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checksum_known_values),
		cmocka_unit_test(plain_ipv4),
		cmocka_unit_test(tcp_flags_and_ports),
		cmocka_unit_test(vlan_tag),
		cmocka_unit_test(trailer_is_no_payload),
		cmocka_unit_test(udp_without_checksum),
		cmocka_unit_test(fragments_have_no_ports),
		cmocka_unit_test(ipv6),
		cmocka_unit_test(broken_headers),
		cmocka_unit_test(random_frames),
	};

	return cmocka_run_group_tests_name("mlx5emu packet", tests, NULL, NULL);
}
