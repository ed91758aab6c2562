/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_LAUNCHER_H
#define MLX5EMU_LAUNCHER_H

/*
 * The launcher's parts, in the order in which a run needs them. Every function that
 * can fail prints one sentence to stderr and returns a negative number.
 */

#include <limits.h>
#include <signal.h>

#include "config.h"

/* Exit codes of the launcher itself, as those of env(1) and timeout(1). */
enum {
	EXIT_USAGE = 2,
	EXIT_LAUNCHER = 125,    /* the launcher failed, COMMAND did not run */
	EXIT_CANNOT_RUN = 126,
	EXIT_NOT_FOUND = 127,
};

struct launch {
	struct emu_config cfg;
	char **command;                 /* argv of COMMAND */
	char library[PATH_MAX];         /* libmlx5emu.so */
	char sysfs[PATH_MAX];           /* the generated tree */
	int taps[EMU_MAX_PORTS];        /* held open for carrier */
	unsigned int n_taps;
	sigset_t held;                  /* signals that supervise() waits for */
	sigset_t inherited;             /* signal mask that COMMAND gets */
};

/* main.c: "mlx5emu: text: ENAME (words)"; without the end if errnum is 0. */
void complain(int errnum, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- options.c ---- */
/* Fill cfg and command. Returns 0 to go on, otherwise the process exits with *status. */
int options_parse(struct launch *l, int argc, char **argv, int *status);

/* ---- files.c ---- */
/* File names made absolute, as COMMAND may change its folder; old results removed. */
int files_prepare(struct emu_config *cfg);
/* Find the preload library; see the manual for where. */
int library_find(char path[PATH_MAX]);
/* The run's own folder. */
int run_dir_make(struct emu_config *cfg);
void run_dir_remove(const struct emu_config *cfg);

/* ---- namespaces.c ---- */
/* Network namespace of our own, within a user namespace where that is needed. */
int namespaces_unprivileged(void);
/* Network and mount namespace of our own; nothing we mount is seen outside. */
int namespaces_root(void);
/* Let a COMMAND that is not root keep what the PMD's ioctls on the netdev need. */
int capabilities_pass_on(void);

/* ---- netdev.c ---- */
/* Loopback up, one TAP a port, up and with carrier. */
int netdevs_make(struct launch *l);

/* ---- mounts.c ---- */
/* Room for the tree that outlives no namespace; call before the tree is written. */
int mounts_prepare(const struct launch *l);
/* Show the tree under /sys and nodes under /dev/infiniband. */
int mounts_show(const struct launch *l);
/* Take it all away again, so that the run's folder can be removed. */
void mounts_remove(const struct launch *l);

/* ---- child.c ---- */
/* From here on signals wait until child_run() can pass them on. */
void signals_hold(struct launch *l);
/* Run COMMAND to its end, passing signals on. Returns the launcher's exit status. */
int child_run(const struct launch *l);

#endif
