/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <getopt.h>
#include <stdbool.h>
#include <string.h>

#include <rte_common.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_ethdev.h>

#include <cmdline_rdline.h>
#include <cmdline_parse.h>
#include <cmdline_socket.h>
#include <cmdline.h>

#include "commands.h"
#include "compat.h"
#include "hooks.h"
#include "log.h"
#include "options.h"
#include "plt_hook.h"
#include "stats_file.h"

static bool
is_executable(const char *object)
{
	return object[0] == '\0';
}

/* ---- commands ---- */

/* A prompt of its own is what 25.11 gives to a file that is echoed. */
static bool
is_testpmd(const char *prompt)
{
	return tpm_options_seen() || strcmp(prompt, TPM_PROMPT) == 0;
}

static struct cmdline *
from_stdin(cmdline_parse_ctx_t *ctx, const char *prompt)
{
	return cmdline_stdin_new(is_testpmd(prompt) ? tpm_commands_with(ctx) : ctx, prompt);
}

static struct cmdline *
from_file(cmdline_parse_ctx_t *ctx, const char *prompt, const char *path)
{
	return cmdline_file_new(is_testpmd(prompt) ? tpm_commands_with(ctx) : ctx, prompt, path);
}

static struct cmdline *
from_fd(cmdline_parse_ctx_t *ctx, const char *prompt, int in, int out)
{
	return cmdline_new(is_testpmd(prompt) ? tpm_commands_with(ctx) : ctx, prompt, in, out);
}

void
tpm_hooks_install(void)
{
	static struct mpm_plt_hook hooks[] = {
		{ .symbol = "getopt_long", .replacement = tpm_options_getopt,
		  .genuine = getopt_long },
		{ .symbol = "cmdline_stdin_new", .replacement = from_stdin,
		  .genuine = cmdline_stdin_new },
		{ .symbol = "cmdline_file_new", .replacement = from_file,
		  .genuine = cmdline_file_new },
		{ .symbol = "cmdline_new", .replacement = from_fd, .genuine = cmdline_new },
	};
	char why[256] = "it makes no command line of DPDK's";
	int ret;

	ret = mpm_plt_divert(hooks, RTE_DIM(hooks), is_executable, why, sizeof(why));
	if (ret != 0 || hooks[1].slots + hooks[2].slots + hooks[3].slots == 0)
		TPM_LOG(INFO, "this program gets no flags --memic-* and no commands: %s", why);
}

/* ---- what must not be read meanwhile ---- */

static int
dev_stop(uint16_t port)
{
	int ret;

	tpm_stats_file_hold(true);
	ret = rte_eth_dev_stop(port);
	tpm_stats_file_go_on();
	return ret;
}

static int
dev_close(uint16_t port)
{
	int ret;

	tpm_stats_file_hold(true);
	ret = rte_eth_dev_close(port);
	tpm_stats_file_go_on();
	return ret;
}

static int
dev_reset(uint16_t port)
{
	int ret;

	tpm_stats_file_hold(true);
	ret = rte_eth_dev_reset(port);
	tpm_stats_file_go_on();
	return ret;
}

static int
dev_configure(uint16_t port, uint16_t rx, uint16_t tx, const struct rte_eth_conf *conf)
{
	int ret;

	tpm_stats_file_hold(false);
	ret = rte_eth_dev_configure(port, rx, tx, conf);
	tpm_stats_file_go_on();
	return ret;
}

static int
dev_remove(struct rte_device *dev)
{
	int ret;

	tpm_stats_file_hold(true);
	ret = rte_dev_remove(dev);
	tpm_stats_file_go_on();
	return ret;
}

static int
eal_cleanup(void)
{
	tpm_stats_file_end();
	return rte_eal_cleanup();
}

bool
tpm_hooks_watch(void)
{
	static struct mpm_plt_hook hooks[] = {
		{ .symbol = "rte_eth_dev_stop", .replacement = dev_stop,
		  .genuine = rte_eth_dev_stop },
		{ .symbol = "rte_eth_dev_close", .replacement = dev_close,
		  .genuine = rte_eth_dev_close },
		{ .symbol = "rte_eth_dev_reset", .replacement = dev_reset,
		  .genuine = rte_eth_dev_reset },
		{ .symbol = "rte_eth_dev_configure", .replacement = dev_configure,
		  .genuine = rte_eth_dev_configure },
		{ .symbol = "rte_dev_remove", .replacement = dev_remove,
		  .genuine = rte_dev_remove },
		{ .symbol = "rte_eal_cleanup", .replacement = eal_cleanup,
		  .genuine = rte_eal_cleanup },
	};
	char why[256];

	if (mpm_plt_divert(hooks, RTE_DIM(hooks), is_executable, why, sizeof(why)) == 0)
		return true;
	TPM_LOG(ERR, "%s", why);
	return false;
}
