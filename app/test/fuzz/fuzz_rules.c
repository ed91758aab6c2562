/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>

#include <rte_common.h>
#include <rte_log.h>

#include "config.h"
#include "fuzz.h"
#include "log.h"

/*
 * Rules of the mempool driver: the arguments of vdevs, as many as the text has parts
 * between ';'. A refused one leaves no rule, and the first that fits decides.
 */
#define RULES 8

RTE_LOG_REGISTER(mpm_logtype, mempool.mlx5_memic, ERR);

static const char *const origins[RULES] = {
	"rule0", "rule1", "rule2", "rule3", "rule4", "rule5", "rule6", "rule7",
};

static void
check_rule(const struct mpm_rule *rule)
{
	fuzz_expect(memchr(rule->dev, '\0', sizeof(rule->dev)) != NULL, "dev has no end");
	fuzz_expect(memchr(rule->pools, '\0', sizeof(rule->pools)) != NULL, "pools has no end");
	fuzz_expect(rule->pools[0] != '\0', "no pattern");
	fuzz_expect(mpm_mkey_name(rule->mkey) != NULL, "mkey is %d", rule->mkey);
	fuzz_expect(rule->size > 0 || rule->spill, "a rule without any memory");
}

/* Rules after each other; returns how many were taken. */
static unsigned int
add_rules(char *text, bool taken[RULES])
{
	unsigned int n = 0;
	char *args, *save = NULL;

	for (args = strtok_r(text, ";", &save); args != NULL && n < RULES;
	     args = strtok_r(NULL, ";", &save)) {
		int ret = mpm_config_add(origins[n], args);

		fuzz_expect(ret == 0 || ret == -EINVAL, "answer %d", ret);
		taken[n++] = ret == 0;
	}
	return n;
}

static void
match(const char *pool, unsigned int room, bool internal, bool any)
{
	struct mpm_rule rule;
	int ret = mpm_config_match(pool, room, internal, &rule);

	fuzz_expect(ret == 0 || ret == 1, "answer %d", ret);
	if (ret == 1)
		check_rule(&rule);
	if (ret == 1 && any)
		fuzz_expect(strncmp(rule.origin, "rule", 4) == 0, "rule of '%s'", rule.origin);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return rte_openlog_stream(fopen("/dev/null", "we"));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool taken[RULES] = { false }, any = false;
	char *text = strndup((const char *)data, size);
	unsigned int n;

	fuzz_expect(text != NULL, "no memory");
	n = add_rules(text, taken);
	for (unsigned int i = 0; i < n; i++)
		any |= taken[i];
	match("mb_pool_0", 2176, false, any);
	match("mb_pool_0", 2176, true, any);
	match("", 0, false, any);
	for (unsigned int i = 0; i < n; i++)
		mpm_config_remove(origins[i]);
	free(text);
	return 0;
}
