/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <infiniband/mlx5dv.h>
#include <jansson.h>

#include "info.h"

/*
 * What people send to somebody else: nothing in here tells where the machine is or who
 * it talks to. So no node name of uname(2), no addresses and GUIDs of ports.
 */

static json_t *
size_json(uint64_t size)
{
	return json_integer((json_int_t)size);
}

static json_t *
software_json(void)
{
	json_t *software = json_object();
	struct utsname name;
	char version[64];

	json_object_set_new(software, "dpdk-memic", json_string(MEMIC_VERSION));
	info_library_version((void *)(uintptr_t)ibv_get_device_list, version, sizeof(version));
	json_object_set_new(software, "libibverbs", json_string(version));
	info_library_version((void *)(uintptr_t)mlx5dv_is_supported, version, sizeof(version));
	json_object_set_new(software, "libmlx5", json_string(version));
	if (uname(&name) == 0) {
		json_object_set_new(software, "kernel", json_string(name.release));
		json_object_set_new(software, "machine", json_string(name.machine));
	}
	json_object_set_new(software, "page_bytes", json_integer(sysconf(_SC_PAGESIZE)));
	return software;
}

static json_t *
ports_json(const struct info_device *d)
{
	json_t *ports = json_array();
	unsigned int i;

	for (i = 0; i < d->n_ports; i++) {
		json_t *port = json_object();

		json_object_set_new(port, "port", json_integer(i + 1));
		json_object_set_new(port, "state", json_string(d->ports[i].state));
		json_object_set_new(port, "link_layer", json_string(d->ports[i].link_layer));
		json_object_set_new(port, "speed_gbps", json_integer(d->ports[i].speed_gbps));
		json_array_append_new(ports, port);
	}
	return ports;
}

static json_t *
caps_json(const struct info_device *d)
{
	const struct memic_caps *caps = &d->caps;
	json_t *c = json_object();

	json_object_set_new(c, "max_dm_size", size_json(caps->max_dm_size));
	json_object_set_new(c, "free_bytes", d->measured ? size_json(d->total) : json_null());
	json_object_set_new(c, "largest_bytes", d->measured ? size_json(d->largest) : json_null());
	json_object_set_new(c, "bar_bytes", size_json(caps->memic_bar_size));
	json_object_set_new(c, "log_max_align", json_integer(caps->log_max_align));
	json_object_set_new(c, "devx", json_boolean(caps->devx));
	json_object_set_new(c, "relaxed_ordering_write",
			    json_boolean(caps->relaxed_ordering_write));
	json_object_set_new(c, "relaxed_ordering_read", json_boolean(caps->relaxed_ordering_read));
	return c;
}

static json_t *
types_json(const struct info_device *d)
{
	json_t *types = json_array();
	enum memic_dm_type type;

	for (type = 0; type < MEMIC_DM_TYPES; type++) {
		json_t *t = json_object();

		json_object_set_new(t, "type", json_string(memic_dm_type_name(type)));
		json_object_set_new(t, "may", json_boolean(d->types[type].may));
		json_object_set_new(t, "why", json_string(d->types[type].why));
		json_array_append_new(types, t);
	}
	return types;
}

static json_t *
checks_json(const struct info_device *d)
{
	json_t *checks = json_array();
	unsigned int i;

	for (i = 0; i < d->n_checks; i++) {
		const struct memic_check *check = &d->checks[i];
		json_t *c = json_object();

		json_object_set_new(c, "check", json_string(check->name));
		json_object_set_new(c, "question", json_string(check->question));
		json_object_set_new(c, "needed", json_boolean(check->needed));
		json_object_set_new(c, "answer", json_string(memic_answer_name(check->answer)));
		json_object_set_new(c, "reason", json_string(check->reason));
		json_array_append_new(checks, c);
	}
	return checks;
}

static json_t *
alloc_json(const struct info_device *d)
{
	json_t *alloc = json_object();

	json_object_set_new(alloc, "good", json_boolean(d->alloc_rc == 0));
	json_object_set_new(alloc, "errno", d->alloc_rc == 0 ? json_null() :
			    json_string(memic_errno_name(d->alloc_rc)));
	json_object_set_new(alloc, "text", json_string(d->alloc_text));
	return alloc;
}

static json_t *
device_json(const struct info_device *d)
{
	json_t *dev = json_object();

	json_object_set_new(dev, "name", json_string(d->name));
	json_object_set_new(dev, "error", d->error[0] == '\0' ? json_null() :
			    json_string(d->error));
	if (!d->open)
		return dev;
	json_object_set_new(dev, "address", json_string(d->caps.address));
	json_object_set_new(dev, "firmware", json_string(d->caps.fw_ver));
	json_object_set_new(dev, "part_id", json_integer(d->part_id));
	json_object_set_new(dev, "board", json_string(d->board));
	json_object_set_new(dev, "numa_node", json_integer(d->numa));
	json_object_set_new(dev, "pcie", json_string(d->pcie));
	json_object_set_new(dev, "ports", ports_json(d));
	json_object_set_new(dev, "memory", caps_json(d));
	json_object_set_new(dev, "types", types_json(d));
	if (d->alloc_tried)
		json_object_set_new(dev, "alloc", alloc_json(d));
	if (d->probed) {
		json_object_set_new(dev, "missing", json_integer(d->missing));
		json_object_set_new(dev, "checks", checks_json(d));
	}
	return dev;
}

int
info_print_json(const struct info *info)
{
	json_t *root = json_object(), *devices = json_array();
	unsigned int i;
	int ret;

	for (i = 0; i < info->n; i++)
		json_array_append_new(devices, device_json(&info->devices[i]));
	json_object_set_new(root, "software", software_json());
	json_object_set_new(root, "devices", devices);
	ret = json_dumpf(root, stdout, JSON_INDENT(1));
	json_decref(root);
	if (ret == 0)
		ret = printf("\n") < 0 || fflush(stdout) != 0 ? -1 : 0;
	return ret;
}
