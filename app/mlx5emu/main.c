/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * mlx5emu: run a command with software ConnectX functions in reach. Nothing outside
 * of the command's own namespaces changes.
 */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher.h"
#include "sysfs.h"

void
complain(int errnum, const char *fmt, ...)
{
	va_list ap;

	fputs("mlx5emu: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	if (errnum != 0)
		fprintf(stderr, ": %s (%s)", strerrorname_np(errnum), strerror(errnum));
	fputc('\n', stderr);
}

static int
write_tree(const struct launch *l)
{
	char err[2 * PATH_MAX];

	if (emu_sysfs_write(&l->cfg, l->sysfs, err, sizeof(err)) < 0) {
		complain(0, "%s", err);
		return -1;
	}
	return 0;
}

static int
set_up_with_umask(struct launch *l)
{
	if (l->cfg.root ? namespaces_root() : namespaces_unprivileged())
		return -1;
	if (netdevs_make(l) < 0)
		return -1;
	if (l->cfg.root && mounts_prepare(l) < 0)
		return -1;
	if (write_tree(l) < 0)
		return -1;
	return l->cfg.root ? mounts_show(l) : capabilities_pass_on();
}

/* Files of the tree are for whoever COMMAND runs as; its own umask stays. */
static int
set_up(struct launch *l)
{
	mode_t mask = umask(022);
	int ret = set_up_with_umask(l);

	umask(mask);
	return ret;
}

static void
tear_down(struct launch *l)
{
	while (l->n_taps > 0)
		close(l->taps[--l->n_taps]);
	if (l->cfg.root)
		mounts_remove(l);
}

int
main(int argc, char **argv)
{
	static struct launch l;
	int status = EXIT_LAUNCHER;

	if (options_parse(&l, argc, argv, &status) != 0)
		return status;
	if (files_prepare(&l.cfg) < 0)
		return EXIT_USAGE;
	if (library_find(l.library) < 0)
		return EXIT_LAUNCHER;
	signals_hold(&l);
	if (run_dir_make(&l.cfg) < 0)
		return EXIT_LAUNCHER;
	/* run_dir_make() left room for this and the longest name below it */
	snprintf(l.sysfs, sizeof(l.sysfs), "%.*s/sys", PATH_MAX - 8, l.cfg.dir);
	if (set_up(&l) == 0)
		status = child_run(&l);
	tear_down(&l);
	run_dir_remove(&l.cfg);
	return status;
}
