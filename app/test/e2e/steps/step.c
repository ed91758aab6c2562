/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "step_count.h"

#define EXPORT __attribute__((visibility("default")))

/** Frames of a stack that are looked at. */
#define DEPTH 24

/** Whose code an address is. */
enum owner {
	NOBODYS,                /* the program, the loader, the emulated card */
	WORKS_FOR_OTHERS,
	OURS,
	OTHERS,
};

static __thread struct {
	bool on;
	unsigned int inside;    /* depth of calls that count as one */
	unsigned int n;
	unsigned int who, kinds;
	int err;
	struct step_report report;
	unsigned int lost_frees, lost_destroys;
	bool crash;
} self __attribute__((tls_model("initial-exec")));

/* ---- whose call it is ---- */

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

static bool
starts(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

static enum owner
owner_of_object(const struct link_map *map)
{
	static const char *const for_others[] = {
		"libc.so", "libgcc_s.so", "libibverbs.so", "libmlx5.so", "libe2e_step.so",
	};
	const char *name = base_name(map->l_name);

	for (unsigned int i = 0; i < sizeof(for_others) / sizeof(for_others[0]); i++)
		if (starts(name, for_others[i]))
			return WORKS_FOR_OTHERS;
	if (starts(name, "librte_mempool_mlx5_memic") || starts(name, "librte_pmd_mlx5_memic"))
		return OURS;
	return starts(name, "librte_") ? OTHERS : NOBODYS;
}

/* _dl_find_object() takes no lock and no memory, as dladdr() would. */
static enum owner
owner_of(void *address)
{
	struct dl_find_object found;

	if (_dl_find_object(address, &found) != 0)
		return WORKS_FOR_OTHERS;
	return owner_of_object(found.dlfo_link_map);
}

static enum owner
owner_of_stack(void **stack, int n, int *at)
{
	enum owner owner;

	for (*at = 0; *at < n; ++*at) {
		owner = owner_of(stack[*at]);
		if (owner != WORKS_FOR_OTHERS)
			return owner;
	}
	return NOBODYS;
}

/* ---- names ---- */

static size_t
add_frame(char *text, size_t len, void *address)
{
	struct dl_find_object found;
	Dl_info info;
	int n;

	if (_dl_find_object(address, &found) != 0)
		return 0;
	/* a name is told only where the place is near it: static functions have none */
	if (dladdr(address, &info) != 0 && info.dli_sname != NULL &&
	    (char *)address - (char *)info.dli_saddr < 0x400)
		n = snprintf(text, len, " < %s (%s+0x%lx)", info.dli_sname,
			     base_name(found.dlfo_link_map->l_name),
			     (unsigned long)address - found.dlfo_link_map->l_addr);
	else
		n = snprintf(text, len, " < %s+0x%lx", base_name(found.dlfo_link_map->l_name),
			     (unsigned long)address - found.dlfo_link_map->l_addr);
	return n < 0 || (size_t)n >= len ? len - 1 : (size_t)n;
}

/* The functions of the libraries between, who wanted it, and two that led there. */
static void
describe(const char *name, void **stack, int n, int at)
{
	char *text = self.report.what;
	size_t used, len = sizeof(self.report.what);
	struct dl_find_object found;
	const char *object;

	used = (size_t)snprintf(text, len, "%s", name);
	for (int i = 0; i < n && i < at + 3 && used < len - 1; i++) {
		if (_dl_find_object(stack[i], &found) != 0)
			continue;
		object = base_name(found.dlfo_link_map->l_name);
		if (!starts(object, "libe2e_step.so") && !starts(object, "libc.so"))
			used += add_frame(text + used, len - used, stack[i]);
	}
}

/* ---- counting ---- */

bool
step_fails(enum step_kind kind, const char *name, int err)
{
	void *stack[DEPTH];
	enum owner owner;
	int n, at;

	if (!self.on || self.inside != 0 || (self.kinds & kind) == 0)
		return false;
	self.inside++;
	n = backtrace(stack, DEPTH);
	owner = owner_of_stack(stack, n, &at);
	if ((owner == OURS && (self.who & STEP_OURS)) ||
	    (owner == OTHERS && (self.who & STEP_OTHERS)))
		self.report.seen++;
	else
		n = 0;
	if (n == 0 || self.report.seen != self.n) {
		self.inside--;
		return false;
	}
	self.report.fired = true;
	self.report.err = kind == STEP_IOCTL ? self.err : err;
	describe(name, stack, n, at);
	/* told at once, as it may be the end of the program */
	dprintf(STDOUT_FILENO, "fails: %s\n", self.report.what);
	if (self.crash)
		raise(SIGSEGV);
	self.inside--;
	errno = self.report.err;
	return true;
}

void
step_enter(void)
{
	self.inside++;
}

void
step_leave(void)
{
	self.inside--;
}

bool
step_loses_free(void)
{
	if (self.lost_frees == 0 || !self.report.fired || self.inside != 0)
		return false;
	self.lost_frees--;
	return true;
}

bool
step_loses_destroy(void)
{
	if (self.lost_destroys == 0 || !self.report.fired)
		return false;
	self.lost_destroys--;
	return true;
}

static void
arm(unsigned int n, unsigned int who, unsigned int kinds, int err)
{
	self.n = n;
	self.who = who;
	self.kinds = kinds;
	self.err = err;
	memset(&self.report, 0, sizeof(self.report));
	self.on = true;
}

static void
disarm(struct step_report *report)
{
	self.on = false;
	*report = self.report;
}

static void
plant(unsigned int frees, unsigned int destroys, bool crash)
{
	self.crash = crash;
	self.report.fired = false;
	self.lost_frees = frees;
	self.lost_destroys = destroys;
}

static bool
works(void)
{
	struct dl_find_object found;

	return _dl_find_object(dlsym(RTLD_DEFAULT, "malloc"), &found) == 0 &&
		starts(base_name(found.dlfo_link_map->l_name), "libe2e_step.so");
}

EXPORT const struct step_control e2e_step_control;
const struct step_control e2e_step_control = {
	.arm = arm,
	.disarm = disarm,
	.plant = plant,
	.live_blocks = step_live_blocks,
	.works = works,
};

/* The first backtrace(3) loads a library and takes memory. */
__attribute__((constructor)) static void
warm_up(void)
{
	void *stack[2];

	backtrace(stack, 2);
}
