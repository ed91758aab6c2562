/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_UAPI_H
#define MLX5EMU_UAPI_H

/*
 * The ioctl of /dev/infiniband/uverbsN. Each method says in a table which
 * attributes it takes; the codec checks them as the kernel's uverbs_ioctl.c does
 * and hands the method what is left to do.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "objects.h"

#define EMU_MAX_ATTRS 24

enum emu_attr_kind {
	EMU_ATTR_IN,            /* data, inline up to 8 bytes */
	EMU_ATTR_OUT,           /* buffer to fill */
	EMU_ATTR_OBJ,           /* handle */
	EMU_ATTR_FD,            /* file descriptor of an event file */
	EMU_ATTR_OBJS,          /* array of handles */
	EMU_ATTR_ENUM,          /* data whose kind the attribute's head names */
};

enum emu_obj_access { EMU_OBJ_READ, EMU_OBJ_NEW, EMU_OBJ_DESTROY };

struct emu_attr_spec {
	uint16_t id;
	uint8_t kind;
	uint8_t access;         /* objects: emu_obj_access */
	uint16_t type;          /* objects: class type, 0 for any */
	uint16_t min, max;      /* data: bytes; arrays: handles; enumerations: kinds */
	const uint16_t *sizes;  /* enumerations: bytes of data by kind */
	bool optional;
	bool zero_trailing;     /* longer data is fine while the rest is zero */
};

/* The kernel's UVERBS_ATTR_TYPE, _STRUCT, _MIN_SIZE, CONST_IN and FLAGS_IN. */
#define EMU_IN(i, size) { .id = (i), .kind = EMU_ATTR_IN, .min = (size), .max = (size) }
#define EMU_IN_RANGE(i, lo, hi) { .id = (i), .kind = EMU_ATTR_IN, .min = (lo), .max = (hi) }
#define EMU_IN_STRUCT(i, lo, size) { .id = (i), .kind = EMU_ATTR_IN, .min = (lo), \
	.max = (size), .zero_trailing = true }
#define EMU_OUT(i, size) { .id = (i), .kind = EMU_ATTR_OUT, .min = (size), .max = (size) }
#define EMU_OUT_MIN(i, lo) { .id = (i), .kind = EMU_ATTR_OUT, .min = (lo), .max = UINT16_MAX }
#define EMU_OBJ(i, t, a) { .id = (i), .kind = EMU_ATTR_OBJ, .type = (t), .access = (a) }
#define EMU_FD(i, t, a) { .id = (i), .kind = EMU_ATTR_FD, .type = (t), .access = (a) }
#define EMU_OBJS(i, t, lo, hi) { .id = (i), .kind = EMU_ATTR_OBJS, .type = (t), .min = (lo), \
	.max = (hi), .optional = true }
/* the same, optional */
#define EMU_OPT_IN(i, size) { .id = (i), .kind = EMU_ATTR_IN, .min = (size), .max = (size), \
	.optional = true }
#define EMU_OPT_IN_RANGE(i, lo, hi) { .id = (i), .kind = EMU_ATTR_IN, .min = (lo), \
	.max = (hi), .optional = true }
#define EMU_OPT_OUT(i, size) { .id = (i), .kind = EMU_ATTR_OUT, .min = (size), \
	.max = (size), .optional = true }
#define EMU_OPT_OUT_MIN(i, lo) { .id = (i), .kind = EMU_ATTR_OUT, .min = (lo), \
	.max = UINT16_MAX, .optional = true }
#define EMU_OPT_OBJ(i, t, a) { .id = (i), .kind = EMU_ATTR_OBJ, .type = (t), .access = (a), \
	.optional = true }
#define EMU_OPT_FD(i, t, a) { .id = (i), .kind = EMU_ATTR_FD, .type = (t), .access = (a), \
	.optional = true }
#define EMU_ENUM(i, n, s) { .id = (i), .kind = EMU_ATTR_ENUM, .max = (n), .sizes = (s) }
/* A flags word may come as 4 or 8 bytes, a constant as 8. */
#define EMU_FLAGS(i) EMU_OPT_IN_RANGE(i, 4, 8)
#define EMU_NEEDED_FLAGS(i) EMU_IN_RANGE(i, 4, 8)
#define EMU_CONST(i) EMU_IN(i, 8)
#define EMU_OPT_CONST(i) EMU_OPT_IN(i, 8)
/* UVERBS_ATTR_UHW(): the driver's own part */
#define EMU_UHW EMU_OPT_IN_RANGE(UVERBS_ATTR_UHW_IN, 0, UINT16_MAX), \
	EMU_OPT_OUT_MIN(UVERBS_ATTR_UHW_OUT, 0)

struct emu_call;

