/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <string.h>

#include <rte_common.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "config.h"
#include "export.h"
#include "hooks.h"
#include "region.h"
#include "rte_pmd_mlx5_memic.h"

/* The steps of rte_pktmbuf_pool_create_by_ops(), which hands no configuration on. */
static struct rte_mempool *
create(const char *name, unsigned int n, unsigned int cache, uint16_t priv_size, uint16_t room,
       int socket, struct rte_pmd_mlx5_memic_conf *conf)
{
	struct rte_pktmbuf_pool_private priv = {
		.mbuf_data_room_size = room,
		.mbuf_priv_size = priv_size,
	};
	struct rte_mempool *mp;
	int ret;

	mp = rte_mempool_create_empty(name, n, sizeof(struct rte_mbuf) + priv_size + room, cache,
				      sizeof(priv), socket, 0);
	if (mp == NULL)
		return NULL;
	ret = rte_mempool_set_ops_byname(mp, RTE_PMD_MLX5_MEMIC_OPS, conf);
	if (ret != 0)
		goto err_free_pool;
	rte_pktmbuf_pool_init(mp, &priv);
	ret = rte_mempool_populate_default(mp);
	if (ret < 0)
		goto err_free_pool;
	/* through the hook, wherever the caller's walks go */
	mpm_hook_obj_iter(mp, rte_pktmbuf_init, NULL);
	/* the caller's conf need not live on */
	mp->pool_config = NULL;
	return mp;

err_free_pool:
	rte_mempool_free(mp);
	rte_errno = -ret;
	return NULL;
}

EXPORT struct rte_mempool *
rte_pmd_mlx5_memic_pool_create(const char *name, unsigned int n, unsigned int cache_size,
			       uint16_t priv_size, uint16_t data_room_size, int socket_id,
			       const struct rte_pmd_mlx5_memic_conf *conf)
{
	struct rte_pmd_mlx5_memic_conf own;

	if (name == NULL || RTE_ALIGN(priv_size, RTE_MBUF_PRIV_ALIGN) != priv_size) {
		rte_errno = EINVAL;
		return NULL;
	}
	rte_pmd_mlx5_memic_conf_init(&own);
	if (conf != NULL && mpm_config_check(conf, name) != 0) {
		rte_errno = EINVAL;
		return NULL;
	}
	if (conf != NULL)
		memcpy(&own, conf, RTE_MIN(conf->size, sizeof(own)));
	own.size = sizeof(own);
	return create(name, n, cache_size, priv_size, data_room_size, socket_id, &own);
}

EXPORT bool
rte_pmd_mlx5_memic_mbuf_on_device(const struct rte_mbuf *m)
{
	return m != NULL && mpm_region_holds(m->buf_addr);
}

EXPORT int
rte_pmd_mlx5_memic_rule_add(const char *origin, const char *args, char *why, size_t why_len)
{
	if (origin == NULL || args == NULL || why == NULL || why_len == 0)
		return -EINVAL;
	return mpm_config_add_or_tell(origin, args, why, why_len);
}
