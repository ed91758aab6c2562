/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/* A secondary process. */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/mman.h>

#include <rte_common.h>
#include <rte_debug.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mempool.h>
#include <rte_string_fns.h>

#include <memic.h>

#include "log.h"
#include "pool.h"
#include "process.h"
#include "region.h"
#include "thunk.h"

#define ANSWER_S 10

static const struct mpm_shared *shared;

/* What is mapped, by place in the table. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	uint64_t number;
	void *addr;
	size_t bytes;
} maps[MPM_REGIONS_MAX];

/* ---- regions ---- */

static void
unmap(unsigned int i)
{
	if (maps[i].number == 0)
		return;
	mpm_region_elsewhere(i, 0, 0);
	munmap(maps[i].addr, maps[i].bytes);
	maps[i].number = 0;
}

static int
map(unsigned int i, uint64_t number, int fd)
{
	const struct mpm_shared_region *entry = &shared->regions[i];
	struct memic_dm_share share = {
		.fd = fd, .offset = entry->offset, .bytes = entry->bytes,
	};
	int ret;

	if (maps[i].number == number)
		return 0;
	if (entry->bytes == 0)
		return -EOPNOTSUPP;
	unmap(i);
	ret = memic_map_share(&share, (void *)(uintptr_t)entry->addr, &maps[i].addr);
	if (ret != 0)
		return ret;
	maps[i].number = number;
	maps[i].bytes = entry->bytes;
	mpm_region_elsewhere(i, entry->base, entry->len);
	MPM_LOG(DEBUG, "%s: %zu bytes of device memory mapped at %p", entry->nic, maps[i].bytes,
		maps[i].addr);
	return 0;
}

int
mpm_attach_order(const struct mpm_message *msg, int fd)
{
	int ret = 0;

	/* what comes before EAL has started is found in the table then */
	if (__atomic_load_n(&shared, __ATOMIC_ACQUIRE) == NULL)
		return 0;
	if (msg->index >= MPM_REGIONS_MAX)
		return -EINVAL;
	pthread_mutex_lock(&lock);
	if (msg->order == MPM_ORDER_MAP)
		ret = map(msg->index, msg->number, fd);
	else if (maps[msg->index].number == msg->number)
		unmap(msg->index);
	pthread_mutex_unlock(&lock);
	if (ret != 0)
		MPM_LOG(ERR, "device memory of %s for a new pool cannot be mapped at 0x%" PRIx64
			" (%s): the pool lives in host memory, or with spill=0 is not created; "
			"see /proc/self/maps for what is there, and create it again",
			shared->regions[msg->index].nic, shared->regions[msg->index].addr,
			memic_errno_name(-ret));
	return ret;
}

/* The primary's descriptor, or a negative errno; -ENOENT: the region is gone. */
static int
ask_fd(unsigned int i, uint64_t number)
{
	const struct timespec timeout = { .tv_sec = ANSWER_S };
	struct mpm_message msg = { .order = MPM_ORDER_FD, .index = i, .number = number };
	struct rte_mp_msg out = { .len_param = sizeof(msg) };
	struct rte_mp_reply reply = { 0 };
	int ret = -ETIMEDOUT;

	strlcpy(out.name, MPM_PROCESS_NAME, sizeof(out.name));
	memcpy(out.param, &msg, sizeof(msg));
	if (rte_mp_request_sync(&out, &reply, &timeout) != 0)
		ret = rte_errno != 0 ? -rte_errno : -EIO;
	else if (reply.nb_received == 1 && reply.msgs[0].num_fds == 1)
		ret = reply.msgs[0].fds[0];
	else if (reply.nb_received == 1)
		ret = -ENOENT;
	free(reply.msgs);
	return ret;
}

static int
attach_region(unsigned int i)
{
	const uint64_t *live = &shared->regions[i].number;
	uint64_t number = __atomic_load_n(live, __ATOMIC_ACQUIRE);
	int fd, ret;

	if (number == 0)
		return 0;
	if (shared->regions[i].bytes == 0)
		return -EOPNOTSUPP;
	fd = ask_fd(i, number);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	pthread_mutex_lock(&lock);
	ret = map(i, number, fd);
	/* the primary may have told us to unmap it before we did map it */
	if (__atomic_load_n(live, __ATOMIC_ACQUIRE) != number) {
		if (maps[i].number == number)
			unmap(i);
		ret = 0;
	}
	pthread_mutex_unlock(&lock);
	close(fd);
	return ret;
}

