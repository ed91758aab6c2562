/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/* cmocka.h wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_netlink.h>

/*
 * What threads of a program ask while the card's own thread takes the device away: none
 * gets half an answer. Run with --fault remove=ms:N; ThreadSanitizer says the most of it.
 */

#define NODE "/dev/infiniband/uverbs0"
#define AFTER 20                /* answers of each thread that are to say it is gone */

static bool stop;               /* a thread is not content: why is in its answer */

struct asker {
	const char *name;
	int (*ask)(void);       /* 0 while the device is there, ENOENT, or another error */
	pthread_t thread;
	unsigned int before, after;
	int err;
};

static int
ask_open(void)
{
	int fd = open(NODE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int
ask_stat(void)
{
	struct stat st;

	if (stat(NODE, &st) != 0)
		return errno;
	return S_ISCHR(st.st_mode) ? 0 : ENODEV;
}

/* An answer to a dump of devices: one of a device, or the end. */
static int
first_answer(int fd)
{
	struct { struct nlmsghdr hdr; uint8_t rest[2048]; } answer;
	struct iovec iov = { &answer, sizeof(answer) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (recvmsg(fd, &msg, 0) < (ssize_t)sizeof(answer.hdr))
		return EIO;
	if (answer.hdr.nlmsg_type == NLMSG_DONE)
		return ENOENT;
	return answer.hdr.nlmsg_type == RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET) ?
	       0 : EBADMSG;
}

static int
ask_netlink(void)
{
	struct nlmsghdr hdr = {
		.nlmsg_len = sizeof(hdr), .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET),
	};
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA), err;

	if (fd < 0)
		return errno;
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) != 0 ||
	    send(fd, &hdr, sizeof(hdr), 0) != sizeof(hdr))
		err = errno;
	else
		err = first_answer(fd);
	close(fd);
	return err;
}

static void *
run(void *arg)
{
	struct asker *a = arg;

	while (a->after < AFTER && !__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		int err = a->ask();

		if (err == ENOENT) {
			a->after++;
		} else if (err == 0 && a->after == 0) {
			a->before++;
		} else {
			a->err = err == 0 ? EEXIST : err;
			__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
		}
	}
	return NULL;
}

static void
removed_meanwhile(void **state)
{
	struct asker askers[] = {
		{ .name = "open", .ask = ask_open }, { .name = "stat", .ask = ask_stat },
		{ .name = "netlink", .ask = ask_netlink },
		{ .name = "netlink", .ask = ask_netlink },
	};
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context;
	size_t i;

	(void)state;
	/* qemu's emulation of a process knows few kinds of netlink sockets */
	if (ask_netlink() == EPROTONOSUPPORT)
		skip();
	assert_non_null(list);
	assert_non_null(list[0]);
	context = ibv_open_device(list[0]);
	assert_non_null(context);
	for (i = 0; i < sizeof(askers) / sizeof(askers[0]); i++)
		assert_int_equal(pthread_create(&askers[i].thread, NULL, run, &askers[i]), 0);
	for (i = 0; i < sizeof(askers) / sizeof(askers[0]); i++)
		pthread_join(askers[i].thread, NULL);
	for (i = 0; i < sizeof(askers) / sizeof(askers[0]); i++) {
		print_message("%s: %u answers before, %u after\n", askers[i].name,
			      askers[i].before, askers[i].after);
		if (askers[i].err != 0)
			fail_msg("%s: %s after %u answers that it was gone", askers[i].name,
				 askers[i].err == EEXIST ? "the device is back" :
				 strerror(askers[i].err), askers[i].after);
		assert_int_not_equal(askers[i].before, 0);
	}
	ibv_close_device(context);
	ibv_free_device_list(list);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(removed_meanwhile) };

	return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
