/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "info.h"

/* Look at the mlx5 devices there are; INFO_GOOD, or why there is nothing to show. */
static int
look_at_all(struct info *info)
{
	struct ibv_device **list;
	int count = 0, i;

	errno = 0;
	list = ibv_get_device_list(&count);
	if (list == NULL) {
		fprintf(stderr, "ibv_get_device_list: %s: load ib_uverbs and mlx5_ib\n",
			memic_errno_name(errno != 0 ? errno : EIO));
		return INFO_NOTHING;
	}
	info->devices = calloc((size_t)count + 1, sizeof(*info->devices));
	if (info->devices == NULL) {
		fprintf(stderr, "no memory for what %d devices say\n", count);
		ibv_free_device_list(list);
		return INFO_FAILED;
	}
	for (i = 0; i < count; i++)
		if (mlx5dv_is_supported(list[i]))
			info_device_look(&info->devices[info->n++], ibv_get_device_name(list[i]),
					 &info->options);
	ibv_free_device_list(list);
	if (info->n > 0)
		return INFO_GOOD;
	fprintf(stderr, "there is no mlx5 device: is mlx5_ib loaded, and are the devices in this "
		"network namespace?\n");
	return INFO_NOTHING;
}

static int
look_at_one(struct info *info)
{
	info->devices = calloc(1, sizeof(*info->devices));
	if (info->devices == NULL) {
		fprintf(stderr, "no memory for what a device says\n");
		return INFO_FAILED;
	}
	info->n = 1;
	info_device_look(info->devices, info->options.device, &info->options);
	if (info->devices->open)
		snprintf(info->devices->name, sizeof(info->devices->name), "%s",
			 info->devices->caps.name);
	return INFO_GOOD;
}

/* Good is what could be opened, allocated and proved, each as far as asked for. */
static int
result(const struct info *info)
{
	unsigned int i, tested = 0;

	for (i = 0; i < info->n; i++) {
		const struct info_device *d = &info->devices[i];

		if (!d->open || d->error[0] != '\0' || (d->alloc_tried && d->alloc_rc != 0))
			return INFO_FAILED;
		if (!d->probed || !d->caps.memic)
			continue;
		if (d->missing != 0)
			return INFO_FAILED;
		tested++;
	}
	return info->options.probe && tested == 0 ? INFO_NOTHING : INFO_GOOD;
}

int
main(int argc, char **argv)
{
	struct info info = { .n = 0 };
	int ret = info_options_parse(&info.options, argc, argv);

	if (ret != 0)
		return ret < 0 ? INFO_GOOD : ret;
	ret = info.options.device != NULL ? look_at_one(&info) : look_at_all(&info);
	if (ret == INFO_GOOD) {
		ret = result(&info);
		if (!info.options.json)
			info_print_text(&info);
		else if (info_print_json(&info) != 0)
			ret = INFO_FAILED;
	}
	free(info.devices);
	return ret;
}
