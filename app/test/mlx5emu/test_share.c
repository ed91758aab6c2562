/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include <memic.h>

/*
 * Two processes and one open file of the device: this one opens it, the other is another
 * run of this program, gets the descriptor over a socket as DPDK's secondaries do, and
 * does what it is told.
 *
 * usage: test_share [other SOCKET | removed]
 *
 * With "removed" the launcher has to take the device away after a while.
 */

#define PAGE 4096ul
#define SIZE (16 * PAGE)
#define RW (PROT_READ | PROT_WRITE)

enum what { MAP, UNMAP, MOVE, GET, SET, IOCTL, STAT, CLOSE };

/* A request, and the answer to it. */
struct order {
	enum what what;
	int err;
	uint64_t addr, len, offset;
	int prot, flags;
	uint64_t value;
};

/* ---- the other process ---- */

static int handed = -1;

static int
take_order(int sock, struct order *o)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { o, sizeof(*o) };
	struct msghdr hdr = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c;

	if (recvmsg(sock, &hdr, 0) != (ssize_t)sizeof(*o))
		return -1;
	c = CMSG_FIRSTHDR(&hdr);
	if (c != NULL)
		memcpy(&handed, CMSG_DATA(c), sizeof(handed));
	return 0;
}

static void
follow(struct order *o)
{
	volatile uint8_t *byte = (uint8_t *)o->addr;
	struct ib_uverbs_ioctl_hdr call = { .length = sizeof(call) };
	struct stat st;
	void *va = NULL;
	int ret = 0;

	switch (o->what) {
	case MAP:
		va = mmap((void *)o->addr, o->len, o->prot, o->flags, handed, (off_t)o->offset);
		break;
	case MOVE:
		va = mremap((void *)o->addr, o->len, o->len, MREMAP_MAYMOVE);
		break;
	case UNMAP:
		ret = munmap((void *)o->addr, o->len);
		break;
	case GET:
		o->value = *byte;
		break;
	case SET:
		*byte = (uint8_t)o->value;
		break;
	case IOCTL:
		ret = ioctl(handed, RDMA_VERBS_IOCTL, &call);
		break;
	case STAT:
		ret = fstat(handed, &st);
		o->value = S_ISCHR(st.st_mode);
		break;
	case CLOSE:
		ret = close(handed);
		break;
	}
	o->err = ret != 0 || va == MAP_FAILED ? errno : 0;
	if (o->what == MAP || o->what == MOVE)
		o->addr = (uintptr_t)va;
}

static int
other_main(int sock)
{
	struct order o;

	while (take_order(sock, &o) == 0) {
		follow(&o);
		if (send(sock, &o, sizeof(o), 0) != (ssize_t)sizeof(o))
			return 1;
	}
	return 0;
}

/* ---- this one ---- */

static struct memic_device *dev;
static int sock = -1;
static pid_t other;

static int
tell_to(struct order *o, int fd)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .align = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
				 .cmsg_type = SCM_RIGHTS } };
	struct iovec iov = { o, sizeof(*o) };
	struct msghdr hdr = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.align), &fd, sizeof(fd));
		hdr.msg_control = &control;
		hdr.msg_controllen = sizeof(control.room);
	}
	assert_int_equal(sendmsg(sock, &hdr, 0), sizeof(*o));
	assert_int_equal(recv(sock, o, sizeof(*o), 0), sizeof(*o));
	return o->err;
}

static void
start_other(void)
{
	char number[16], name[] = "test_share", other_name[] = "other";
	char *argv[] = { name, other_name, number, NULL };
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	snprintf(number, sizeof(number), "%d", pair[1]);
	assert_int_equal(posix_spawn(&other, "/proc/self/exe", NULL, NULL, argv, environ), 0);
	close(pair[1]);
	sock = pair[0];
}

static int
other_status(void)
{
	int status;

	assert_int_equal(waitpid(other, &status, 0), other);
	close(sock);
	return status;
}

static int
setup(void **state)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	(void)state;
	if (list == NULL || memic_device_open(ibv_get_device_name(list[0]), &dev) != 0)
		return -1;
	ibv_free_device_list(list);
	start_other();
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	shutdown(sock, SHUT_RDWR);
	return other_status() == 0 && memic_device_close(dev) == 0 ? 0 : -1;
}

static struct memic_dm *
new_dm(struct memic_dm_share *share)
{
	struct memic_dm *dm;

	assert_int_equal(memic_dm_alloc(dev, MEMIC_DM_MEMIC, SIZE, 12, &dm), 0);
	assert_int_equal(memic_dm_share(dm, share), 0);
	return dm;
}

