/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rig.h"

#define ENTRIES 32
#define SLOT 2048

/* A port on the check wire, with memory, queues and flow; the engine does the rest. */
static struct rig *
new_port(uint64_t count, uint32_t bytes)
{
	struct rig *r = rig_new();
	uint32_t i;

	rig_make_cq(r, 256, 64);
	rig_make_sq(r, 256);
	rig_make_rq(r, ENTRIES, 1);
	for (i = 0; i < ENTRIES; i++)
		rig_rq_seg(r, i, 0, SLOT, r->memic_key.key, i * SLOT);
	r->devs[0].wire = NULL;
	r->cfg.wire = EMU_WIRE_CHECK;
	r->cfg.check_count = count;
	r->cfg.check_bytes = bytes;
	assert_int_equal(emu_wire_open(&r->devs[0]), 0);
	LIST_INSERT_HEAD(&r->devs[0].cqs, &r->cq, next);
	LIST_INSERT_HEAD(&r->devs[0].sqs, &r->sq, next);
	LIST_INSERT_HEAD(&r->devs[0].rqs, &r->rq, next);
	emu_flow_add(&r->flow);
	return r;
}

static void
free_port(struct rig *r)
{
	emu_wire_close(&r->devs[0]);
	rig_free(r);
}

static double
seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* What a driver would do: each frame received goes back out of the memory it lies in. */
static void
forward(struct rig *r, uint64_t count)
{
	double deadline = seconds(CLOCK_MONOTONIC) + 50;
	uint32_t ci = 0;
	uint64_t done = 0;

	rig_set_db(&r->rq_db, ENTRIES);
	while (done < count) {
		const uint8_t *cqe = rig_cqe(r, ci);
		struct rig_wqe w;

		if (cqe == NULL) {
			if (seconds(CLOCK_MONOTONIC) > deadline)
				fail_msg("only %llu frames came", (unsigned long long)done);
			continue;
		}
		rig_set_db(&r->cq_db[0], ++ci);
		if (rig_cqe_opcode(cqe) == EMU_CQE_REQ) {
			/* Sent: its slot may receive again. */
			done++;
			rig_set_db(&r->rq_db, (uint16_t)(done + ENTRIES));
			continue;
		}
		assert_int_equal(rig_cqe_opcode(cqe), EMU_CQE_RESP_SEND);
		rig_wqe_start(r, &w, 0, 0x0a, 2);
		rig_wqe_eth(&w, 0, 0, NULL, 0);
		rig_wqe_ptr(&w, rig_get32(cqe + 44), r->memic_key.key,
			    (uint64_t)(rig_cqe_counter(cqe) % ENTRIES) * SLOT);
		rig_wqe_post(r, &w);
	}
}

static void
forwards_every_frame(void **state)
{
	const uint64_t count = 20000;
	struct rig *r = new_port(count, 1500);
	const struct emu_stats *s = &r->devs[0].stats;
	json_t *port = json_object();

	assert_int_equal(emu_engine_start(), 0);
	assert_int_equal(emu_engine_start(), 0);
	forward(r, count);
	emu_engine_stop();
	emu_wire_stats(&r->devs[0], port);
	assert_int_equal(json_integer_value(json_object_get(port, "returned")), count);
	assert_int_equal(json_integer_value(json_object_get(port, "bad")), 0);
	assert_int_equal(json_integer_value(json_object_get(port, "lost")), 0);
	json_decref(port);
	assert_int_equal(s->rx_frames, count);
	assert_int_equal(s->tx_frames, count);
	assert_int_equal(s->memic_read_bytes, count * 1500);
	assert_int_equal(s->memic_write_bytes, count * 1500);
	assert_int_equal(s->host_read_bytes + s->host_write_bytes + s->inline_bytes, 0);
	assert_int_equal(s->wqe_bytes, count * (64 + 16));
	assert_int_equal(s->cqe_bytes, count * 128);
	assert_int_equal(s->errors + s->rx_no_wqe + s->rx_no_match, 0);
	free_port(r);
}

static void
idle_costs_little(void **state)
{
	struct rig *r = new_port(1, 64);
	double cpu, wall;
	struct timespec t = { 0, 500000000 };

	assert_int_equal(emu_engine_start(), 0);
	nanosleep(&(struct timespec){ 0, 100000000 }, NULL);
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	wall = seconds(CLOCK_MONOTONIC);
	nanosleep(&t, NULL);
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	wall = seconds(CLOCK_MONOTONIC) - wall;
	print_message("idle engine: %.1f %% of a CPU\n", 100 * cpu / wall);
	assert_true(cpu < 0.10 * wall);
	emu_engine_stop();
	free_port(r);
}

