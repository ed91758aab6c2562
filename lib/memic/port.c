/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <dirent.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "port.h"
#include "prm.h"
#include "private.h"

#define ETH_MTU 1500

/*
 * What sysfs and sockets do not tell for want of descriptors or memory is not known; all
 * else that fails says that there is no interface here.
 */
static int
shortage(void)
{
	return errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS ?
	       errno : 0;
}

static bool
read_number(const char *path, unsigned int *value, int *err)
{
	FILE *f = fopen(path, "re");
	bool ok;

	if (f == NULL) {
		*err = shortage();
		return false;
	}
	ok = fscanf(f, "%i", (int *)value) == 1;
	fclose(f);
	return ok;
}

/* The interface of a port: dev_port counts from 0 and is the same for single ports. */
static bool
find_netdev(const struct ibv_device *ibdev, unsigned int port, char name[IFNAMSIZ], int *err)
{
	char path[IBV_SYSFS_PATH_MAX + 300];
	const struct dirent *entry;
	unsigned int dev_port;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/device/net", ibdev->ibdev_path);
	dir = opendir(path);
	if (dir == NULL) {
		*err = shortage();
		return false;
	}
	while (!found && *err == 0 && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= IFNAMSIZ)
			continue;
		snprintf(path, sizeof(path), "%s/device/net/%s/dev_port", ibdev->ibdev_path,
			 entry->d_name);
		found = read_number(path, &dev_port, err) && dev_port == port - 1;
		if (found)
			snprintf(name, IFNAMSIZ, "%.*s", IFNAMSIZ - 1, entry->d_name);
	}
	closedir(dir);
	return found;
}

/* In switchdev mode the driver has a switch id to tell, else the file cannot be read. */
static bool
is_switchdev(const struct ibv_device *ibdev, const char *name, int *err)
{
	char path[IBV_SYSFS_PATH_MAX + 300];
	FILE *f;
	int c;

	snprintf(path, sizeof(path), "%s/device/net/%s/phys_switch_id", ibdev->ibdev_path, name);
	f = fopen(path, "re");
	if (f == NULL) {
		*err = shortage();
		return false;
	}
	c = fgetc(f);
	fclose(f);
	return c != EOF && c != '\n';
}

/* The address that the interface has now is the one that the switch sends back. */
static bool
query_netdev(const char *name, struct memic_port *out, int *err)
{
	struct ifreq req = { 0 };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ok;

	if (fd < 0) {
		*err = shortage();
		return false;
	}
	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", name);
	ok = ioctl(fd, SIOCGIFHWADDR, &req) == 0;
	if (ok)
		memcpy(out->mac, req.ifr_hwaddr.sa_data, sizeof(out->mac));
	ok = ok && ioctl(fd, SIOCGIFMTU, &req) == 0;
	if (ok)
		out->mtu = (unsigned int)req.ifr_mtu;
	ok = ok && ioctl(fd, SIOCGIFFLAGS, &req) == 0;
	if (ok)
		out->up = req.ifr_flags & IFF_UP;
	close(fd);
	return ok;
}

/* The function's own address as firmware knows it, for interfaces in other namespaces. */
static int
query_vport(const struct memic_device *dev, struct memic_port *out)
{
	uint32_t in[4] = { 0 };
	uint32_t res[(PRM_VPORT_AT + PRM_VPORT_BYTES * 8) / 32] = { 0 };
	uint64_t mac;
	int err, i;

	prm_set(in, 0, PRM_IN_OPCODE, PRM_OP_QUERY_NIC_VPORT_CONTEXT);
	err = memic_verbs_errno(mlx5dv_devx_general_cmd(dev->ctx, in, sizeof(in), res,
							sizeof(res)));
	if (err != 0)
		return err;
	mac = prm_get(res, PRM_VPORT_AT, PRM_VPORT_MAC_HIGH) << 32 |
	      prm_get(res, PRM_VPORT_AT, PRM_VPORT_MAC_LOW);
	for (i = 0; i < 6; i++)
		out->mac[i] = (uint8_t)(mac >> (40 - 8 * i));
	return mac != 0 ? 0 : ENODATA;
}

int
memic_port_query(const struct memic_device *dev, unsigned int port, struct memic_port *out)
{
	struct ibv_port_attr attr = { 0 };
	char name[IFNAMSIZ];
	int err, unknown = 0;

	err = memic_verbs_errno(ibv_query_port(dev->ctx, (uint8_t)port, &attr));
	if (err != 0)
		return memic_fail(err, "ibv_query_port of port %u of %s: %s: ports count from 1",
				  port, dev->caps.name, memic_errno_name(err));
	if (attr.link_layer != IBV_LINK_LAYER_ETHERNET)
		return memic_fail(EOPNOTSUPP, "port %u of %s: EOPNOTSUPP: its link layer is not "
				  "Ethernet: set LINK_TYPE with mlxconfig", port, dev->caps.name);
	*out = (struct memic_port){ .mtu = ETH_MTU, .up = true };
	out->active = attr.state == IBV_PORT_ACTIVE;
	out->netdev = find_netdev(dev->ctx->device, port, name, &unknown) &&
		      query_netdev(name, out, &unknown);
	if (out->netdev)
		out->switchdev = is_switchdev(dev->ctx->device, name, &unknown);
	if (unknown != 0)
		return memic_fail(unknown, "port %u of %s: %s: its interface cannot be looked at: "
				  "raise the limit of open files (ulimit -n), or free memory", port,
				  dev->caps.name, memic_errno_name(unknown));
	if (out->netdev)
		return 0;
	err = query_vport(dev, out);
	return err == 0 ? 0 :
	       memic_fail(err, "port %u of %s: %s: its address cannot be found out: its interface "
			  "is not in this network namespace, and firmware does not tell it", port,
			  dev->caps.name, memic_errno_name(err));
}
