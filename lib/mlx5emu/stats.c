/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "emu.h"
#include "eswitch.h"
#include "inject.h"

#define MEMBER(name) { #name, offsetof(struct emu_stats, name) }

static const struct {
	const char *name;
	size_t offset;
} members[] = {
	MEMBER(tx_frames), MEMBER(rx_frames), MEMBER(tx_bytes), MEMBER(rx_bytes),
	MEMBER(host_read_bytes), MEMBER(host_write_bytes),
	MEMBER(memic_read_bytes), MEMBER(memic_write_bytes),
	MEMBER(inline_bytes), MEMBER(wqe_bytes), MEMBER(cqe_bytes), MEMBER(doorbells),
	MEMBER(errors), MEMBER(protection_errors), MEMBER(cq_overruns),
	MEMBER(rx_no_match), MEMBER(rx_dropped), MEMBER(tx_no_rule), MEMBER(rx_no_wqe),
	MEMBER(looped_frames),
};

_Static_assert(sizeof(members) / sizeof(members[0]) == sizeof(struct emu_stats) / 8,
	       "every counter is written");

static json_t *
port_object(const struct emu_dev *dev)
{
	json_t *port = json_object();
	size_t i;

	json_object_set_new(port, "name", emu_eswitch_on(dev) ?
			    json_sprintf("%s/%u", emu_ib_device(dev)->name, emu_port_number(dev)) :
			    json_string(dev->name));
	for (i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		uint64_t value;

		memcpy(&value, (const uint8_t *)&dev->stats + members[i].offset, sizeof(value));
		json_object_set_new(port, members[i].name, json_integer((json_int_t)value));
	}
	emu_wire_stats(dev, port);
	emu_inject_stats(dev, port);
	return port;
}

static json_t *
all_ports(unsigned int leaked)
{
	json_t *root = json_object(), *ports = json_array();
	uint64_t refused = 0;
	unsigned int i;

	for (i = 0; i < emu_dev_count; i++) {
		json_array_append_new(ports, port_object(&emu_devs[i]));
		refused += emu_devs[i].stats.protection_errors;
	}
	json_object_set_new(root, "ports", ports);
	json_object_set_new(root, "leaked_objects", json_integer(leaked));
	json_object_set_new(root, "protection_errors", json_integer((json_int_t)refused));
	return root;
}

int
emu_stats_write(const char *path, unsigned int leaked)
{
	char tmp[PATH_MAX];
	json_t *root;
	int ret;

	/* Who waits for the file must not read half of it. */
	ret = snprintf(tmp, sizeof(tmp), "%s.%d.tmp", path, (int)getpid());
	if (ret < 0 || (size_t)ret >= sizeof(tmp))
		return -ENAMETOOLONG;
	root = all_ports(leaked);
	errno = 0;
	ret = json_dump_file(root, tmp, JSON_INDENT(1));
	json_decref(root);
	if (ret != 0) {
		ret = errno != 0 ? -errno : -EIO;
		goto err_unlink;
	}
	if (rename(tmp, path) != 0) {
		ret = -errno;
		goto err_unlink;
	}
	return 0;

err_unlink:
	unlink(tmp);
	fprintf(stderr, "mlx5emu: cannot write --stats %s: %s\n", path, strerror(-ret));
	return ret;
}