static bool
busy_poll(struct emu_wire *wire)
{
	double end = seconds(CLOCK_MONOTONIC) + 0.001;

	while (seconds(CLOCK_MONOTONIC) < end)
		;
	return true;
}

static void
ignore_close(struct emu_wire *wire)
{
}

/* An engine that always has work must not keep commands waiting for more than a round. */
static void
commands_get_the_lock(void **state)
{
	static const struct emu_wire_ops busy = { .poll = busy_poll, .close = ignore_close };
	struct rig *r = new_port(1, 64);
	double start, took;
	int i;

	emu_wire_close(&r->devs[0]);
	r->wire.wire.ops = &busy;
	r->devs[0].wire = &r->wire.wire;
	assert_int_equal(emu_engine_start(), 0);
	start = seconds(CLOCK_MONOTONIC);
	for (i = 0; i < 100; i++) {
		emu_lock();
		emu_unlock();
		/* So that the engine is in a round again when the next command comes. */
		nanosleep(&(struct timespec){ 0, 200000 }, NULL);
	}
	took = seconds(CLOCK_MONOTONIC) - start;
	emu_engine_stop();
	print_message("100 commands took %.0f ms\n", took * 1e3);
	assert_true(took < 1.5);
	free_port(r);
}

static bool engine_knows;

static bool
note_lock(struct emu_wire *wire)
{
	__atomic_store_n(&engine_knows, emu_locked_here(), __ATOMIC_RELEASE);
	return false;
}

/* Or an allocator that unmaps memory for the engine waits for the lock that it holds. */
static void
engine_knows_that_it_holds_the_lock(void **state)
{
	static const struct emu_wire_ops ops = { .poll = note_lock, .close = ignore_close };
	struct rig *r = new_port(1, 64);
	double deadline = seconds(CLOCK_MONOTONIC) + 10;

	emu_wire_close(&r->devs[0]);
	r->wire.wire.ops = &ops;
	r->devs[0].wire = &r->wire.wire;
	assert_int_equal(emu_engine_start(), 0);
	while (!__atomic_load_n(&engine_knows, __ATOMIC_ACQUIRE) &&
	       seconds(CLOCK_MONOTONIC) < deadline)
		sched_yield();
	assert_true(__atomic_load_n(&engine_knows, __ATOMIC_ACQUIRE));
	assert_false(emu_locked_here());
	emu_engine_stop();
	free_port(r);
}

static void
child_of_fork_has_no_engine(void **state)
{
	struct rig *r = new_port(1, 64);
	int status;
	pid_t pid;

	assert_int_equal(emu_engine_start(), 0);
	pid = fork();
	if (pid == 0) {
		alarm(10);
		emu_lock();
		emu_unlock();
		emu_engine_stop();
		_exit(7);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	emu_engine_stop();
	emu_engine_stop();
	free_port(r);
}

static void *
start_and_stop(void *arg)
{
	const bool *end = arg;

	while (!__atomic_load_n(end, __ATOMIC_ACQUIRE)) {
		emu_lock(); /* as a command that opens a context, but for longer */
		for (int i = 0; i < 10000; i++)
			emu_engine_start();
		emu_unlock();
		emu_engine_stop();
	}
	return NULL;
}

/* Whoever comes in the other's way would wait for ever. */
static void
forks_while_others_start_and_stop(void **state)
{
	struct rig *r = new_port(1, 64);
	bool end = false;
	pthread_t thread;
	pid_t pid;
	int i;

	assert_int_equal(pthread_create(&thread, NULL, start_and_stop, &end), 0);
	alarm(50);
	for (i = 0; i < 200; i++) {
		pid = fork();
		if (pid == 0)
			_exit(0);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
	__atomic_store_n(&end, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	alarm(0);
	free_port(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forwards_every_frame),
		cmocka_unit_test(idle_costs_little),
		cmocka_unit_test(commands_get_the_lock),
		cmocka_unit_test(engine_knows_that_it_holds_the_lock),
		cmocka_unit_test(child_of_fork_has_no_engine),
		cmocka_unit_test(forks_while_others_start_and_stop),
	};

	return cmocka_run_group_tests_name("mlx5emu engine", tests, NULL, NULL);
}
