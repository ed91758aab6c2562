/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "info.h"

/* The first line of a file below the IB device's folder; "" where there is none. */
void
info_sysfs_text(const struct ibv_device *ibdev, const char *file, char *text, size_t size)
{
	char path[PATH_MAX];
	FILE *f;

	text[0] = '\0';
	snprintf(path, sizeof(path), "%s/%s", ibdev->ibdev_path, file);
	f = fopen(path, "re");
	if (f == NULL)
		return;
	if (fgets(text, (int)size, f) == NULL)
		text[0] = '\0';
	fclose(f);
	text[strcspn(text, "\n")] = '\0';
}

void
info_sysfs_pcie(const struct ibv_device *ibdev, char *text, size_t size)
{
	char speed[32], width[16];

	info_sysfs_text(ibdev, "device/current_link_speed", speed, sizeof(speed));
	info_sysfs_text(ibdev, "device/current_link_width", width, sizeof(width));
	text[0] = '\0';
	if (speed[0] != '\0' && width[0] != '\0')
		snprintf(text, size, "%s x%s", speed, width);
}

void
info_library_version(void *symbol, char *text, size_t size)
{
	Dl_info found;
	char *path, *so;

	text[0] = '\0';
	if (dladdr(symbol, &found) == 0)
		return;
	path = realpath(found.dli_fname, NULL);
	if (path == NULL)
		return;
	so = strstr(path, ".so.");
	if (so != NULL)
		snprintf(text, size, "%s", so + strlen(".so."));
	free(path);
}
