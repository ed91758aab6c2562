/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "emu.h"
#include "guard.h"
#include "inject.h"

/*
 * The thread that is the card. It polls doorbell records, which is enough: software
 * writes the record before it rings the doorbell. All it does is under the lock that the
 * command side takes for a command, in rounds of bounded work.
 */
#define SQ_BUDGET 32            /* WQEs of one queue in a round */
#define RQ_BUDGET 64

/*
 * Without work it spins for a while, then sleeps for a share of the time since there was
 * some: a first frame waits that much longer, at most some milliseconds. A wake-up costs
 * up to 30 microseconds in a virtual machine, so the longest sleep makes idleness cheap.
 */
#define SPIN_NS 500000
#define SLEEP_SHARE 16
#define SLEEP_MAX_NS 4000000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread bool locked_here __attribute__((tls_model("initial-exec")));
static unsigned int waiters;    /* threads of the command side that want the lock */

static pthread_t thread;
static bool running;            /* the thread is to be joined; under control */
static uintptr_t generation;    /* of the thread; one of an earlier generation ends */
/* Taken with the other lock held or without, never the other way round. */
static pthread_mutex_t control = PTHREAD_MUTEX_INITIALIZER;
static cpu_set_t start_cpus;

/*
 * EAL pins its main thread before the first device is opened, and the engine would
 * inherit that one CPU. So remember what the process was started with.
 */
__attribute__((constructor)) static void
remember_cpus(void)
{
	if (sched_getaffinity(0, sizeof(start_cpus), &start_cpus) != 0)
		CPU_ZERO(&start_cpus);
}

void
emu_lock(void)
{
	__atomic_add_fetch(&waiters, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_lock(&lock);
	__atomic_sub_fetch(&waiters, 1, __ATOMIC_SEQ_CST);
	locked_here = true;
}

void
emu_unlock(void)
{
	locked_here = false;
	pthread_mutex_unlock(&lock);
}

bool
emu_locked_here(void)
{
	return locked_here;
}

/* A mutex is not fair: who sleeps for it loses against a thread that never does. */
static void
give_way(void)
{
	while (__atomic_load_n(&waiters, __ATOMIC_SEQ_CST) > 0)
		sched_yield();
}

static bool
poll_dev(struct emu_dev *dev)
{
	bool work = false;
	struct emu_sq *sq;
	struct emu_rq *rq;
	struct emu_cq *cq;

	emu_removal_poll(dev);
	if (dev->removed)
		return false;
	LIST_FOREACH(sq, &dev->sqs, next)
		work |= emu_sq_run(sq, SQ_BUDGET);
	LIST_FOREACH(rq, &dev->rqs, next)
		work |= emu_rq_run(rq, RQ_BUDGET);
	work |= emu_wire_poll(dev);
	LIST_FOREACH(cq, &dev->cqs, next)
		work |= emu_cq_poll_arm(cq);
	return work;
}

static bool
poll_devs(void)
{
	bool work = false;
	unsigned int i;

	for (i = 0; i < emu_dev_count; i++)
		work |= poll_dev(&emu_devs[i]);
	return work;
}

static bool
poll_all(void)
{
	bool work;

	pthread_mutex_lock(&lock);
	locked_here = true;
	if (sigsetjmp(*emu_guard_env(), 0) == 0) {
		emu_guard_enter();
		work = poll_devs();
		emu_guard_leave();
	} else {
		/* what was begun is done again, and finds the memory gone */
		emu_guard_recover();
		work = true;
	}
	emu_unlock();
	return work;
}

static void
back_off(uint64_t idle_ns)
{
	struct timespec t = { 0, (long)(idle_ns / SLEEP_SHARE) };

	if (idle_ns < SPIN_NS) {
		/* With fewer CPUs than busy threads the others get on. */
		sched_yield();
		return;
	}
	if (idle_ns / SLEEP_SHARE > SLEEP_MAX_NS)
		t.tv_nsec = SLEEP_MAX_NS;
	nanosleep(&t, NULL);
}

static void *
engine_main(void *arg)
{
	uint64_t last_work = emu_clock();

	if (CPU_COUNT(&start_cpus) > 0)
		sched_setaffinity(0, sizeof(start_cpus), &start_cpus);
	while (__atomic_load_n(&generation, __ATOMIC_ACQUIRE) == (uintptr_t)arg) {
		bool work = poll_all();
		uint64_t now = emu_clock();

		give_way();
		if (work)
			last_work = now;
		else
			back_off(now - last_work);
	}
	return NULL;
}

static void
before_fork(void)
{
	emu_lock();
	pthread_mutex_lock(&control);
}

static void
after_fork(void)
{
	pthread_mutex_unlock(&control);
	emu_unlock();
}

static void
in_child(void)
{
	running = false;
	__atomic_store_n(&waiters, 0, __ATOMIC_SEQ_CST);
	after_fork();
}

static int
start_thread(void)
{
	static bool fork_handled;
	sigset_t all, old;
	int err;

	if (!fork_handled) {
		err = pthread_atfork(before_fork, after_fork, in_child);
		if (err != 0)
			return -err;
		fork_handled = true;
	}
	emu_guard_install();
	/* Signals are the program's, but for those that a thread causes itself. */
	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&thread, NULL, engine_main, (void *)generation);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err != 0)
		return -err;
	pthread_setname_np(thread, "mlx5emu");
	running = true;
	return 0;
}

int
emu_engine_start(void)
{
	int ret = 0;

	pthread_mutex_lock(&control);
	if (!running)
		ret = start_thread();
	pthread_mutex_unlock(&control);
	if (ret < 0)
		fprintf(stderr, "mlx5emu: cannot start the engine thread: %s\n", strerror(-ret));
	return ret;
}

void
emu_engine_stop(void)
{
	pthread_t last;
	bool join;

	pthread_mutex_lock(&control);
	last = thread;
	join = running;
	running = false;
	__atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&control);
	/* it needs the lock for its last round, which a fork() may hold that waits for us */
	if (join)
		pthread_join(last, NULL);
}
