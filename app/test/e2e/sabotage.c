/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <dlfcn.h>
#include <endian.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

/*
 * Preloaded over libmlx5: the key that comes out of CREATE_MKEY is not the one that
 * was made. What E2E_SABOTAGE says is told instead:
 *   wrong_lkey   a key that nobody made
 *   direct_va    the key of the zero-based MR below, so that a VA is used on it
 */

#define CREATE_MKEY 0x200
#define MKEY_INDEX 8            /* byte of create_mkey_out's reserved and index */
#define FIRST_ENTRY (0x880 / 8) /* of create_mkey_in: byte count, key, address */

static uint32_t
get(const void *base, size_t byte)
{
	uint32_t v;

	memcpy(&v, (const uint8_t *)base + byte, sizeof(v));
	return be32toh(v);
}

static void
set(void *base, size_t byte, uint32_t v)
{
	v = htobe32(v);
	memcpy((uint8_t *)base + byte, &v, sizeof(v));
}

__attribute__((visibility("default"))) struct mlx5dv_devx_obj *
mlx5dv_devx_obj_create(struct ibv_context *context, const void *in, size_t inlen, void *out,
		       size_t outlen)
{
	struct mlx5dv_devx_obj *(*genuine)(struct ibv_context *, const void *, size_t, void *,
					   size_t) = NULL;
	const char *what = getenv("E2E_SABOTAGE");
	struct mlx5dv_devx_obj *obj;

	/* EAL loads the library privately: RTLD_NEXT does not find it */
	*(void **)&genuine = dlsym(dlopen("libmlx5.so.1", RTLD_LAZY), "mlx5dv_devx_obj_create");
	obj = genuine(context, in, inlen, out, outlen);
	if (obj == NULL || what == NULL || get(in, 0) >> 16 != CREATE_MKEY ||
	    inlen < FIRST_ENTRY + 16)
		return obj; /* a key without entries is another's, and left alone */
	if (strcmp(what, "wrong_lkey") == 0)
		set(out, MKEY_INDEX, get(out, MKEY_INDEX) + 1000);
	else
		set(out, MKEY_INDEX, get(in, FIRST_ENTRY + 4) >> 8);
	return obj;
}
