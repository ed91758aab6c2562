/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rig.h"

#define ENTRIES 32
#define SLOT 2048

/* A port whose receive ring is full of device memory slots. */
/* A flow that has been there for long: wires wait until a driver has made all of its own. */
static void
add_flow(struct rig *r)
{
	emu_flow_add(&r->flow);
	r->devs[0].flows_changed = 0;
}

static struct rig *
new_port(enum emu_wire_kind kind)
{
	struct rig *r = rig_new();
	uint32_t i;

	rig_make_cq(r, 256, 64);
	r->cq.ignore_overrun = true;
	rig_make_rq(r, ENTRIES, 1);
	LIST_INSERT_HEAD(&r->devs[0].rqs, &r->rq, next);
	for (i = 0; i < ENTRIES; i++)
		rig_rq_seg(r, i, 0, SLOT, r->memic_key.key, i * SLOT);
	r->devs[0].wire = NULL;
	r->cfg.wire = kind;
	return r;
}

static void
open_wire(struct rig *r)
{
	assert_int_equal(emu_wire_open(&r->devs[0]), 0);
	assert_non_null(r->devs[0].wire);
}

static void
free_port(struct rig *r)
{
	emu_wire_close(&r->devs[0]);
	assert_null(r->devs[0].wire);
	rig_free(r);
}

static uint64_t
member(const struct rig *r, const char *name)
{
	json_t *port = json_object();
	uint64_t value;

	emu_wire_stats(&r->devs[0], port);
	assert_non_null(json_object_get(port, name));
	value = (uint64_t)json_integer_value(json_object_get(port, name));
	json_decref(port);
	return value;
}

static void
check_counts(const struct rig *r, uint64_t sent, uint64_t returned, uint64_t bad, uint64_t lost,
	     uint64_t reordered)
{
	assert_int_equal(member(r, "sent"), sent);
	assert_int_equal(member(r, "returned"), returned);
	assert_int_equal(member(r, "bad"), bad);
	assert_int_equal(member(r, "lost"), lost);
	assert_int_equal(member(r, "reordered"), reordered);
}

static uint8_t *
slot(struct rig *r, uint32_t index)
{
	return r->memic + (size_t)(index % ENTRIES) * SLOT;
}

/* Send the frame of a receive index back as it lies in memory. */
static void
send_back(struct rig *r, uint32_t index)
{
	emu_wire_transmit(&r->devs[0], slot(r, index), r->cfg.check_bytes);
}

static struct rig *
new_check(uint64_t count, uint32_t bytes)
{
	struct rig *r = new_port(EMU_WIRE_CHECK);

	r->cfg.check_count = count;
	r->cfg.check_bytes = bytes;
	open_wire(r);
	return r;
}

static void
check_holds_back(void **state)
{
	struct rig *r = new_check(100, 64);

	/* No flow; a flow but no WQE. */
	assert_false(emu_wire_poll(&r->devs[0]));
	add_flow(r);
	assert_false(emu_wire_poll(&r->devs[0]));
	check_counts(r, 0, 0, 0, 0, 0);
	rig_set_db(&r->rq_db, 5);
	assert_true(emu_wire_poll(&r->devs[0]));
	assert_false(emu_wire_poll(&r->devs[0]));
	check_counts(r, 5, 0, 0, 5, 0);
	assert_int_equal(r->devs[0].stats.rx_no_wqe, 0);
	assert_int_equal(r->devs[0].stats.rx_no_match, 0);
	free_port(r);
}

/* A flow that drops all takes no frame while nobody posts receive WQEs. */
static void
check_waits_for_a_receiver(void **state)
{
	struct rig *r = new_check(10, 64);

	r->flow.drop = true;
	r->flow.tir = NULL;
	add_flow(r);
	assert_false(emu_wire_poll(&r->devs[0]));
	check_counts(r, 0, 0, 0, 0, 0);
	rig_set_db(&r->rq_db, 5);
	assert_true(emu_wire_poll(&r->devs[0]));
	check_counts(r, 10, 0, 0, 10, 0);
	assert_int_equal(r->devs[0].stats.rx_dropped, 10);
	free_port(r);
}

