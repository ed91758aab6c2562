/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * Each step of a life fails once: the device is probed, a pool created, the port started,
 * frames go round, the port stops, the pool is freed, the device is closed. In each of these
 * phases the nth call that takes something fails, for n from 1 on until nothing fails any
 * more. After each failure the process has to have what it had before, and the life has to
 * go well when nothing fails. To be run under mlx5emu with libe2e_step.so preloaded; test_steps.py
 * reads what is printed.
 *
 * usage: EAL options -- device=DEVARGS ops=NAME [OPTION=VALUE]..., see read_option()
 */

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_log.h>

#include "step.h"
#include "steps.h"

#define SKIPPED 77
/** Lives that grow one after the other are no longer one that made what stays. */
#define ROUNDS 3

static const struct step_control *control;
static unsigned int usual_slots;

/* ---- options ---- */

static unsigned int first = 1, last = 100000, every = 1;
static unsigned int who = STEP_OURS, kinds = STEP_ANY;
static int ioctl_errno = ENOMEM;
static const char *only, *plant = "";
static unsigned int load_fails; /* this call while EAL and the plugin start; 0: none */
static bool load_only;          /* and no loop afterwards */

static int
read_errno(const char *text)
{
	for (int e = 1; e < 134; e++)
		if (strerrorname_np(e) != NULL && strcmp(strerrorname_np(e), text) == 0)
			return e;
	rte_exit(EXIT_FAILURE, "no errno '%s'\n", text);
}

static void
read_option(char *text)
{
	char *value = strchr(text, '=');

	if (value == NULL)
		rte_exit(EXIT_FAILURE, "option '%s' has no value\n", text);
	*value++ = '\0';
	load_only |= strcmp(text, "load") == 0;
	if (strcmp(text, "device") == 0)
		life_devargs = value;
	else if (strcmp(text, "ops") == 0)
		life_ops = value;
	else if (strcmp(text, "phase") == 0)
		only = value;
	else if (strcmp(text, "who") == 0)
		who = strcmp(value, "ours") == 0 ? STEP_OURS : STEP_OTHERS;
	else if (strcmp(text, "kinds") == 0)
		kinds = strtoul(value, NULL, 0);
	else if (strcmp(text, "first") == 0)
		first = strtoul(value, NULL, 0);
	else if (strcmp(text, "last") == 0)
		last = strtoul(value, NULL, 0);
	else if (strcmp(text, "every") == 0)
		every = strtoul(value, NULL, 0);
	else if (strcmp(text, "errno") == 0)
		ioctl_errno = read_errno(value);
	else if (strcmp(text, "plant") == 0)
		plant = value;
	else if (strcmp(text, "load") == 0)
		load_fails = strtoul(value, NULL, 0);
	else
		rte_exit(EXIT_FAILURE, "no option '%s'\n", text);
}

/* ---- phases ---- */

static struct life_traffic under_failure;

static int
send_frames(void)
{
	life_traffic_strange(&under_failure);
	return 0;
}

static const struct phase {
	const char *name;
	enum level base;        /* where the process has to have what it had */
	enum level from;
	int (*run)(void);
	enum level to;          /* if all goes well */
} phases[] = {
	{ "probe", LEVEL_NONE, LEVEL_NONE, life_probe, LEVEL_PROBED },
	{ "first", LEVEL_NONE, LEVEL_PROBED, life_pool, LEVEL_POOL },
	{ "pool", LEVEL_PROBED, LEVEL_PROBED, life_pool, LEVEL_POOL },
	{ "start", LEVEL_PROBED, LEVEL_POOL, life_start, LEVEL_STARTED },
	{ "traffic", LEVEL_NONE, LEVEL_STARTED, send_frames, LEVEL_STARTED },
	{ "stop", LEVEL_POOL, LEVEL_STARTED, life_stop, LEVEL_POOL },
	{ "free", LEVEL_PROBED, LEVEL_POOL, life_free, LEVEL_PROBED },
	{ "close", LEVEL_NONE, LEVEL_PROBED, life_remove, LEVEL_NONE },
};

/* ---- one step ---- */

/** What a step showed; the first fault is kept. */
struct verdict {
	char fault[1200];
	bool fired;
	struct step_report report;
	const char *said;       /* what became of the phase */
};

