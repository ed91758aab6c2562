/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MPM_CONFIG_H
#define MPM_CONFIG_H

/**
 * @file
 * Rules: which pools get device memory, of which device, how much and how.
 *
 * A rule is a list of key=value pairs. Rules come from vdev arguments, one rule per
 * vdev in order of appearance, and after them from the environment variable
 * MLX5_MEMIC. The first rule that matches a pool decides. Where there is none at all
 * one rule with all defaults is in force.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/queue.h>

#include <rte_dev.h>

struct rte_pmd_mlx5_memic_conf;

#define MPM_DEV_NAME_LEN 64
#define MPM_PATTERN_LEN 128
#define MPM_SIZE_ALL UINT64_MAX
/** Origin of the rules out of the environment, and the name of the variable. */
#define MPM_ENV "MLX5_MEMIC"

/** What a rule asks of the memory keys. */
enum mpm_mkey {
	MPM_MKEY_AUTO,
	MPM_MKEY_KLM,
	MPM_MKEY_KSM,
	MPM_MKEY_DIRECT,
};

/** What becomes of a frame in device memory on a port that cannot reach it. */
enum mpm_foreign {
	MPM_FOREIGN_DROP,   /**< Handed back to the sender. */
	MPM_FOREIGN_BOUNCE, /**< Copied to host memory. */
};

struct mpm_rule {
	TAILQ_ENTRY(mpm_rule) next;
	char origin[RTE_DEV_NAME_MAX_LEN]; /**< vdev name or MPM_ENV. */
	char dev[MPM_DEV_NAME_LEN];        /**< Device; empty for the only one. */
	char pools[MPM_PATTERN_LEN];       /**< Shell pattern of pool names. */
	bool pools_given;                  /**< The pattern was named: any data room will do. */
	uint64_t size;                     /**< Bytes of device memory; MPM_SIZE_ALL. */
	bool spill;                        /**< What does not fit lives in host memory. */
	enum mpm_mkey mkey;
	enum mpm_foreign foreign;
	bool siblings;                     /**< Ports of other devices get a pool of their own. */
};

/** Read the environment variable. Mistakes are logged and make mpm_config_match() fail. */
void mpm_config_init(void);

/**
 * Add one rule.
 *
 * @param origin name of the vdev.
 * @param args its arguments, NULL or "" for a rule of defaults.
 * @return 0; -EINVAL with the key and value logged, -ENOMEM.
 */
int mpm_config_add(const char *origin, const char *args);

/**
 * Add one rule for a caller that can say what was wrong with it. Unlike with
 * mpm_config_add(), pools are made as if it had not been there when it was refused.
 *
 * @param origin who gives it, for the log.
 * @param args the rule.
 * @param[out] why sentence on failure.
 * @param why_len its size.
 * @return 0; -EINVAL, -ENOMEM.
 */
int mpm_config_add_or_tell(const char *origin, const char *args, char *why, size_t why_len);

/** Remove the rule of a vdev. */
void mpm_config_remove(const char *origin);

/**
 * Find the rule of a pool.
 *
 * @param pool name of the pool.
 * @param room bytes of its data room.
 * @param internal a driver makes the pool for itself: only rules that name pools count.
 * @param[out] rule copy of the rule.
 * @return 1 found, 0 no rule matches; -EINVAL when a rule was refused, logged.
 */
int mpm_config_match(const char *pool, unsigned int room, bool internal, struct mpm_rule *rule);

/** Whether a rule lets frames of one pool leave in mbufs of another. */
bool mpm_config_mixes(void);

/** The same of one rule. */
static inline bool
mpm_rule_mixes(const struct mpm_rule *rule)
{
	return rule->siblings || rule->foreign == MPM_FOREIGN_BOUNCE;
}

/**
 * Check the configuration that an application gave for a pool.
 *
 * @param conf configuration.
 * @param pool name of the pool, for the log.
 * @return 0; -EINVAL, logged.
 */
int mpm_config_check(const struct rte_pmd_mlx5_memic_conf *conf, const char *pool);

/**
 * Turn a configuration into a rule.
 *
 * @return 0; -EINVAL, logged.
 */
int mpm_config_of_conf(const struct rte_pmd_mlx5_memic_conf *conf, const char *pool,
		       struct mpm_rule *rule);

/** Name of an mkey= value. */
const char *mpm_mkey_name(enum mpm_mkey mkey);

/** Name of a foreign= value. */
const char *mpm_foreign_name(enum mpm_foreign foreign);

#endif /* MPM_CONFIG_H */
