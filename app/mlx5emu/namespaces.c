/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher.h"

/* Capability sets of this process; capget(2) has no wrapper in libc. */
struct caps {
	struct __user_cap_header_struct header;
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
};

static int
caps_read(struct caps *caps)
{
	memset(caps, 0, sizeof(*caps));
	caps->header.version = _LINUX_CAPABILITY_VERSION_3;
	return syscall(SYS_capget, &caps->header, caps->data);
}

static bool
have_sys_admin(void)
{
	struct caps caps;

	return caps_read(&caps) == 0 &&
	       (caps.data[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective & CAP_TO_MASK(CAP_SYS_ADMIN));
}

static int
write_proc(const char *path, const char *text)
{
	ssize_t len = strlen(text), done;
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	done = write(fd, text, len);
	close(fd);
	return done == len ? 0 : -1;
}

/* user_namespaces(7): one id may be mapped without privilege, groups fixed before. */
static int
map_ids(uid_t uid, gid_t gid)
{
	char map[64];

	if (write_proc("/proc/self/setgroups", "deny") < 0 && errno != ENOENT)
		goto err;
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	if (write_proc("/proc/self/uid_map", map) < 0)
		goto err;
	snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	if (write_proc("/proc/self/gid_map", map) < 0)
		goto err;
	return 0;
err:
	complain(errno, "cannot map the user into its namespace");
	return -1;
}

int
namespaces_unprivileged(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();

	/* root stays as it is where it can have a network namespace without a user one */
	if (uid == 0 && have_sys_admin() && unshare(CLONE_NEWNET) == 0)
		return 0;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0) {
		complain(errno, "cannot make a user and network namespace: allow them "
			 "(sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone; "
			 "in a container its seccomp profile) or run as root");
		return -1;
	}
	return map_ids(uid, gid);
}

int
namespaces_root(void)
{
	if (!have_sys_admin()) {
		complain(0, "--root wants CAP_SYS_ADMIN: run as root, in a container with "
			 "--cap-add SYS_ADMIN, or leave --root out");
		return -1;
	}
	if (unshare(CLONE_NEWNS | CLONE_NEWNET) < 0) {
		complain(errno, "cannot make a mount and network namespace");
		return -1;
	}
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
		complain(errno, "cannot make the mount namespace private");
		return -1;
	}
	return 0;
}

int
capabilities_pass_on(void)
{
	static const int passed[] = { CAP_NET_ADMIN, CAP_NET_RAW };
	struct caps caps;
	unsigned int i;

	/* root keeps its capabilities over execve() without help */
	if (geteuid() == 0)
		return 0;
	if (caps_read(&caps) < 0)
		goto err;
	for (i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		caps.data[CAP_TO_INDEX(passed[i])].inheritable |= CAP_TO_MASK(passed[i]);
	if (syscall(SYS_capset, &caps.header, caps.data) < 0)
		goto err;
	for (i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, passed[i], 0, 0) < 0)
			goto err;
	return 0;
err:
	complain(errno, "cannot pass CAP_NET_ADMIN and CAP_NET_RAW on to the command");
	return -1;
}