/* Half a send ring may be in flight; what stays away for long is given up. */
static void
check_keeps_to_the_send_ring(void **state)
{
	struct rig *r = new_check(100, 64);

	add_flow(r);
	rig_make_sq(r, 16);
	LIST_INSERT_HEAD(&r->devs[0].sqs, &r->sq, next);
	rig_set_db(&r->rq_db, 32);
	assert_true(emu_wire_poll(&r->devs[0]));
	check_counts(r, 8, 0, 0, 8, 0);
	assert_false(emu_wire_poll(&r->devs[0]));
	send_back(r, 0);
	assert_true(emu_wire_poll(&r->devs[0]));
	check_counts(r, 9, 1, 0, 8, 0);
	assert_false(emu_wire_poll(&r->devs[0]));
	usleep(150000);
	assert_true(emu_wire_poll(&r->devs[0]));
	check_counts(r, 17, 1, 0, 16, 0);
	/* late is not lost */
	send_back(r, 1);
	check_counts(r, 17, 2, 0, 15, 0);
	free_port(r);
}

static void
check_all_returned(void **state)
{
	const uint32_t sizes[] = { 60, 61, 64, 1500, 2048 };
	size_t s;

	for (s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		struct rig *r = new_check(1000, sizes[s]);
		uint32_t i, done = 0;

		add_flow(r);
		rig_set_db(&r->rq_db, ENTRIES);
		while (emu_wire_poll(&r->devs[0]) || done < r->devs[0].stats.rx_frames) {
			for (i = done; i < r->devs[0].stats.rx_frames; i++)
				send_back(r, i);
			done = i;
			rig_set_db(&r->rq_db, (uint16_t)(done + ENTRIES));
		}
		assert_int_equal(done, 1000);
		check_counts(r, 1000, 1000, 0, 0, 0);
		assert_int_equal(r->devs[0].stats.memic_write_bytes, 1000ull * sizes[s]);
		free_port(r);
	}
}

static void
check_frames_are_valid(void **state)
{
	struct rig *r = new_check(ENTRIES, 67);
	bool port_seen[65536] = { false };
	struct emu_packet p;
	uint32_t i;

	add_flow(r);
	rig_set_db(&r->rq_db, ENTRIES);
	assert_true(emu_wire_poll(&r->devs[0]));
	for (i = 0; i < ENTRIES; i++) {
		uint16_t port;

		emu_packet_parse(&p, slot(r, i), 67);
		assert_memory_equal(slot(r, i), r->devs[0].mac, 6);
		assert_int_equal(p.l3, 4);
		assert_int_equal(p.l4, 17);
		assert_int_equal(p.l4_len, 67 - 34);
		assert_true(p.l3_csum_ok && p.l4_csum_ok);
		memcpy(&port, slot(r, i) + 34, 2);
		assert_false(port_seen[port]);
		port_seen[port] = true;
	}
	free_port(r);
}

/* Each byte of the frame, one after the other. */
static void
check_finds_each_flipped_byte(void **state)
{
	const uint32_t bytes = 60 + 11;
	struct rig *r = new_check(10000, bytes);
	uint32_t i;

	add_flow(r);
	for (i = 0; i < bytes; i++) {
		rig_set_db(&r->rq_db, i + 1);
		assert_true(emu_wire_poll(&r->devs[0]));
		slot(r, i)[i] ^= 1;
		assert_int_equal(member(r, "bad"), i);
		send_back(r, i);
		assert_int_equal(member(r, "bad"), i + 1);
		rig_set_db(&r->cq_db[0], r->cq.pi);
	}
	/* Only those whose number was flipped are missing. */
	assert_true(member(r, "lost") <= 8);
	free_port(r);
}

static void
check_finds_wrong_frames(void **state)
{
	struct rig *r = new_check(10, 100);
	uint8_t alien[100] = { 0 };

	add_flow(r);
	rig_set_db(&r->rq_db, 10);
	assert_true(emu_wire_poll(&r->devs[0]));
	check_counts(r, 10, 0, 0, 10, 0);
	send_back(r, 0);
	send_back(r, 2);
	send_back(r, 1);        /* out of order */
	send_back(r, 3);
	check_counts(r, 10, 4, 0, 6, 1);
	send_back(r, 3);        /* twice */
	check_counts(r, 10, 4, 1, 6, 1);
	emu_wire_transmit(&r->devs[0], slot(r, 4), 99); /* too short */
	check_counts(r, 10, 4, 2, 6, 1);
	emu_wire_transmit(&r->devs[0], alien, 100);     /* not ours */
	check_counts(r, 10, 4, 3, 6, 1);
	memcpy(slot(r, 5) + 50, slot(r, 6) + 50, 8);    /* data of another frame */
	send_back(r, 5);
	check_counts(r, 10, 5, 4, 5, 1);
	memset(slot(r, 6), 0xff, 100);                  /* a number that was never sent */
	send_back(r, 6);
	check_counts(r, 10, 5, 5, 5, 1);
	assert_true(emu_report_print(stderr) >= 5);
	free_port(r);
}

