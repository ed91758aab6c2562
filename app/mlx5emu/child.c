/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher.h"

/* Signals that mean COMMAND when they are sent to the launcher. */
static const int passed_on[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };

/*
 * Behind what is preloaded already: those find our functions by RTLD_NEXT, while ours make
 * the system calls themselves. And runtimes of sanitizers work in the first place only.
 */
static int
set_preload(const char *library)
{
	const char *before = getenv("LD_PRELOAD");
	char *value;
	int ret;

	if (before == NULL || before[0] == '\0')
		return setenv("LD_PRELOAD", library, 1);
	if (asprintf(&value, "%s:%s", before, library) < 0)
		return -1;
	ret = setenv("LD_PRELOAD", value, 1);
	free(value);
	return ret;
}

/* Everything that COMMAND's environment has from us; the guide lists the names. */
static int
set_environment(const struct launch *l)
{
	char devices[PATH_MAX + 32];
	char *text = emu_config_to_text(&l->cfg);
	int ret;

	if (text == NULL)
		return -1;
	ret = setenv(EMU_ENV, text, 1);
	free(text);
	if (ret == 0)
		ret = set_preload(l->library);
	if (ret < 0 || l->cfg.root)
		return ret;
	snprintf(devices, sizeof(devices), "%s/bus/pci/devices", l->sysfs);
	if (setenv("SYSFS_PATH", l->sysfs, 1) < 0)
		return -1;
	return setenv("SYSFS_PCI_DEVICES", devices, 1);
}

/* In the child. */
static void __attribute__((noreturn))
execute(const struct launch *l, pid_t launcher)
{
	int status;

	/* no COMMAND without its launcher, not even when that is killed */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != launcher)
		_exit(EXIT_LAUNCHER);
	sigprocmask(SIG_SETMASK, &l->inherited, NULL);
	if (set_environment(l) < 0) {
		complain(errno, "cannot set the environment of the command");
		_exit(EXIT_LAUNCHER);
	}
	execvp(l->command[0], l->command);
	status = errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
	complain(errno, "cannot run '%s'", l->command[0]);
	_exit(status);
}

static int
status_of(int wstatus)
{
	return WIFSIGNALED(wstatus) ? 128 + WTERMSIG(wstatus) : WEXITSTATUS(wstatus);
}

/* Until the child has ended. */
static int
supervise(const struct launch *l, pid_t child)
{
	siginfo_t info;
	int wstatus;
	pid_t pid;

	for (;;) {
		if (sigwaitinfo(&l->held, &info) < 0)
			continue;
		/* the terminal sends its signals to the whole group: the child has them */
		if (info.si_signo != SIGCHLD && info.si_code != SI_KERNEL)
			kill(child, info.si_signo);
		pid = waitpid(child, &wstatus, WNOHANG);
		if (pid == child)
			return status_of(wstatus);
		if (pid < 0) {
			complain(errno, "lost the command");
			return EXIT_LAUNCHER;
		}
	}
}

void
signals_hold(struct launch *l)
{
	unsigned int i;

	/* an inherited SIG_IGN would let the kernel reap the child */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&l->held);
	sigaddset(&l->held, SIGCHLD);
	for (i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
		sigaddset(&l->held, passed_on[i]);
	sigprocmask(SIG_BLOCK, &l->held, &l->inherited);
}

int
child_run(const struct launch *l)
{
	pid_t launcher = getpid(), child;

	child = fork();
	if (child < 0) {
		complain(errno, "cannot fork");
		return EXIT_LAUNCHER;
	}
	if (child == 0)
		execute(l, launcher);
	return supervise(l, child);
}
