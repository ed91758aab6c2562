/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * Preloaded into DPDK's dpdk-test, which cannot be told what pools to make.
 *
 * PEERS_DRESS   names of pools, separated by commas, of which the objects are dressed up as
 *               mbufs while the pool is made, so that the driver puts them on the device; then
 *               they are the test's to write what it likes. They get the ops of
 *               --mbuf-pool-ops-name, too.
 * PEERS_EXTBUF  pools of rte_pktmbuf_pool_create() become pools of DPDK's own with pinned
 *               external buffers in host memory.
 * PEERS_PINNED  pools that the test makes with pinned external buffers are made like all others
 *               instead, so that the driver pins their buffers on the device.
 * PEERS_LATE    name of a pool that is an ordinary one at first, see replace_pool().
 */

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>

#define DRESSED_MAX 8

/* Dressed pools in which the test has written by now. */
static const struct rte_mempool *undressed[DRESSED_MAX];

static void *
genuine(const char *name)
{
	void *fn = dlsym(RTLD_NEXT, name);

	if (fn == NULL) {
		fprintf(stderr, "peers: no %s: %s\n", name, dlerror());
		abort();
	}
	return fn;
}

#define GENUINE(fn) ((__typeof__(&fn))genuine(#fn))

static bool
is_dressed(const char *name)
{
	const char *at = getenv("PEERS_DRESS");
	size_t len = strlen(name);

	while (at != NULL && *at != '\0') {
		if (strncmp(at, name, len) == 0 && (at[len] == ',' || at[len] == '\0'))
			return true;
		at += strcspn(at, ",");
		at += *at == ',';
	}
	return false;
}

/* ---- dressed pools ---- */

struct rte_mempool *
rte_mempool_create_empty(const char *name, unsigned int n, unsigned int elt_size,
			 unsigned int cache_size, unsigned int private_data_size, int socket_id,
			 unsigned int flags)
{
	if (is_dressed(name))
		private_data_size = RTE_MAX(private_data_size,
					    sizeof(struct rte_pktmbuf_pool_private));
	return GENUINE(rte_mempool_create_empty)(name, n, elt_size, cache_size, private_data_size,
						 socket_id, flags);
}

int
rte_mempool_populate_default(struct rte_mempool *mp)
{
	struct rte_pktmbuf_pool_private priv = {
		.mbuf_data_room_size = mp->elt_size - sizeof(struct rte_mbuf),
	};
	int ret;

	if (!is_dressed(mp->name))
		return GENUINE(rte_mempool_populate_default)(mp);
	rte_pktmbuf_pool_init(mp, &priv);
	ret = GENUINE(rte_mempool_populate_default)(mp);
	if (ret > 0)
		rte_mempool_obj_iter(mp, rte_pktmbuf_init, NULL);
	return ret;
}

struct rte_mempool *
rte_mempool_create(const char *name, unsigned int n, unsigned int elt_size,
		   unsigned int cache_size, unsigned int private_data_size,
		   rte_mempool_ctor_t *mp_init, void *mp_init_arg, rte_mempool_obj_cb_t *obj_init,
		   void *obj_init_arg, int socket_id, unsigned int flags)
{
	struct rte_mempool *mp;

	if (!is_dressed(name))
		return GENUINE(rte_mempool_create)(name, n, elt_size, cache_size,
			private_data_size, mp_init, mp_init_arg, obj_init, obj_init_arg,
			socket_id, flags);
	mp = rte_mempool_create_empty(name, n, elt_size, cache_size, private_data_size, socket_id,
				      flags);
	if (mp == NULL)
		return NULL;
	if (rte_mempool_set_ops_byname(mp, rte_mbuf_best_mempool_ops(), NULL) != 0 ||
	    rte_mempool_populate_default(mp) <= 0) {
		rte_mempool_free(mp);
		return NULL;
	}
	if (mp_init != NULL)
		mp_init(mp, mp_init_arg);
	if (obj_init != NULL)
		rte_mempool_obj_iter(mp, obj_init, obj_init_arg);
	return mp;
}

static bool
is_of_driver(rte_mempool_obj_cb_t *cb)
{
	Dl_info info;

	return dladdr((void *)(uintptr_t)cb, &info) != 0 && info.dli_fname != NULL &&
	       strstr(info.dli_fname, "mlx5_memic") != NULL;
}

