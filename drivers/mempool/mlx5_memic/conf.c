/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/* What an application asks for with a pool, as a rule. */

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <rte_common.h>
#include <rte_string_fns.h>

#include "config.h"
#include "log.h"
#include "rte_pmd_mlx5_memic.h"

/** Size of the first version of the structure. */
#define CONF_SIZE_1 (offsetof(struct rte_pmd_mlx5_memic_conf, mkey) + sizeof(uint32_t))

/** Whether a caller's structure has the members about ports of other devices. */
static bool
knows_others(const struct rte_pmd_mlx5_memic_conf *conf)
{
	return conf->size >= sizeof(*conf);
}

static const char *
wrong(const struct rte_pmd_mlx5_memic_conf *conf)
{
	if (conf->magic != RTE_PMD_MLX5_MEMIC_MAGIC)
		return "is not a struct rte_pmd_mlx5_memic_conf: fill it with "
		       "rte_pmd_mlx5_memic_conf_init(), or pass NULL and use rules";
	if (conf->size < CONF_SIZE_1)
		return "has a size that no version had: fill it with "
		       "rte_pmd_mlx5_memic_conf_init()";
	if (conf->size > sizeof(*conf))
		return "is of a newer version than the driver: update the driver";
	if (conf->dev != NULL && (conf->dev[0] == '\0' || strlen(conf->dev) >= MPM_DEV_NAME_LEN))
		return "has a dev that is empty or too long: give an IB name, a bus address or "
		       "NULL";
	if (conf->spill > 1)
		return "has a spill that is neither 0 nor 1";
	if (conf->mkey > RTE_PMD_MLX5_MEMIC_MKEY_DIRECT)
		return "has an mkey that this version does not know";
	if (knows_others(conf) && conf->foreign > RTE_PMD_MLX5_MEMIC_FOREIGN_BOUNCE)
		return "has a foreign that this version does not know";
	if (knows_others(conf) && conf->siblings > 1)
		return "has a siblings that is neither 0 nor 1";
	if (conf->max_bytes == 0 && conf->spill == 0)
		return "has max_bytes 0 and spill 0, which leaves no place for any buffer";
	return NULL;
}

int
mpm_config_check(const struct rte_pmd_mlx5_memic_conf *conf, const char *pool)
{
	const char *why = wrong(conf);

	if (why == NULL)
		return 0;
	MPM_LOG(ERR, "pool %s not created (EINVAL): its configuration %s", pool, why);
	return -EINVAL;
}

int
mpm_config_of_conf(const struct rte_pmd_mlx5_memic_conf *conf, const char *pool,
		   struct mpm_rule *rule)
{
	static const enum mpm_mkey mkeys[] = {
		[RTE_PMD_MLX5_MEMIC_MKEY_AUTO] = MPM_MKEY_AUTO,
		[RTE_PMD_MLX5_MEMIC_MKEY_KLM] = MPM_MKEY_KLM,
		[RTE_PMD_MLX5_MEMIC_MKEY_KSM] = MPM_MKEY_KSM,
		[RTE_PMD_MLX5_MEMIC_MKEY_DIRECT] = MPM_MKEY_DIRECT,
	};
	int ret = mpm_config_check(conf, pool);

	if (ret != 0)
		return ret;
	memset(rule, 0, sizeof(*rule));
	strlcpy(rule->origin, "conf", sizeof(rule->origin));
	if (conf->dev != NULL)
		strlcpy(rule->dev, conf->dev, sizeof(rule->dev));
	strlcpy(rule->pools, pool, sizeof(rule->pools));
	rule->pools_given = true;
	rule->size = conf->max_bytes;
	rule->spill = conf->spill != 0;
	rule->mkey = mkeys[conf->mkey];
	if (!knows_others(conf))
		return 0;
	rule->foreign = conf->foreign == RTE_PMD_MLX5_MEMIC_FOREIGN_BOUNCE ?
		MPM_FOREIGN_BOUNCE : MPM_FOREIGN_DROP;
	rule->siblings = conf->siblings != 0;
	return 0;
}
