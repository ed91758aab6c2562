/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_debug.h>
#include <rte_eal.h>
#include <rte_mbuf_pool_ops.h>

#include "compat.h"
#include "driver.h"
#include "options.h"
#include "stats_file.h"

/** First of our values of getopt_long(), above all characters and testpmd's. */
#define FIRST 0x6d6d0000

/** Where the rule comes from, for the log and the column of "show memic pool". */
#define ORIGIN "--memic flags"

#define BENCH_DEFAULT 5u
#define BENCH_MAX 3600u

/* Keys of the driver's rules come first, under their names there. */
enum flag {
	FLAG_DEV,
	FLAG_SIZE,
	FLAG_POOLS,
	FLAG_SPILL,
	FLAG_MKEY,
	FLAG_FOREIGN,
	FLAG_SIBLINGS,
	FLAG_RULE_END,
	FLAG_STATS_FILE = FLAG_RULE_END,
	FLAG_BENCH,
	FLAGS
};

static const struct {
	const char *key;     /**< What follows "memic-". */
	int has_arg;
	const char *usage;
	const char *help;
} flags[] = {
	[FLAG_DEV] = { "dev", required_argument, "=NAME",
		"device whose memory packet pools use: IB name or bus address." },
	[FLAG_SIZE] = { "size", required_argument, "=N",
		"most device memory of each pool: bytes, with K or M, or all." },
	[FLAG_POOLS] = { "pools", required_argument, "=PATTERN",
		"only pools whose names match, as in a shell." },
	[FLAG_SPILL] = { "spill", required_argument, "=0|1",
		"1: what does not fit lives in host memory, 0: is an error." },
	[FLAG_MKEY] = { "mkey", required_argument, "=MODE",
		"kind of memory key: auto, klm, ksm or direct." },
	[FLAG_FOREIGN] = { "foreign", required_argument, "=drop|bounce",
		"what becomes of frames sent on a port of another device." },
	[FLAG_SIBLINGS] = { "siblings", required_argument, "=0|1",
		"1: each device's ports get a twin of a shared pool." },
	[FLAG_STATS_FILE] = { "stats-file", required_argument, "=FILE",
		"write statistics, each second a line of JSON." },
	[FLAG_BENCH] = { "bench", optional_argument, "[=SECONDS]",
		"measure before the first command; needs -i." },
};

static const char *values[FLAGS];
static bool seen, help_seen, interactive, auto_start;
static unsigned int bench;

bool
tpm_options_seen(void)
{
	return seen;
}

unsigned int
tpm_options_bench(void)
{
	return bench;
}

/* ---- the table ---- */

static unsigned int
count(const struct option *longs)
{
	unsigned int n = 0;

	while (longs[n].name != NULL)
		n++;
	return n;
}

static bool
is_testpmd(const struct option *longs)
{
	unsigned int i;

	for (i = 0; longs[i].name != NULL; i++)
		if (strcmp(longs[i].name, TPM_FLAG) == 0)
			return true;
	return false;
}

/* Behind testpmd's own flags, whose places it goes by. */
static const struct option *
extend(const struct option *longs)
{
	static char names[FLAGS][32];
	static const struct option *from;
	static struct option *table;
	unsigned int n = count(longs);
	unsigned int i;

	if (from == longs)
		return table;
	free(table);
	table = calloc(n + FLAGS + 1, sizeof(*table));
	if (table == NULL)
		return longs;
	memcpy(table, longs, n * sizeof(*table));
	for (i = 0; i < FLAGS; i++) {
		snprintf(names[i], sizeof(names[i]), "memic-%s", flags[i].key);
		table[n + i] = (struct option){ names[i], flags[i].has_arg, NULL, FIRST + i };
	}
	from = longs;
	return table;
}

/* ---- what was given ---- */

static void
print_help(void)
{
	char flag[64];
	unsigned int i;

	printf("\nPools in ConnectX device memory (libtestpmd_memic):\n");
	for (i = 0; i < FLAGS; i++) {
		snprintf(flag, sizeof(flag), "--memic-%s%s:", flags[i].key, flags[i].usage);
		printf("  %-30s %s\n", flag, flags[i].help);
	}
	printf("  Any of the first %u makes packet pools use the mempool ops "
	       RTE_PMD_MLX5_MEMIC_OPS ".\n", FLAG_RULE_END);
}

/* Ends the program as testpmd does when a value of its own is bad. */
static void
refuse(enum flag flag, const char *why)
{
	rte_exit(EXIT_FAILURE, "--memic-%s=%s: %s\n", flags[flag].key,
		 values[flag] == NULL ? "" : values[flag], why);
}