static uint64_t
map_there(const struct memic_dm_share *share)
{
	struct order o = { .what = MAP, .len = share->bytes, .offset = share->offset, .prot = RW,
			   .flags = MAP_SHARED };

	assert_int_equal(tell_to(&o, share->fd), 0);
	return o.addr;
}

static void
unmap_there(uint64_t addr, uint64_t len)
{
	struct order o = { .what = UNMAP, .addr = addr, .len = len };

	assert_int_equal(tell_to(&o, -1), 0);
}

static uint8_t
get_there(uint64_t addr)
{
	struct order o = { .what = GET, .addr = addr };

	assert_int_equal(tell_to(&o, -1), 0);
	return o.value;
}

static void
set_there(uint64_t addr, uint8_t value)
{
	struct order o = { .what = SET, .addr = addr, .value = value };

	assert_int_equal(tell_to(&o, -1), 0);
}

/* Whether all of the device's memory can be had. */
static bool
all_free(void)
{
	struct memic_dm *dm;
	int ret = memic_dm_alloc(dev, MEMIC_DM_MEMIC, memic_device_caps(dev)->max_dm_size, 0, &dm);

	if (ret == 0)
		assert_int_equal(memic_dm_free(dm), 0);
	else
		assert_int_equal(ret, -ENOMEM);
	return ret == 0;
}

static void
same_bytes(void **state)
{
	struct memic_dm_share share;
	struct memic_dm *dm = new_dm(&share);
	volatile uint8_t *here = memic_dm_addr(dm);
	uint64_t there = map_there(&share);

	(void)state;
	here[5000] = 0x5a;
	assert_int_equal(get_there(there + share.start + 5000), 0x5a);
	set_there(there + share.start + SIZE - 1, 0xa5);
	assert_int_equal(here[SIZE - 1], 0xa5);
	unmap_there(there, share.bytes);
	assert_int_equal(memic_dm_free(dm), 0);
	assert_true(all_free());
}

/* Doorbell pages, as the PMD's secondary maps them. */
static void
doorbell_page(void **state)
{
	struct mlx5dv_devx_uar *uar;
	struct memic_dm_share share;
	uint64_t there;

	(void)state;
	uar = mlx5dv_devx_alloc_uar(memic_device_context(dev), MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF);
	assert_non_null(uar);
	share = (struct memic_dm_share){ .fd = memic_device_context(dev)->cmd_fd,
					 .offset = uar->mmap_off, .bytes = PAGE };
	there = map_there(&share);
	set_there(there + 0x800, 7);
	assert_int_equal(*((volatile uint8_t *)uar->base_addr + 0x800), 7);
	unmap_there(there, PAGE);
	mlx5dv_devx_free_uar(uar);
}

/* The same as in the process that opened the file. */
static void
refusals(void **state)
{
	struct memic_dm_share share;
	struct memic_dm *dm = new_dm(&share);
	const struct order bad[] = {
		{ .len = SIZE - PAGE, .offset = share.offset, .prot = RW, .flags = MAP_SHARED },
		{ .len = SIZE + PAGE, .offset = share.offset, .prot = RW, .flags = MAP_SHARED },
		{ .len = SIZE, .offset = share.offset + PAGE, .prot = RW, .flags = MAP_SHARED },
		{ .len = SIZE, .offset = share.offset, .prot = RW, .flags = MAP_PRIVATE },
		{ .len = SIZE, .offset = share.offset, .prot = RW | PROT_EXEC,
		  .flags = MAP_SHARED },
		{ .len = SIZE, .offset = 0, .prot = RW, .flags = MAP_SHARED },
	};
	struct order o;

	(void)state;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		o = bad[i];
		o.what = MAP;
		if (tell_to(&o, share.fd) != EINVAL)
			fail_msg("mapping %u: errno %d", i, o.err);
	}
	o = (struct order){ .what = STAT };
	assert_int_equal(tell_to(&o, -1), 0);
	assert_true(o.value);
	o = (struct order){ .what = IOCTL };
	assert_int_equal(tell_to(&o, -1), EOPNOTSUPP);
	assert_int_equal(memic_dm_free(dm), 0);
	assert_true(all_free());
}

