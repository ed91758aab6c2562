/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <pthread.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "eswitch.h"
#include "rtnl.h"
#include "sysfs.h"

#define DATAGRAM_MAX 65536      /* the kernel's have up to 32 KiB: netlink_recvmsg() */

static bool
is_rtnetlink(int fd)
{
	int domain = 0, protocol = -1, saved = errno;
	socklen_t len = sizeof(int);
	bool found;

	found = getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 &&
		domain == AF_NETLINK &&
		getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len) == 0 &&
		protocol == NETLINK_ROUTE;
	errno = saved;
	return found;
}

static const struct emu_dev *
port_of_link(const struct nlmsghdr *hdr)
{
	const struct ifinfomsg *info = (const void *)((const uint8_t *)hdr + NLMSG_HDRLEN);
	char name[IF_NAMESIZE];
	unsigned int i;

	if (hdr->nlmsg_type != RTM_NEWLINK || hdr->nlmsg_len < NLMSG_LENGTH(sizeof(*info)) ||
	    if_indextoname((unsigned int)info->ifi_index, name) == NULL)
		return NULL;
	for (i = 0; i < emu_dev_count; i++)
		if (strcmp(emu_devs[i].netdev, name) == 0)
			return &emu_devs[i];
	return NULL;
}

static size_t
put(uint8_t *to, uint16_t type, const void *data, size_t len)
{
	struct rtattr attr = { .rta_type = type, .rta_len = (uint16_t)RTA_LENGTH(len) };

	memset(to, 0, RTA_SPACE(len));
	memcpy(to, &attr, sizeof(attr));
	memcpy(to + RTA_LENGTH(0), data, len);
	return RTA_SPACE(len);
}

/* rtnl_phys_port_name_fill(), which has no zero behind the name, rtnl_phys_switch_id_fill() */
static size_t
put_port(uint8_t *to, const struct emu_dev *port)
{
	char name[EMU_PORT_NAME_LEN];
	uint8_t id[EMU_SWITCH_ID_LEN];
	size_t len;

	emu_sysfs_port_name(port->index, name);
	emu_sysfs_switch_id(id);
	len = put(to, IFLA_PHYS_PORT_NAME, name, strlen(name));
	return len + put(to + len, IFLA_PHYS_SWITCH_ID, id, sizeof(id));
}

size_t
emu_rtnl_extend(uint8_t *to, const uint8_t *from, size_t len)
{
	size_t done = 0, out = 0, part;
	const struct emu_dev *port;
	struct nlmsghdr *copy;

	for (; len - done >= sizeof(struct nlmsghdr); done += part) {
		const struct nlmsghdr *hdr = (const struct nlmsghdr *)(from + done);

		if (hdr->nlmsg_len < sizeof(*hdr) || hdr->nlmsg_len > len - done)
			break;
		part = NLMSG_ALIGN(hdr->nlmsg_len);
		if (part > len - done)
			part = len - done;
		copy = (struct nlmsghdr *)memcpy(to + out, hdr, part);
		out += part;
		port = port_of_link(hdr);
		if (port == NULL)
			continue;
		out += put_port(to + out, port);
		copy->nlmsg_len = (uint32_t)(to + out - (uint8_t *)copy);
	}
	memcpy(to + out, from + done, len - done);
	return out + len - done;
}

/* netlink_recvmsg(): what has no room is cut off, and MSG_TRUNC asks for the whole length. */
static ssize_t
hand_over(struct msghdr *msg, int flags, const uint8_t *data, size_t len)
{
	size_t done = 0, part, i;

	for (i = 0; i < msg->msg_iovlen && done < len; i++, done += part) {
		part = msg->msg_iov[i].iov_len < len - done ? msg->msg_iov[i].iov_len : len - done;
		if (part > 0)
			memcpy(msg->msg_iov[i].iov_base, data + done, part);
	}
	if (done < len)
		msg->msg_flags |= MSG_TRUNC;
	return (ssize_t)(flags & MSG_TRUNC ? len : done);
}

/*
 * EAL ends its threads by cancelling them in recvmsg(). A bare system call is no point for
 * that; recvmmsg() is, and nobody interposes it.
 */
ssize_t
emu_rtnl_recvmsg(int fd, struct msghdr *msg, int flags)
{
	struct mmsghdr one = { .msg_hdr = *msg };
	int n = recvmmsg(fd, &one, 1, flags, NULL);

	if (n < 0)
		return n;
	*msg = one.msg_hdr;
	return one.msg_len;
}

static ssize_t
receive(int fd, struct msghdr *msg, int flags, uint8_t *room)
{
	struct iovec iov = { room, DATAGRAM_MAX };
	uint8_t *more = room + DATAGRAM_MAX;
	struct msghdr all = *msg;
	ssize_t len;

	all.msg_iov = &iov;
	all.msg_iovlen = 1;
	len = emu_rtnl_recvmsg(fd, &all, flags & ~MSG_TRUNC);
	if (len < 0)
		return len;
	msg->msg_namelen = all.msg_namelen;
	msg->msg_controllen = all.msg_controllen;
	msg->msg_flags = all.msg_flags;
	return hand_over(msg, flags, more, emu_rtnl_extend(more, room, (size_t)len));
}

bool
emu_rtnl_receive(int fd, struct msghdr *msg, int flags, ssize_t *ret)
{
	uint8_t *room;

	if (!emu_eswitch_on(&emu_devs[0]) || !is_rtnetlink(fd))
		return false;
	/* as received and extended: a message gets no longer than twice its length */
	room = malloc(3 * DATAGRAM_MAX);
	*ret = -1;
	if (room == NULL)
		return true;
	pthread_cleanup_push(free, room);
	*ret = receive(fd, msg, flags, room);
	pthread_cleanup_pop(1);
	return true;
}
