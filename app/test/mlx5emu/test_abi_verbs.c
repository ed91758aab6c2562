/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * What only the real libibverbs and libmlx5 show; run as "mlx5emu -- test_abi_verbs". The
 * wire is the loop: what the port sends it receives.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

#include "verbs_port.h"

static uint64_t
max_dm(struct ibv_context *ctx)
{
	struct ibv_device_attr_ex attr;

	assert_int_equal(ibv_query_device_ex(ctx, NULL, &attr), 0);
	return attr.max_dm_size;
}

static struct ibv_dm *
alloc_dm(struct ibv_context *ctx, size_t len)
{
	struct ibv_alloc_dm_attr attr = { .length = len };
	struct mlx5dv_alloc_dm_attr mlx5 = { .type = MLX5DV_DM_TYPE_MEMIC };

	return mlx5dv_alloc_dm(ctx, &attr, &mlx5);
}

static uint8_t *
dm_address(struct ibv_dm *dm)
{
	struct mlx5dv_dm out = { 0 };
	struct mlx5dv_obj obj = { .dm = { dm, &out } };

	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_DM), 0);
	return out.buf;
}

/* ---- contexts ---- */

static void
two_contexts(void **state)
{
	struct ibv_context *a = port_device(), *b = port_device();
	struct ibv_pd *pa = ibv_alloc_pd(a), *pb = ibv_alloc_pd(b);
	struct ibv_dm *dm = alloc_dm(a, max_dm(a));

	(void)state;
	assert_non_null(dm);
	/* handles are of a context, memory is of the device */
	assert_int_equal(pa->handle, pb->handle);
	assert_null(alloc_dm(b, 64));
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(ibv_free_dm(dm), 0);
	dm = alloc_dm(b, 64);
	assert_non_null(dm);
	assert_int_equal(ibv_free_dm(dm), 0);
	assert_int_equal(ibv_dealloc_pd(pa), 0);
	assert_int_equal(ibv_close_device(a), 0);
	assert_int_equal(ibv_dealloc_pd(pb), 0);
	assert_int_equal(ibv_close_device(b), 0);
}

/* The kernel's context lives while any descriptor of it does. */
static void
imports(void **state)
{
	struct ibv_context *ctx = port_device(), *same, *other = port_device();
	struct ibv_pd *pd = ibv_alloc_pd(ctx), *pd2;
	struct ibv_dm *dm = alloc_dm(ctx, 4096), *dm2;
	struct ibv_mr *mr = ibv_reg_dm_mr(pd, dm, 0, 4096, IBV_ACCESS_ZERO_BASED), *mr2;
	uint32_t h = pd->handle, dh = dm->handle, mh = mr->handle, lkey = mr->lkey;
	uint8_t *va = dm_address(dm);

	(void)state;
	same = ibv_import_device(dup(ctx->cmd_fd));
	assert_non_null(same);
	assert_null(ibv_import_pd(other, h));
	assert_null(ibv_import_dm(other, dh));
	assert_null(ibv_import_pd(same, mh)); /* a handle of something else */
	pd2 = ibv_import_pd(same, h);
	assert_non_null(pd2);
	dm2 = ibv_import_dm(same, dh);
	assert_non_null(dm2);
	mr2 = ibv_import_mr(pd2, mh);
	assert_non_null(mr2);
	assert_int_equal(mr2->lkey, lkey);
	assert_int_equal(mr2->length, 4096);
	/* the first context goes; its objects are the kernel's and stay */
	ibv_unimport_mr(mr2);
	ibv_unimport_dm(dm2);
	ibv_unimport_pd(pd2);
	assert_int_equal(ibv_free_dm(dm), EBUSY);
	assert_int_equal(ibv_close_device(ctx), 0);
	pd2 = ibv_import_pd(same, h);
	assert_non_null(pd2);
	dm2 = ibv_import_dm(same, dh);
	assert_non_null(dm2);
	mr2 = ibv_import_mr(pd2, mh);
	assert_non_null(mr2);
	assert_int_equal(ibv_dealloc_pd(pd2), EBUSY);
	assert_int_equal(ibv_dereg_mr(mr2), 0);
	assert_int_equal(ibv_free_dm(dm2), 0);
	assert_int_equal(ibv_dealloc_pd(pd2), 0);
	assert_int_equal(ibv_close_device(same), 0);
	/* but for the mapping that the library made for the first import */
	assert_null(alloc_dm(other, max_dm(other)));
	assert_int_equal(munmap(va - ((uintptr_t)va & 4095), 4096), 0);
	dm = alloc_dm(other, max_dm(other));
	assert_non_null(dm);
	assert_int_equal(ibv_free_dm(dm), 0);
	assert_int_equal(ibv_close_device(other), 0);
}

