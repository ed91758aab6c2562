/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef TEST_MLX5EMU_ABI_H
#define TEST_MLX5EMU_ABI_H

/* cmocka.h wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "emu.h"
#include "prm.h"
#include "uapi.h"
#include "verbs.h"
#include "vma.h"

/*
 * The kernel's side without the shim: ioctls made by hand, on two devices that are
 * set up by hand. An answer is 0 or a negative errno, as emu_uapi_ioctl() gives it.
 */

#define ABI_MEMIC (128 * 1024)
#define ABI_MEM (1 << 20)

/* What the kernel's method says of an attribute; the codec tests derive bad calls. */
enum {
	ABI_OPT = 1,            /* may be missing */
	ABI_LONGER = 2,         /* longer is fine */
	ABI_ZERO_TAIL = 4,      /* longer is fine while the rest is zero */
	ABI_SHORTER = 8,        /* one byte less is fine */
	ABI_NEEDED = 16,        /* optional to the codec, but the method answers ENOENT */
	ABI_EINVAL_TAIL = 32,   /* ABI_ZERO_TAIL, where the driver answers EINVAL */
	ABI_ANY_TYPE = 64,      /* a handle of any object */
	ABI_NO_SPACE = 128,     /* optional to the codec, but the command answers ENOSPC */
};

enum abi_kind { ABI_IN, ABI_OUT, ABI_OBJ, ABI_NEW, ABI_DESTROY, ABI_FD, ABI_NEW_FD };

struct abi_attr {
	enum abi_kind kind;
	unsigned int flags;
};

#define ABI_ATTRS 24
struct abi_call {
	struct abi_attr kinds[ABI_ATTRS + 2];
	union {
		struct ib_uverbs_ioctl_hdr hdr; /* its attributes are behind it */
		uint8_t room[sizeof(struct ib_uverbs_ioctl_hdr) +
			     (ABI_ATTRS + 2) * sizeof(struct ib_uverbs_attr)];
	};
};

/* Two devices, an open file with a DevX context on the first, memory to point at. */
struct abi {
	struct emu_config cfg;
	struct emu_dev devs[2];
	struct emu_file *file;
	uint8_t *mem;           /* ABI_MEM bytes, page aligned */
	size_t used;
};

int abi_setup(void **state);
/*
 * Without the file: what the engine reads, and any context starts it, is changed before one
 * is opened, as the card is complete before a program can open it.
 */
int abi_setup_closed(void **state);
int abi_teardown(void **state);

/* A file without context, and with one; devx as MLX5_IB_ALLOC_UCTX_DEVX. */
struct emu_file *abi_open_bare(struct emu_dev *dev);
struct emu_file *abi_open(struct emu_dev *dev, bool devx);
/* The last descriptor goes. */
void abi_close(struct emu_file *file);
/* Zeroed, 64-byte aligned memory that lives as long as the fixture. */
void *abi_mem(struct abi *abi, size_t len);
void *abi_pages(struct abi *abi, size_t len);
/* An address of which nothing is mapped. */
uint64_t abi_hole(void);
/* Whether the card notices it when it copies from there or to there. */
bool abi_hole_is_noticed(void);

/* ---- calls ---- */
void abi_begin(struct abi_call *c, uint16_t object, uint16_t method);
void abi_in(struct abi_call *c, uint16_t id, const void *data, size_t len, unsigned int flags);
void abi_val(struct abi_call *c, uint16_t id, uint64_t value, size_t len, unsigned int flags);
void abi_out(struct abi_call *c, uint16_t id, void *data, size_t len, unsigned int flags);
void abi_obj(struct abi_call *c, enum abi_kind kind, uint16_t id, uint64_t handle,
	     unsigned int flags);
void abi_enum(struct abi_call *c, uint16_t id, uint8_t which, uint64_t value, size_t len);
/* Run it under the lock. */
int abi_run(struct abi_call *c, struct emu_file *file);
/* Handle or descriptor that a run left in an attribute. */
uint64_t abi_got(const struct abi_call *c, uint16_t id);
struct ib_uverbs_attr *abi_attr(struct abi_call *c, uint16_t id);
/* Destroy by handle with a method that has this one attribute. */
int abi_destroy(struct emu_file *file, uint16_t object, uint16_t method, uint16_t id,
		uint64_t handle);