/* ---- ops ---- */

static int
refuse_alloc(struct rte_mempool *mp)
{
	mpm_process_refuse(mp);
	return -ENOTSUP;
}

static int
refuse_put(struct rte_mempool *mp, void *const *objs __rte_unused, unsigned int n __rte_unused)
{
	mpm_process_refuse(mp);
	return -ENOTSUP;
}

static int
refuse_get(struct rte_mempool *mp, void **objs __rte_unused, unsigned int n __rte_unused)
{
	mpm_process_refuse(mp);
	return -ENOTSUP;
}

static unsigned int
refuse_count(const struct rte_mempool *mp)
{
	mpm_process_refuse(mp);
	return 0;
}

/*
 * A pool has the index of its ops, and what is at that index here would take its data for
 * something else. Ops at such an index do nothing from now on but fail.
 */
static unsigned int
check_ops(void)
{
	struct rte_mempool_ops *ops = rte_mempool_ops_table.ops;
	unsigned int i, wrong = 0;

	for (i = 0; i < shared->n_ops; i++) {
		if (strncmp(shared->ops[i], ops[i].name, RTE_MEMPOOL_OPS_NAMESIZE) == 0)
			continue;
		MPM_LOG(ERR, "mempool ops at index %u are '%s' in the primary process and '%s' "
			"here: no pool with them can be used (EINVAL). Run the same program with "
			"the same -d options in the same order", i, shared->ops[i], ops[i].name);
		ops[i] = (struct rte_mempool_ops){
			.alloc = refuse_alloc,
			.enqueue = refuse_put,
			.dequeue = refuse_get,
			.get_count = refuse_count,
		};
		strlcpy(ops[i].name, shared->ops[i], sizeof(ops[i].name));
		wrong++;
	}
	return wrong;
}

/* ---- start ---- */

/* Whoever reads a buffer finds other bytes, or none: nothing later could prevent that. */
static void __rte_noreturn
give_up(unsigned int i, int err)
{
	const struct mpm_shared_region *entry = &shared->regions[i];

	rte_exit(EXIT_FAILURE, "MLX5_MEMIC: %" PRIu64 " bytes of device memory of %s must be at "
		 "0x%" PRIx64 ", as in the primary process, and are not (%s)%s\n", entry->len,
		 entry->nic, entry->addr, memic_errno_name(-err), err == -EEXIST ?
		 ": something else is mapped there. Run the same program with the same -d options "
		 "as the primary process, and keep that address free" :
		 err == -EOPNOTSUPP ? MPM_NO_QUERY : "");
}

static void
take_thunks(void)
{
	int ret = shared->thunks == 0 ? -ENOTSUP : mpm_thunk_make(shared->thunks);

	if (ret != 0)
		rte_exit(EXIT_FAILURE, "MLX5_MEMIC: no page for the free callbacks of clones at "
			 "0x%" PRIx64 " (%s): this process would jump to an address of the primary "
			 "process\n", shared->thunks, memic_errno_name(-ret));
}

void
mpm_attach(const struct mpm_shared *table)
{
	unsigned int i;
	int ret;

	if (table == NULL || table->magic != MPM_POOL_MAGIC ||
	    table->pool_size != sizeof(struct mpm_pool)) {
		MPM_LOG(ERR, "the primary process %s: pools with ops " MPM_OPS_NAME " cannot be "
			"used, and the indices of others may differ. Run the same program with "
			"the same -d options in the same order", table == NULL ?
			"runs without this plugin, or had no memory for it" :
			"runs another build of this plugin");
		return;
	}
	__atomic_store_n(&shared, table, __ATOMIC_RELEASE);
	take_thunks();
	for (i = 0; i < MPM_REGIONS_MAX; i++) {
		ret = attach_region(i);
		if (ret != 0)
			give_up(i, ret);
	}
	check_ops();
	mpm_pool_magic = MPM_POOL_MAGIC;
}