/* A mapping of the program's own keeps the bytes though everything else is gone. */
static void
mapping_outlives_context(void **state)
{
	struct ibv_context *ctx = port_device(), *other = port_device();
	uint64_t all = max_dm(ctx);
	struct ibv_dm *dm = alloc_dm(ctx, all);
	/* libmlx5's first DM of a context: command 8, index 0 */
	void *va = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED, ctx->cmd_fd,
			8ull * 256 * 4096);

	(void)state;
	assert_non_null(dm);
	assert_ptr_not_equal(va, MAP_FAILED);
	assert_int_equal(ibv_free_dm(dm), 0);
	assert_int_equal(ibv_close_device(ctx), 0);
	assert_null(alloc_dm(other, 64));
	assert_int_equal(errno, ENOMEM);
	((volatile uint32_t *)va)[5] = 5;
	assert_ptr_equal(mremap(va, all, all + 4096, MREMAP_MAYMOVE), MAP_FAILED);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(munmap((char *)va + 4096, all - 4096), 0);
	assert_null(alloc_dm(other, 64));
	assert_int_equal(munmap(va, 4096), 0);
	dm = alloc_dm(other, all);
	assert_non_null(dm);
	assert_int_equal(ibv_free_dm(dm), 0);
	assert_int_equal(ibv_close_device(other), 0);
}

static void
quiet_events(void **state)
{
	struct ibv_context *ctx = port_device();
	struct pollfd fd = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	(void)state;
	assert_int_equal(poll(&fd, 1, 0), 0);
	assert_int_equal(fcntl(fd.fd, F_SETFL, fcntl(fd.fd, F_GETFL) | O_NONBLOCK), 0);
	assert_int_equal(ibv_get_async_event(ctx, &event), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(ibv_close_device(ctx), 0);
}

/* ---- a port that hears itself ---- */

static void
loop(void **state)
{
	struct ibv_wc a, b, *send = &a, *receive = &b;
	struct port p;

	(void)state;
	port_open(&p, NULL);
	for (uint64_t round = 0; round < 40; round++) { /* the rings wrap */
		memset(p.mem + PORT_MEM / 2, 0xee, 2048);
		port_receive(&p, 1000 + round, p.mr->lkey);
		port_send(&p, round, p.mr->lkey);
		assert_int_equal(port_completion(&p, &a), 1);
		assert_int_equal(port_completion(&p, &b), 1);
		send = a.wr_id < 1000 ? &a : &b;
		receive = send == &a ? &b : &a;
		assert_int_equal(send->status, IBV_WC_SUCCESS);
		assert_int_equal(send->wr_id, round);
		assert_int_equal(receive->status, IBV_WC_SUCCESS);
		assert_int_equal(receive->opcode, IBV_WC_RECV);
		assert_int_equal(receive->wr_id, 1000 + round);
		assert_int_equal(receive->byte_len, PORT_FRAME);
		assert_memory_equal(p.mem, p.mem + PORT_MEM / 2, PORT_FRAME);
		assert_int_equal(p.mem[PORT_MEM / 2 + PORT_FRAME], 0xee);
	}
	port_close(&p);
}

static enum ibv_qp_state
state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	assert_int_equal(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
	return attr.qp_state;
}

/* A key that is not: an error completion, then everything is flushed until RESET. */
static void
bad_keys(void **state)
{
	struct port p;
	struct ibv_wc wc;

	(void)state;
	port_open(&p, NULL);
	port_send(&p, 5, p.mr->lkey ^ 0x100);
	port_send(&p, 6, p.mr->lkey);
	assert_int_equal(port_completion(&p, &wc), 1);
	assert_int_equal(wc.wr_id, 5);
	assert_int_equal(wc.status, IBV_WC_LOC_PROT_ERR);
	assert_int_equal(port_completion(&p, &wc), 1);
	assert_int_equal(wc.wr_id, 6);
	assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
	assert_int_not_equal(state_of(p.qp), IBV_QPS_RTS);
	port_move_qp(p.qp, IBV_QPS_RESET);
	port_move_qp(p.qp, IBV_QPS_INIT);
	port_move_qp(p.qp, IBV_QPS_RTR);
	port_move_qp(p.qp, IBV_QPS_RTS);
	port_receive(&p, 7, p.mr->lkey + 1); /* another variant of the key */
	port_send(&p, 8, p.mr->lkey);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(port_completion(&p, &wc), 1);
		assert_int_equal(wc.status, wc.wr_id == 8 ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR);
	}
	port_close(&p);
}

