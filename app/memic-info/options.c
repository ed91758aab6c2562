/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "info.h"

static void
usage(FILE *f, const char *program)
{
	fprintf(f,
		"usage: %s [OPTION]...\n"
		"Show the device memory of ConnectX cards, and what can be done with it.\n"
		"\n"
		"  --device D            one device only: IB name, PCI or auxiliary address\n"
		"  --alloc TYPE:BYTES    allocate and free device memory of a type, as MEMIC:64K\n"
		"  --probe               put what the driver relies on to the test\n"
		"  --port N              port that sends frames to itself for it (default: 1)\n"
		"  --removal SECONDS     with --probe: wait so long for the device to be removed\n"
		"  --json                print JSON instead of a table\n"
		"  --help                this text\n"
		"  --version             print the version\n"
		"\n"
		"Exit status: 0 good, 1 failed, 2 usage, 77 nothing to test on.\n", program);
}

/* A number with K, M or G behind it; false for anything else. */
static bool
parse_number(const char *text, uint64_t max, uint64_t *number)
{
	static const char units[] = "KMG";
	unsigned int shift = 0;
	const char *unit;
	uint64_t value;
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	value = strtoull(text, &end, 0);
	if (*end != '\0') {
		unit = strchr(units, *end & ~0x20);
		if (unit == NULL || *unit == '\0' || end[1] != '\0')
			return false;
		shift = 10u * (unsigned int)(unit - units + 1);
	}
	if (errno != 0 || value > max >> shift)
		return false;
	*number = value << shift;
	return true;
}

static int
parse_alloc(struct info_options *o, const char *text)
{
	const char *colon = strchr(text, ':');
	size_t len = colon == NULL ? strlen(text) : (size_t)(colon - text);
	enum memic_dm_type type;
	const char *name;
	uint64_t bytes;

	for (type = 0; type < MEMIC_DM_TYPES; type++) {
		name = memic_dm_type_name(type);
		if (strlen(name) == len && strncasecmp(name, text, len) == 0)
			break;
	}
	if (type == MEMIC_DM_TYPES) {
		fprintf(stderr, "--alloc: there is no type '%.*s', but", (int)len, text);
		for (type = 0; type < MEMIC_DM_TYPES; type++)
			fprintf(stderr, " %s", memic_dm_type_name(type));
		fprintf(stderr, "\n");
		return -1;
	}
	if (colon == NULL || !parse_number(colon + 1, SIZE_MAX, &bytes)) {
		fprintf(stderr, "--alloc: '%s' is not TYPE:BYTES, as MEMIC:64K\n", text);
		return -1;
	}
	o->alloc = true;
	o->alloc_type = type;
	o->alloc_bytes = bytes;
	return 0;
}

static int
parse_count(const char *option, const char *text, uint64_t max, unsigned int *count)
{
	uint64_t value;

	if (!parse_number(text, max, &value) || value == 0) {
		fprintf(stderr, "%s: '%s' is no number from 1 to %u\n", option, text,
			(unsigned int)max);
		return -1;
	}
	*count = (unsigned int)value;
	return 0;
}

static int
take(struct info_options *o, int opt)
{
	switch (opt) {
	case 'd':
		o->device = optarg;
		return 0;
	case 'a':
		return parse_alloc(o, optarg);
	case 'p':
		o->probe = true;
		return 0;
	case 'P':
		return parse_count("--port", optarg, 255, &o->port);
	case 'r':
		return parse_count("--removal", optarg, 3600, &o->removal_seconds);
	case 'j':
		o->json = true;
		return 0;
	default:
		return -1;
	}
}

int
info_options_parse(struct info_options *o, int argc, char **argv)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "alloc", required_argument, NULL, 'a' },
		{ "probe", no_argument, NULL, 'p' },
		{ "port", required_argument, NULL, 'P' },
		{ "removal", required_argument, NULL, 'r' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (opt == 'h') {
			usage(stdout, argv[0]);
			return -1;
		}
		if (opt == 'V') {
			puts("dpdk-memic-info " MEMIC_VERSION);
			return -1;
		}
		if (take(o, opt) != 0)
			goto err_usage;
	}
	if (optind < argc) {
		fprintf(stderr, "'%s' is no option\n", argv[optind]);
		goto err_usage;
	}
	if ((o->removal_seconds != 0 || o->port != 0) && !o->probe) {
		fprintf(stderr, "--removal and --port need --probe\n");
		goto err_usage;
	}
	return 0;

err_usage:
	usage(stderr, argv[0]);
	return INFO_USAGE;
}
