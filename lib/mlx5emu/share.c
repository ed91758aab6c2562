/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "emu.h"
#include "share.h"

/* Processes that are served at a time. */
#define CLIENTS 64

/* A range that another process has mapped. */
struct hold {
	LIST_ENTRY(hold) next;
	uint64_t id;
	struct emu_mmap_entry *entry;
};

struct client {
	int fd;                 /* -1: a free place */
	LIST_HEAD(, hold) holds;
};

/* All but the thread's poll() is under the lock. */
static struct client clients[CLIENTS];
static char path[EMU_SHARE_PATH];
static bool tried;
static int listener = -1;
static uint64_t last_id;

/* ---- what clients hold ---- */

static void
hold_release(struct hold *hold)
{
	struct emu_file *file = hold->entry->file;

	LIST_REMOVE(hold, next);
	file->vmas--;
	emu_mmap_entry_put(hold->entry);
	emu_file_put(file);
	free(hold);
}

static int
serve_map(struct client *c, struct emu_share_msg *msg, int *memory)
{
	struct emu_file *file = emu_file_find(msg->st_dev, msg->st_ino);
	struct emu_mmap_entry *entry;
	struct hold *hold;
	int err;

	if (file == NULL || file->peer != NULL)
		return -ENODEV;
	err = emu_vma_entry(file, msg->offset, msg->len, msg->prot, msg->flags, &entry);
	if (err != 0)
		return err;
	hold = malloc(sizeof(*hold));
	if (hold == NULL)
		return -ENOMEM;
	*hold = (struct hold){ .id = ++last_id, .entry = entry };
	entry->refs++;
	file->vmas++;
	LIST_INSERT_HEAD(&c->holds, hold, next);
	msg->id = hold->id;
	msg->offset = entry->fd_off;
	*memory = entry->fd;
	emu_trace("%s: mmap index 0x%x len %zu in another process", file->dev->name, entry->index,
		  entry->len);
	return 0;
}

static int
serve_unmap(struct client *c, const struct emu_share_msg *msg)
{
	struct hold *hold;

	LIST_FOREACH(hold, &c->holds, next) {
		if (hold->id != msg->id)
			continue;
		hold_release(hold);
		return 0;
	}
	return -ENOENT;
}

/* ---- messages ---- */

static void
answer(const struct client *c, struct emu_share_msg *msg, int memory)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .align = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
				 .cmsg_type = SCM_RIGHTS } };
	struct iovec iov = { msg, sizeof(*msg) };
	struct msghdr hdr = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (memory >= 0) {
		memcpy(CMSG_DATA(&control.align), &memory, sizeof(memory));
		hdr.msg_control = &control;
		hdr.msg_controllen = sizeof(control.room);
	}
	/* who does not listen is gone, which the next poll() tells */
	syscall(SYS_sendmsg, c->fd, &hdr, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void
client_gone(struct client *c)
{
	while (!LIST_EMPTY(&c->holds))
		hold_release(LIST_FIRST(&c->holds));
	syscall(SYS_close, c->fd);
	c->fd = -1;
}

static void
serve(struct client *c)
{
	struct emu_share_msg msg;
	int memory = -1;

	if (recv(c->fd, &msg, sizeof(msg), MSG_DONTWAIT) != (ssize_t)sizeof(msg)) {
		client_gone(c);
		return;
	}
	if (msg.type == EMU_SHARE_MAP)
		msg.err = serve_map(c, &msg, &memory);
	else if (msg.type == EMU_SHARE_UNMAP)
		msg.err = serve_unmap(c, &msg);
	else
		msg.err = -EINVAL;
	answer(c, &msg, memory);
}

static void
welcome(void)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	for (unsigned int i = 0; i < CLIENTS; i++) {
		if (clients[i].fd >= 0)
			continue;
		clients[i].fd = fd;
		LIST_INIT(&clients[i].holds);
		return;
	}
	syscall(SYS_close, fd);
}

