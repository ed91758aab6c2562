/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_netlink.h>

#include "card.h"
#include "emu.h"
#include "eswitch.h"
#include "nldev.h"

/*
 * The process gets a real netlink socket, of the protocol that is free for use between
 * processes: binding, buffers and polling need no answers of ours. What it sends is
 * taken before it reaches the kernel; a second such socket sends the answers.
 */
#define MAX_SOCKETS 64
#define ROOM 1024               /* of an answer; the longest has some 300 bytes */

static struct {
	dev_t dev;
	ino_t ino;
} sockets[MAX_SOCKETS];
static atomic_uint n_sockets;  /* changes under the lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct answer {
	const struct nlmsghdr *to;
	int fd;                 /* that sends it */
	struct sockaddr_nl dest;
	union {
		struct nlmsghdr hdr;
		uint8_t room[ROOM];
	};
};

/* ---- messages ---- */

static void
begin(struct answer *a, uint16_t type, uint16_t flags)
{
	memset(a->room, 0, sizeof(a->room));
	a->hdr.nlmsg_len = NLMSG_HDRLEN;
	a->hdr.nlmsg_type = type;
	a->hdr.nlmsg_flags = flags;
	a->hdr.nlmsg_seq = a->to->nlmsg_seq;
	a->hdr.nlmsg_pid = a->dest.nl_pid;
}

static void
put(struct answer *a, uint16_t type, const void *data, size_t len)
{
	struct nlattr *attr = (struct nlattr *)(a->room + a->hdr.nlmsg_len);

	attr->nla_type = type;
	attr->nla_len = (uint16_t)(NLA_HDRLEN + len);
	memcpy((uint8_t *)attr + NLA_HDRLEN, data, len);
	a->hdr.nlmsg_len += NLA_ALIGN(attr->nla_len);
}

static void
put_u8(struct answer *a, uint16_t type, uint8_t value)
{
	put(a, type, &value, sizeof(value));
}

static void
put_u32(struct answer *a, uint16_t type, uint32_t value)
{
	put(a, type, &value, sizeof(value));
}

static void
put_u64(struct answer *a, uint16_t type, uint64_t value)
{
	put(a, type, &value, sizeof(value));
}

static void
put_string(struct answer *a, uint16_t type, const char *text)
{
	put(a, type, text, strlen(text) + 1);
}

static void
send_it(struct answer *a)
{
	/* not by libc's name, which comes back to emu_nldev_send() */
	syscall(SYS_sendto, a->fd, a->room, a->hdr.nlmsg_len, 0, &a->dest, sizeof(a->dest));
}

/* netlink_ack(), or the end of a dump with error 0 */
static void
send_end(struct answer *a, uint16_t type, int error)
{
	struct nlmsgerr err = { .error = error, .msg = *a->to };

	begin(a, type, type == NLMSG_DONE ? NLM_F_MULTI : 0);
	memcpy(a->room + NLMSG_HDRLEN, &err, sizeof(err));
	a->hdr.nlmsg_len += type == NLMSG_DONE ? sizeof(int) : sizeof(err);
	send_it(a);
}

/* Value of an u32 attribute of a request, or UINT32_MAX. */
static uint32_t
get_u32(const struct nlmsghdr *hdr, uint16_t type)
{
	size_t off = NLMSG_HDRLEN;
	uint32_t value;

	while (off + NLA_HDRLEN <= hdr->nlmsg_len) {
		const struct nlattr *attr = (const void *)((const uint8_t *)hdr + off);

		if (attr->nla_len < NLA_HDRLEN || attr->nla_len > hdr->nlmsg_len - off)
			break;
		if ((attr->nla_type & NLA_TYPE_MASK) == type &&
		    attr->nla_len == NLA_HDRLEN + sizeof(value)) {
			memcpy(&value, (const uint8_t *)attr + NLA_HDRLEN, sizeof(value));
			return value;
		}
		off += NLA_ALIGN(attr->nla_len);
	}
	return UINT32_MAX;
}

/* ---- commands ---- */

static uint64_t
guid(const struct emu_dev *dev)
{
	const uint8_t *m = dev->mac;

	return (uint64_t)m[0] << 56 | (uint64_t)m[1] << 48 | (uint64_t)m[2] << 40 |
	       0x0300000000ull | m[3] << 16 | m[4] << 8 | m[5];
}

/* fill_nldev_handle() */
static void
put_handle(struct answer *a, const struct emu_dev *dev)
{
	put_u32(a, RDMA_NLDEV_ATTR_DEV_INDEX, dev->index);
	put_string(a, RDMA_NLDEV_ATTR_DEV_NAME, dev->name);
}

