/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/* Or the headers make open() another name of open64(), and both are defined here. */
#undef _FILE_OFFSET_BITS

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <rdma/rdma_user_ioctl_cmds.h>

#include "card.h"
#include "emu.h"
#include "event.h"
#include "guard.h"
#include "netdev.h"
#include "nldev.h"
#include "rtnl.h"
#include "share.h"
#include "shim.h"
#include "uapi.h"

/*
 * The libc calls through which a process reaches an RDMA device. Each wrapper makes
 * the system call itself rather than look up the next definition, so that it works
 * before any constructor has run.
 *
 * An open of /dev/infiniband/uverbsN becomes a memfd: its inode is the identity of
 * the open file, which a dup(2) or a descriptor sent to another thread keeps, and
 * fstat(2) shows it as the character device that the generated sysfs names.
 */

#define NODE_DIR "/dev/infiniband/uverbs"

/* ---- which device a path or a descriptor is ---- */

static struct emu_dev *
dev_of_path(const char *path)
{
	unsigned long n;
	char *end;

	if (emu_dev_count == 0 || path == NULL ||
	    strncmp(path, NODE_DIR, sizeof(NODE_DIR) - 1) != 0)
		return NULL;
	path += sizeof(NODE_DIR) - 1;
	n = strtoul(path, &end, 10);
	return end != path && *end == '\0' && n < emu_dev_count && emu_devs[n].device == NULL ?
	       &emu_devs[n] : NULL;
}

static int
real_fstat(int fd, struct stat *st)
{
	return syscall(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH);
}

/* Call under the lock. */
static struct emu_file *
file_of_stat(int fd, const struct stat *st)
{
	struct emu_file *file = emu_file_find(st->st_dev, st->st_ino);

	return file != NULL ? file : emu_share_file(fd, st);
}

struct emu_file *
emu_file_of_fd(int fd)
{
	struct stat st;
	int saved = errno;
	bool found = real_fstat(fd, &st) == 0 && S_ISREG(st.st_mode);

	errno = saved;
	return found ? file_of_stat(fd, &st) : NULL;
}

static void
show_as_node(struct stat *st, const struct emu_dev *dev)
{
	st->st_mode = S_IFCHR | 0666;
	st->st_rdev = makedev(EMU_NODE_MAJOR, EMU_NODE_MINOR + dev->index);
	st->st_size = 0;
}

/* ---- open and stat ---- */

/* Whether cdev_device_del() took the node away; the engine may be about to. */
static bool
node_is_gone(const struct emu_dev *dev)
{
	bool gone;

	emu_lock();
	gone = dev->removed;
	emu_unlock();
	return gone;
}

static int
open_node(struct emu_dev *dev, int flags)
{
	struct emu_file *file = NULL;
	struct stat st;
	int fd;

	errno = node_is_gone(dev) ? ENOENT : dev->cfg->fault.node_errno;
	if (errno != 0)
		return -1;
	fd = memfd_create("mlx5emu-uverbs",
			  MFD_ALLOW_SEALING | (flags & O_CLOEXEC ? MFD_CLOEXEC : 0));
	if (fd < 0)
		return -1;
	emu_lock();
	emu_share_tag(fd, dev);
	if (real_fstat(fd, &st) == 0)
		file = emu_file_new(dev, st.st_dev, st.st_ino);
	emu_trace("%s: open -> fd %d", dev->name, fd);
	emu_unlock();
	if (file == NULL) {
		syscall(SYS_close, fd);
		errno = ENOMEM;
		return -1;
	}
	return fd;
}

static int
do_open(int dirfd, const char *path, int flags, mode_t mode)
{
	struct emu_dev *dev = dev_of_path(path);
	int fd;

	if (dev != NULL)
		return open_node(dev, flags);
	fd = emu_netdev_open_counter(path, flags);
	return fd >= 0 ? fd : (int)syscall(SYS_openat, dirfd, path, flags, mode);
}

static mode_t
mode_arg(int flags, va_list ap)
{
	return flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, mode_t) : 0;
}