static void __rte_format_printf(2, 3)
blame(struct verdict *v, const char *fmt, ...)
{
	size_t used = strlen(v->fault);
	va_list ap;

	va_start(ap, fmt);
	if (used != 0 && used < sizeof(v->fault) - 2) {
		strcpy(v->fault + used, "; ");
		used += 2;
	}
	if (used < sizeof(v->fault))
		vsnprintf(v->fault + used, sizeof(v->fault) - used, fmt, ap);
	va_end(ap);
}

static void
check_traffic(struct verdict *v, const char *when)
{
	struct life_traffic t;

	life_traffic(&t);
	if (t.sent == 0 || t.back != t.sent || t.wrong != 0)
		blame(v, "%s: %u frames sent, %u came back, %u of them wrong", when, t.sent, t.back,
		      t.wrong);
}

/* All the way up, and all of it as usual. */
static void
check_retry(struct verdict *v)
{
	int ret = life_go(LEVEL_STARTED);

	if (ret != 0) {
		blame(v, "the retry fails at level %u with %s", life_level,
		      strerrorname_np(-ret));
		return;
	}
	if (life_slots() != usual_slots)
		blame(v, "the retry has %u slots instead of %u", life_slots(), usual_slots);
	check_traffic(v, "the retry");
}

static void
judge(struct verdict *v, const struct phase *ph, int ret)
{
	struct outcome o = { .ret = ret, .err = v->report.err,
			     .what = v->report.what, .log = log_text() };
	const char *text;

	if (ret == 0 && life_level >= LEVEL_POOL)
		o.less = life_slots() != usual_slots;
	v->said = ret != 0 ? "failed" : o.less ? "less" : "went well";
	if (under_failure.wrong != 0)
		blame(v, "%u wrong frames", under_failure.wrong);
	/* how others tell what they failed to do is their own business */
	if (who != STEP_OURS)
		return;
	text = judge_errno(&o);
	if (text != NULL)
		blame(v, "%s returns %d: %s", ph->name, ret, text);
	if (ret == 0 && !o.less)
		return;
	text = judge_message(&o);
	if (text != NULL)
		blame(v, "%s (%s, %s): %s", text, v->said, strerrorname_np(v->report.err),
		      o.log);
}

static void
run_phase(const struct phase *ph, unsigned int n, struct verdict *v)
{
	struct state before, after;
	char grown[1024];
	int ret;

	memset(v, 0, sizeof(*v));
	memset(&under_failure, 0, sizeof(under_failure));
	ret = life_go(ph->base);
	/* what a port has left behind belongs to what is freed */
	if (ret == 0 && ph->run == life_free)
		ret = life_go(LEVEL_STARTED);
	if (ret == 0)
		ret = life_go(ph->base);
	state_take(&before);
	if (ret == 0 && ph->run == life_free)
		ret = life_go(LEVEL_STARTED);
	if (ret == 0)
		ret = life_go(ph->from);
	if (ret == 0 && strcmp(ph->name, "traffic") == 0)
		ret = life_strange_make();
	if (ret != 0) {
		blame(v, "cannot get to where %s begins: %s", ph->name, strerrorname_np(-ret));
		return;
	}
	log_begin();
	control->arm(n, who, kinds, ioctl_errno);
	ret = ph->run();
	control->disarm(&v->report);
	v->fired = v->report.fired;
	if (!v->fired && ret != 0)
		blame(v, "%s fails with %s, and no call of it failed", ph->name,
		      strerrorname_np(-ret));
	if (!v->fired) {
		life_go(ph->base);
		if (strcmp(ph->name, "traffic") == 0)
			life_strange_free();
		return;
	}
	judge(v, ph, ret);
	/* what is less than usual has to work, too, and what was skipped is made up for */
	if (strcmp(v->said, "less") == 0) {
		if (life_go(LEVEL_STARTED) != 0)
			blame(v, "the port does not start with it");
		else
			check_traffic(v, "with less");
		life_go(LEVEL_PROBED);
	}
	check_retry(v);
	ret = life_go(ph->base);
	if (ret != 0)
		blame(v, "the way back to level %u fails with %s", ph->base,
		      strerrorname_np(-ret));
	if (strcmp(ph->name, "traffic") == 0)
		life_strange_free();
	state_take(&after);
	state_growth(&before, &after, grown, sizeof(grown));
	if (grown[0] != '\0')
		blame(v, "left:%s", grown);
}

