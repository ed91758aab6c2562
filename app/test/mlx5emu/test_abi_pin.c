/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "abi.h"
#include "pin.h"

/* What is pinned is counted, and rings stay the card's; the shim's part is done by hand. */

#define PAGE 4096ul

static uint8_t *
pages(unsigned int n)
{
	uint8_t *va = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);

	assert_ptr_not_equal(va, MAP_FAILED);
	return va;
}

static void
unmap(uint8_t *va, unsigned int n)
{
	emu_lock();
	emu_pin_going((uintptr_t)va, n * PAGE);
	emu_pin_hold(false);
	assert_int_equal(munmap(va, n * PAGE), 0);
	emu_pin_settle(true);
	emu_unlock();
}

/* ---- rings ---- */

/* A ring of two pages, of which the process gives up the second; then the record's page. */
static void
torn_cq(void **state)
{
	struct abi *abi = *state;
	uint8_t *ring = pages(2), *record = pages(1), cqe[64] = { 0 };
	struct mlx5_ib_create_cq req;
	struct emu_cq *cq;
	struct abi_call c;
	uint64_t room;

	abi_cq_call(abi, &c, &req);
	abi_attr(&c, UVERBS_ATTR_CREATE_CQ_CQE)->data = 127;
	req.buf_addr = (uintptr_t)ring;
	req.db_addr = (uintptr_t)record + 64;
	assert_int_equal(abi_run(&c, abi->file), 0);
	cq = emu_cq_find(&abi->devs[0], *(uint32_t *)(uintptr_t)abi_got(&c, UVERBS_ATTR_UHW_OUT));
	assert_ptr_equal(cq->buf, ring);
	assert_ptr_equal(cq->dbrec, record + 64);
	unmap(ring + PAGE, 1);
	unmap(record, 1);
	assert_non_null(cq->torn);
	emu_lock();
	for (unsigned int i = 0; i < 128; i++) {
		cqe[0] = (uint8_t)i;
		assert_true(emu_cq_push(cq, cqe, EMU_CQE_REQ));
	}
	/* full: the record is still read */
	assert_false(emu_cq_push(cq, cqe, EMU_CQE_REQ));
	for (unsigned int i = 0; i < 64; i++) {
		assert_int_equal(ring[i * 64], i);
		assert_int_equal(*emu_view_at(cq->torn, PAGE + i * 64, &room), 64 + i);
		assert_int_equal(room, PAGE - i * 64);
	}
	emu_unlock();
	unmap(ring, 1);
	assert_int_equal(abi_cq_free(abi->file, abi_got(&c, UVERBS_ATTR_CREATE_CQ_HANDLE)), 0);
}

/* A ring that goes as a whole lies in one piece elsewhere. */
static void
moved_cq(void **state)
{
	struct abi *abi = *state;
	uint8_t *ring = pages(2);
	struct mlx5_ib_create_cq req;
	struct emu_cq *cq;
	struct abi_call c;

	abi_cq_call(abi, &c, &req);
	abi_attr(&c, UVERBS_ATTR_CREATE_CQ_CQE)->data = 127;
	req.buf_addr = (uintptr_t)ring;
	assert_int_equal(abi_run(&c, abi->file), 0);
	cq = emu_cq_find(&abi->devs[0], *(uint32_t *)(uintptr_t)abi_got(&c, UVERBS_ATTR_UHW_OUT));
	unmap(ring, 2);
	assert_null(cq->torn);
	assert_ptr_not_equal(cq->buf, ring);
	cq->buf[0] = cq->buf[2 * PAGE - 1] = 1;
	assert_int_equal(abi_cq_free(abi->file, abi_got(&c, UVERBS_ATTR_CREATE_CQ_HANDLE)), 0);
}

