/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * What ThreadSanitizer has to know of EAL, which is not instrumented: preloaded before the
 * sanitizer's runtime.
 *
 * A function reaches its lcore over a pipe, which the sanitizer sees. That it is back,
 * the lcore tells by the state that rte_eal_wait_lcore() polls (lib/eal/common/
 * eal_common_launch.c), which the sanitizer does not see: here it is told once more.
 * EAL calls both through its PLT, so rte_eal_mp_remote_launch() and
 * rte_eal_mp_wait_lcore() come by here, too.
 *
 * EAL's interrupt thread puts files into its epoll set that libibverbs and libmlx5 close,
 * under a lock that the sanitizer does not see (lib/eal/linux/eal_interrupts.c). Of ours
 * nothing calls epoll_ctl(), so the sanitizer gets to see none. A suppression would not
 * do: it is looked up by a symbolizer that unmaps memory while it holds the runtime's
 * locks, and munmap() is diverted by mlx5emu.
 */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_launch.h>
#include <rte_lcore.h>

struct launch {
	lcore_function_t *f;
	void *arg;
	int returned;
};

static struct launch launches[RTE_MAX_LCORE];

static void *
next(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (f == NULL) {
		fprintf(stderr, "%s: %s\n", name, dlerror());
		abort();
	}
	return f;
}

static int
run(void *arg)
{
	struct launch *launch = arg;
	int ret = launch->f(launch->arg);

	__atomic_store_n(&launch->returned, 1, __ATOMIC_RELEASE);
	return ret;
}

int
rte_eal_remote_launch(lcore_function_t *f, void *arg, unsigned int lcore)
{
	int (*real)(lcore_function_t *, void *, unsigned int) = next("rte_eal_remote_launch");

	if (lcore >= RTE_MAX_LCORE || rte_eal_get_lcore_state(lcore) != WAIT)
		return real(f, arg, lcore);
	launches[lcore] = (struct launch){ .f = f, .arg = arg };
	return real(run, &launches[lcore], lcore);
}

int
rte_eal_wait_lcore(unsigned int lcore)
{
	int (*real)(unsigned int) = next("rte_eal_wait_lcore");
	int ret = real(lcore);

	if (lcore < RTE_MAX_LCORE)
		(void)__atomic_load_n(&launches[lcore].returned, __ATOMIC_ACQUIRE);
	return ret;
}

int
epoll_ctl(int set, int op, int fd, struct epoll_event *event)
{
	return (int)syscall(SYS_epoll_ctl, set, op, fd, event);
}