static void
completion_events(void **state)
{
	struct port p;
	struct pollfd fd;
	struct ibv_wc wc;
	struct ibv_cq *cq;
	void *tag;

	(void)state;
	port_open(&p, NULL);
	fd = (struct pollfd){ .fd = p.channel->fd, .events = POLLIN };
	/* none for not being asked, one for being asked once */
	port_send(&p, 1, p.mr->lkey);
	assert_int_equal(port_completion(&p, &wc), 1);
	assert_int_equal(poll(&fd, 1, 20), 0);
	assert_int_equal(ibv_req_notify_cq(p.cq, 0), 0);
	port_send(&p, 2, p.mr->lkey);
	assert_int_equal(poll(&fd, 1, 1000), 1);
	assert_int_equal(ibv_get_cq_event(p.channel, &cq, &tag), 0);
	assert_ptr_equal(cq, p.cq);
	assert_ptr_equal(tag, (void *)0x77);
	assert_int_equal(port_completion(&p, &wc), 1);
	port_send(&p, 3, p.mr->lkey);
	assert_int_equal(port_completion(&p, &wc), 1);
	assert_int_equal(poll(&fd, 1, 20), 0);
	ibv_ack_cq_events(p.cq, 1);
	/* an event that nobody has read yet does not stop the CQ from going */
	assert_int_equal(ibv_req_notify_cq(p.cq, 0), 0);
	port_send(&p, 4, p.mr->lkey);
	assert_int_equal(poll(&fd, 1, 1000), 1);
	assert_int_equal(port_completion(&p, &wc), 1);
	port_close(&p);
}

/* ---- fork ---- */

/*
 * What a child finds: no card behind the descriptor, device memory behind its mapping, as
 * io_remap_pfn_range() sets no VM_DONTCOPY, and an address space of its own.
 */
static int
in_child(struct port *p, uint8_t *dm)
{
	if (ibv_alloc_pd(p->ctx) != NULL || errno != EIO)
		return 1;
	if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, p->ctx->cmd_fd, 0) != MAP_FAILED ||
	    errno != EIO)
		return 2;
	if (dm[0] != 0x11)
		return 3;
	dm[1] = 0x22;
	/* what was registered is no longer there: MADV_DONTFORK by ibv_fork_init() */
	munmap(p->mem, PORT_MEM);
	return 0;
}

/* A child has no card; the parent's goes on as if nothing had been. */
static void
forked(void **state)
{
	struct ibv_dm *dm;
	struct ibv_wc wc;
	struct port p;
	uint8_t *va;
	pid_t child;
	int status;

	(void)state;
	port_open(&p, NULL);
	dm = alloc_dm(p.ctx, 4096);
	assert_non_null(dm);
	va = dm_address(dm);
	va[0] = 0x11;
	child = fork();
	if (child == 0)
		_exit(in_child(&p, va));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(va[1], 0x22);
	assert_int_equal(ibv_free_dm(dm), 0);
	port_send(&p, 1, p.mr->lkey);
	assert_int_equal(port_completion(&p, &wc), 1);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	port_close(&p);
}

/* Whatever was opened is closed again: the emulator's own report is empty then. */
int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_contexts), cmocka_unit_test(imports),
		cmocka_unit_test(mapping_outlives_context), cmocka_unit_test(quiet_events),
		cmocka_unit_test(loop), cmocka_unit_test(bad_keys),
		cmocka_unit_test(completion_events), cmocka_unit_test(forked),
	};

	if (ibv_fork_init() != 0) /* before anything else */
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
