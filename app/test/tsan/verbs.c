/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * What ThreadSanitizer has to know of libmlx5, which is not instrumented.
 *
 * Who posts hands over buffers to the card by the queue's doorbell record: libmlx5 writes
 * it behind a barrier (post_send_db() and mlx5_post_recv() in its qp.c), and
 * mlx5emu, which is instrumented, reads it with acquire semantics. Here the release that
 * belongs to it is told. The way back needs no help, as owner bits of completions are read
 * by instrumented code.
 *
 * Posting goes by pointers in the context (infiniband/verbs.h), which are replaced when a
 * queue is made.
 */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <infiniband/mlx5dv.h>
#include <sanitizer/tsan_interface.h>

static __typeof__(((struct ibv_context_ops *)NULL)->post_send) real_post_send;
static __typeof__(((struct ibv_context_ops *)NULL)->post_recv) real_post_recv;

/* Of the library that is there already: it may be out of the reach of RTLD_NEXT. */
static void *
of_mlx5(const char *name)
{
	void *lib = dlopen("libmlx5.so.1", RTLD_NOW | RTLD_NOLOAD);
	void *f = lib != NULL ? dlsym(lib, name) : NULL;

	if (f == NULL) {
		fprintf(stderr, "%s: %s\n", name, dlerror());
		abort();
	}
	return f;
}

static void
hand_over(struct ibv_qp *qp, unsigned int record)
{
	static int (*init_obj)(struct mlx5dv_obj *obj, uint64_t type);
	struct mlx5dv_qp dv = { 0 };
	struct mlx5dv_obj obj = { .qp = { .in = qp, .out = &dv } };

	if (init_obj == NULL)
		init_obj = of_mlx5("mlx5dv_init_obj");
	if (init_obj(&obj, MLX5DV_OBJ_QP) != 0)
		abort();
	__tsan_release(&dv.dbrec[record]);
}

static int
post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	hand_over(qp, MLX5_SND_DBR);
	return real_post_send(qp, wr, bad);
}

static int
post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	hand_over(qp, MLX5_RCV_DBR);
	return real_post_recv(qp, wr, bad);
}

struct ibv_qp *
mlx5dv_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
		 struct mlx5dv_qp_init_attr *mlx5_attr)
{
	static __typeof__(mlx5dv_create_qp) *real;
	struct ibv_qp *qp;

	if (real == NULL)
		real = of_mlx5("mlx5dv_create_qp");
	qp = real(context, attr, mlx5_attr);
	if (qp != NULL && context->ops.post_send != post_send) {
		/* the same for every context of this library */
		real_post_send = context->ops.post_send;
		real_post_recv = context->ops.post_recv;
		context->ops.post_send = post_send;
		context->ops.post_recv = post_recv;
	}
	return qp;
}
