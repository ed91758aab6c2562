/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * What EAL's option -d loads: it finds out whether the process has the DPDK that the
 * driver was built for, and loads the driver then. The driver itself needs DPDK's shared
 * libraries. Loaded into a program that has DPDK inside, these would come a second time
 * and end it with "RTE_RING tailq is already registered". So nothing of DPDK is used
 * here, not even its log.
 */

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

static const char name[] = "librte_pmd_mlx5_memic.so.1";

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

static int
find_eal(struct dl_phdr_info *info, size_t size, void *arg)
{
	static const char prefix[] = "librte_eal.so";

	(void)size;
	if (strncmp(base_name(info->dlpi_name), prefix, strlen(prefix)) != 0)
		return 0;
	snprintf(arg, PATH_MAX, "%s", base_name(info->dlpi_name));
	return 1;
}

/* Beside this library in a build folder, in the linker's path or where it was installed. */
static void *
open_driver(void)
{
	char path[PATH_MAX];
	void *lib = NULL;
	Dl_info here;

	if (dladdr(name, &here) != 0) {
		snprintf(path, sizeof(path), "%.*s%s",
			 (int)(base_name(here.dli_fname) - here.dli_fname), here.dli_fname, name);
		if (strchr(path, '/') != NULL)
			lib = dlopen(path, RTLD_NOW);
	}
	if (lib == NULL)
		lib = dlopen(MPM_LIBDIR "/librte_pmd_mlx5_memic.so.1", RTLD_NOW);
	return lib != NULL ? lib : dlopen(name, RTLD_NOW);
}

__attribute__((constructor)) static void
load(void)
{
	char eal[PATH_MAX] = "";

	dl_iterate_phdr(find_eal, eal);
	if (eal[0] == '\0')
		fprintf(stderr, "MLX5_MEMIC: this program has DPDK linked into it, so the driver "
			"must be, too: link it with what \"pkg-config --libs "
			"librte_pmd_mlx5_memic-static\" gives, before DPDK's libraries. The "
			"plugin stays off, and there are no mempool ops mlx5_memic\n");
	else if (strcmp(eal, MPM_EAL) != 0)
		fprintf(stderr, "MLX5_MEMIC: built for %s, but this program runs on %s: build the "
			"driver against that DPDK. The plugin stays off, and there are no mempool "
			"ops mlx5_memic\n", MPM_EAL, eal);
	else if (open_driver() == NULL)
		fprintf(stderr, "MLX5_MEMIC: %s\n", dlerror());
}
