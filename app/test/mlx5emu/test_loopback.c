/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <string.h>

#include "rig.h"

/* Frames that a function sends to itself. */

#define LEN 100u

static int
setup(void **state)
{
	struct rig *r = rig_new();

	*state = r;
	rig_make_cq(r, 16, 64);
	rig_make_sq(r, 16);
	rig_make_rq(r, 8, 1);
	rig_rq_seg(r, 0, 0, 2048, r->host_key.key, (uintptr_t)r->host + 4096);
	rig_set_db(&r->rq_db, 1);
	emu_flow_add(&r->flow);
	r->tir.self_lb = true;
	r->devs[0].self_lb = 1;
	return 0;
}

static int
teardown(void **state)
{
	rig_free(*state);
	return 0;
}

static void
send_frame(struct rig *r, const uint8_t *to, unsigned int len)
{
	struct rig_wqe w;

	rig_pattern(r->host, len, 1);
	memcpy(r->host, to, 6);
	rig_wqe_start(r, &w, 0, 0x0a, 0);
	rig_wqe_eth(&w, 0, 0, NULL, 0);
	rig_wqe_ptr(&w, len, r->host_key.key, (uintptr_t)r->host);
	rig_wqe_post(r, &w);
	emu_sq_run(&r->sq, 8);
}

static void
comes_back(void **state)
{
	struct rig *r = *state;
	struct emu_stats *s = &r->devs[0].stats;

	send_frame(r, r->devs[0].mac, LEN);
	assert_non_null(rig_cqe(r, 0));
	assert_memory_equal(r->host + 4096, r->host, LEN);
	assert_int_equal(r->wire.n, 0);
	/* it was no traffic of the port */
	assert_int_equal(s->looped_frames, 1);
	assert_int_equal(s->tx_frames + s->tx_bytes + s->rx_frames + s->rx_bytes, 0);
	assert_int_equal(s->host_read_bytes + s->host_write_bytes, 0);
}

static void
leaves(void **state)
{
	static const uint8_t multicast[6] = { 1, 0, 0x5e, 0, 0, 1 };
	struct rig *r = *state;
	uint8_t other[6];

	memcpy(other, r->devs[0].mac, 6);
	other[5] ^= 0x80;
	send_frame(r, other, LEN);
	send_frame(r, multicast, LEN);
	assert_int_equal(r->wire.n, 2);
	/* no queue allows it, so the kernel has not enabled it */
	r->devs[0].self_lb = 0;
	send_frame(r, r->devs[0].mac, LEN);
	assert_int_equal(r->wire.n, 3);
	r->devs[0].self_lb = 1;
	r->cfg.fault.loopback = EMU_LOOP_OFF;
	send_frame(r, r->devs[0].mac, LEN);
	assert_int_equal(r->wire.n, 4);
	assert_int_equal(r->devs[0].stats.looped_frames, 0);
	assert_int_equal(r->devs[0].stats.tx_frames, 4);
}

static void
is_dropped(void **state)
{
	struct rig *r = *state;
	struct emu_stats *s = &r->devs[0].stats;

	/* another queue has enabled it, but this one does not want it */
	r->tir.self_lb = false;
	send_frame(r, r->devs[0].mac, LEN);
	assert_int_equal(s->rx_dropped, 1);
	r->tir.self_lb = true;
	r->devs[0].link_down = true;
	send_frame(r, r->devs[0].mac, LEN);
	assert_int_equal(s->rx_dropped, 2);
	r->devs[0].link_down = false;
	r->devs[0].mtu = 1500;
	send_frame(r, r->devs[0].mac, 1519);
	assert_int_equal(s->rx_dropped, 3);
	assert_null(rig_cqe(r, 0));
	assert_int_equal(r->wire.n, 0);
	send_frame(r, r->devs[0].mac, 1518);
	assert_non_null(rig_cqe(r, 0));
	emu_flow_remove(&r->flow);
	send_frame(r, r->devs[0].mac, LEN);
	assert_int_equal(s->rx_no_match, 1);
	emu_flow_add(&r->flow);
}

static void
is_corrupted(void **state)
{
	struct rig *r = *state;

	r->cfg.fault.loopback = EMU_LOOP_CORRUPTS;
	send_frame(r, r->devs[0].mac, LEN);
	assert_memory_equal(r->host + 4096, r->host, LEN - 1);
	assert_int_equal(r->host[4096 + LEN - 1], r->host[LEN - 1] ^ 1);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(comes_back), T(leaves), T(is_dropped), T(is_corrupted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
