/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "compat.h"

/*
 * A program that is given less and less while it runs: takes steps in turn and tells what
 * became of each. The log of the driver and the card's account tell the rest.
 *
 * usage: EAL arguments -- STEP...
 *
 *   pool        create a pool
 *   free        free it
 *   start       set a port with it up and start it
 *   forward=N   forward N frames
 *   stop        stop and close the port
 *   drop=CAP    give a capability up, by its number
 *   files=N     let N descriptors be opened from now on
 *   memory=N    let N KiB be mapped from now on
 */

#define RING 64
#define BURST 16
#define ROOM 1664
#define STALL_SECONDS 10

static struct rte_mempool *pool;

static void
tell(const char *step, int err)
{
	printf("step %s: %s\n", step, err == 0 ? "done" : strerrorname_np(abs(err)));
}

static int
create(void)
{
	pool = rte_pktmbuf_pool_create_by_ops("limits", 1024, 0, 0, ROOM, SOCKET_ID_ANY,
					      "mlx5_memic");
	return pool == NULL ? rte_errno : 0;
}

static int
start(void)
{
	const struct rte_eth_conf conf = { 0 };
	int ret = rte_eth_dev_configure(0, 1, 1, &conf);

	if (ret == 0)
		ret = e2e_receive(0);
	if (ret == 0)
		ret = rte_eth_rx_queue_setup(0, 0, RING, SOCKET_ID_ANY, NULL, pool);
	if (ret == 0)
		ret = rte_eth_tx_queue_setup(0, 0, RING, SOCKET_ID_ANY, NULL);
	return ret == 0 ? rte_eth_dev_start(0) : ret;
}

static int
stop(void)
{
	int ret = rte_eth_dev_stop(0);

	return ret == 0 ? rte_eth_dev_close(0) : ret;
}

static int
forward(unsigned long frames)
{
	uint64_t deadline = rte_get_timer_cycles() + STALL_SECONDS * rte_get_timer_hz();
	struct rte_mbuf *burst[BURST];
	unsigned long done = 0;
	uint16_t n, sent;

	while (done < frames && rte_get_timer_cycles() < deadline) {
		n = rte_eth_rx_burst(0, 0, burst, BURST);
		for (sent = 0; sent < n && rte_get_timer_cycles() < deadline;)
			sent += rte_eth_tx_burst(0, 0, burst + sent, n - sent);
		if (n == 0)
			continue;
		rte_pktmbuf_free_bulk(burst + sent, n - sent);
		done += n;
		deadline = rte_get_timer_cycles() + STALL_SECONDS * rte_get_timer_hz();
	}
	/* posted is not sent */
	rte_delay_ms(300);
	return done < frames ? ETIMEDOUT : 0;
}

/* Of this thread, which is the one that sets ports up. */
static int
drop(unsigned int cap)
{
	struct __user_cap_header_struct hdr = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &hdr, data) != 0)
		return errno;
	data[CAP_TO_INDEX(cap)].effective &= ~CAP_TO_MASK(cap);
	data[CAP_TO_INDEX(cap)].permitted &= ~CAP_TO_MASK(cap);
	return syscall(SYS_capset, &hdr, data) == 0 ? 0 : errno;
}

/* The lowest limit below which so many descriptors are not in use. */
static int
limit_files(unsigned long spare)
{
	struct rlimit limit;
	int fd;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return errno;
	for (fd = 0; spare > 0; fd++)
		if (dup2(fd, fd) < 0)
			spare--;
	limit.rlim_cur = fd;
	return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? 0 : errno;
}

static int
limit_memory(unsigned long spare_kib)
{
	struct rlimit limit;
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file == NULL || getrlimit(RLIMIT_AS, &limit) != 0)
		return errno;
	if (fscanf(file, "%lu", &pages) != 1)
		pages = 0;
	fclose(file);
	limit.rlim_cur = pages * sysconf(_SC_PAGESIZE) + spare_kib * 1024;
	return pages != 0 && setrlimit(RLIMIT_AS, &limit) == 0 ? 0 : errno;
}

static int
step(const char *name)
{
	const char *equals = strchr(name, '=');
	unsigned long n = equals != NULL ? strtoul(equals + 1, NULL, 10) : 0;

	if (strcmp(name, "pool") == 0)
		return create();
	if (strcmp(name, "start") == 0)
		return start();
	if (strcmp(name, "stop") == 0)
		return stop();
	if (strncmp(name, "forward=", 8) == 0)
		return forward(n);
	if (strncmp(name, "drop=", 5) == 0)
		return drop(n);
	if (strncmp(name, "files=", 6) == 0)
		return limit_files(n);
	if (strncmp(name, "memory=", 7) == 0)
		return limit_memory(n);
	if (strcmp(name, "free") != 0)
		rte_exit(EXIT_FAILURE, "no step '%s'\n", name);
	rte_mempool_free(pool);
	pool = NULL;
	return 0;
}

int
main(int argc, char **argv)
{
	int used = rte_eal_init(argc, argv), i;

	if (used < 0)
		rte_exit(EXIT_FAILURE, "EAL: %s\n", rte_strerror(rte_errno));
	for (i = used + 1; i < argc; i++)
		tell(argv[i], step(argv[i]));
	rte_mempool_free(pool);
	rte_eal_cleanup();
	return 0;
}
