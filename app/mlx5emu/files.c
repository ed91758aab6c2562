/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher.h"

#define LIBRARY "libmlx5emu.so"

/*
 * libibverbs has 256 bytes for paths (IBV_SYSFS_PATH_MAX); this much is for what
 * comes below the run's folder, as /sys/class/infiniband/mlx5_0/ports/1/....
 */
#define RUN_DIR_MAX (256 - 96)

static int
make_absolute(char path[PATH_MAX])
{
	char *cwd, *name;
	int len;

	if (path[0] == '\0' || path[0] == '/')
		return 0;
	cwd = getcwd(NULL, 0);
	if (cwd == NULL) {
		complain(errno, "cannot find the current folder for '%s'", path);
		return -1;
	}
	name = strdupa(path);
	len = snprintf(path, PATH_MAX, "%s/%s", cwd, name);
	free(cwd);
	if (len < PATH_MAX)
		return 0;
	complain(ENAMETOOLONG, "'%s' in the current folder", name);
	return -1;
}

/*
 * See now whether a file can be written that is wanted at the end, and leave no old
 * one that could be taken for the result of this run.
 */
static int
prepare_output(const char *option, char path[PATH_MAX])
{
	struct stat st;
	int fd;

	if (path[0] == '\0')
		return 0;
	if (make_absolute(path) < 0)
		return -1;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return 0;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0) {
		complain(errno, "%s: cannot write '%s'", option, path);
		return -1;
	}
	close(fd);
	unlink(path);
	return 0;
}

int
files_prepare(struct emu_config *cfg)
{
	if (prepare_output("--stats", cfg->stats) < 0 ||
	    prepare_output("--trace", cfg->trace) < 0 ||
	    prepare_output("--wire pcap", cfg->pcap_out) < 0 ||
	    make_absolute(cfg->pcap_in) < 0)
		return -1;
	if (cfg->pcap_in[0] != '\0' && access(cfg->pcap_in, R_OK) < 0) {
		complain(errno, "--wire pcap: cannot read '%s'", cfg->pcap_in);
		return -1;
	}
	return 0;
}

/* The folder of the running executable. */
static int
own_folder(char path[PATH_MAX])
{
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 1);

	if (len < 0) {
		complain(errno, "cannot read /proc/self/exe; is /proc mounted?");
		return -1;
	}
	path[len] = '\0';
	*strrchr(path, '/') = '\0';
	return 0;
}

int
library_find(char path[PATH_MAX])
{
	char folder[PATH_MAX], *in_build_tree = NULL;
	int ret = -1;

	if (own_folder(folder) < 0)
		return -1;
	if (asprintf(&in_build_tree, "%s/../../lib/mlx5emu/" LIBRARY, folder) < 0) {
		complain(ENOMEM, "cannot name the preload library");
		return -1;
	}
	if (realpath(in_build_tree, path) == NULL &&
	    realpath(MLX5EMU_LIBDIR "/" LIBRARY, path) == NULL)
		complain(errno, "no preload library: neither '%s' nor '" MLX5EMU_LIBDIR "/" LIBRARY
			 "'; build or install the project first", in_build_tree);
	/* ld.so(8): both separate the names in LD_PRELOAD and cannot be escaped */
	else if (strpbrk(path, " :") != NULL)
		complain(0, "the folder of '%s' has a blank or colon in its name, which LD_PRELOAD "
			 "cannot carry; move it", path);
	else
		ret = 0;
	free(in_build_tree);
	return ret;
}

int
run_dir_make(struct emu_config *cfg)
{
	const char *parent = getenv("TMPDIR");

	if (parent == NULL || parent[0] != '/' || strlen(parent) > RUN_DIR_MAX)
		parent = "/tmp";
	snprintf(cfg->dir, sizeof(cfg->dir), "%s/mlx5emu.XXXXXX", parent);
	if (mkdtemp(cfg->dir) == NULL) {
		complain(errno, "cannot make a folder in '%s'", parent);
		return -1;
	}
	/* a COMMAND that changes its user must still reach the tree in it */
	if (chmod(cfg->dir, 0755) < 0) {
		complain(errno, "cannot change the mode of '%s'", cfg->dir);
		rmdir(cfg->dir);
		return -1;
	}
	return 0;
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

void
run_dir_remove(const struct emu_config *cfg)
{
	if (nftw(cfg->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0)
		complain(errno, "cannot remove '%s'", cfg->dir);
}
