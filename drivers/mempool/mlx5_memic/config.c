/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_kvargs.h>
#include <rte_spinlock.h>
#include <rte_string_fns.h>
#include <rte_tailq.h>

#include "config.h"
#include "log.h"

/*
 * Smallest data room that a rule without pools= takes: pools of less, as those of
 * indirect mbufs, never see a packet of the device.
 */
#define ROOM_MIN (RTE_PKTMBUF_HEADROOM + 64)

/** Room for a sentence on what is wrong with a rule. */
#define WHY_LEN 512

/** A vdev whose arguments were refused. */
struct refused {
	TAILQ_ENTRY(refused) next;
	char origin[RTE_DEV_NAME_MAX_LEN];
};

static rte_spinlock_t lock = RTE_SPINLOCK_INITIALIZER;
static TAILQ_HEAD(vdev_rules, mpm_rule) vdev_rules = TAILQ_HEAD_INITIALIZER(vdev_rules);
static TAILQ_HEAD(env_rules, mpm_rule) env_rules = TAILQ_HEAD_INITIALIZER(env_rules);
static TAILQ_HEAD(refusals, refused) refusals = TAILQ_HEAD_INITIALIZER(refusals);
static bool env_refused;

static const char *const mkey_names[] = {
	[MPM_MKEY_AUTO] = "auto",
	[MPM_MKEY_KLM] = "klm",
	[MPM_MKEY_KSM] = "ksm",
	[MPM_MKEY_DIRECT] = "direct",
};

static const char *const foreign_names[] = {
	[MPM_FOREIGN_DROP] = "drop",
	[MPM_FOREIGN_BOUNCE] = "bounce",
};

const char *
mpm_mkey_name(enum mpm_mkey mkey)
{
	return mkey_names[mkey];
}

const char *
mpm_foreign_name(enum mpm_foreign foreign)
{
	return foreign_names[foreign];
}

/* ---- values: each returns NULL, or what is wrong with the value ---- */

static const char *
copy_text(char *to, size_t len, const char *value)
{
	if (value[0] == '\0')
		return "is empty";
	if (strlcpy(to, value, len) >= len)
		return "is too long";
	return NULL;
}

static const char *
set_dev(struct mpm_rule *rule, const char *value)
{
	return copy_text(rule->dev, sizeof(rule->dev), value);
}

static const char *
set_pools(struct mpm_rule *rule, const char *value)
{
	rule->pools_given = true;
	return copy_text(rule->pools, sizeof(rule->pools), value);
}

static const char *
set_size(struct mpm_rule *rule, const char *value)
{
	static const char wrong[] = "is not a number of bytes, as 65536, 64K, 1M, or all";
	unsigned long long n;
	unsigned int shift = 0;
	char *end;

	if (strcmp(value, "all") == 0) {
		rule->size = MPM_SIZE_ALL;
		return NULL;
	}
	/* strtoull() takes blanks and signs */
	if (!isdigit((unsigned char)value[0]))
		return wrong;
	errno = 0;
	n = strtoull(value, &end, 10);
	if (*end == 'K' || *end == 'k')
		shift = 10;
	else if (*end == 'M' || *end == 'm')
		shift = 20;
	if (shift != 0)
		end++;
	if (*end != '\0')
		return wrong;
	if (errno == ERANGE || n > (MPM_SIZE_ALL - 1) >> shift)
		return "is too large";
	rule->size = (uint64_t)n << shift;
	return NULL;
}

static const char *
set_flag(bool *flag, const char *value)
{
	if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
		return "is neither 0 nor 1";
	*flag = value[0] == '1';
	return NULL;
}

static const char *
set_spill(struct mpm_rule *rule, const char *value)
{
	return set_flag(&rule->spill, value);
}

static const char *
set_mkey(struct mpm_rule *rule, const char *value)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(mkey_names); i++) {
		if (strcmp(value, mkey_names[i]) == 0) {
			rule->mkey = (enum mpm_mkey)i;
			return NULL;
		}
	}
	return "is none of auto, klm, ksm and direct";
}

static const char *
set_foreign(struct mpm_rule *rule, const char *value)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(foreign_names); i++) {
		if (strcmp(value, foreign_names[i]) == 0) {
			rule->foreign = (enum mpm_foreign)i;
			return NULL;
		}
	}
	return "is neither drop nor bounce";
}

static const char *
set_siblings(struct mpm_rule *rule, const char *value)
{
	return set_flag(&rule->siblings, value);
}

