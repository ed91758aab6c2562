/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "perf.h"

struct perf_options perf_options = {
	.rounds = 41,
};

static const char *const names[] = { "get_put", "pktmbuf", "create", "start", "copy" };

static void
usage(FILE *f, const char *program)
{
	fprintf(f,
		"usage: %s [OPTION]... [--] [EAL OPTION]...\n"
		"Measure pools of the mempool driver " OPS_MEMIC " against those of DPDK.\n"
		"\n"
		"  --test NAME   get_put, pktmbuf, create, start or copy; may be given several\n"
		"                times (default: all)\n"
		"  --json FILE   write results as JSON; - is standard output\n"
		"  --csv FILE    write results as comma separated values; - is standard output\n"
		"  --rounds N    rounds in which all that is compared has its turn (default: %u)\n"
		"  --mbufs N     mbufs of the pools of create and start; may be given up to 8\n"
		"                times (default: 1023 and 65536)\n"
		"  --quick       few rounds and small pools, to see that everything works\n"
		"  --help        this text\n"
		"  --version     print the version\n"
		"\n"
		"EAL options load the driver and name a port, as\n"
		"  -d librte_mempool_mlx5_memic.so -a 0000:08:00.0\n"
		"Exit status: 0 good, 1 failed, 2 usage, 77 no buffer in device memory.\n",
		program, perf_options.rounds);
}

static int
parse_number(const char *option, const char *text, unsigned int min, unsigned int *number)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || value < min ||
	    value > 1 << 24) {
		fprintf(stderr, "%s: '%s' is no number from %u to %u\n", option, text, min,
			1 << 24);
		return -1;
	}
	*number = value;
	return 0;
}

static int
add_test(const char *name)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(names); i++) {
		if (strcmp(name, names[i]) != 0)
			continue;
		if (perf_options.n_tests < RTE_DIM(perf_options.tests))
			perf_options.tests[perf_options.n_tests++] = names[i];
		return 0;
	}
	fprintf(stderr, "--test: there is no '%s', but get_put, pktmbuf, create, start and copy\n",
		name);
	return -1;
}

static int
add_size(const char *text)
{
	if (perf_options.n_sizes == RTE_DIM(perf_options.sizes)) {
		fprintf(stderr, "--mbufs: more than %zu sizes\n", RTE_DIM(perf_options.sizes));
		return -1;
	}
	/* a ring of the test start, and what DPDK asks of a pool with its caches */
	return parse_number("--mbufs", text, 384, &perf_options.sizes[perf_options.n_sizes++]);
}

static void
be_quick(void)
{
	perf_options.quick = true;
	perf_options.rounds = 5;
}

static int
take(int opt)
{
	switch (opt) {
	case 't':
		return add_test(optarg);
	case 'j':
		perf_options.json = optarg;
		return 0;
	case 'c':
		perf_options.csv = optarg;
		return 0;
	case 'r':
		return parse_number("--rounds", optarg, 1, &perf_options.rounds);
	case 'n':
		return add_size(optarg);
	case 'q':
		be_quick();
		return 0;
	default:
		return -1;
	}
}

int
options_parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "test", required_argument, NULL, 't' },
		{ "json", required_argument, NULL, 'j' },
		{ "csv", required_argument, NULL, 'c' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "mbufs", required_argument, NULL, 'n' },
		{ "quick", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	int first, opt;

	/* unknown ones are not wrong but EAL's, and so is all that follows */
	opterr = 0;
	for (;;) {
		first = optind;
		opt = getopt_long(argc, argv, "+:h", options, NULL);
		if (opt == -1)
			return optind;
		if (opt == '?')
			return first;
		if (opt == 'h') {
			usage(stdout, argv[0]);
			return -2;
		}
		if (opt == 'V') {
			puts("dpdk-memic-perf " MEMIC_VERSION);
			return -2;
		}
		if (opt == ':')
			fprintf(stderr, "%s: a value is missing\n", argv[first]);
		if (opt == ':' || take(opt) != 0) {
			usage(stderr, argv[0]);
			return -1;
		}
	}
}

bool
test_wanted(const char *name)
{
	unsigned int i;

	for (i = 0; i < perf_options.n_tests; i++)
		if (strcmp(perf_options.tests[i], name) == 0)
			return true;
	return perf_options.n_tests == 0;
}
