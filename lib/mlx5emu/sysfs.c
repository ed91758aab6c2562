/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "card.h"
#include "sysfs.h"

/* Lines of the PCI "resource" file: DEVICE_COUNT_RESOURCE of linux/pci.h less the first four. */
#define PCI_RESOURCES 13
#define BAR_BYTES UINT64_C(0x2000000)
#define BAR_FIRST UINT64_C(0xf0000000)
/* IORESOURCE_MEM | PREFETCH | MEM_64 and size alignment, as lspci of a ConnectX shows */
#define BAR_FLAGS UINT64_C(0x14220c)

/*
 * A tree under construction. The first failure is kept and makes all later steps do
 * nothing, so that the tables of files below need no check each.
 */
struct tree {
	int root;               /* folder, for the *at() calls */
	char dir[PATH_MAX];     /* folder of the object being described, relative to root */
	char failed[PATH_MAX];  /* what could not be written */
	int err;
};

/* One port, in the words of sysfs. */
struct function {
	const struct emu_config *cfg;
	unsigned int port;
	char bdf[24];
	char ib[16];            /* mlx5_0 */
	char uverbs[24];        /* uverbs0 */
	char netdev[16];        /* emu0 */
	uint8_t mac[EMU_MAC_LEN];
};

void
emu_sysfs_mac(unsigned int port, uint8_t mac[EMU_MAC_LEN])
{
	static const uint8_t first[EMU_MAC_LEN] = { 0xb8, 0x59, 0x9f, 0xaa, 0xbb, 0xcc };

	memcpy(mac, first, EMU_MAC_LEN);
	mac[EMU_MAC_LEN - 1] += port;
}

/* mlx5e_rep_get_phys_port_name() in core/en_rep.c */
void
emu_sysfs_port_name(unsigned int port, char name[EMU_PORT_NAME_LEN])
{
	if (port == 0)
		snprintf(name, EMU_PORT_NAME_LEN, "p0");
	else
		snprintf(name, EMU_PORT_NAME_LEN, "pf0vf%u", port - 1);
}

/*
 * mlx5e_rep_get_port_parent_id() in core/en_rep.c: the bytes of the system image GUID as a
 * little-endian host has it.
 */
void
emu_sysfs_switch_id(uint8_t id[EMU_SWITCH_ID_LEN])
{
	uint8_t m[EMU_MAC_LEN];

	emu_sysfs_mac(0, m);
	memcpy(id, (uint8_t[]){ m[5], m[4], m[3], 0, 3, m[2], m[1], m[0] }, EMU_SWITCH_ID_LEN);
}

static void
tree_fail(struct tree *t, const char *path)
{
	t->err = errno;
	snprintf(t->failed, sizeof(t->failed), "%s", path);
}

/* Make the folder and those above it. */
static void
make_dirs(struct tree *t, const char *path)
{
	char part[PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof(part) - 1 && t->err == 0; i++) {
		if (path[i] == '/' || path[i] == '\0') {
			part[i] = '\0';
			if (mkdirat(t->root, part, 0755) < 0 && errno != EEXIST)
				tree_fail(t, part);
		}
		if (path[i] == '\0')
			break;
		part[i] = path[i];
	}
}

static void __attribute__((format(printf, 2, 3)))
enter(struct tree *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t->dir, sizeof(t->dir), fmt, ap);
	va_end(ap);
	make_dirs(t, t->dir);
}

static void
full_path(const struct tree *t, char path[PATH_MAX], const char *name)
{
	if ((size_t)snprintf(path, PATH_MAX, "%s/%s", t->dir, name) >= PATH_MAX)
		path[0] = '\0'; /* then open() and symlink() say ENOENT */
}