struct emu_method {
	uint16_t object, method;
	const char *name;
	/* 0 or a negative errno; a DESTROY attribute's object is already gone then */
	int (*run)(struct emu_call *call);
	bool no_context;        /* may come before GET_CONTEXT */
	unsigned int n;
	const struct emu_attr_spec *specs;
};

#define EMU_METHOD(o, m, text, fn, ...) { .object = (o), .method = (m), .name = (text), \
	.run = (fn), ##__VA_ARGS__ }
#define EMU_SPECS(...) .specs = (const struct emu_attr_spec[]){ __VA_ARGS__ }, \
	.n = sizeof((const struct emu_attr_spec[]){ __VA_ARGS__ }) / sizeof(struct emu_attr_spec)

/* A call being served. */
struct emu_call {
	struct emu_file *file;
	struct emu_dev *dev;
	const struct emu_method *method;
	struct ib_uverbs_attr *attrs[EMU_MAX_ATTRS]; /* by place in the specs, NULL if absent */
	struct emu_obj *objs[EMU_MAX_ATTRS];
};

/*
 * Serve one RDMA_VERBS_IOCTL, whose argument is the address of the header, the attributes
 * behind it; 0 or a negative errno. Under emu_lock().
 */
int emu_uapi_ioctl(struct emu_file *file, struct ib_uverbs_ioctl_hdr *hdr);

/* Copies that answer -EFAULT for addresses that are not there. */
int emu_copy_from_user(void *dst, uint64_t src, size_t len);
int emu_copy_to_user(uint64_t dst, const void *src, size_t len);

/* ---- for methods ---- */
bool emu_has(const struct emu_call *call, uint16_t id);
/* Bytes of an attribute, 0 when absent. */
size_t emu_len(const struct emu_call *call, uint16_t id);
/* Up to size bytes of data; the rest of dst becomes zero. -ENOENT when absent, or -EFAULT. */
int emu_in(const struct emu_call *call, uint16_t id, void *dst, size_t size);
/* An integer of up to 8 bytes, or what is given when absent. */
uint64_t emu_in_u64(const struct emu_call *call, uint16_t id, uint64_t absent);
/* A flags word, 0 when absent; -EINVAL for other lengths than 4 and 8 and other bits. */
int emu_in_flags(const struct emu_call *call, uint16_t id, uint64_t allowed, uint64_t *flags);
/* Whether data beyond size bytes is zero: 0, -EOPNOTSUPP or -EFAULT. */
int emu_in_rest_is_zero(const struct emu_call *call, uint16_t id, size_t size);
/* Which one of an enumeration's kinds was given. */
unsigned int emu_enum_id(const struct emu_call *call, uint16_t id);
/* Object of a handle or descriptor attribute, NULL when absent. */
void *emu_obj(const struct emu_call *call, uint16_t id);
/* Fill an output: what fits, the rest of the buffer with zeros. 0 when absent. */
int emu_out(const struct emu_call *call, uint16_t id, const void *src, size_t len);
/* Commit a new object and write its handle; on failure it is undone as if destroyed. */
int emu_out_obj(const struct emu_call *call, uint16_t id, struct emu_obj *obj);
/* Write the handle of an object that was committed already. */
int emu_out_handle(const struct emu_call *call, uint16_t id, const struct emu_obj *obj);
int emu_out_fd(const struct emu_call *call, uint16_t id, int fd);

/* ---- write commands inside INVOKE_WRITE ---- */
struct emu_write {
	uint32_t cmd;           /* IB_USER_VERBS_CMD_*, | EX flag */
	const char *name;
	uint16_t in_min, out_min; /* core request and response; less is -ENOSPC */
	int (*run)(struct emu_call *call, const void *in, size_t in_len);
};

const struct emu_write *emu_write_find(uint32_t cmd);

/* Tables of the object files. */
struct emu_method_table {
	const struct emu_method *methods;
	unsigned int n_methods;
	const struct emu_write *writes;
	unsigned int n_writes;
};
#define EMU_COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define EMU_TABLE(name, m, w) const struct emu_method_table name = { \
	.methods = (m), .n_methods = EMU_COUNT(m), .writes = (w), .n_writes = EMU_COUNT(w) }
#define EMU_METHOD_TABLE(name, m) const struct emu_method_table name = { \
	.methods = (m), .n_methods = EMU_COUNT(m) }
#define EMU_WRITE_TABLE(name, w) const struct emu_method_table name = { \
	.writes = (w), .n_writes = EMU_COUNT(w) }

extern const struct emu_method_table emu_device_table, emu_pd_table, emu_mr_table, emu_dm_table,
	emu_uar_table, emu_cq_table, emu_wq_table, emu_qp_table, emu_flow_table, emu_devx_table,
	emu_event_table, emu_umem_table, emu_matcher_table, emu_qp_state_table;

/* All of them. */
extern const struct emu_method_table *const emu_tables[];
extern const unsigned int emu_n_tables;

#endif
