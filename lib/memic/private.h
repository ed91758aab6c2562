/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MEMIC_PRIVATE_H
#define MEMIC_PRIVATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

#include "memic.h"

/* The unit in which devices hand out MEMIC (MLX5_MEMIC_BASE_SIZE in the kernel). */
#define MEMIC_UNIT 64

struct memic_device {
	struct ibv_context *ctx;
	struct memic_caps caps;
	/* mkeys may, and with coming firmware must, state their read-after-write order */
	bool order_read_after_write;
	/* counted atomically: allocations are freed by whoever owns them */
	atomic_uint dms;
};

struct memic_dm {
	struct memic_device *dev;
	struct ibv_dm *ibdm;
	void *addr;
	void *view;    /* where libmlx5 mapped it; addr unless it was mapped again */
	void *map;     /* second mapping, or NULL */
	size_t length; /* as asked for */
	size_t size;   /* as allocated: length rounded up to MEMIC_UNIT */
	size_t lost;   /* bytes at the start that an identity mapping cannot show */
	bool kept;     /* never freed: what is where it was is somebody else's */
	enum memic_dm_type type;
	atomic_uint keys;
};

struct memic_mkey {
	struct memic_dm *dm;
	struct ibv_mr *mr;
	struct mlx5dv_devx_obj *obj; /* NULL for MEMIC_MKEY_DIRECT, and once destroyed */
	uint64_t base;
	uint32_t lkey;
	enum memic_mkey_mode mode;
};

static inline size_t
memic_align_up(size_t value, size_t unit)
{
	return (value + unit - 1) / unit * unit;
}

/* Keep a sentence for memic_last_error(); returns err as a negative errno. */
int memic_fail(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* errno after a call that returned NULL; some failures leave it at 0. */
int memic_null_errno(void);

/* What a verbs call returned (errno of either sign, or -1 and errno) as errno >= 0. */
int memic_verbs_errno(int rc);

/*
 * Whether len bytes could be mapped at the addresses that are offsets: 0, or a negative
 * errno with a sentence.
 */
int memic_dm_identity_room(const struct memic_dm *dm, size_t len);

/* Fill the capabilities of a device whose context is open; 0 or a negative errno. */
int memic_caps_query(struct memic_device *dev);

#endif /* MEMIC_PRIVATE_H */