/* Cases 17 and 48: the memory is busy as long as somebody maps some of it. */
static void
busy_until_unmapped(void **state)
{
	struct memic_dm_share share;
	struct memic_dm *dm = new_dm(&share);
	uint64_t there = map_there(&share);
	struct order o = { .what = MOVE, .addr = there, .len = share.bytes };

	(void)state;
	assert_int_equal(memic_dm_free(dm), 0);
	assert_false(all_free());
	set_there(there, 1);
	assert_int_equal(tell_to(&o, -1), 0);
	there = o.addr;
	assert_int_equal(get_there(there), 1);
	unmap_there(there + PAGE, PAGE);
	unmap_there(there, PAGE);
	assert_false(all_free());
	unmap_there(there + 2 * PAGE, share.bytes - 2 * PAGE);
	assert_true(all_free());
}

/* The descriptor is not needed once the pages are mapped. */
static void
closed_first(void **state)
{
	struct memic_dm_share share;
	struct memic_dm *dm = new_dm(&share);
	uint64_t there = map_there(&share);
	struct order o = { .what = CLOSE };

	(void)state;
	assert_int_equal(tell_to(&o, -1), 0);
	set_there(there, 9);
	assert_int_equal(*(volatile uint8_t *)memic_dm_addr(dm), 9);
	assert_int_equal(memic_dm_free(dm), 0);
	assert_false(all_free());
	unmap_there(there, share.bytes);
	assert_true(all_free());
}

/* Whoever is killed holds nothing any more. */
static void
killed(void **state)
{
	const struct timespec tick = { 0, 10 * 1000 * 1000 };
	struct memic_dm_share share;
	struct memic_dm *dm = new_dm(&share);
	int status;

	(void)state;
	map_there(&share);
	map_there(&share);
	assert_int_equal(memic_dm_free(dm), 0);
	assert_false(all_free());
	kill(other, SIGKILL);
	status = other_status();
	assert_true(WIFSIGNALED(status));
	/* the card hears of it a moment later */
	for (unsigned int i = 0; i < 500 && !all_free(); i++)
		nanosleep(&tick, NULL);
	assert_true(all_free());
	start_other();
}

/* Two addresses of one allocation in one process; keys come after. */
static void
mapped_again(void **state)
{
	void *place = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct memic_dm_share share;
	struct memic_dm *dm = new_dm(&share);
	volatile uint8_t *first = memic_dm_addr(dm);

	(void)state;
	assert_int_equal(memic_dm_map_at(dm, place), -EEXIST);
	assert_ptr_equal(memic_dm_addr(dm), first);
	assert_int_equal(memic_dm_map_at(dm, (uint8_t *)place + 1), -EINVAL);
	munmap(place, SIZE);
	assert_int_equal(memic_dm_map_at(dm, place), 0);
	assert_ptr_equal(memic_dm_addr(dm), (uint8_t *)place + share.start);
	first[100] = 3;
	assert_int_equal(((volatile uint8_t *)memic_dm_addr(dm))[100], 3);
	assert_int_equal(memic_dm_map_at(dm, (uint8_t *)place + SIZE), -EBUSY);
	assert_int_equal(memic_dm_free(dm), 0);
	/* both are gone */
	assert_true(all_free());
	assert_ptr_equal(mmap(place, SIZE, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0), place);
	munmap(place, SIZE);
}

/* rdma_umap_fault() gives zeros; ib_uverbs_get_ucontext_file() lets nobody map any more. */
static void
removed(void **state)
{
	const struct timespec tick = { 0, 20 * 1000 * 1000 };
	struct memic_dm_share share;
	struct memic_dm *dm = new_dm(&share);
	uint64_t there = map_there(&share);
	struct order o = { .what = MAP, .len = share.bytes, .offset = share.offset, .prot = RW,
			   .flags = MAP_SHARED };

	(void)state;
	set_there(there + 100, 8);
	assert_int_equal(get_there(there + 100), 8);
	for (unsigned int i = 0; i < 1000 && get_there(there + 100) != 0; i++)
		nanosleep(&tick, NULL);
	assert_int_equal(get_there(there + 100), 0);
	set_there(there, 1);
	assert_int_equal(tell_to(&o, -1), EIO);
	unmap_there(there, share.bytes);
	assert_int_equal(memic_dm_free(dm), 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest one[] = { cmocka_unit_test(removed) };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_bytes),
		cmocka_unit_test(doorbell_page),
		cmocka_unit_test(refusals),
		cmocka_unit_test(busy_until_unmapped),
		cmocka_unit_test(closed_first),
		cmocka_unit_test(killed),
		cmocka_unit_test(mapped_again),
	};

	if (argc == 3 && strcmp(argv[1], "other") == 0)
		return other_main(atoi(argv[2]));
	if (argc == 2 && strcmp(argv[1], "removed") == 0)
		return cmocka_run_group_tests(one, setup, teardown);
	return cmocka_run_group_tests(tests, setup, teardown);
}
