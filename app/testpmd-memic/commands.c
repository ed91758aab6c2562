/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include <cmdline_rdline.h>
#include <cmdline_parse.h>
#include <cmdline_parse_num.h>
#include <cmdline_parse_string.h>
#include <cmdline.h>

#include "bench.h"
#include "commands.h"
#include "options.h"
#include "probe.h"
#include "show.h"
#include "stats.h"
#include "tokens.h"

/* The words of any command: fixed ones go to scratch, the others where they belong. */
struct result {
	cmdline_fixed_string_t scratch;
	char name[TPM_NAME_LEN];
	uint32_t port;
	uint32_t burst;
	uint32_t seconds;
};

/* ---- words ---- */

#define WORD(text) TOKEN_STRING_INITIALIZER(struct result, scratch, text)
#define OWN(kind, field) { .ops = &tpm_token_ ## kind, .offset = offsetof(struct result, field) }

static cmdline_parse_token_string_t w_show = WORD("show");
static cmdline_parse_token_string_t w_clear = WORD("clear");
static cmdline_parse_token_string_t w_help = WORD("help");
static cmdline_parse_token_string_t w_memic = WORD("memic");
static cmdline_parse_token_string_t w_all = WORD("all");
static cmdline_parse_token_string_t w_devices = WORD("devices");
static cmdline_parse_token_string_t w_pool = WORD("pool");
static cmdline_parse_token_string_t w_port = WORD("port");
static cmdline_parse_token_string_t w_stats = WORD("stats");
static cmdline_parse_token_string_t w_bench = WORD("bench");
static cmdline_parse_token_string_t w_copy = WORD("copy");
static cmdline_parse_token_string_t w_forward = WORD("forward");
static cmdline_parse_token_string_t w_burst = WORD("burst");
static cmdline_parse_token_string_t w_seconds = WORD("seconds");
static cmdline_parse_token_string_t w_dump = WORD("dump");
static cmdline_parse_token_string_t w_probe = WORD("probe");
static cmdline_parse_token_num_t n_burst =
	TOKEN_NUM_INITIALIZER(struct result, burst, RTE_UINT32);
static cmdline_parse_token_num_t n_seconds =
	TOKEN_NUM_INITIALIZER(struct result, seconds, RTE_UINT32);
static cmdline_parse_token_hdr_t n_pool = OWN(pool, name);
static cmdline_parse_token_hdr_t n_port = OWN(port, port);
static cmdline_parse_token_hdr_t n_device = OWN(device, name);

/* ---- what they do ---- */

#define WITH_BURST 1u
#define WITH_SECONDS 2u

/* One function, by what it wants to know, or for bench_*() the optional words there are. */
struct action {
	void (*plain)(void);
	void (*named)(const char *name);
	void (*of_port)(uint32_t port);
	unsigned int words;
};

static void
act(void *parsed, struct cmdline *cl __rte_unused, void *data)
{
	const struct result *r = parsed;
	const struct action *a = data;

	if (a->plain != NULL)
		a->plain();
	else if (a->named != NULL)
		a->named(r->name);
	else
		a->of_port(r->port);
}

static void
bench_pool(void *parsed, struct cmdline *cl __rte_unused, void *data)
{
	const struct result *r = parsed;
	const struct action *a = data;

	tpm_bench_pool(r->name, (a->words & WITH_BURST) != 0 ? r->burst : TPM_BURST,
		       (a->words & WITH_SECONDS) != 0 ? r->seconds : TPM_SECONDS);
}

static void
bench_forward(void *parsed, struct cmdline *cl __rte_unused, void *data)
{
	const struct result *r = parsed;
	const struct action *a = data;

	tpm_bench_forward((a->words & WITH_SECONDS) != 0 ? r->seconds : TPM_SECONDS);
}

static void help(void);

/* ---- commands ---- */

#define T(token) ((cmdline_parse_token_hdr_t *)&(token))
#define PLAIN(function) act, { .plain = function }
#define NAMED(function) act, { .named = function }
#define OF_PORT(function) act, { .of_port = function }
#define WORDS(function, optional) function, { .words = optional }
/* do_it is one of the four above */
#define COMMAND(id, do_it, help_text, ...) COMMAND_(id, do_it, help_text, __VA_ARGS__)
#define COMMAND_(id, fn, what, help_text, ...) \
	static struct action id ## _action = what; \
	static cmdline_parse_inst_t id = { \
		.f = fn, \
		.data = &id ## _action, \
		.help_str = help_text, \
		.tokens = { __VA_ARGS__, NULL }, \
	}

COMMAND(c_show_all, PLAIN(tpm_show_all),
	"show memic all: Devices, pools and ports",
	T(w_show), T(w_memic), T(w_all));