static const struct rte_mempool **
find_undressed(const struct rte_mempool *mp)
{
	unsigned int i;

	for (i = 0; i < DRESSED_MAX - 1 && undressed[i] != NULL && undressed[i] != mp; i++)
		;
	return &undressed[i];
}

/*
 * The driver walks, too. Where the test has written there are no mbufs any more for the
 * driver to look after.
 */
uint32_t
rte_mempool_obj_iter(struct rte_mempool *mp, rte_mempool_obj_cb_t *cb, void *arg)
{
	if (is_dressed(mp->name)) {
		if (is_of_driver(cb) && *find_undressed(mp) == mp)
			return 0;
		if (!is_of_driver(cb) && cb != rte_pktmbuf_init)
			*find_undressed(mp) = mp;
	}
	return GENUINE(rte_mempool_obj_iter)(mp, cb, arg);
}

/* ---- pools of mbufs ---- */

static struct rte_mempool *
pool_create(const char *name, unsigned int n, unsigned int cache_size,
			uint16_t priv_size, uint16_t data_room_size, int socket_id)
{
	struct rte_pktmbuf_extmem mem = {
		.buf_iova = RTE_BAD_IOVA,
		.buf_len = (size_t)n * data_room_size,
		.elt_size = data_room_size,
	};

	if (getenv("PEERS_EXTBUF") == NULL || data_room_size == 0)
		return GENUINE(rte_pktmbuf_pool_create)(name, n, cache_size, priv_size,
							data_room_size, socket_id);
	/*
	 * Not of DPDK's heap, where it might take the place that replace_pool() needs. Stays
	 * until the program ends, as late frees may still look at it.
	 */
	mem.buf_ptr = calloc(n, data_room_size);
	if (mem.buf_ptr == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	return GENUINE(rte_pktmbuf_pool_create_extbuf)(name, n, cache_size, priv_size,
						       data_room_size, socket_id, &mem, 1);
}

/*
 * test_mbuf() keeps the pool's address only, so the pool may be replaced by one at the same
 * place. The first pool made after test_attach_from_different_pool() is refcnt_pool.
 */
static void
replace_pool(struct rte_mempool *old)
{
	struct rte_pktmbuf_pool_private priv = *(struct rte_pktmbuf_pool_private *)
		rte_mempool_get_priv(old);
	unsigned int n = old->size, cache_size = old->cache_size;
	uintptr_t place = (uintptr_t)old;
	char name[RTE_MEMPOOL_NAMESIZE];
	struct rte_mempool *mp;

	snprintf(name, sizeof(name), "%s", old->name);
	rte_mempool_free(old);
	mp = pool_create(name, n, cache_size, priv.mbuf_priv_size, priv.mbuf_data_room_size,
			 SOCKET_ID_ANY);
	if ((uintptr_t)mp == place)
		return;
	fprintf(stderr, "peers: pool %s cannot be replaced at 0x%lx, the new one is at %p\n", name,
		(unsigned long)place, (void *)mp);
	abort();
}

struct rte_mempool *
rte_pktmbuf_pool_create(const char *name, unsigned int n, unsigned int cache_size,
			uint16_t priv_size, uint16_t data_room_size, int socket_id)
{
	static struct rte_mempool *late;
	const char *wanted = getenv("PEERS_LATE");

	if (wanted != NULL && strcmp(name, wanted) == 0) {
		late = rte_pktmbuf_pool_create_by_ops(name, n, cache_size, priv_size,
						      data_room_size, socket_id, "ring_mp_mc");
		return late;
	}
	if (late != NULL && strcmp(name, "refcnt_pool") == 0)
		replace_pool(late);
	return pool_create(name, n, cache_size, priv_size, data_room_size, socket_id);
}

struct rte_mempool *
rte_pktmbuf_pool_create_extbuf(const char *name, unsigned int n, unsigned int cache_size,
			       uint16_t priv_size, uint16_t data_room_size, int socket_id,
			       const struct rte_pktmbuf_extmem *mem, unsigned int mems)
{
	if (getenv("PEERS_PINNED") != NULL)
		return GENUINE(rte_pktmbuf_pool_create)(name, n, cache_size, priv_size,
							data_room_size, socket_id);
	return GENUINE(rte_pktmbuf_pool_create_extbuf)(name, n, cache_size, priv_size,
						       data_room_size, socket_id, mem, mems);
}