/* fill_dev_info() */
static int
device(struct answer *a, const struct emu_dev *dev)
{
	const struct emu_preset *p = dev->preset;
	char fw[32];

	snprintf(fw, sizeof(fw), "%u.%u.%04u", p->fw[0], p->fw[1], p->fw[2]);
	put_handle(a, dev);
	put_u32(a, RDMA_NLDEV_ATTR_PORT_INDEX, emu_port_count(dev)); /* rdma_end_port() */
	put_string(a, RDMA_NLDEV_ATTR_FW_VERSION, fw);
	put_u64(a, RDMA_NLDEV_ATTR_NODE_GUID, guid(dev));
	put_u64(a, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, guid(&emu_devs[0]));
	put_u8(a, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, IBV_NODE_CA);
	put_string(a, RDMA_NLDEV_ATTR_DEV_PROTOCOL, "roce");
	return 0;
}

/* fill_port_info() */
static void
put_port(struct answer *a, const struct emu_dev *port)
{
	unsigned int netdev = if_nametoindex(port->netdev);

	put_handle(a, emu_ib_device(port));
	put_u32(a, RDMA_NLDEV_ATTR_PORT_INDEX, emu_port_number(port));
	put_u8(a, RDMA_NLDEV_ATTR_PORT_STATE, port->link_down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE);
	put_u8(a, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, port->link_down ? 3 : 5);
	if (netdev != 0) {
		put_u32(a, RDMA_NLDEV_ATTR_NDEV_INDEX, netdev);
		put_string(a, RDMA_NLDEV_ATTR_NDEV_NAME, port->netdev);
	}
}

/* nldev_get_chardev(); uverbs is the only client whose nodes there are */
static int
chardev(struct answer *a, const struct emu_dev *dev)
{
	uint32_t minor = EMU_NODE_MINOR + dev->index;
	char name[16];

	snprintf(name, sizeof(name), "uverbs%u", dev->index);
	put_u32(a, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, RDMA_DRIVER_MLX5);
	/* huge_encode_dev() */
	put_u64(a, RDMA_NLDEV_ATTR_CHARDEV,
		(minor & 0xff) | EMU_NODE_MAJOR << 8 | (uint64_t)(minor & ~0xffu) << 12);
	put_u64(a, RDMA_NLDEV_ATTR_CHARDEV_ABI, 1); /* MLX5_IB_UVERBS_ABI_VERSION */
	put_string(a, RDMA_NLDEV_ATTR_CHARDEV_NAME, name);
	return 0;
}

/* nldev_sys_get_doit(); the process sees its pages through fork() as before */
static void
system_info(struct answer *a)
{
	begin(a, a->to->nlmsg_type, 0);
	put_u8(a, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 1);
	put_u8(a, RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, 1);
	send_it(a);
}

static const struct emu_dev *
device_of_index(uint32_t index)
{
	if (index >= emu_dev_count || emu_devs[index].device != NULL || emu_devs[index].removed)
		return NULL;
	return &emu_devs[index];
}

/* nldev_port_get_doit(), nldev_port_get_dumpit(): one port, or those of one device */
static int
ports(struct answer *a)
{
	const struct emu_dev *dev = device_of_index(get_u32(a->to, RDMA_NLDEV_ATTR_DEV_INDEX));
	uint32_t number = get_u32(a->to, RDMA_NLDEV_ATTR_PORT_INDEX);
	const struct emu_dev *port;

	if (get_u32(a->to, RDMA_NLDEV_ATTR_DEV_INDEX) == UINT32_MAX)
		return -EINVAL;
	if (!(a->to->nlmsg_flags & NLM_F_DUMP)) {
		if (number == UINT32_MAX)
			return -EINVAL;
		if (dev == NULL)
			return -ENODEV;
		port = emu_port_find(dev, number);
		if (port == NULL)
			return -EINVAL;
		begin(a, a->to->nlmsg_type, 0);
		put_port(a, port);
		send_it(a);
		return 0;
	}
	if (dev == NULL)
		return -ENODEV;
	for (number = 1; (port = emu_port_find(dev, number)) != NULL; number++) {
		begin(a, a->to->nlmsg_type, NLM_F_MULTI);
		put_port(a, port);
		send_it(a);
	}
	send_end(a, NLMSG_DONE, 0);
	return 0;
}

/* One device, or all of them. Returns 0 or a negative errno. */
static int
devices(struct answer *a, int (*fill)(struct answer *a, const struct emu_dev *dev))
{
	uint32_t index = get_u32(a->to, RDMA_NLDEV_ATTR_DEV_INDEX);
	unsigned int i;

	if (!(a->to->nlmsg_flags & NLM_F_DUMP)) {
		if (index == UINT32_MAX)
			return -EINVAL;
		if (device_of_index(index) == NULL)
			return -ENODEV;
		begin(a, a->to->nlmsg_type, 0);
		fill(a, &emu_devs[index]);
		send_it(a);
		return 0;
	}
	for (i = 0; i < emu_dev_count; i++) {
		if (device_of_index(i) == NULL)
			continue;
		begin(a, a->to->nlmsg_type, NLM_F_MULTI);
		fill(a, &emu_devs[i]);
		send_it(a);
	}
	send_end(a, NLMSG_DONE, 0);
	return 0;
}