/* Queues that are made over a umem after its memory went have the umem's memory. */
static void
moved_umem(void **state)
{
	struct abi *abi = *state;
	uint8_t *mem = pages(3), in[PRM_CREATE_CQ_SIZE] = { 0 }, out[16];
	uint32_t umem, id, cq;
	struct emu_cq *found;

	umem = abi_umem(abi->file, mem, 3 * PAGE, &id);
	unmap(mem, 3);
	prm_set(in, PRM_IN_OPCODE, PRM_CMD_CREATE_CQ);
	prm_set(in + PRM_CQC_AT, PRM_CQC_LOG_SIZE, 6);
	prm_set(in + PRM_CQC_AT, PRM_CQC_EQN, 7);
	prm_set(in + PRM_CQC_AT, PRM_CQC_DBR_UMEM_ID, id);
	prm_set64(in + PRM_CQC_AT, PRM_CQC_DBR_ADDR_AT, 2 * PAGE);
	prm_set(in, PRM_CREATE_CQ_UMEM_ID, id);
	prm_set64(in, PRM_CREATE_CQ_UMEM_OFFSET_AT, 0);
	assert_int_equal(abi_devx_create(abi->file, in, sizeof(in), out, &cq), 0);
	found = emu_cq_find(&abi->devs[0], prm_get(out, PRM_OUT_OBJECT));
	assert_non_null(found);
	assert_int_equal(found->buf[0], 0);
	found->buf[0] = 1;
	assert_int_equal(found->dbrec[0], 0);
	assert_int_equal(found->dbrec[1], EMU_CQ_NOT_ARMED);
	assert_int_equal(abi_devx_free(abi->file, cq), 0);
	assert_int_equal(abi_destroy(abi->file, MLX5_IB_OBJECT_DEVX_UMEM,
				     MLX5_IB_METHOD_DEVX_UMEM_DEREG,
				     MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, umem), 0);
}

/* ---- RLIMIT_MEMLOCK ---- */

/* mm->pinned_vm goes up with what is made, and down with what goes. */
static void
counted(void **state)
{
	struct abi *abi = *state;
	const uint64_t before = emu_pin_pages();
	uint8_t *mem = abi_pages(abi, 4 * PAGE);
	uint32_t pd, mr, cq, wq, qp, umem, id;

	pd = abi_pd(abi->file, NULL);
	assert_int_equal(emu_pin_pages(), before);
	/* bytes of three pages, two of them at the ends */
	assert_int_equal(abi_mr_try(abi->file, pd, (uintptr_t)mem + PAGE - 1, PAGE + 2,
				    (uintptr_t)mem + PAGE - 1, 1, &mr), 0);
	assert_int_equal(emu_pin_pages(), before + 3);
	umem = abi_umem(abi->file, mem, 4 * PAGE, &id);
	assert_int_equal(emu_pin_pages(), before + 7);
	assert_int_equal(abi_destroy(abi->file, MLX5_IB_OBJECT_DEVX_UMEM,
				     MLX5_IB_METHOD_DEVX_UMEM_DEREG,
				     MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, umem), 0);
	assert_int_equal(abi_mr_free(abi->file, mr), 0);
	assert_int_equal(emu_pin_pages(), before);
	cq = abi_cq(abi, abi->file, NULL);
	assert_true(emu_pin_pages() == before + 2 || emu_pin_pages() == before + 3);
	wq = abi_wq(abi, abi->file, pd, cq, NULL);
	qp = abi_qp(abi, abi->file, pd, cq);
	assert_true(emu_pin_pages() > before + 4);
	assert_int_equal(abi_qp_free(abi->file, qp), 0);
	assert_int_equal(abi_wq_free(abi->file, wq), 0);
	assert_int_equal(abi_cq_free(abi->file, cq), 0);
	assert_int_equal(emu_pin_pages(), before);
}