/* Empty when no flag of the rule was given. */
static void
compose(char *args, size_t len)
{
	size_t used = 0;
	unsigned int i;

	args[0] = '\0';
	for (i = 0; i < FLAG_RULE_END; i++) {
		if (values[i] == NULL)
			continue;
		if (strpbrk(values[i], ",;") != NULL)
			refuse(i, "the value has a ',' or ';', which ends values in rules");
		used += snprintf(args + used, len - used, "%s%s=%s", used == 0 ? "" : ",",
				 flags[i].key, values[i]);
		if (used >= len)
			refuse(i, "the value is too long");
	}
}

/* The user's word on the ops stands. */
static void
choose_ops(const char *args)
{
	const char *given = rte_eal_mbuf_user_pool_ops();
	int ret;

	if (given != NULL && strcmp(given, RTE_PMD_MLX5_MEMIC_OPS) != 0)
		rte_exit(EXIT_FAILURE, "--memic flags (%s) are about pools of the mempool ops "
			 RTE_PMD_MLX5_MEMIC_OPS ", but --mbuf-pool-ops-name=%s asks for others: "
			 "leave one of them out\n", args, given);
	ret = given != NULL ? 0 : rte_mbuf_set_user_mempool_ops(RTE_PMD_MLX5_MEMIC_OPS);
	if (ret != 0)
		rte_exit(EXIT_FAILURE, "--memic flags: the mempool ops cannot be set: %s\n",
			 strerror(-ret));
	printf("Packet pools use mempool ops " RTE_PMD_MLX5_MEMIC_OPS " with %s\n", args);
}

static void
add_rule(void)
{
	const struct tpm_driver *driver;
	char args[512], why[512];

	compose(args, sizeof(args));
	if (args[0] == '\0')
		return;
	/* its pools are those of the primary */
	if (rte_eal_process_type() != RTE_PROC_PRIMARY) {
		printf("A secondary process makes no pools: --memic flags (%s) are left to the "
		       "primary\n", args);
		return;
	}
	driver = tpm_driver();
	if (driver == NULL)
		rte_exit(EXIT_FAILURE, "--memic flags (%s): " TPM_NO_DRIVER "\n", args);
	/* what is wrong begins with key=value, and flags have the keys' names */
	if (driver->rule_add(ORIGIN, args, why, sizeof(why)) != 0)
		rte_exit(EXIT_FAILURE, "--memic-%s\n", why);
	choose_ops(args);
}

static void
set_bench(const char *text)
{
	unsigned long n;
	char *end;

	if (text == NULL) {
		bench = BENCH_DEFAULT;
		return;
	}
	errno = 0;
	n = strtoul(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || n < 1 || n > BENCH_MAX)
		refuse(FLAG_BENCH, "the value is no number of seconds from 1 to 3600");
	bench = n;
}

/* All flags were read. */
static void
finish(void)
{
	int ret;

	if (bench != 0 && (!interactive || auto_start))
		rte_exit(EXIT_FAILURE, "--memic-bench measures before testpmd forwards: give "
			 "--interactive (-i) and leave out --auto-start (-a)\n");
	add_rule();
	if (values[FLAG_STATS_FILE] == NULL)
		return;
	ret = tpm_stats_file_open(values[FLAG_STATS_FILE]);
	if (ret != 0)
		refuse(FLAG_STATS_FILE, strerror(-ret));
}

static void
take(enum flag flag)
{
	values[flag] = optarg;
	if (flag == FLAG_BENCH)
		set_bench(optarg);
}

/* Flags of testpmd's that matter here. */
static void
watch(int opt, const char *name)
{
	if (opt == 'i' || strcmp(name, "interactive") == 0)
		interactive = true;
	if (opt == 'a' || strcmp(name, "auto-start") == 0)
		auto_start = true;
	if ((opt == 'h' || strcmp(name, "help") == 0) && !help_seen) {
		/* testpmd prints its own and exits */
		help_seen = true;
		atexit(print_help);
	}
}

int
tpm_options_getopt(int argc, char *const *argv, const char *shorts, const struct option *longs,
		   int *index)
{
	const struct option *table;
	int opt, at;

	if (longs == NULL || !is_testpmd(longs))
		return getopt_long(argc, argv, shorts, longs, index);
	seen = true;
	table = extend(longs);
	do {
		at = -1;
		opt = getopt_long(argc, argv, shorts, table, &at);
		if (opt >= FIRST)
			take(opt - FIRST);
	} while (opt >= FIRST);
	if (at >= 0 && index != NULL)
		*index = at;
	watch(opt, at >= 0 ? table[at].name : "");
	if (opt == -1)
		finish();
	return opt;
}
