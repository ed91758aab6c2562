/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/* A program without DPDK that loads a plugin as EAL does. */

#include <dlfcn.h>
#include <stdio.h>

int
main(int argc, char **argv)
{
	if (argc != 2 || dlopen(argv[1], RTLD_NOW) == NULL) {
		printf("%s\n", argc != 2 ? "usage: PLUGIN" : dlerror());
		return 1;
	}
	return 0;
}