/* What only the first of its kind leaves behind is no leak. */
static void
run_step(const struct phase *ph, unsigned int n, struct verdict *v)
{
	unsigned int round;

	for (round = 0; round < ROUNDS; round++) {
		control->plant(strcmp(plant, "leak") == 0, strcmp(plant, "object") == 0,
			       strcmp(plant, "crash") == 0);
		rte_log_set_level_pattern("mempool.mlx5_memic",
					  strcmp(plant, "silence") == 0 ? RTE_LOG_EMERG :
					  RTE_LOG_NOTICE);
		life_flip = strcmp(plant, "byte") == 0;
		run_phase(ph, n, v);
		if (strstr(v->fault, "left:") == NULL)
			return;
	}
}

/* ---- the loop ---- */

/* Returns how many steps were counted; faults are printed and counted. */
static unsigned int
run_steps(const struct phase *ph, unsigned int *faults)
{
	struct verdict v = { .fired = true };
	unsigned int n, steps = 0;

	for (n = first; n <= last; n += every) {
		printf("begin %s %u\n", ph->name, n);
		fflush(stdout);
		run_step(ph, n, &v);
		if (!v.fired && v.fault[0] == '\0') {
			printf("phase %s: %u calls\n", ph->name, v.report.seen);
			return steps;
		}
		steps++;
		printf("step %s %u: %s: %s: %s\n", ph->name, n, v.report.what,
		       v.said == NULL ? "" : v.said, v.fault[0] == '\0' ? "good" : "");
		if (v.fault[0] != '\0') {
			printf("fault %s %u: %s\n", ph->name, n, v.fault);
			++*faults;
		}
		fflush(stdout);
		if (v.fault[0] != '\0')
			life_go(LEVEL_NONE);
	}
	return steps;
}

/* One life in which nothing fails says what is usual; the second has met everything. */
static int
rehearse(void)
{
	struct life_traffic t;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < 2 && ret == 0; i++) {
		ret = life_go(LEVEL_STARTED);
		if (ret != 0)
			break;
		usual_slots = life_slots();
		printf("life %u: %u slots\n", i + 1, usual_slots);
		life_traffic(&t);
		if (t.sent == 0 || t.back != t.sent || t.wrong != 0) {
			printf("without a failure %u frames sent, %u came back, %u wrong\n",
			       t.sent, t.back, t.wrong);
			return -EIO;
		}
		ret = life_go(LEVEL_NONE);
	}
	return ret;
}

/* EAL starts and loads the plugin, which is another process for each call that fails. */
static int
load(int argc, char **argv)
{
	struct step_report report;
	int ret;

	if (!load_only)
		return rte_eal_init(argc, argv);
	control->arm(load_fails, who, kinds, ioctl_errno);
	ret = rte_eal_init(argc, argv);
	control->disarm(&report);
	printf("load: %u calls\n", report.seen);
	if (report.fired)
		printf("step load %u: %s: %s %s\n", load_fails, report.what,
		       ret < 0 ? "failed" : "went well", strerrorname_np(report.err));
	fflush(stdout);
	return ret;
}

int
main(int argc, char **argv)
{
	unsigned int i, steps = 0, faults = 0;
	int options = 1;

	control = dlsym(RTLD_DEFAULT, STEP_CONTROL);
	if (control == NULL || !control->works()) {
		printf("malloc() does not come to libe2e_step.so\n");
		return SKIPPED;
	}
	/* what is to fail has to be known before EAL takes its part of the arguments */
	while (options < argc && strcmp(argv[options], "--") != 0)
		options++;
	for (i = options + 1; i < (unsigned int)argc; i++)
		read_option(argv[i]);
	if (life_devargs == NULL || life_ops == NULL)
		rte_exit(EXIT_FAILURE, "device= and ops= are needed\n");
	if (load(options, argv) < 0)
		return EXIT_FAILURE;
	if (state_init(control) != 0 || (!load_only && log_init() != 0))
		return EXIT_FAILURE;
	/* EAL has probed what its command line names, and goes on where that fails */
	life_level = rte_eth_dev_count_avail() != 0 ? LEVEL_PROBED : LEVEL_NONE;
	if (rehearse() != 0)
		rte_exit(EXIT_FAILURE, "%s\n", load_only ? "" : log_text());
	for (i = 0; i < RTE_DIM(phases) && !load_only; i++)
		if (only == NULL || strcmp(only, phases[i].name) == 0)
			steps += run_steps(&phases[i], &faults);
	life_go(LEVEL_NONE);
	printf("end: %u steps, %u faults\n", steps, faults);
	rte_eal_cleanup();
	return 0;
}
