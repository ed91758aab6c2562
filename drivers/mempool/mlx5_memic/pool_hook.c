/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <string.h>

#include <rte_common.h>
#include <rte_mbuf.h>

#include "log.h"
#include "plt_hook.h"
#include "pool_hook.h"

static __thread unsigned int in_driver;

bool
mpm_pool_hook_in_driver(void)
{
	return in_driver != 0;
}

static struct rte_mempool *
create(const char *name, unsigned int n, unsigned int cache, uint16_t priv, uint16_t room,
       int socket)
{
	struct rte_mempool *mp;

	in_driver++;
	mp = rte_pktmbuf_pool_create(name, n, cache, priv, room, socket);
	in_driver--;
	return mp;
}

static struct rte_mempool *
create_by_ops(const char *name, unsigned int n, unsigned int cache, uint16_t priv, uint16_t room,
	      int socket, const char *ops)
{
	struct rte_mempool *mp;

	in_driver++;
	mp = rte_pktmbuf_pool_create_by_ops(name, n, cache, priv, room, socket, ops);
	in_driver--;
	return mp;
}

/* DPDK names drivers librte_<class>_<name> (drivers/meson.build), libraries librte_<name>. */
static bool
is_driver(const char *object)
{
	static const char *const classes[] = {
		"baseband", "bus", "common", "compress", "crypto", "dma", "event", "mempool", "ml",
		"net", "raw", "regex", "vdpa",
	};
	static const char prefix[] = "librte_";
	unsigned int i;
	size_t len;

	if (strncmp(object, prefix, strlen(prefix)) != 0)
		return false;
	object += strlen(prefix);
	for (i = 0; i < RTE_DIM(classes); i++) {
		len = strlen(classes[i]);
		if (strncmp(object, classes[i], len) == 0 && object[len] == '_')
			return true;
	}
	return false;
}

void
mpm_pool_hook_install(void)
{
	static struct mpm_plt_hook hooks[] = {
		{ .symbol = "rte_pktmbuf_pool_create", .replacement = create,
		  .genuine = rte_pktmbuf_pool_create },
		{ .symbol = "rte_pktmbuf_pool_create_by_ops", .replacement = create_by_ops,
		  .genuine = rte_pktmbuf_pool_create_by_ops },
	};
	char why[MPM_WHY];

	if (mpm_plt_divert(hooks, RTE_DIM(hooks), is_driver, why, sizeof(why)) != 0)
		MPM_LOG(INFO, "%s: pools that drivers make for themselves may take device memory "
			"unless rules name pools=", why);
}
