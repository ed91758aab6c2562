/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * What EAL's option -d loads: it finds out whether the process has the DPDK that the
 * library behind it was built for, and loads that then. The library itself needs DPDK's
 * shared libraries. Loaded into a program that has DPDK inside, these would come a second
 * time and end it with "RTE_RING tailq is already registered". So nothing of DPDK is used
 * here, not even its log. The driver and the testpmd plugin are loaded this way; the
 * build includes the loads.h of either ahead of this file.
 */

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

static const char name[] = MPM_LOADS;

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

/*
 * Beside this library in a build folder, in the linker's path or where it was installed. The
 * one that is there already stays the only one, as two would divert the same calls: EAL loads
 * what is installed by itself, after what -d names.
 */
static void *
open_library(void)
{
	void *lib = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
	char path[PATH_MAX];
	Dl_info here;

	if (lib == NULL && dladdr(name, &here) != 0) {
		snprintf(path, sizeof(path), "%.*s%s",
			 (int)(base_name(here.dli_fname) - here.dli_fname), here.dli_fname, name);
		if (strchr(path, '/') != NULL)
			lib = dlopen(path, RTLD_NOW);
	}
	if (lib == NULL)
		lib = dlopen(MPM_LIBDIR "/" MPM_LOADS, RTLD_NOW);
	return lib != NULL ? lib : dlopen(name, RTLD_NOW);
}

__attribute__((constructor)) static void
load(void)
{
	char eal[PATH_MAX] = "";

	dl_iterate_phdr(find_eal, eal);
	if (eal[0] == '\0')
		fprintf(stderr, MPM_LOG_AS ": this program has DPDK linked into it" MPM_IN_STATIC
			". " MPM_LOSS "\n");
	else if (strcmp(eal, MPM_EAL) != 0)
		fprintf(stderr, MPM_LOG_AS ": built for %s, but this program runs on %s: build it "
			"against that DPDK. " MPM_LOSS "\n", MPM_EAL, eal);
	else if (open_library() == NULL)
		fprintf(stderr, MPM_LOG_AS ": %s\n", dlerror());
}