/* A file of one or more lines in the folder last entered; the line break is added. */
static void __attribute__((format(printf, 3, 4)))
put(struct tree *t, const char *name, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	FILE *out;
	int fd;

	if (t->err != 0)
		return;
	full_path(t, path, name);
	fd = openat(t->root, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (out == NULL) {
		tree_fail(t, path);
		if (fd >= 0)
			close(fd);
		return;
	}
	va_start(ap, fmt);
	vfprintf(out, fmt, ap);
	va_end(ap);
	fputc('\n', out);
	if (fclose(out) != 0)
		tree_fail(t, path);
}

static void __attribute__((format(printf, 3, 4)))
put_link(struct tree *t, const char *name, const char *fmt, ...)
{
	char path[PATH_MAX], target[PATH_MAX];
	va_list ap;

	if (t->err != 0)
		return;
	va_start(ap, fmt);
	vsnprintf(target, sizeof(target), fmt, ap);
	va_end(ap);
	full_path(t, path, name);
	if (symlinkat(target, t->root, path) < 0 && errno != EEXIST)
		tree_fail(t, path);
}

/* The MAC with 0300 in its middle, as public ibv_devinfo logs of these cards show. */
static void
put_guid(struct tree *t, const char *name, const uint8_t *mac)
{
	put(t, name, "%02x%02x:%02x03:00%02x:%02x%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
	    mac[5]);
}

static void
put_pci_resource(struct tree *t, unsigned int port)
{
	char text[PCI_RESOURCES * 64] = "";
	uint64_t first = BAR_FIRST + port * BAR_BYTES;
	size_t len;
	int i;

	len = snprintf(text, sizeof(text), "0x%016" PRIx64 " 0x%016" PRIx64 " 0x%016" PRIx64,
		       first, first + BAR_BYTES - 1, BAR_FLAGS);
	for (i = 1; i < PCI_RESOURCES; i++)
		len += snprintf(text + len, sizeof(text) - len, "\n0x%016x 0x%016x 0x%016x", 0, 0,
				0);
	put(t, "resource", "%s", text);
}

/* What EAL's PCI bus reads, and lspci's first page. */
static void
write_pci(struct tree *t, const struct function *f)
{
	unsigned int vfs = f->cfg->one_device ? f->cfg->ports - 1 : 0;
	uint16_t id = f->cfg->preset->device_id;
	char modalias[64];

	snprintf(modalias, sizeof(modalias), "pci:v000015B3d%08Xsv000015B3sd00000001bc02sc00i00",
		 id);
	enter(t, "devices/pci0000:00/%s", f->bdf);
	put(t, "vendor", "0x15b3");
	put(t, "device", "0x%04x", id);
	put(t, "subsystem_vendor", "0x15b3");
	put(t, "subsystem_device", "0x0001");
	put(t, "class", "0x020000");
	put(t, "revision", "0x00");
	put(t, "numa_node", "0");
	put(t, "max_vfs", "%u", vfs);
	put(t, "sriov_numvfs", "%u", vfs);
	put(t, "sriov_totalvfs", "%u", vfs);
	put(t, "modalias", "%s", modalias);
	put(t, "uevent", "DRIVER=mlx5_core\nPCI_CLASS=20000\nPCI_ID=15B3:%04X\n"
	    "PCI_SUBSYS_ID=15B3:0001\nPCI_SLOT_NAME=%s\nMODALIAS=%s", id, f->bdf, modalias);
	put_pci_resource(t, f->port);
	put_link(t, "driver", "../../../bus/pci/drivers/mlx5_core");
	enter(t, "bus/pci/drivers/mlx5_core");
	enter(t, "bus/pci/devices");
	put_link(t, f->bdf, "../../../devices/pci0000:00/%s", f->bdf);
}

static void
write_gids(struct tree *t, const struct function *f, const char *port)
{
	static const char *const types[] = { "IB/RoCE v1", "RoCE v2" };
	const uint8_t *m = f->mac;
	char name[8];
	unsigned int i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		snprintf(name, sizeof(name), "%u", i);
		enter(t, "%s/gids", port);
		/* the link-local address, RFC 4291 appendix A */
		put(t, name, "fe80:0000:0000:0000:%02x%02x:%02xff:fe%02x:%02x%02x", m[0] ^ 2, m[1],
		    m[2], m[3], m[4], m[5]);
		enter(t, "%s/gid_attrs/types", port);
		put(t, name, "%s", types[i]);
		enter(t, "%s/gid_attrs/ndevs", port);
		put(t, name, "%s", f->netdev);
	}
	enter(t, "%s/pkeys", port);
	put(t, "0", "0xffff");
}

static void
write_ib_port(struct tree *t, const struct function *f, unsigned int number)
{
	char port[160];

	snprintf(port, sizeof(port), "devices/pci0000:00/%s/infiniband/%s/ports/%u", f->bdf, f->ib,
		 number);
	enter(t, "%s", port);
	put(t, "state", "4: ACTIVE");
	put(t, "phys_state", "5: LinkUp");
	put(t, "rate", "100 Gb/sec (4X EDR)");
	put(t, "link_layer", "Ethernet");
	write_gids(t, f, port);
}