COMMAND(c_show_devices, PLAIN(tpm_show_devices),
	"show memic devices: Devices and their memory",
	T(w_show), T(w_memic), T(w_devices));
COMMAND(c_show_pool, NAMED(tpm_show_pool),
	"show memic pool <name>: Where the buffers of a pool are",
	T(w_show), T(w_memic), T(w_pool), T(n_pool));
COMMAND(c_show_port, OF_PORT(tpm_show_port),
	"show memic port <port_id>: Rings, pools and memory of a port's queues",
	T(w_show), T(w_memic), T(w_port), T(n_port));
COMMAND(c_show_stats, PLAIN(tpm_stats_show),
	"show memic stats: Rates since the last look",
	T(w_show), T(w_memic), T(w_stats));
COMMAND(c_clear_stats, PLAIN(tpm_stats_clear),
	"clear memic stats: Begin rates and watermarks of slots anew",
	T(w_clear), T(w_memic), T(w_stats));
COMMAND(c_dump_pool, NAMED(tpm_show_dump),
	"memic dump pool <name>: All that DPDK and the driver know about a pool",
	T(w_memic), T(w_dump), T(w_pool), T(n_pool));
COMMAND(c_probe, NAMED(tpm_probe),
	"memic probe <device>: Put to the test what is assumed of a device's memory",
	T(w_memic), T(w_probe), T(n_device));
COMMAND(c_bench_pool, WORDS(bench_pool, 0),
	"memic bench pool <name>: Get and put, beside ring_mp_mc and a copy of pointers",
	T(w_memic), T(w_bench), T(w_pool), T(n_pool));
COMMAND(c_bench_pool_burst, WORDS(bench_pool, WITH_BURST),
	"memic bench pool <name> burst <n>: The same with bursts of n mbufs",
	T(w_memic), T(w_bench), T(w_pool), T(n_pool), T(w_burst), T(n_burst));
COMMAND(c_bench_pool_seconds, WORDS(bench_pool, WITH_SECONDS),
	"memic bench pool <name> seconds <n>: The same for n seconds",
	T(w_memic), T(w_bench), T(w_pool), T(n_pool), T(w_seconds), T(n_seconds));
COMMAND(c_bench_pool_both, WORDS(bench_pool, WITH_BURST | WITH_SECONDS),
	"memic bench pool <name> burst <n> seconds <n>: The same with both",
	T(w_memic), T(w_bench), T(w_pool), T(n_pool), T(w_burst), T(n_burst), T(w_seconds),
	T(n_seconds));
COMMAND(c_bench_copy, PLAIN(tpm_bench_copy),
	"memic bench copy: Copies by the CPU into device memory",
	T(w_memic), T(w_bench), T(w_copy));
COMMAND(c_bench_forward, WORDS(bench_forward, 0),
	"memic bench forward: Forward on each started port",
	T(w_memic), T(w_bench), T(w_forward));
COMMAND(c_bench_forward_seconds, WORDS(bench_forward, WITH_SECONDS),
	"memic bench forward seconds <n>: The same for n seconds",
	T(w_memic), T(w_bench), T(w_forward), T(w_seconds), T(n_seconds));
COMMAND(c_help, PLAIN(help),
	"help memic: These commands",
	T(w_help), T(w_memic));

static cmdline_parse_inst_t *const commands[] = {
	&c_show_all, &c_show_devices, &c_show_pool, &c_show_port, &c_show_stats, &c_clear_stats,
	&c_dump_pool, &c_probe, &c_bench_pool, &c_bench_pool_burst, &c_bench_pool_seconds,
	&c_bench_pool_both, &c_bench_copy, &c_bench_forward, &c_bench_forward_seconds, &c_help,
};

static void
help(void)
{
	const char *text;
	unsigned int i;

	printf("\nPools in ConnectX device memory:\n");
	for (i = 0; i < RTE_DIM(commands); i++) {
		text = commands[i]->help_str;
		printf("\n%.*s\n    %s.\n", (int)strcspn(text, ":"), text,
		       text + strcspn(text, ":") + 2);
	}
	printf("\n");
}

cmdline_parse_ctx_t *
tpm_commands_with(cmdline_parse_ctx_t *ctx)
{
	static cmdline_parse_ctx_t *from, *table;
	static bool measured;
	unsigned int n = 0;

	tpm_stats_begin();
	if (!measured && tpm_options_bench() != 0) {
		measured = true;
		tpm_bench_all(tpm_options_bench());
	}
	if (table != NULL && ctx == from)
		return table;
	while (ctx[n] != NULL)
		n++;
	table = calloc(n + RTE_DIM(commands) + 1, sizeof(*table));
	if (table == NULL)
		return ctx;
	memcpy(table, ctx, n * sizeof(*table));
	memcpy(table + n, commands, sizeof(commands));
	from = ctx;
	return table;
}