static void
check_refuses_bad_sizes(void **state)
{
	const struct {
		uint64_t count;
		uint32_t bytes;
	} cases[] = { { 0, 64 }, { 1, 59 }, { 1, 9217 }, { 1, 0 } };
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig *r = new_port(EMU_WIRE_CHECK);

		r->cfg.check_count = cases[i].count;
		r->cfg.check_bytes = cases[i].bytes;
		assert_int_equal(emu_wire_open(&r->devs[0]), -EINVAL);
		assert_null(r->devs[0].wire);
		rig_free(r);
	}
}

static void
loop_returns_to_the_port(void **state)
{
	struct rig *r = new_port(EMU_WIRE_LOOP);
	uint8_t frame[64];

	open_wire(r);
	add_flow(r);
	rig_set_db(&r->rq_db, 1);
	rig_pattern(frame, sizeof(frame), 2);
	emu_wire_transmit(&r->devs[0], frame, 64);
	assert_memory_equal(slot(r, 0), frame, 64);
	emu_wire_transmit(&r->devs[0], frame, 64);
	assert_int_equal(r->devs[0].stats.rx_no_wqe, 1);
	assert_false(emu_wire_poll(&r->devs[0]));
	free_port(r);
}

static void
pair_crosses(void **state)
{
	struct rig *r = new_port(EMU_WIRE_PAIR);
	uint8_t frame[64] = { 2 };

	open_wire(r);
	assert_int_equal(emu_wire_open(&r->devs[1]), 0);
	add_flow(r);
	rig_set_db(&r->rq_db, 2);
	emu_wire_transmit(&r->devs[1], frame, 64);
	assert_int_equal(r->devs[0].stats.rx_frames, 1);
	emu_wire_transmit(&r->devs[0], frame, 64);
	assert_int_equal(r->devs[0].stats.rx_frames, 1);
	assert_int_equal(r->devs[1].stats.rx_no_match, 1);
	emu_wire_close(&r->devs[1]);
	emu_wire_close(&r->devs[0]);
	emu_dev_count = 1;
	assert_int_equal(emu_wire_open(&r->devs[0]), -EINVAL);
	rig_free(r);
}

/* A frame that leaves by another port counts, and is compared, where it came in. */
static void
check_crosses(void **state)
{
	struct rig *r = new_check(2, 64);
	uint8_t altered[64];

	assert_int_equal(emu_wire_open(&r->devs[1]), 0);
	add_flow(r);
	rig_set_db(&r->rq_db, 2);
	assert_true(emu_wire_poll(&r->devs[0]));
	emu_wire_transmit(&r->devs[1], slot(r, 0), 64);
	check_counts(r, 2, 1, 0, 1, 0);
	memcpy(altered, slot(r, 1), 64);
	altered[63] ^= 1;
	emu_wire_transmit(&r->devs[1], altered, 64);
	check_counts(r, 2, 2, 1, 0, 0);
	/* of a port that is not there: not one of ours */
	memcpy(altered, slot(r, 1), 64);
	altered[11] = 0;
	emu_wire_transmit(&r->devs[0], altered, 64);
	check_counts(r, 2, 2, 2, 0, 0);
	emu_wire_close(&r->devs[1]);
	free_port(r);
}

static void
temp_name(char *path, size_t len, const char *name)
{
	const char *dir = getenv("TMPDIR");

	snprintf(path, len, "%s/mlx5emu-%d-%s", dir != NULL ? dir : "/tmp", (int)getpid(), name);
}

static void
write_capture(const char *path, unsigned int n)
{
	pcap_t *dead = pcap_open_dead(DLT_EN10MB, 65535);
	pcap_dumper_t *out = pcap_dump_open(dead, path);
	unsigned int i;

	assert_non_null(out);
	for (i = 0; i < n; i++) {
		struct pcap_pkthdr hdr = { .caplen = 60 + i, .len = 60 + i };
		uint8_t frame[256];

		rig_pattern(frame, sizeof(frame), i);
		frame[0] = 2;
		pcap_dump((u_char *)out, &hdr, frame);
	}
	pcap_dump_close(out);
	pcap_close(dead);
}