#define DEFINE_OPEN(name, extra) \
EXPORT int name(const char *path, int flags, ...); \
EXPORT int name(const char *path, int flags, ...) \
{ \
	va_list ap; \
	mode_t mode; \
	va_start(ap, flags); \
	mode = mode_arg(flags, ap); \
	va_end(ap); \
	return do_open(AT_FDCWD, path, flags | (extra), mode); \
}

#define DEFINE_OPENAT(name, extra) \
EXPORT int name(int dirfd, const char *path, int flags, ...); \
EXPORT int name(int dirfd, const char *path, int flags, ...) \
{ \
	va_list ap; \
	mode_t mode; \
	va_start(ap, flags); \
	mode = mode_arg(flags, ap); \
	va_end(ap); \
	return do_open(dirfd, path, flags | (extra), mode); \
}

/* On 64-bit machines O_LARGEFILE is 0 and both names mean the same. */
DEFINE_OPEN(open, 0)
DEFINE_OPEN(open64, O_LARGEFILE)
DEFINE_OPENAT(openat, 0)
DEFINE_OPENAT(openat64, O_LARGEFILE)

static int
do_stat(const char *path, struct stat *st, int flags)
{
	struct emu_dev *dev = dev_of_path(path);

	if (dev == NULL)
		return syscall(SYS_newfstatat, AT_FDCWD, path, st, flags);
	if (node_is_gone(dev) || dev->cfg->fault.node_errno == ENOENT) {
		errno = ENOENT;
		return -1;
	}
	memset(st, 0, sizeof(*st));
	st->st_nlink = 1;
	show_as_node(st, dev);
	return 0;
}

static int
do_fstat(int fd, struct stat *st)
{
	int ret = real_fstat(fd, st);
	struct emu_file *file;

	if (ret != 0 || emu_dev_count == 0 || emu_locked_here() || !S_ISREG(st->st_mode))
		return ret;
	emu_lock();
	file = file_of_stat(fd, st);
	if (file != NULL)
		show_as_node(st, file->dev);
	emu_unlock();
	return 0;
}

EXPORT int
stat(const char *path, struct stat *st)
{
	return do_stat(path, st, 0);
}

EXPORT int
lstat(const char *path, struct stat *st)
{
	return do_stat(path, st, AT_SYMLINK_NOFOLLOW);
}

EXPORT int
fstat(int fd, struct stat *st)
{
	return do_fstat(fd, st);
}

/* struct stat64 is struct stat on 64-bit machines. */
EXPORT int
stat64(const char *path, struct stat64 *st)
{
	return do_stat(path, (struct stat *)st, 0);
}

EXPORT int
fstat64(int fd, struct stat64 *st)
{
	return do_fstat(fd, (struct stat *)st);
}

/* What these were called before glibc 2.33: for old programs, and for libtsan's fstat(). */
#define DEFINE_OLD_STAT(name, key, call) \
EXPORT int name(int version, key, struct stat *st); \
EXPORT int name(int version, key, struct stat *st) \
{ \
	(void)version; \
	return call; \
}

DEFINE_OLD_STAT(__xstat, const char *path, do_stat(path, st, 0))
DEFINE_OLD_STAT(__xstat64, const char *path, do_stat(path, st, 0))
DEFINE_OLD_STAT(__lxstat, const char *path, do_stat(path, st, AT_SYMLINK_NOFOLLOW))
DEFINE_OLD_STAT(__lxstat64, const char *path, do_stat(path, st, AT_SYMLINK_NOFOLLOW))
DEFINE_OLD_STAT(__fxstat, int fd, do_fstat(fd, st))
DEFINE_OLD_STAT(__fxstat64, int fd, do_fstat(fd, st))

/* ---- close ---- */

/* Whether a descriptor other than the emulator's own still names an inode. */
static bool
inode_is_open(dev_t dev, ino_t ino, int own_fd)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	bool found = false;
	struct stat st;
	int fd;

	if (dir == NULL)
		return false;
	while (!found && (entry = readdir(dir)) != NULL) {
		fd = atoi(entry->d_name);
		found = entry->d_name[0] != '.' && fd != own_fd && fd != dirfd(dir) &&
			real_fstat(fd, &st) == 0 && st.st_dev == dev && st.st_ino == ino;
	}
	closedir(dir);
	return found;
}