/* The IB device: what libibverbs reads before it opens the node. */
static void
write_ib(struct tree *t, const struct function *f)
{
	const struct emu_preset *p = f->cfg->preset;
	char dir[128];

	snprintf(dir, sizeof(dir), "devices/pci0000:00/%s/infiniband/%s", f->bdf, f->ib);
	enter(t, "%s", dir);
	put(t, "node_type", "1: CA");
	put(t, "fw_ver", "%u.%u.%04u", p->fw[0], p->fw[1], p->fw[2]);
	put(t, "hw_rev", "0");
	put(t, "board_id", "%s", p->board_id);
	/* "MT" and the device id in decimal, drivers/infiniband/hw/mlx5/main.c hca_type_show() */
	put(t, "hca_type", "MT%u", p->device_id);
	put(t, "node_desc", "mlx5emu %s", f->ib);
	put_guid(t, "node_guid", f->mac);
	put_guid(t, "sys_image_guid", f->mac);
	put_link(t, "device", "../..");
	/* mlx5_ib_alloc_hw_device_stats(): of the device, not of a port, in switchdev mode */
	enter(t, f->cfg->one_device ? "%s/hw_counters" : "%s/ports/1/hw_counters", dir);
	put(t, "out_of_buffer", "0");
	enter(t, "class/infiniband");
	put_link(t, f->ib, "../../%s", dir);
}

static void
write_uverbs(struct tree *t, const struct function *f)
{
	enter(t, "devices/pci0000:00/%s/infiniband_verbs/%s", f->bdf, f->uverbs);
	put(t, "ibdev", "%s", f->ib);
	/* MLX5_IB_UVERBS_ABI_VERSION of linux/include/uapi/rdma/mlx5-abi.h */
	put(t, "abi_version", "1");
	put(t, "dev", "%d:%u", EMU_NODE_MAJOR, EMU_NODE_MINOR + f->port);
	put_link(t, "device", "../..");
	enter(t, "class/infiniband_verbs");
	put_link(t, f->uverbs, "../../devices/pci0000:00/%s/infiniband_verbs/%s", f->bdf,
		 f->uverbs);
}

static void
put_switch_port(struct tree *t, const struct function *f)
{
	char name[EMU_PORT_NAME_LEN];
	uint8_t s[EMU_SWITCH_ID_LEN];

	emu_sysfs_port_name(f->port, name);
	emu_sysfs_switch_id(s);
	put(t, "phys_port_name", "%s", name);
	put(t, "phys_switch_id", "%02x%02x%02x%02x%02x%02x%02x%02x", s[0], s[1], s[2], s[3], s[4],
	    s[5], s[6], s[7]);
}

/* The PMD takes the netdev whose dev_port is 0 as the port's. */
static void
write_net(struct tree *t, const struct function *f)
{
	const uint8_t *m = f->mac;

	if (f->cfg->one_device && f->cfg->root) {
		/* over what the TAP device, to which /sys/class/net leads, cannot say */
		enter(t, "devices/virtual/net/%s", f->netdev);
		put_switch_port(t, f);
	}
	enter(t, "devices/pci0000:00/%s/net/%s", f->bdf, f->netdev);
	put(t, "dev_port", "0");
	put(t, "dev_id", "0x0");
	put(t, "type", "1");
	put(t, "address", "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
	put_link(t, "device", "../..");
	if (f->cfg->one_device)
		put_switch_port(t, f);
}

static void
write_port(struct tree *t, const struct emu_config *cfg, unsigned int port)
{
	struct function f = { .cfg = cfg, .port = port };
	unsigned int function = cfg->one_device ? 0 : port;

	snprintf(f.bdf, sizeof(f.bdf), "0000:08:00.%u", function);
	snprintf(f.ib, sizeof(f.ib), "mlx5_%u", function);
	snprintf(f.uverbs, sizeof(f.uverbs), "uverbs%u", function);
	snprintf(f.netdev, sizeof(f.netdev), "emu%u", port);
	emu_sysfs_mac(port, f.mac);
	if (function == port) {
		write_pci(t, &f);
		write_ib(t, &f);
		write_uverbs(t, &f);
	}
	write_ib_port(t, &f, port - function + 1);
	write_net(t, &f);
}

int
emu_sysfs_write(const struct emu_config *cfg, const char *root, char *err, size_t err_len)
{
	struct tree t = { .err = 0 };
	unsigned int port;

	t.root = -1;
	if (mkdir(root, 0755) == 0 || errno == EEXIST)
		t.root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (t.root < 0) {
		tree_fail(&t, "");
	} else {
		for (port = 0; port < cfg->ports; port++)
			write_port(&t, cfg, port);
		enter(&t, "class/infiniband_verbs");
		/* IB_USER_VERBS_ABI_VERSION of linux/include/uapi/rdma/ib_user_verbs.h */
		put(&t, "abi_version", "6");
		close(t.root);
	}
	if (t.err != 0)
		snprintf(err, err_len, "cannot write %s/%s: %s (%s)", root, t.failed,
			 strerrorname_np(t.err), strerror(t.err));
	return -t.err;
}