static const struct {
	const char *name;
	const char *(*set)(struct mpm_rule *rule, const char *value);
} keys[] = {
	{ "dev", set_dev },
	{ "pools", set_pools },
	{ "size", set_size },
	{ "spill", set_spill },
	{ "mkey", set_mkey },
	{ "foreign", set_foreign },
	{ "siblings", set_siblings },
};

/* ---- rules ---- */

static void
rule_defaults(struct mpm_rule *rule, const char *origin)
{
	memset(rule, 0, sizeof(*rule));
	strlcpy(rule->origin, origin, sizeof(rule->origin));
	strlcpy(rule->pools, "*", sizeof(rule->pools));
	rule->size = MPM_SIZE_ALL;
	rule->spill = true;
}

static int
rule_pair(struct mpm_rule *rule, const struct rte_kvargs_pair *pair, unsigned int *seen,
	  char *why, size_t why_len)
{
	const char *value = pair->value == NULL ? "" : pair->value;
	const char *wrong;
	unsigned int i;

	for (i = 0; i < RTE_DIM(keys); i++)
		if (strcmp(pair->key, keys[i].name) == 0)
			break;
	if (i == RTE_DIM(keys)) {
		snprintf(why, why_len, "unknown key '%s' (value '%s'); known are dev, pools, size, "
			 "spill, mkey, foreign, siblings", pair->key, value);
		return -EINVAL;
	}
	wrong = (*seen & (1u << i)) != 0 ? "is given a second time" : keys[i].set(rule, value);
	*seen |= 1u << i;
	if (wrong == NULL)
		return 0;
	snprintf(why, why_len, "%s=%s: the value %s", pair->key, value, wrong);
	return -EINVAL;
}

static int
rule_parse(struct mpm_rule *rule, const char *args, char *why, size_t why_len)
{
	struct rte_kvargs *list;
	unsigned int seen = 0;
	unsigned int i;
	int ret = 0;

	if (args == NULL || args[0] == '\0')
		return 0;
	/* no list of valid keys: rte_kvargs would not say which one it refused */
	list = rte_kvargs_parse(args, NULL);
	if (list == NULL) {
		snprintf(why, why_len, "'%s' is not a list of key=value pairs", args);
		return -EINVAL;
	}
	for (i = 0; i < list->count && ret == 0; i++)
		ret = rule_pair(rule, &list->pairs[i], &seen, why, why_len);
	rte_kvargs_free(list);
	if (ret == 0 && rule->size == 0 && !rule->spill) {
		snprintf(why, why_len, "size=0 with spill=0 leaves no place for any buffer");
		ret = -EINVAL;
	}
	return ret;
}

static int
rule_new(const char *origin, const char *args, struct mpm_rule **out, char *why, size_t why_len)
{
	struct mpm_rule *rule = calloc(1, sizeof(*rule));
	int ret;

	if (rule == NULL)
		return -ENOMEM;
	rule_defaults(rule, origin);
	ret = rule_parse(rule, args, why, why_len);
	if (ret != 0) {
		MPM_LOG(ERR, "%s: %s", origin, why);
		free(rule);
		return ret;
	}
	*out = rule;
	return 0;
}

static void
refuse(const char *origin)
{
	struct refused *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return;
	strlcpy(r->origin, origin, sizeof(r->origin));
	rte_spinlock_lock(&lock);
	TAILQ_INSERT_TAIL(&refusals, r, next);
	rte_spinlock_unlock(&lock);
}

static void
unrefuse(const char *origin)
{
	struct refused *r;
	void *tmp;

	rte_spinlock_lock(&lock);
	RTE_TAILQ_FOREACH_SAFE(r, &refusals, next, tmp) {
		if (strcmp(r->origin, origin) == 0) {
			TAILQ_REMOVE(&refusals, r, next);
			free(r);
		}
	}
	rte_spinlock_unlock(&lock);
}

int
mpm_config_add_or_tell(const char *origin, const char *args, char *why, size_t why_len)
{
	struct mpm_rule *rule;
	int ret;

	why[0] = '\0';
	ret = rule_new(origin, args, &rule, why, why_len);
	if (ret != 0)
		return ret;
	rte_spinlock_lock(&lock);
	TAILQ_INSERT_TAIL(&vdev_rules, rule, next);
	rte_spinlock_unlock(&lock);
	return 0;
}

int
mpm_config_add(const char *origin, const char *args)
{
	char why[WHY_LEN];
	int ret = mpm_config_add_or_tell(origin, args, why, sizeof(why));

	if (ret != 0)
		refuse(origin);
	else
		unrefuse(origin);
	return ret;
}