static void
fd_closed(const struct stat *st)
{
	struct emu_file *file;
	int own_fd = -1;

	emu_lock();
	file = emu_file_find(st->st_dev, st->st_ino);
	if (file != NULL && !inode_is_open(st->st_dev, st->st_ino, -1)) {
		file->fds_open = false;
		emu_file_put(file);
	} else if (emu_channel_find(st->st_dev, st->st_ino, &own_fd) &&
		   !inode_is_open(st->st_dev, st->st_ino, own_fd)) {
		emu_channel_closed(st->st_dev, st->st_ino);
	}
	emu_unlock();
}

EXPORT int
close(int fd)
{
	struct stat st;
	int ret, saved = errno;
	/* who holds the lock closes nothing of the card's by this name */
	bool known = emu_dev_count > 0 && !emu_locked_here() && real_fstat(fd, &st) == 0 &&
		     (S_ISREG(st.st_mode) || S_ISSOCK(st.st_mode));

	errno = saved;
	ret = syscall(SYS_close, fd);
	if (known && ret == 0) {
		fd_closed(&st);
		emu_nldev_closed(&st);
	}
	return ret;
}

/* ---- ioctl ---- */

EXPORT int
ioctl(int fd, unsigned long request, ...)
{
	struct emu_file *file = NULL;
	va_list ap;
	void *arg;
	int err = 0;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (emu_dev_count > 0 && emu_netdev_ioctl(fd, request, arg, &err))
		return err;
	/* nobody changes a child's list of files, so it needs no lock */
	if (emu_forked && (unsigned int)request == (unsigned int)RDMA_VERBS_IOCTL &&
	    emu_file_of_fd(fd) != NULL)
		return emu_refuse_child("ioctl");
	if (emu_dev_count == 0 || (unsigned int)request != (unsigned int)RDMA_VERBS_IOCTL)
		return syscall(SYS_ioctl, fd, request, arg);
	emu_lock();
	file = emu_file_of_fd(fd);
	if (file != NULL)
		err = file->peer != NULL ? emu_share_refuse_ioctl() : emu_uapi_ioctl(file, arg);
	emu_unlock();
	if (file == NULL)
		return syscall(SYS_ioctl, fd, request, arg);
	emu_card_changed();
	if (err == 0)
		return 0;
	errno = -err;
	return -1;
}

/* ---- signals ---- */

EXPORT EMU_NO_TSAN int
sigaction(int sig, const struct sigaction *action, struct sigaction *old)
{
	return emu_guard_sigaction(sig, action, old);
}

/* As glibc's, which makes the system call itself: BSD's signal(). */
EXPORT sighandler_t
signal(int sig, sighandler_t handler)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART }, old;

	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, sig);
	return sigaction(sig, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

/* ---- netlink ---- */

EXPORT int
socket(int domain, int type, int protocol)
{
	if (emu_dev_count > 0 && domain == AF_NETLINK && protocol == NETLINK_RDMA)
		return emu_nldev_socket(type);
	return syscall(SYS_socket, domain, type, protocol);
}

EXPORT ssize_t
sendmsg(int fd, const struct msghdr *msg, int flags)
{
	ssize_t ret;

	if (emu_dev_count > 0 && emu_nldev_send(fd, msg, &ret))
		return ret;
	return syscall(SYS_sendmsg, fd, msg, flags);
}

/* The libraries of iproute2 and others send with these; one knows no destination. */
EXPORT ssize_t
sendto(int fd, const void *buf, size_t len, int flags, const struct sockaddr *to, socklen_t to_len)
{
	struct iovec iov = { (void *)(uintptr_t)buf, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t ret;

	if (emu_dev_count > 0 && emu_nldev_send(fd, &msg, &ret))
		return ret;
	return syscall(SYS_sendto, fd, buf, len, flags, to, to_len);
}

EXPORT ssize_t
send(int fd, const void *buf, size_t len, int flags)
{
	return sendto(fd, buf, len, flags, NULL, 0);
}

EXPORT ssize_t
recvmsg(int fd, struct msghdr *msg, int flags)
{
	ssize_t ret;

	if (emu_dev_count > 0 && emu_rtnl_receive(fd, msg, flags, &ret))
		return ret;
	return emu_rtnl_recvmsg(fd, msg, flags);
}
