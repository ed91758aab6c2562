/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "emu.h"
#include "share.h"

/* Longer than a process that still answers takes, also on a busy machine. */
#define TIMEOUT_S 10

/* A process that has opened files which this one was handed; kept for good. */
struct emu_peer {
	LIST_ENTRY(emu_peer) next;
	int fd;                 /* -1: not connected yet */
	char path[EMU_SHARE_PATH];
};

static LIST_HEAD(, emu_peer) peers = LIST_HEAD_INITIALIZER(peers);

/* A range that the peer holds for us. */
struct share {
	struct emu_mmap_entry entry; /* first: the release callback casts back */
	uint64_t id;
};

/* ---- the peer ---- */

static struct emu_peer *
peer_of(const char *path)
{
	struct emu_peer *peer;

	LIST_FOREACH(peer, &peers, next)
		if (strcmp(peer->path, path) == 0)
			return peer;
	peer = calloc(1, sizeof(*peer));
	if (peer == NULL)
		return NULL;
	peer->fd = -1;
	snprintf(peer->path, sizeof(peer->path), "%s", path);
	LIST_INSERT_HEAD(&peers, peer, next);
	return peer;
}

static int
peer_connect(struct emu_peer *peer)
{
	struct timeval timeout = { .tv_sec = TIMEOUT_S };
	struct sockaddr_un addr;
	int dir, fd, err = 0;

	if (peer->fd >= 0)
		return 0;
	dir = peer->path[0] == '\0' ? -ENOENT : emu_share_address(peer->path, &addr);
	if (dir < 0)
		return dir;
	fd = (int)syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) != 0 ||
	    connect(fd, (struct sockaddr *)&addr, sizeof(addr)) != 0)
		err = -errno;
	syscall(SYS_close, dir);
	if (err == 0)
		peer->fd = fd;
	else if (fd >= 0)
		syscall(SYS_close, fd);
	return err;
}

static int
receive(int fd, struct emu_share_msg *msg, int *memory)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { msg, sizeof(*msg) };
	struct msghdr hdr = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			      .msg_controllen = sizeof(control.room) };
	struct cmsghdr *c;

	if (recvmsg(fd, &hdr, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(*msg))
		return -EIO;
	c = CMSG_FIRSTHDR(&hdr);
	if (c != NULL && c->cmsg_type == SCM_RIGHTS)
		memcpy(memory, CMSG_DATA(c), sizeof(*memory));
	return 0;
}

/* Errors are of the way there; what the peer says is in the message. */
static int
call(struct emu_peer *peer, struct emu_share_msg *msg, int *memory)
{
	int err = peer_connect(peer);

	*memory = -1;
	if (err == 0 && syscall(SYS_sendto, peer->fd, msg, sizeof(*msg), MSG_NOSIGNAL, NULL, 0) < 0)
		err = -errno;
	if (err == 0)
		err = receive(peer->fd, msg, memory);
	return err;
}

/* ---- files ---- */

struct emu_file *
emu_share_file(int fd, const struct stat *st)
{
	struct emu_share_tag tag;
	struct emu_file *file;
	struct emu_peer *peer;

	if (st->st_nlink != 0 || st->st_size != (off_t)sizeof(tag) ||
	    pread(fd, &tag, sizeof(tag), 0) != (ssize_t)sizeof(tag) ||
	    memcmp(tag.magic, EMU_SHARE_MAGIC, sizeof(tag.magic)) != 0 ||
	    tag.dev >= emu_dev_count || tag.path[sizeof(tag.path) - 1] != '\0')
		return NULL;
	peer = peer_of(tag.path);
	file = peer == NULL ? NULL : emu_file_new(&emu_devs[tag.dev], st->st_dev, st->st_ino);
	if (file == NULL)
		return NULL;
	file->peer = peer;
	emu_trace("%s: fd %d is a file of another process", file->dev->name, fd);
	return file;
}

static void
share_release(struct emu_mmap_entry *entry)
{
	struct share *share = (struct share *)entry;
	struct emu_share_msg msg = { .type = EMU_SHARE_UNMAP, .id = share->id };
	int memory;

	/* a peer that has ended holds nothing any more */
	call(entry->file->peer, &msg, &memory);
	syscall(SYS_close, entry->fd);
	free(share);
}

static int
share_new(struct emu_file *file, const struct emu_share_msg *msg, int memory,
	  struct emu_mmap_entry **entry)
{
	struct share *share = calloc(1, sizeof(*share));
	int err;

	if (share == NULL)
		return -ENOMEM;
	share->id = msg->id;
	share->entry = (struct emu_mmap_entry){
		.file = file,
		.len = msg->len,
		.fd = memory,
		.fd_off = (off_t)msg->offset,
		.release = share_release,
	};
	err = emu_mmap_entry_add(&share->entry, 0);
	if (err == 0)
		*entry = &share->entry;
	else
		free(share);
	return err;
}

int
emu_share_ask(struct emu_file *file, uint64_t offset, size_t len, int prot, int flags,
	      struct emu_mmap_entry **entry)
{
	struct emu_share_msg msg = {
		.type = EMU_SHARE_MAP, .st_dev = file->st_dev, .st_ino = file->st_ino,
		.offset = offset, .len = len, .prot = prot, .flags = flags,
	};
	int memory, err = call(file->peer, &msg, &memory);

	if (err != 0) {
		fprintf(stderr, "mlx5emu: %s: the process that opened it does not answer: %s\n",
			file->dev->name, strerror(-err));
		return -EIO;
	}
	if (msg.err != 0)
		return msg.err;
	err = memory < 0 ? -EMFILE : share_new(file, &msg, memory, entry);
	if (err == 0)
		return 0;
	if (memory >= 0)
		syscall(SYS_close, memory);
	msg.type = EMU_SHARE_UNMAP;
	call(file->peer, &msg, &memory);
	return err;
}

int
emu_share_refuse_ioctl(void)
{
	static bool told;

	if (!told)
		fprintf(stderr, "mlx5emu: only mappings work on a device that another process "
			"opened; the ioctl fails (EOPNOTSUPP)\n");
	told = true;
	return -EOPNOTSUPP;
}
