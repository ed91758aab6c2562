/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_bus_vdev.h>
#include <rte_common.h>
#include <rte_devargs.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mempool.h>
#include <rte_memzone.h>
#include <rte_string_fns.h>

#include <memic.h>

#include "devices.h"
#include "log.h"
#include "pool.h"
#include "process.h"
#include "region.h"
#include "thunk.h"

/*
 * Where EAL maps nothing (from 0x100000000 on, at most a few terabytes), neither do the
 * loader and the heap (above 0x550000000000), nor AddressSanitizer (its shadow ends at
 * 0x10007fff8000). Each mapping has a window to itself, so that it cannot grow together
 * with another one.
 */
#define PLACE_FIRST UINT64_C(0x200000000000)
#define PLACE_STEP (UINT64_C(1) << 32)
#define PLACE_TRIES 64

/** How long a secondary may take to map or unmap a region. */
#define ANSWER_S 5

uint32_t mpm_pool_magic = MPM_POOL_MAGIC_NONE;

static struct mpm_shared *shared; /* NULL: there can be no secondaries */

/* Descriptors of the table's regions. EAL's message thread asks, so it has its own lock. */
static pthread_mutex_t fd_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	uint64_t number;
	int fd;
} fds[MPM_REGIONS_MAX];

/* ---- messages ---- */

static int
fd_of(const struct mpm_message *msg)
{
	int fd = -1;

	pthread_mutex_lock(&fd_lock);
	if (msg->index < MPM_REGIONS_MAX && fds[msg->index].number == msg->number)
		fd = fds[msg->index].fd;
	pthread_mutex_unlock(&fd_lock);
	return fd;
}

static int
on_message(const struct rte_mp_msg *in, const void *peer)
{
	struct rte_mp_msg out = { .len_param = sizeof(struct mpm_message) };
	struct mpm_message msg;
	int fd = in->num_fds == 1 ? in->fds[0] : -1;

	if (in->len_param != sizeof(msg))
		return -1;
	memcpy(&msg, in->param, sizeof(msg));
	strlcpy(out.name, MPM_PROCESS_NAME, sizeof(out.name));
	if (rte_eal_process_type() == RTE_PROC_PRIMARY) {
		out.fds[0] = fd_of(&msg);
		out.num_fds = out.fds[0] >= 0;
		msg.result = out.num_fds == 1 ? 0 : -ENOENT;
	} else {
		msg.result = mpm_attach_order(&msg, fd);
	}
	if (fd >= 0)
		close(fd);
	memcpy(out.param, &msg, sizeof(msg));
	return rte_mp_reply(&out, peer);
}

/* Returns the first error that a secondary met. */
static int
order_all(const struct mpm_message *msg, int fd)
{
	const struct timespec timeout = { .tv_sec = ANSWER_S };
	struct rte_mp_msg out = { .len_param = sizeof(*msg), .num_fds = fd >= 0, .fds = { fd } };
	struct rte_mp_reply reply = { 0 };
	struct mpm_message back;
	int ret = 0;
	int i;

	strlcpy(out.name, MPM_PROCESS_NAME, sizeof(out.name));
	memcpy(out.param, msg, sizeof(*msg));
	if (rte_mp_request_sync(&out, &reply, &timeout) != 0)
		MPM_LOG(WARNING, "no answer of secondary processes to a request to %s device "
			"memory: %s%s", msg->order == MPM_ORDER_MAP ? "map" : "unmap",
			memic_errno_name(rte_errno), msg->order == MPM_ORDER_MAP ? "" :
			": it stays taken until they unmap it or end");
	else if (reply.nb_received < reply.nb_sent)
		MPM_LOG(WARNING, "%d of %d secondary processes did not %s device memory: they may "
			"run without the plugin", reply.nb_sent - reply.nb_received,
			reply.nb_sent, msg->order == MPM_ORDER_MAP ? "map" : "unmap");
	for (i = 0; i < reply.nb_received; i++) {
		memcpy(&back, reply.msgs[i].param, sizeof(back));
		if (ret == 0 && reply.msgs[i].len_param == sizeof(back))
			ret = back.result;
	}
	free(reply.msgs);
	return ret;
}