static void
pcap_replays_and_captures(void **state)
{
	struct rig *r = new_port(EMU_WIRE_PCAP);
	char err[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *hdr;
	const u_char *data;
	uint8_t want[256];
	unsigned int i;
	pcap_t *in;

	temp_name(r->cfg.pcap_in, sizeof(r->cfg.pcap_in), "in");
	temp_name(r->cfg.pcap_out, sizeof(r->cfg.pcap_out), "out");
	write_capture(r->cfg.pcap_in, 20);
	open_wire(r);
	assert_false(emu_wire_poll(&r->devs[0]));
	add_flow(r);
	assert_false(emu_wire_poll(&r->devs[0]));
	rig_set_db(&r->rq_db, 7);
	assert_true(emu_wire_poll(&r->devs[0]));
	assert_int_equal(r->devs[0].stats.rx_frames, 7);
	rig_set_db(&r->rq_db, 25);
	assert_true(emu_wire_poll(&r->devs[0]));
	assert_false(emu_wire_poll(&r->devs[0]));
	assert_int_equal(r->devs[0].stats.rx_frames, 20);
	for (i = 0; i < 20; i++) {
		rig_pattern(want, sizeof(want), i);
		want[0] = 2;
		assert_memory_equal(slot(r, i), want, 60 + i);
		emu_wire_transmit(&r->devs[0], slot(r, i), 60 + i);
	}
	emu_wire_close(&r->devs[0]);
	in = pcap_open_offline(r->cfg.pcap_out, err);
	assert_non_null(in);
	for (i = 0; i < 20; i++) {
		assert_int_equal(pcap_next_ex(in, &hdr, &data), 1);
		assert_int_equal(hdr->len, 60 + i);
		assert_memory_equal(data, slot(r, i), 60 + i);
	}
	assert_int_equal(pcap_next_ex(in, &hdr, &data), PCAP_ERROR_BREAK);
	pcap_close(in);
	unlink(r->cfg.pcap_in);
	unlink(r->cfg.pcap_out);
	rig_free(r);
}

static void
pcap_drops_what_no_flow_wants(void **state)
{
	struct rig *r = new_port(EMU_WIRE_PCAP);

	temp_name(r->cfg.pcap_in, sizeof(r->cfg.pcap_in), "in");
	write_capture(r->cfg.pcap_in, 3);
	strcpy(r->cfg.pcap_out, "-");
	open_wire(r);
	r->flow.kind = EMU_FLOW_MC_DEFAULT;
	emu_flow_add(&r->flow);
	rig_set_db(&r->rq_db, 7);
	/* Not while a driver may still be at it. */
	assert_false(emu_wire_poll(&r->devs[0]));
	assert_int_equal(r->devs[0].stats.rx_no_match, 0);
	r->devs[0].flows_changed = 0;
	assert_true(emu_wire_poll(&r->devs[0]));
	assert_int_equal(r->devs[0].stats.rx_no_match, 3);
	unlink(r->cfg.pcap_in);
	free_port(r);
}

static void
pcap_names_errors(void **state)
{
	struct rig *r = new_port(EMU_WIRE_PCAP);

	strcpy(r->cfg.pcap_in, "/nonexistent/in.pcap");
	assert_int_equal(emu_wire_open(&r->devs[0]), -EINVAL);
	strcpy(r->cfg.pcap_in, "");
	strcpy(r->cfg.pcap_out, "/nonexistent/out.pcap");
	assert_int_equal(emu_wire_open(&r->devs[0]), -EIO);
	assert_null(r->devs[0].wire);
	rig_free(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check_holds_back),
		cmocka_unit_test(check_waits_for_a_receiver),
		cmocka_unit_test(check_keeps_to_the_send_ring),
		cmocka_unit_test(check_all_returned),
		cmocka_unit_test(check_frames_are_valid),
		cmocka_unit_test(check_finds_each_flipped_byte),
		cmocka_unit_test(check_finds_wrong_frames),
		cmocka_unit_test(check_refuses_bad_sizes),
		cmocka_unit_test(loop_returns_to_the_port),
		cmocka_unit_test(check_crosses),
		cmocka_unit_test(pair_crosses),
		cmocka_unit_test(pcap_replays_and_captures),
		cmocka_unit_test(pcap_drops_what_no_flow_wants),
		cmocka_unit_test(pcap_names_errors),
	};

	return cmocka_run_group_tests_name("mlx5emu wire", tests, NULL, NULL);
}