void
mpm_config_remove(const char *origin)
{
	struct mpm_rule *rule;
	void *tmp;

	rte_spinlock_lock(&lock);
	RTE_TAILQ_FOREACH_SAFE(rule, &vdev_rules, next, tmp) {
		if (strcmp(rule->origin, origin) == 0) {
			TAILQ_REMOVE(&vdev_rules, rule, next);
			free(rule);
		}
	}
	rte_spinlock_unlock(&lock);
}

void
mpm_config_init(void)
{
	const char *env = getenv(MPM_ENV);
	char *text, *args, *save = NULL;
	struct mpm_rule *rule;
	char why[WHY_LEN];

	if (env == NULL)
		return;
	text = strdup(env);
	if (text == NULL) {
		env_refused = true;
		return;
	}
	for (args = strtok_r(text, ";", &save); args != NULL; args = strtok_r(NULL, ";", &save)) {
		if (rule_new(MPM_ENV, args, &rule, why, sizeof(why)) != 0) {
			env_refused = true;
			break;
		}
		TAILQ_INSERT_TAIL(&env_rules, rule, next);
	}
	free(text);
}

static bool
vdev_exists(const char *name)
{
	struct rte_dev_iterator it;
	struct rte_device *dev;
	bool found = false;

	RTE_DEV_FOREACH(dev, "bus=vdev", &it)
		if (rte_dev_name(dev) != NULL && strcmp(rte_dev_name(dev), name) == 0)
			found = true;
	return found;
}

/*
 * EAL goes on when a vdev of the command line is refused, and its pools would then
 * silently fall under another rule. A vdev that is refused at run time is dropped by
 * EAL and its caller has got the error: nothing is left of it then.
 */
static bool
any_refused(char *origin, size_t len)
{
	struct refused *r;

	if (env_refused) {
		strlcpy(origin, MPM_ENV, len);
		return true;
	}
	for (;;) {
		rte_spinlock_lock(&lock);
		r = TAILQ_FIRST(&refusals);
		if (r != NULL)
			strlcpy(origin, r->origin, len);
		rte_spinlock_unlock(&lock);
		if (r == NULL)
			return false;
		/* the bus has a lock of its own, under which rules are added */
		if (vdev_exists(origin))
			return true;
		unrefuse(origin);
	}
}

static bool
rule_matches(const struct mpm_rule *rule, const char *pool, unsigned int room, bool internal)
{
	if (!rule->pools_given && (internal || room < ROOM_MIN))
		return false;
	return room != 0 && fnmatch(rule->pools, pool, 0) == 0;
}

static const struct mpm_rule *
first_match(const char *pool, unsigned int room, bool internal)
{
	const struct mpm_rule *rule;

	TAILQ_FOREACH(rule, &vdev_rules, next)
		if (rule_matches(rule, pool, room, internal))
			return rule;
	TAILQ_FOREACH(rule, &env_rules, next)
		if (rule_matches(rule, pool, room, internal))
			return rule;
	return NULL;
}

bool
mpm_config_mixes(void)
{
	const struct mpm_rule *rule;
	bool mixes = false;

	rte_spinlock_lock(&lock);
	TAILQ_FOREACH(rule, &vdev_rules, next)
		mixes = mixes || mpm_rule_mixes(rule);
	TAILQ_FOREACH(rule, &env_rules, next)
		mixes = mixes || mpm_rule_mixes(rule);
	rte_spinlock_unlock(&lock);
	return mixes;
}

int
mpm_config_match(const char *pool, unsigned int room, bool internal, struct mpm_rule *out)
{
	char origin[RTE_DEV_NAME_MAX_LEN];
	const struct mpm_rule *rule;
	bool none;

	if (any_refused(origin, sizeof(origin))) {
		MPM_LOG(ERR, "pool %s: the rule of %s was refused, see above; mend it or leave it "
			"out", pool, origin);
		return -EINVAL;
	}
	rte_spinlock_lock(&lock);
	none = TAILQ_EMPTY(&vdev_rules) && TAILQ_EMPTY(&env_rules);
	rule = first_match(pool, room, internal);
	if (rule != NULL)
		*out = *rule;
	rte_spinlock_unlock(&lock);
	if (rule != NULL)
		return 1;
	if (!none)
		return 0;
	rule_defaults(out, "defaults");
	return rule_matches(out, pool, room, internal) ? 1 : 0;
}