/* ---- regions ---- */

static uint64_t
next_place(void)
{
	static uint64_t n;

	return PLACE_FIRST + n++ * PLACE_STEP;
}

void
mpm_process_place(struct memic_dm *dm)
{
	unsigned int i;
	int ret = -EEXIST;

	if (shared == NULL)
		return;
	for (i = 0; i < PLACE_TRIES && ret == -EEXIST; i++)
		ret = memic_dm_map_at(dm, (void *)(uintptr_t)next_place());
	if (ret != 0)
		MPM_LOG(INFO, "device memory stays at %p, where a secondary process may have "
			"something else: %s", memic_dm_addr(dm), memic_last_error());
}

static int
find_free(void)
{
	int i;

	for (i = 0; i < MPM_REGIONS_MAX; i++)
		if (shared->regions[i].number == 0)
			return i;
	return -1;
}

static void
set_fd(int i, uint64_t number, int fd)
{
	pthread_mutex_lock(&fd_lock);
	fds[i].number = number;
	fds[i].fd = fd;
	pthread_mutex_unlock(&fd_lock);
}

static void
publish(const struct mpm_region *r, const struct memic_dm_share *share, uint64_t number)
{
	struct mpm_shared_region *entry = &shared->regions[r->shared - 1];

	entry->addr = (uintptr_t)RTE_PTR_ALIGN_FLOOR(memic_dm_addr(r->dm), sysconf(_SC_PAGESIZE));
	entry->bytes = share->bytes;
	entry->offset = share->offset;
	entry->base = (uintptr_t)r->base;
	entry->len = r->len;
	strlcpy(entry->nic, r->nic->name, sizeof(entry->nic));
	set_fd(r->shared - 1, number, share->fd);
	__atomic_store_n(&entry->number, number, __ATOMIC_RELEASE);
}

int
mpm_process_share(struct mpm_region *r, char *why, size_t why_len)
{
	struct mpm_message msg = { .order = MPM_ORDER_MAP };
	static uint64_t numbers;
	struct memic_dm_share share;
	int ret;

	if (shared == NULL || r->shared != 0)
		return 0;
	if (memic_dm_share(r->dm, &share) != 0) {
		/* no reason to do without as long as nobody else is there */
		MPM_LOG(INFO, "%s: secondary processes will be refused: %s", r->nic->name,
			memic_last_error());
		share = (struct memic_dm_share){ .fd = -1 };
	}
	r->shared = find_free() + 1;
	if (r->shared == 0) {
		snprintf(why, why_len, "no place in the table of regions (ENOSPC)");
		return -ENOSPC;
	}
	publish(r, &share, ++numbers);
	msg.index = r->shared - 1;
	msg.number = numbers;
	ret = order_all(&msg, share.fd);
	if (ret == 0)
		return 0;
	snprintf(why, why_len, "a secondary process could not map it at %p: %s%s",
		 memic_dm_addr(r->dm), memic_errno_name(-ret), ret == -EEXIST ?
		 ": it has something else there" : ret == -EOPNOTSUPP ? MPM_NO_QUERY : "");
	mpm_process_unshare(r, true);
	return ret;
}

void
mpm_process_unshare(struct mpm_region *r, bool eal)
{
	struct mpm_message msg = { .order = MPM_ORDER_UNMAP, .index = r->shared - 1 };

	if (r->shared == 0)
		return;
	set_fd(r->shared - 1, 0, -1);
	/* at exit shared memory is gone, and secondaries go on as they are */
	if (eal) {
		msg.number = shared->regions[msg.index].number;
		__atomic_store_n(&shared->regions[msg.index].number, 0, __ATOMIC_RELEASE);
		order_all(&msg, -1);
	}
	r->shared = 0;
}

