/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MOCK_VERBS_H
#define MOCK_VERBS_H

/*
 * An mlx5 device behind the verbs entry points that libmemic calls, put in by the
 * linker's --wrap. It keeps what the library sent, answers from a model of free memory
 * and fails on demand.
 */

#include <stdarg.h>
#include <stdbool.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

#define MOCK_PAGE 4096u
#define MOCK_NAME "mlx5_0"

struct mock {
	/* what the device has */
	uint64_t max_dm;
	unsigned int log_max_align; /* in units of 64 bytes, as firmware counts */
	size_t start_offset;        /* of an allocation inside its first page */
	bool devx;
	int general_err; /* of commands that only contexts with DevX take */
	bool relaxed_ordering;
	bool order_read_after_write;
	bool mr_takes_relaxed;
	bool sw_owner_v2;
	/* whether an allocation fits just now: 0 or the errno */
	int (*fits)(size_t length, unsigned int log_align);

	/* failures on demand: an errno, 0 for none; -1 fails with errno 0 */
	int alloc_errno;
	int init_obj_errno;
	int free_errno;
	int reg_errno;
	int dereg_errno;
	int mkey_create_errno;
	int mkey_destroy_errno;
	int query_errno;
	int import_errno;
	int open_errno;
	int list_errno;
	bool not_mlx5;
	int reused_fd; /* what took the number of an fd that a failing import closed */
	unsigned int fw_status, fw_syndrome;

	/* what was called */
	char calls[1024];
	unsigned int allocs, live_dms, live_mrs, live_mkeys, open_contexts;
	size_t last_length;
	unsigned int last_align;
	unsigned int last_access[2]; /* of the last two registrations, newest first */
	uint32_t mkey_in[4096];
	size_t mkey_in_bytes;
};

extern struct mock mock;

/* Start over with a device of 128 KiB, all free, all capabilities. */
void mock_reset(void);
/* Mappings and structures that a failing free left behind. */
void mock_release_leftovers(void);
/* A context and PD like those an application opened; @p other: on another device. */
struct ibv_context *mock_user_context(bool other);
struct ibv_pd *mock_user_pd(struct ibv_context *ctx);
void mock_user_close(struct ibv_context *ctx);
/* Fail the test unless the last sentence contains a text. */
void assert_says(const char *text);
/* How many file descriptors the process has open. */
unsigned int mock_count_fds(void);

struct ibv_device **__wrap_ibv_get_device_list(int *num);
void __wrap_ibv_free_device_list(struct ibv_device **list);
const char *__wrap_ibv_get_device_name(struct ibv_device *device);
struct ibv_context *__wrap_ibv_import_device(int fd);
int __wrap_ibv_close_device(struct ibv_context *ctx);
int __wrap_ibv_dereg_mr(struct ibv_mr *mr);
bool __wrap_mlx5dv_is_supported(struct ibv_device *device);
struct ibv_context *__wrap_mlx5dv_open_device(struct ibv_device *device,
					      struct mlx5dv_context_attr *attr);
struct ibv_dm *__wrap_mlx5dv_alloc_dm(struct ibv_context *ctx, struct ibv_alloc_dm_attr *attr,
				      struct mlx5dv_alloc_dm_attr *dv_attr);
int __wrap_mlx5dv_init_obj(struct mlx5dv_obj *obj, uint64_t type);
struct mlx5dv_devx_obj *__wrap_mlx5dv_devx_obj_create(struct ibv_context *ctx, const void *in,
						      size_t inlen, void *out, size_t outlen);
int __wrap_mlx5dv_devx_obj_destroy(struct mlx5dv_devx_obj *obj);
int __wrap_mlx5dv_devx_general_cmd(struct ibv_context *ctx, const void *in, size_t inlen,
				   void *out, size_t outlen);

#endif /* MOCK_VERBS_H */