static bool
asks_for_uverbs(const struct nlmsghdr *hdr)
{
	static const char type[] = "uverbs";
	const uint8_t *p = (const uint8_t *)hdr;

	return memmem(p + NLMSG_HDRLEN, hdr->nlmsg_len - NLMSG_HDRLEN, type, sizeof(type)) != NULL;
}

static int
command(struct answer *a)
{
	uint16_t type = a->to->nlmsg_type;

	if (type == RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET))
		return devices(a, device);
	if (type == RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_PORT_GET))
		return ports(a);
	if (type == RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET_CHARDEV) &&
	    asks_for_uverbs(a->to))
		return devices(a, chardev);
	if (type == RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET)) {
		system_info(a);
		return 0;
	}
	emu_trace("RDMA netlink type 0x%x is not emulated", type);
	return -EOPNOTSUPP;
}

/* rdma_nl_rcv_skb(): an error is always told, success where an answer was asked for. */
static void
request(struct answer *a)
{
	int err = command(a);

	if (err != 0 || ((a->to->nlmsg_flags & NLM_F_ACK) && !(a->to->nlmsg_flags & NLM_F_DUMP)))
		send_end(a, NLMSG_ERROR, err);
}

/* ---- sockets ---- */

int
emu_nldev_socket(int type)
{
	struct stat st;
	int fd;

	fd = syscall(SYS_socket, AF_NETLINK, type, NETLINK_USERSOCK);
	if (fd < 0)
		return -1;
	pthread_mutex_lock(&lock);
	if (n_sockets < MAX_SOCKETS &&
	    syscall(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) == 0) {
		sockets[n_sockets].dev = st.st_dev;
		sockets[n_sockets++].ino = st.st_ino;
	} else {
		syscall(SYS_close, fd);
		fd = -1;
		errno = EMFILE;
	}
	pthread_mutex_unlock(&lock);
	return fd;
}

static int
find(const struct stat *st)
{
	unsigned int i;

	for (i = 0; i < n_sockets; i++)
		if (sockets[i].dev == st->st_dev && sockets[i].ino == st->st_ino)
			return (int)i;
	return -1;
}

void
emu_nldev_closed(const struct stat *st)
{
	int i;

	pthread_mutex_lock(&lock);
	i = find(st);
	if (i >= 0)
		sockets[i] = sockets[--n_sockets];
	pthread_mutex_unlock(&lock);
}

static bool
is_ours(int fd)
{
	int saved = errno;
	struct stat st;
	bool ours;

	if (n_sockets == 0)
		return false;
	if (syscall(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) != 0 || !S_ISSOCK(st.st_mode)) {
		errno = saved;
		return false;
	}
	pthread_mutex_lock(&lock);
	ours = find(&st) >= 0;
	pthread_mutex_unlock(&lock);
	return ours;
}

static size_t
gather(const struct msghdr *msg, uint8_t *buf, size_t room)
{
	size_t len = 0, i;

	for (i = 0; i < msg->msg_iovlen; i++) {
		if (msg->msg_iov[i].iov_len > room - len)
			return 0;
		memcpy(buf + len, msg->msg_iov[i].iov_base, msg->msg_iov[i].iov_len);
		len += msg->msg_iov[i].iov_len;
	}
	return len;
}

/* Each message of what was sent. */
static void
answer_all(struct answer *a, const uint8_t *buf, size_t len)
{
	const struct nlmsghdr *hdr = (const struct nlmsghdr *)buf;
	size_t off = 0;

	emu_lock();
	while (off + NLMSG_HDRLEN <= len) {
		hdr = (const struct nlmsghdr *)(buf + off);
		if (hdr->nlmsg_len < NLMSG_HDRLEN || hdr->nlmsg_len > len - off)
			break;
		a->to = hdr;
		request(a);
		off += NLMSG_ALIGN(hdr->nlmsg_len);
	}
	emu_unlock();
}

bool
emu_nldev_send(int fd, const struct msghdr *msg, ssize_t *ret)
{
	uint8_t buf[4096] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct answer a = { .dest = { .nl_family = AF_NETLINK } };
	socklen_t size = sizeof(a.dest);
	size_t len;

	if (!is_ours(fd))
		return false;
	*ret = -1;
	len = gather(msg, buf, sizeof(buf));
	if (len == 0) {
		errno = EMSGSIZE;
		return true;
	}
	if (getsockname(fd, (struct sockaddr *)&a.dest, &size) != 0)
		return true;
	a.fd = syscall(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK);
	if (a.fd < 0)
		return true;
	answer_all(&a, buf, len);
	syscall(SYS_close, a.fd);
	*ret = (ssize_t)len;
	return true;
}
