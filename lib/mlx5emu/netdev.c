/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "emu.h"
#include "eswitch.h"
#include "event.h"
#include "netdev.h"
#include "uapi.h"

/*
 * MTUs of mlx5 netdevs: ETH_MIN_MTU, and MLX5E_SW2HW_MTU() of the port's largest, 10000;
 * mlx5e_set_netdev_mtu_boundaries() in ethernet/mellanox/mlx5/core/en_main.c.
 */
#define MTU_MIN 68
#define MTU_MAX 9978

#define SPEED_MBPS 100000       /* as query_port says: 4 lanes of EDR */
#define LINK_WORDS 4            /* __ETHTOOL_LINK_MODE_MASK_NBITS of Linux 6.1 / 32 */

/* ---- counters ---- */

/* Names as in ethernet/mellanox/mlx5/core/en_stats.c. */
#define DEV(member) offsetof(struct emu_dev, member)
#define VPORT(way, kind, index) \
	{ #way "_vport_" kind "_packets", DEV(way.packets[index]) }, \
	{ #way "_vport_" kind "_bytes", DEV(way.bytes[index]) }
/* What an ideal cable, switch and buffer never count. */
#define NEVER(name) { name, 0 }

static const struct {
	const char *name;
	size_t offset;          /* of an u64 in struct emu_dev, or 0 */
} counters[] = {
	VPORT(rx, "unicast", EMU_UNICAST), VPORT(rx, "multicast", EMU_MULTICAST),
	VPORT(rx, "broadcast", EMU_BROADCAST), VPORT(tx, "unicast", EMU_UNICAST),
	VPORT(tx, "multicast", EMU_MULTICAST), VPORT(tx, "broadcast", EMU_BROADCAST),
	{ "rx_packets_phy", DEV(rx_phy) }, { "tx_packets_phy", DEV(tx_phy) },
	{ "rx_out_of_buffer", DEV(out_of_buffer[EMU_KERNEL_COUNTERS]) },
	{ "rx_steer_missed_packets", DEV(stats.rx_no_match) },
	{ "rx_oversize_pkts_phy", DEV(rx_oversize) },
	NEVER("rx_wqe_err"), NEVER("rx_crc_errors_phy"), NEVER("rx_in_range_len_errors_phy"),
	NEVER("rx_symbol_err_phy"), NEVER("rx_discards_phy"), NEVER("tx_errors_phy"),
	NEVER("tx_discards_phy"),
};

#define N_COUNTERS (sizeof(counters) / sizeof(counters[0]))

static uint64_t
counter_value(const struct emu_dev *dev, unsigned int i)
{
	uint64_t value = 0;

	if (counters[i].offset != 0)
		memcpy(&value, (const uint8_t *)dev + counters[i].offset, sizeof(value));
	return value;
}

/* ---- ethtool: mlx5e_ethtool_ops in en_ethtool.c, calling sequence in net/ethtool/ioctl.c ---- */

static int
get_drvinfo(const struct emu_dev *dev, struct ethtool_drvinfo *info)
{
	const struct emu_preset *p = dev->preset;

	*info = (struct ethtool_drvinfo){ .cmd = info->cmd, .n_stats = N_COUNTERS };
	/* mlx5e_rep_get_drvinfo() in en_rep.c: a representor has no bus_info */
	snprintf(info->driver, sizeof(info->driver),
		 dev->device == NULL ? "mlx5_core" : "mlx5e_rep");
	snprintf(info->fw_version, sizeof(info->fw_version), "%u.%u.%04u (%s)", p->fw[0],
		 p->fw[1], p->fw[2], p->board_id);
	if (dev->device == NULL)
		snprintf(info->bus_info, sizeof(info->bus_info), "0000:08:00.%u", dev->index);
	return 0;
}

/* Lengths of the sets that there are, in the order of their bits. */
static int
get_sset_info(struct ethtool_sset_info *info)
{
	info->sset_mask &= 1ull << ETH_SS_STATS;
	if (info->sset_mask != 0)
		info->data[0] = N_COUNTERS;
	return 0;
}

static int
get_strings(struct ethtool_gstrings *strings)
{
	unsigned int i;

	if (strings->string_set != ETH_SS_STATS)
		return -EOPNOTSUPP;
	strings->len = N_COUNTERS;
	memset(strings->data, 0, N_COUNTERS * ETH_GSTRING_LEN);
	for (i = 0; i < N_COUNTERS; i++)
		snprintf((char *)strings->data + (size_t)i * ETH_GSTRING_LEN, ETH_GSTRING_LEN,
			 "%s", counters[i].name);
	return 0;
}

static int
get_stats(const struct emu_dev *dev, struct ethtool_stats *stats)
{
	unsigned int i;

	stats->n_stats = N_COUNTERS;
	for (i = 0; i < N_COUNTERS; i++)
		stats->data[i] = counter_value(dev, i);
	return 0;
}

/* The first call, with another size, asks for the size: ethtool_get_link_ksettings(). */
static int
get_link_settings(const struct emu_dev *dev, struct ethtool_link_settings *link)
{
	uint32_t *supported = link->link_mode_masks;
	int8_t words = link->link_mode_masks_nwords;

	*link = (struct ethtool_link_settings){ .cmd = ETHTOOL_GLINKSETTINGS };
	if (words != LINK_WORDS) {
		link->link_mode_masks_nwords = -LINK_WORDS;
		return 0;
	}
	link->link_mode_masks_nwords = LINK_WORDS;
	link->speed = dev->link_down ? (uint32_t)SPEED_UNKNOWN : SPEED_MBPS;
	link->duplex = dev->link_down ? DUPLEX_UNKNOWN : DUPLEX_FULL;
	link->port = PORT_DA;
	link->autoneg = AUTONEG_ENABLE;
	/* supported, advertised by us, by the partner */
	memset(supported, 0, 3 * LINK_WORDS * sizeof(uint32_t));
	supported[ETHTOOL_LINK_MODE_100000baseCR4_Full_BIT / 32] =
		1u << ETHTOOL_LINK_MODE_100000baseCR4_Full_BIT % 32;
	memcpy(supported + LINK_WORDS, supported, LINK_WORDS * sizeof(uint32_t));
	return 0;
}

/* Pause frames are not emulated: off, and they stay off. */
static int
get_pause(struct ethtool_pauseparam *pause)
{
	pause->autoneg = pause->rx_pause = pause->tx_pause = 0;
	return 0;
}

static int
set_pause(const struct ethtool_pauseparam *pause)
{
	if (pause->autoneg)
		return -EINVAL; /* mlx5e_ethtool_set_pauseparam() */
	return pause->rx_pause || pause->tx_pause ? -EOPNOTSUPP : 0;
}

/* Not in mlx5e_rep_ethtool_ops of en_rep.c: there is no cable. */
static bool
representor_lacks(uint32_t cmd)
{
	return cmd == ETHTOOL_GLINKSETTINGS || cmd == ETHTOOL_GPAUSEPARAM ||
	       cmd == ETHTOOL_SPAUSEPARAM;
}

/* False for what the TAP's own ethtool says no to, or yes to as well as we could. */
static bool
ethtool(const struct emu_dev *dev, void *data, int *err)
{
	uint32_t cmd;

	memcpy(&cmd, data, sizeof(cmd));
	if (dev->device != NULL && representor_lacks(cmd)) {
		*err = -EOPNOTSUPP;
		return true;
	}
	switch (cmd) {
	case ETHTOOL_GDRVINFO:
		*err = get_drvinfo(dev, data);
		return true;
	case ETHTOOL_GSSET_INFO:
		*err = get_sset_info(data);
		return true;
	case ETHTOOL_GSTRINGS:
		*err = get_strings(data);
		return true;
	case ETHTOOL_GSTATS:
		*err = get_stats(dev, data);
		return true;
	case ETHTOOL_GLINKSETTINGS:
		*err = get_link_settings(dev, data);
		return true;
	case ETHTOOL_GPAUSEPARAM:
		*err = get_pause(data);
		return true;
	case ETHTOOL_SPAUSEPARAM:
		*err = set_pause(data);
		return true;
	default:
		return false;
	}
}

/* ---- the interface ---- */

/*
 * Down goes the port with its interface: mlx5e_close() makes it administratively down,
 * and each context hears of it (mlx5_ib_event(): PORT_ERR, PORT_ACTIVE).
 */
static void
set_link(struct emu_dev *dev, bool down)
{
	struct emu_file *file;

	if (dev->link_down == down)
		return;
	dev->link_down = down;
	emu_trace("%s: link %s", dev->name, down ? "down" : "up");
	for (file = emu_file_next(NULL); file != NULL; file = emu_file_next(file))
		if (file->dev == emu_ib_device(dev))
			emu_async_event(file, down ? IBV_EVENT_PORT_ERR : IBV_EVENT_PORT_ACTIVE,
					emu_port_number(dev));
}

/* The kernel does it to the TAP; what it has done counts for the port. */
static int
set_netdev(struct emu_dev *dev, int fd, unsigned long request, struct ifreq *req)
{
	int ret;

	if (request == SIOCSIFMTU && (req->ifr_mtu < MTU_MIN || req->ifr_mtu > MTU_MAX)) {
		errno = EINVAL; /* dev_validate_mtu() */
		return -1;
	}
	ret = syscall(SYS_ioctl, fd, request, req);
	if (ret != 0)
		return ret;
	emu_lock();
	if (request == SIOCSIFMTU)
		dev->mtu = (unsigned int)req->ifr_mtu;
	else
		set_link(dev, !(req->ifr_flags & IFF_UP));
	emu_unlock();
	return ret;
}

static struct emu_dev *
dev_of_name(const char *name)
{
	unsigned int i;

	for (i = 0; i < emu_dev_count; i++)
		if (strncmp(emu_devs[i].netdev, name, IFNAMSIZ) == 0)
			return &emu_devs[i];
	return NULL;
}

bool
emu_netdev_ioctl(int fd, unsigned long request, void *arg, int *ret)
{
	struct emu_dev *dev;
	struct ifreq req;
	int err = 0;
	bool ours;

	if (request != SIOCETHTOOL && request != SIOCSIFMTU && request != SIOCSIFFLAGS)
		return false;
	/* what is not there the kernel answers with EFAULT; it may lie at any address */
	if (emu_copy_from_user(&req, (uintptr_t)arg, sizeof(req)) != 0)
		return false;
	dev = dev_of_name(req.ifr_name);
	if (dev == NULL || (request == SIOCETHTOOL && req.ifr_data == NULL))
		return false;
	if (request != SIOCETHTOOL) {
		*ret = set_netdev(dev, fd, request, &req);
		return true;
	}
	emu_lock();
	ours = ethtool(dev, req.ifr_data, &err);
	emu_unlock();
	if (!ours)
		return false;
	*ret = err == 0 ? 0 : -1;
	if (err != 0)
		errno = -err;
	return true;
}

void
emu_netdev_look(struct emu_dev *dev)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq req = { 0 };

	if (fd < 0)
		return;
	memcpy(req.ifr_name, dev->netdev, IFNAMSIZ);
	if (syscall(SYS_ioctl, fd, SIOCGIFMTU, &req) == 0)
		dev->mtu = (unsigned int)req.ifr_mtu;
	if (syscall(SYS_ioctl, fd, SIOCGIFFLAGS, &req) == 0)
		dev->link_down = !(req.ifr_flags & IFF_UP);
	syscall(SYS_close, fd);
}

/* ---- hw_counters ---- */

/*
 * The device of ".../infiniband/mlx5_N/ports/1/hw_counters/out_of_buffer", in switchdev mode
 * of ".../infiniband/mlx5_N/hw_counters/out_of_buffer".
 */
static struct emu_dev *
dev_of_counter(const char *path)
{
	const char *end = emu_eswitch_on(&emu_devs[0]) ? "/hw_counters/out_of_buffer" :
			  "/ports/1/hw_counters/out_of_buffer";
	static const char class[] = "/infiniband/";
	size_t len = strlen(path), end_len = strlen(end), name_len;
	const char *name;
	unsigned int i;

	if (len <= end_len || strcmp(path + len - end_len, end) != 0)
		return NULL;
	name = strstr(path, class);
	if (name == NULL)
		return NULL;
	name += sizeof(class) - 1;
	name_len = strcspn(name, "/");
	for (i = 0; i < emu_dev_count; i++)
		if (strlen(emu_devs[i].name) == name_len &&
		    strncmp(emu_devs[i].name, name, name_len) == 0)
			return &emu_devs[i];
	return NULL;
}

int
emu_netdev_open_counter(const char *path, int flags)
{
	struct emu_dev *dev;
	uint64_t value;
	char text[24];
	int fd, len;

	if (emu_dev_count == 0 || path == NULL)
		return -1;
	dev = dev_of_counter(path);
	if (dev == NULL)
		return -1;
	emu_lock();
	value = dev->out_of_buffer[EMU_KERNEL_COUNTERS];
	emu_unlock();
	fd = memfd_create("mlx5emu-counter", flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
	len = snprintf(text, sizeof(text), "%" PRIu64 "\n", value);
	if (fd >= 0 && (write(fd, text, (size_t)len) != len || lseek(fd, 0, SEEK_SET) != 0)) {
		syscall(SYS_close, fd);
		return -1;
	}
	return fd;
}