/* A write command through INVOKE_WRITE. */
struct abi_write {
	uint32_t cmd;
	const void *in;
	size_t in_len;
	void *out;
	size_t out_len;
	const void *uhw_in;
	size_t uhw_in_len;
	void *uhw_out;
	size_t uhw_out_len;
};
int abi_write(struct emu_file *file, const struct abi_write *w);

/* A thread without a capability (CAP_*) runs the call. */
int abi_run_without(struct abi_call *c, struct emu_file *file, int cap);
int abi_write_without(struct emu_file *file, const struct abi_write *w, int cap);
/* Whether this process has the capability to lose. */
bool abi_can_lose(int cap);

/* ---- objects; the answer is a handle, failures stop the test ---- */
uint32_t abi_pd(struct emu_file *file, uint32_t *pdn);
uint32_t abi_dm(struct emu_file *file, uint64_t len);
int abi_dm_try(struct emu_file *file, uint64_t len, uint32_t log_align, uint32_t *handle,
	       uint16_t *index, uint64_t *start);
int abi_dm_free(struct emu_file *file, uint32_t handle);
int abi_dm_mr_try(struct emu_file *file, uint32_t pd, uint32_t dm, uint64_t off, uint64_t len,
		  uint32_t access, uint32_t *handle, uint32_t *lkey);
int abi_mr_try(struct emu_file *file, uint32_t pd, uint64_t start, uint64_t len, uint64_t va,
	       uint32_t access, uint32_t *handle);
int abi_mr_free(struct emu_file *file, uint32_t handle);
int abi_pd_free(struct emu_file *file, uint32_t handle);
/* Build the good call; the caller may spoil it before running. */
void abi_cq_call(struct abi *abi, struct abi_call *c, struct mlx5_ib_create_cq *req);
uint32_t abi_cq(struct abi *abi, struct emu_file *file, uint32_t *cqn);
int abi_cq_free(struct emu_file *file, uint32_t handle);
void abi_wq_call(struct abi *abi, struct abi_call *c, struct mlx5_ib_create_wq *req,
		 uint32_t pd, uint32_t cq);
uint32_t abi_wq(struct abi *abi, struct emu_file *file, uint32_t pd, uint32_t cq, uint32_t *wqn);
int abi_wq_free(struct emu_file *file, uint32_t handle);
/* A table of two places, both for one WQ. */
uint32_t abi_ind_tbl(struct emu_file *file, uint32_t wq);
struct abi_qp {
	struct ib_uverbs_qp_cap cap, got;
	struct mlx5_ib_create_qp req;
	struct mlx5_ib_create_qp_rss rss;
	struct mlx5_ib_create_qp_resp resp;
	uint32_t qpn;
};
void abi_qp_call(struct abi *abi, struct abi_call *c, struct abi_qp *q, uint32_t pd, uint32_t cq);
void abi_rss_call(struct abi_call *c, struct abi_qp *q, uint32_t pd, uint32_t tbl);
uint32_t abi_qp(struct abi *abi, struct emu_file *file, uint32_t pd, uint32_t cq);
int abi_qp_free(struct emu_file *file, uint32_t handle);

/* ---- DevX ---- */
uint32_t abi_umem(struct emu_file *file, const void *addr, size_t len, uint32_t *id);
/* Firmware command by creating an object; *handle on success. out has 16 bytes. */
int abi_devx_create(struct emu_file *file, const void *in, size_t in_len, void *out,
		    uint32_t *handle);
int abi_devx_free(struct emu_file *file, uint32_t handle);
int abi_devx_general(struct emu_file *file, const void *in, size_t in_len, void *out,
		     size_t out_len);
int abi_devx_modify(struct emu_file *file, uint32_t handle, const void *in, size_t in_len,
		    void *out, size_t out_len);
int abi_devx_query(struct emu_file *file, uint32_t handle, const void *in, size_t in_len,
		   void *out, size_t out_len);
/* A command of nothing but its opcode, as TIS and transport domain take. */
uint32_t abi_devx_simple(struct emu_file *file, uint16_t opcode, size_t in_len, uint32_t *num);

/* ---- good calls of the codec's tables ---- */
struct abi_good {
	const char *name;
	void (*make)(struct abi *abi, struct emu_file *file, struct abi_call *c);
};
extern const struct abi_good abi_verbs_calls[], abi_devx_calls[];
extern const unsigned int abi_n_verbs_calls, abi_n_devx_calls;

#endif