static void *
share_main(void *arg)
{
	struct pollfd fds[CLIENTS + 1];

	(void)arg;
	for (;;) {
		for (unsigned int i = 0; i < CLIENTS; i++)
			fds[i] = (struct pollfd){ .fd = clients[i].fd, .events = POLLIN };
		fds[CLIENTS] = (struct pollfd){ .fd = listener, .events = POLLIN };
		if (poll(fds, CLIENTS + 1, -1) < 0)
			continue;
		emu_lock();
		for (unsigned int i = 0; i < CLIENTS; i++)
			if (fds[i].revents != 0)
				serve(&clients[i]);
		if (fds[CLIENTS].revents != 0)
			welcome();
		emu_unlock();
	}
	return NULL;
}

/* ---- start ---- */

int
emu_share_address(const char *name, struct sockaddr_un *addr)
{
	const char *slash = strrchr(name, '/');
	char folder[EMU_SHARE_PATH];
	int dir;

	*addr = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (slash == NULL || strlen(slash) > 32)
		return -EINVAL;
	snprintf(folder, sizeof(folder), "%.*s", (int)(slash - name), name);
	dir = (int)syscall(SYS_openat, AT_FDCWD, folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	snprintf(addr->sun_path, sizeof(addr->sun_path), "/proc/self/fd/%d%s", dir, slash);
	return dir;
}

static int
open_listener(const char *name)
{
	struct sockaddr_un addr;
	int dir = emu_share_address(name, &addr);
	int fd = -1;

	if (dir < 0)
		return dir;
	fd = (int)syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd >= 0 && (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) != 0 ||
			listen(fd, CLIENTS) != 0)) {
		syscall(SYS_close, fd);
		fd = -1;
	}
	syscall(SYS_close, dir);
	return fd;
}

static int
start_thread(void)
{
	sigset_t all, old;
	pthread_t thread;
	int err;

	for (unsigned int i = 0; i < CLIENTS; i++)
		clients[i].fd = -1;
	/* signals are the program's */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&thread, NULL, share_main, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err != 0)
		return -err;
	pthread_setname_np(thread, "mlx5emu-share");
	pthread_detach(thread);
	return 0;
}

/* Where that fails this process can do all, and others nothing. */
static void
start(const char *dir)
{
	uint64_t name;

	if (dir[0] == '\0' || strlen(dir) + 32 > sizeof(path))
		return;
	/* process ids are not unique: either process may have a namespace of its own */
	if (getrandom(&name, sizeof(name), 0) != (ssize_t)sizeof(name))
		return;
	snprintf(path, sizeof(path), "%s/card.%016llx", dir, (unsigned long long)name);
	listener = open_listener(path);
	if (listener >= 0 && start_thread() == 0)
		return;
	emu_trace("no socket for other processes at %s", path);
	path[0] = '\0';
}

void
emu_share_tag(int fd, const struct emu_dev *dev)
{
	struct emu_share_tag tag = { .magic = EMU_SHARE_MAGIC, .dev = dev->index };

	if (!tried)
		start(dev->cfg->dir);
	tried = true;
	memcpy(tag.path, path, sizeof(tag.path));
	if (pwrite(fd, &tag, sizeof(tag), 0) == (ssize_t)sizeof(tag))
		fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
}

/*
 * Nobody can take pages out of the address space of another process. But with the device
 * went all that is behind its files, so the memory itself can be emptied: loads find zeros,
 * as those from the kernel's page do.
 */
void
emu_share_disassociate(const struct emu_file *file)
{
	const struct hold *hold;

	if (listener < 0)
		return;
	for (unsigned int i = 0; i < CLIENTS; i++) {
		if (clients[i].fd < 0)
			continue;
		LIST_FOREACH(hold, &clients[i].holds, next)
			if (hold->entry->file == file)
				fallocate(hold->entry->fd,
					  FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					  hold->entry->fd_off, (off_t)hold->entry->len);
	}
}
