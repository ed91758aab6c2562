/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "launcher.h"

/* Value of the long options that emu_config_set() knows by name. */
#define CONFIG_OPTION 'c'

static const struct option long_options[] = {
	{ "ports", required_argument, NULL, CONFIG_OPTION },
	{ "one-device", no_argument, NULL, CONFIG_OPTION },
	{ "preset", required_argument, NULL, CONFIG_OPTION },
	{ "memic", required_argument, NULL, CONFIG_OPTION },
	{ "wire", required_argument, NULL, CONFIG_OPTION },
	{ "fault", required_argument, NULL, CONFIG_OPTION },
	{ "stats", required_argument, NULL, CONFIG_OPTION },
	{ "trace", required_argument, NULL, CONFIG_OPTION },
	{ "root", no_argument, NULL, CONFIG_OPTION },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static const char usage[] =
"Usage: mlx5emu [OPTION]... -- COMMAND [ARGUMENT]...\n"
"Run COMMAND with software ConnectX functions at 0000:08:00.0, 0000:08:00.1, ...\n"
"\n"
"  --ports N           number of functions, 1 to 8; default is the card's: 1, cx5 2\n"
"  --one-device        all ports on one IB device: the uplink of the function 0000:08:00.0\n"
"                      in switchdev mode and N - 1 VF representors\n"
"  --preset CARD       cx5, cx6dx (default), cx7, or nomemic: a cx6dx without MEMIC\n"
"  --memic BYTES       on-chip memory of a function, as 262144 or 256K; default is the\n"
"                      card's: 128K, cx7 256K\n"
"  --wire WIRE         what the ports are connected to:\n"
"                      loop (default): each port's frames come back to it\n"
"                      pair: port 0 to 1, 2 to 3, ...\n"
"                      tap: the netdevs emu0, emu1, ... are the ports' other ends\n"
"                      pcap:IN:OUT: frames come from and go to capture files\n"
"                      check:COUNT:BYTES: COUNT numbered frames of BYTES come in, each\n"
"                      byte is verified when they are sent back\n"
"  --fault SPEC        let something fail; 'help' lists what can\n"
"  --stats FILE        write counters as JSON when COMMAND ends\n"
"  --trace FILE        log every call that reaches the card\n"
"  --root              show the functions under the real /sys and /dev, in a mount\n"
"                      namespace of their own; wants CAP_SYS_ADMIN\n"
"  --help, --version   print this, or the version, and exit\n"
"\n"
"The exit status is COMMAND's, 128 and the number of the signal that killed it,\n"
"2 for a wrong option, 125 when the launcher fails, 126 when COMMAND cannot be run,\n"
"127 when it is not found.\n";

static int
refuse_usage(int *status)
{
	fputs("Try 'mlx5emu --help'.\n", stderr);
	*status = EXIT_USAGE;
	return 1;
}

static int
finish(const char *text, int *status)
{
	fputs(text, stdout);
	*status = fflush(stdout) == 0 ? 0 : EXIT_LAUNCHER;
	return 1;
}

static int
finish_faults(int *status)
{
	emu_fault_help(stdout);
	return finish("", status);
}

static int
set_config(struct launch *l, const char *name, const char *value, int *status)
{
	char err[PATH_MAX + 256];

	if (strcmp(name, "fault") == 0 && strcmp(value, "help") == 0)
		return finish_faults(status);
	if (emu_config_set(&l->cfg, name, value, err, sizeof(err)) == 0)
		return 0;
	complain(0, "%s", err);
	return refuse_usage(status);
}

int
options_parse(struct launch *l, int argc, char **argv, int *status)
{
	int opt, index, ret = 0;
	char err[512];

	emu_config_init(&l->cfg);
	/* '+': options after COMMAND are COMMAND's */
	while (ret == 0 && (opt = getopt_long(argc, argv, "+", long_options, &index)) != -1) {
		if (opt == CONFIG_OPTION)
			ret = set_config(l, long_options[index].name, optarg, status);
		else if (opt == 'h')
			ret = finish(usage, status);
		else if (opt == 'V')
			ret = finish("mlx5emu " MEMIC_VERSION "\n", status);
		else
			ret = refuse_usage(status);
	}
	if (ret != 0)
		return ret;
	if (emu_config_check(&l->cfg, err, sizeof(err)) < 0) {
		complain(0, "%s", err);
		return refuse_usage(status);
	}
	if (optind == argc) {
		complain(0, "no COMMAND to run");
		return refuse_usage(status);
	}
	l->command = argv + optind;
	return 0;
}
