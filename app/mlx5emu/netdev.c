/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "launcher.h"
#include "sysfs.h"

#define TUN "/dev/net/tun"

static int
set_up(int sock, const char *name)
{
	struct ifreq req = { .ifr_flags = 0 };

	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", name);
	if (ioctl(sock, SIOCGIFFLAGS, &req) < 0)
		return -1;
	req.ifr_flags |= IFF_UP | IFF_RUNNING;
	return ioctl(sock, SIOCSIFFLAGS, &req);
}

static int
set_mac(int sock, const char *name, unsigned int port)
{
	struct ifreq req = { .ifr_hwaddr.sa_family = ARPHRD_ETHER };
	uint8_t mac[EMU_MAC_LEN];

	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", name);
	emu_sysfs_mac(port, mac);
	memcpy(req.ifr_hwaddr.sa_data, mac, sizeof(mac));
	return ioctl(sock, SIOCSIFHWADDR, &req);
}

/* Containers often lack the node though the kernel has the driver: c 10 200 it is. */
static int
open_tun_by_number(const char *dir)
{
	char path[PATH_MAX + 8];
	int fd;

	snprintf(path, sizeof(path), "%s/tun", dir);
	if (mknod(path, S_IFCHR | 0600, makedev(10, 200)) < 0)
		return -1;
	fd = open(path, O_RDWR | O_CLOEXEC);
	unlink(path);
	return fd;
}

static int
open_tun(const char *dir)
{
	int fd = open(TUN, O_RDWR | O_CLOEXEC), err = errno;

	if (fd < 0 && err == ENOENT)
		fd = open_tun_by_number(dir);
	if (fd < 0)
		complain(err, "cannot open " TUN "; load the driver (modprobe tun) or, in a "
			 "container, hand the node in (--device " TUN ")");
	return fd;
}

/*
 * The descriptor COMMAND inherits: away from the low numbers, which programs close or
 * count on. Not waiting is a property of the open file, so of both descriptors.
 */
#define INHERITED_FD 200

static int
hand_down(struct launch *l, unsigned int port, int fd)
{
	int flags = fcntl(fd, F_GETFL);

	l->cfg.tap_fds[port] = fcntl(fd, F_DUPFD, INHERITED_FD);
	if (l->cfg.tap_fds[port] < 0 || flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
		complain(errno, "cannot hand emu%u down to the command", port);
		return -1;
	}
	return 0;
}

static int
make_tap(struct launch *l, int sock, unsigned int port)
{
	struct ifreq req = { .ifr_flags = IFF_TAP | IFF_NO_PI };
	int fd = open_tun(l->cfg.dir);

	if (fd < 0)
		return -1;
	l->taps[l->n_taps++] = fd;
	snprintf(req.ifr_name, sizeof(req.ifr_name), "emu%u", port);
	if (ioctl(fd, TUNSETIFF, &req) == 0 && set_mac(sock, req.ifr_name, port) == 0 &&
	    set_up(sock, req.ifr_name) == 0)
		return l->cfg.wire == EMU_WIRE_TAP ? hand_down(l, port, fd) : 0;
	complain(errno, "cannot make the network device emu%u%s", port, errno != EPERM ? "" :
		 "; is there a rule against unprivileged user namespaces "
		 "(sysctl kernel.apparmor_restrict_unprivileged_userns)?");
	return -1;
}

int
netdevs_make(struct launch *l)
{
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), ret = 0;
	unsigned int port;

	if (sock < 0 || set_up(sock, "lo") < 0) {
		complain(errno, "cannot bring the loopback device up");
		ret = -1;
	}
	for (port = 0; port < l->cfg.ports && ret == 0; port++)
		ret = make_tap(l, sock, port);
	if (sock >= 0)
		close(sock);
	return ret;
}
