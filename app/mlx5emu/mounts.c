/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher.h"

#define NODES "/dev/infiniband"

/* Longest path below the run's folder that is made here. */
#define PATH_ROOM (PATH_MAX + 32)

static int
make_dir(const char *dir, const char *name, char path[PATH_ROOM])
{
	snprintf(path, PATH_ROOM, "%s/%s", dir, name);
	if (mkdir(path, 0755) == 0 || errno == EEXIST)
		return 0;
	complain(errno, "cannot make '%s'", path);
	return -1;
}

int
mounts_prepare(const struct launch *l)
{
	char path[PATH_ROOM];

	/* overlayfs wants its upper and work folders on a file system that can carry them */
	if (mount("mlx5emu", l->cfg.dir, "tmpfs", 0, "mode=0755") < 0) {
		complain(errno, "cannot mount a tmpfs on '%s'", l->cfg.dir);
		return -1;
	}
	if (make_dir(l->cfg.dir, "sys", path) < 0 || make_dir(l->cfg.dir, "work", path) < 0 ||
	    make_dir(l->cfg.dir, "lower", path) < 0)
		return -1;
	/* a sysfs mounted in the new network namespace shows its devices, emu0 among them */
	if (mount("sysfs", path, "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0) {
		complain(errno, "cannot mount a sysfs on '%s'", path);
		return -1;
	}
	return 0;
}

/*
 * A node to be seen and stat()ed; the preload library answers for it. Never the real
 * number: a real card of this machine may stand behind it.
 */
static int
show_node(unsigned int port)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), NODES "/uverbs%u", port);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd >= 0)
		close(fd);
	if (fd < 0 || mount("/dev/null", path, NULL, MS_BIND, NULL) < 0) {
		complain(errno, "cannot make '%s'", path);
		return -1;
	}
	return 0;
}

int
mounts_show(const struct launch *l)
{
	char options[3 * PATH_ROOM];
	unsigned int port;

	snprintf(options, sizeof(options), "lowerdir=%s/lower,upperdir=%s/sys,workdir=%s/work",
		 l->cfg.dir, l->cfg.dir, l->cfg.dir);
	if (mount("mlx5emu", "/sys", "overlay", 0, options) < 0) {
		complain(errno, "cannot mount an overlay on /sys; does the kernel have overlayfs? "
			 "Without --root it is not needed");
		return -1;
	}
	/* stays if it was not there: removing it would hit a run beside this one */
	if (mkdir(NODES, 0755) < 0 && errno != EEXIST) {
		complain(errno, "cannot make '" NODES "'");
		return -1;
	}
	if (mount("mlx5emu", NODES, "tmpfs", 0, "mode=0755") < 0) {
		complain(errno, "cannot mount a tmpfs on '" NODES "'");
		return -1;
	}
	for (port = 0; port < (l->cfg.one_device ? 1 : l->cfg.ports); port++)
		if (show_node(port) < 0)
			return -1;
	return 0;
}

void
mounts_remove(const struct launch *l)
{
	/*
	 * Only the run's folder matters: it must be found empty. What is mounted elsewhere
	 * ends with the namespace. Fails where mounts_prepare() did not get that far.
	 */
	umount2("/sys", MNT_DETACH);
	umount2(l->cfg.dir, MNT_DETACH);
}