/* ---- start ---- */

static void
make_thunks(void)
{
	uint64_t addr = 0;
	int ret = -EEXIST;
	unsigned int i;

	for (i = 0; i < PLACE_TRIES && ret == -EEXIST; i++) {
		addr = next_place();
		ret = mpm_thunk_make(addr);
	}
	if (ret == 0)
		shared->thunks = addr;
	else
		MPM_LOG(WARNING, "no page for free callbacks that all processes can call (%s): "
			"secondary processes will be refused", memic_errno_name(-ret));
}

static void
list_ops(void)
{
	unsigned int i;

	shared->n_ops = rte_mempool_ops_table.num_ops;
	for (i = 0; i < shared->n_ops; i++)
		strlcpy(shared->ops[i], rte_mempool_ops_table.ops[i].name,
			sizeof(shared->ops[i]));
}

static void
start_primary(void)
{
	const struct rte_memzone *mz;

	if (shared != NULL)
		return;
	mz = rte_memzone_reserve(MPM_PROCESS_NAME, sizeof(*shared), SOCKET_ID_ANY, 0);
	if (mz == NULL) {
		MPM_LOG(WARNING, "no memory for what secondary processes need (%s): they will be "
			"refused", rte_strerror(rte_errno));
		return;
	}
	shared = mz->addr;
	memset(shared, 0, sizeof(*shared));
	list_ops();
	make_thunks();
	shared->pool_size = sizeof(struct mpm_pool);
	__atomic_store_n(&shared->magic, MPM_POOL_MAGIC, __ATOMIC_RELEASE);
}

int
mpm_process_probe(void)
{
	const struct rte_memzone *mz;

	if (rte_eal_process_type() == RTE_PROC_PRIMARY) {
		start_primary();
		mpm_pool_magic = MPM_POOL_MAGIC;
		return 0;
	}
	mz = rte_memzone_lookup(MPM_PROCESS_NAME);
	mpm_attach(mz == NULL ? NULL : mz->addr);
	return 0;
}

/*
 * EAL knows by now what the process is, and looks at devices after its memory is there.
 * Without shared files, or with memory that cannot be shared, nobody ever comes.
 */
static void
on_scan(void *arg __rte_unused)
{
	static bool done;

	if (done)
		return;
	done = true;
	if (rte_eal_process_type() == RTE_PROC_PRIMARY && !rte_eal_has_hugepages())
		return;
	if (rte_mp_action_register(MPM_PROCESS_NAME, on_message) != 0 && rte_errno != EEXIST)
		return;
	if (rte_devargs_add(RTE_DEVTYPE_VIRTUAL, MPM_PROCESS_VDEV) != 0)
		MPM_LOG(WARNING, "no memory for the device " MPM_PROCESS_VDEV ": no secondary "
			"process can use pools of ops " MPM_OPS_NAME);
}

void
mpm_process_init(void)
{
	if (rte_vdev_add_custom_scan(on_scan, NULL) != 0)
		MPM_LOG(WARNING, "rte_vdev_add_custom_scan failed: no secondary process can use "
			"pools of ops " MPM_OPS_NAME);
}

/* ---- pools that this process cannot use ---- */

void
mpm_process_refuse(const struct rte_mempool *mp)
{
	static const struct rte_mempool *told;

	/* one that was never populated, or was freed */
	if (mp->pool_data == NULL || __atomic_exchange_n(&told, mp, __ATOMIC_RELAXED) == mp)
		return;
	MPM_LOG(ERR, "pool %s (EINVAL): this process has ops " MPM_OPS_NAME " at index %d, where "
		"the one that created the pool has others, or another build of them: run the same "
		"program with the same -d options in the same order", mp->name, mp->ops_index);
}
