/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

/*
 * Preloaded over libibverbs and libmlx5: calls of the mempool driver fail. E2E_FAIL is
 * CALL:FIRST:COUNT, of which calls number FIRST (from 1) and the COUNT-1 after it
 * answer EBUSY and do nothing. The PMD's own calls are left alone. Or it is "no_node", and
 * no device can be opened.
 */

#define EXPORT __attribute__((visibility("default")))

static int
from_driver(const void *caller)
{
	Dl_info info;

	return dladdr(caller, &info) != 0 && strstr(info.dli_fname, "mlx5_memic") != NULL;
}

static int
fails(const char *name, const void *caller)
{
	static unsigned int calls;
	const char *env = getenv("E2E_FAIL");
	unsigned int first, count;
	char call[64];

	if (env == NULL || !from_driver(caller) ||
	    sscanf(env, "%63[^:]:%u:%u", call, &first, &count) != 3 || strcmp(call, name) != 0)
		return 0;
	calls++;
	if (calls < first || calls - first >= count)
		return 0;
	fprintf(stderr, "%s fails\n", name);
	errno = EBUSY;
	return EBUSY;
}

/* EAL loads the libraries privately: RTLD_NEXT does not find them. */
static void *
genuine(const char *library, const char *name)
{
	return dlsym(dlopen(library, RTLD_LAZY), name);
}

EXPORT int
ibv_dereg_mr(struct ibv_mr *mr)
{
	/* those over device memory start at 0 */
	const char *name = mr->addr == NULL ? "dereg_dm_mr" : "dereg_host_mr";
	int ret = fails(name, __builtin_return_address(0));
	int (*call)(struct ibv_mr *);

	*(void **)&call = genuine("libibverbs.so.1", "ibv_dereg_mr");
	return ret != 0 ? ret : call(mr);
}

EXPORT int
mlx5dv_devx_obj_destroy(struct mlx5dv_devx_obj *obj)
{
	int ret = fails("devx_obj_destroy", __builtin_return_address(0));
	int (*call)(struct mlx5dv_devx_obj *);

	*(void **)&call = genuine("libmlx5.so.1", "mlx5dv_devx_obj_destroy");
	return ret != 0 ? ret : call(obj);
}

EXPORT struct mlx5dv_devx_obj *
mlx5dv_devx_obj_create(struct ibv_context *ctx, const void *in, size_t inlen, void *out,
		       size_t outlen)
{
	struct mlx5dv_devx_obj *(*call)(struct ibv_context *, const void *, size_t, void *,
					size_t);

	if (fails("devx_obj_create", __builtin_return_address(0)) != 0)
		return NULL;
	*(void **)&call = genuine("libmlx5.so.1", "mlx5dv_devx_obj_create");
	return call(ctx, in, inlen, out, outlen);
}

/* A container without /dev/infiniband/uverbs0: here it is the PMD's own call. */
static int
no_node(void)
{
	const char *env = getenv("E2E_FAIL");

	errno = ENOENT;
	return env != NULL && strcmp(env, "no_node") == 0;
}

EXPORT struct ibv_context *
ibv_open_device(struct ibv_device *dev)
{
	struct ibv_context *(*call)(struct ibv_device *);

	*(void **)&call = genuine("libibverbs.so.1", "ibv_open_device");
	return no_node() ? NULL : call(dev);
}

EXPORT struct ibv_context *
mlx5dv_open_device(struct ibv_device *dev, struct mlx5dv_context_attr *attr)
{
	struct ibv_context *(*call)(struct ibv_device *, struct mlx5dv_context_attr *);

	*(void **)&call = genuine("libmlx5.so.1", "mlx5dv_open_device");
	return no_node() ? NULL : call(dev, attr);
}

/* ibv_free_dm() is an inline function around an entry of the context. */
static int (*genuine_free_dm)(struct ibv_dm *dm);

static int
free_dm(struct ibv_dm *dm)
{
	int ret = fails("free_dm", __builtin_return_address(0));

	return ret != 0 ? ret : genuine_free_dm(dm);
}

EXPORT struct ibv_dm *
mlx5dv_alloc_dm(struct ibv_context *ctx, struct ibv_alloc_dm_attr *attr,
		struct mlx5dv_alloc_dm_attr *mlx5_attr)
{
	struct ibv_dm *(*call)(struct ibv_context *, struct ibv_alloc_dm_attr *,
			       struct mlx5dv_alloc_dm_attr *);
	struct verbs_context *vctx = verbs_get_ctx_op(ctx, free_dm);

	if (vctx != NULL && vctx->free_dm != free_dm) {
		genuine_free_dm = vctx->free_dm;
		vctx->free_dm = free_dm;
	}
	*(void **)&call = genuine("libmlx5.so.1", "mlx5dv_alloc_dm");
	return call(ctx, attr, mlx5_attr);
}