/* mlx5_ib_db_map_user(): one page of records is pinned once for a context. */
static void
records_share(void **state)
{
	struct abi *abi = *state;
	struct emu_file *other = abi_open(&abi->devs[0], true), *files[3];
	uint8_t *rings = abi_pages(abi, 3 * PAGE), *records = abi_pages(abi, PAGE);
	const uint64_t before = emu_pin_pages();
	struct mlx5_ib_create_cq req;
	struct abi_call c;
	uint32_t cq[3];

	files[0] = files[1] = abi->file;
	files[2] = other;
	for (unsigned int i = 0; i < 3; i++) {
		abi_cq_call(abi, &c, &req);
		req.buf_addr = (uintptr_t)rings + i * PAGE;
		req.db_addr = (uintptr_t)records + i * 64;
		assert_int_equal(abi_run(&c, files[i]), 0);
		cq[i] = abi_got(&c, UVERBS_ATTR_CREATE_CQ_HANDLE);
	}
	assert_int_equal(emu_pin_pages(), before + 5);
	/* the first goes, and the page stays for the second */
	assert_int_equal(abi_cq_free(abi->file, cq[0]), 0);
	assert_int_equal(emu_pin_pages(), before + 4);
	assert_int_equal(abi_cq_free(abi->file, cq[1]), 0);
	assert_int_equal(emu_pin_pages(), before + 2);
	abi_close(other); /* with what is left */
	assert_int_equal(emu_pin_pages(), before);
}

static int
reg_mr_unprivileged(struct abi *abi, uint32_t pd, void *mem, uint64_t len)
{
	struct ib_uverbs_reg_mr in = {
		.start = (uintptr_t)mem, .length = len, .hca_va = (uintptr_t)mem, .pd_handle = pd,
		.access_flags = 1,
	};
	struct ib_uverbs_reg_mr_resp out;

	return abi_write_without(abi->file, &(struct abi_write){ .cmd = IB_USER_VERBS_CMD_REG_MR,
		.in = &in, .in_len = sizeof(in), .out = &out, .out_len = sizeof(out) },
		CAP_IPC_LOCK);
}

static void
limited(void **state)
{
	struct abi *abi = *state;
	uint8_t *mem = abi_pages(abi, 16 * PAGE);
	uint32_t pd = abi_pd(abi->file, NULL), mr;
	struct mlx5_ib_create_cq req;
	struct rlimit old, limit;
	struct abi_call c;

	assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &old), 0);
	if (old.rlim_max < 64 * PAGE)
		skip();
	limit = old;
	limit.rlim_cur = (emu_pin_pages() + 8) * PAGE + 100; /* whole pages count */
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	assert_int_equal(reg_mr_unprivileged(abi, pd, mem, 9 * PAGE), -ENOMEM);
	/* of what is wrong besides, the limit is told first */
	assert_int_equal(reg_mr_unprivileged(abi, pd, (void *)abi_hole(), 9 * PAGE), -ENOMEM);
	assert_int_equal(reg_mr_unprivileged(abi, pd, mem, 8 * PAGE), 0);
	abi_cq_call(abi, &c, &req);
	assert_int_equal(abi_run_without(&c, abi->file, CAP_IPC_LOCK), -ENOMEM);
	if (emu_capable(CAP_IPC_LOCK)) { /* is over every limit */
		assert_int_equal(abi_mr_try(abi->file, pd, (uintptr_t)mem, 16 * PAGE,
					    (uintptr_t)mem, 1, &mr), 0);
		assert_int_equal(abi_mr_free(abi->file, mr), 0);
	}
	/* can_do_mlock() */
	limit.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	assert_int_equal(reg_mr_unprivileged(abi, pd, mem, PAGE), -EPERM);
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &old), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(torn_cq, abi_setup, abi_teardown),
		cmocka_unit_test_setup_teardown(moved_cq, abi_setup, abi_teardown),
		cmocka_unit_test_setup_teardown(moved_umem, abi_setup, abi_teardown),
		cmocka_unit_test_setup_teardown(counted, abi_setup, abi_teardown),
		cmocka_unit_test_setup_teardown(records_share, abi_setup, abi_teardown),
		cmocka_unit_test_setup_teardown(limited, abi_setup, abi_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
