/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <endian.h>
#include <linux/capability.h>
#include <sys/mman.h>

#include "abi.h"
#include "inject.h"

/* Faults that ioctls meet. */

#define DM_ACCESS (IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE)
#define MODE_KLM 2
#define MODE_KSM 3

/* DM and MR over it, on a PD. */
struct memory {
	uint32_t pd, pdn, dm, mr, lkey;
};

static void
memory_make(struct emu_file *file, uint64_t len, struct memory *m)
{
	m->pd = abi_pd(file, &m->pdn);
	m->dm = abi_dm(file, len);
	assert_int_equal(abi_dm_mr_try(file, m->pd, m->dm, 0, len, DM_ACCESS, &m->mr, &m->lkey),
			 0);
}

static void
memory_free(struct emu_file *file, const struct memory *m)
{
	assert_int_equal(abi_mr_free(file, m->mr), 0);
	assert_int_equal(abi_dm_free(file, m->dm), 0);
	assert_int_equal(abi_pd_free(file, m->pd), 0);
}

enum { RELAXED_WRITE = 1, RELAXED_READ = 2, RELAXED = 3 };

/* CREATE_MKEY as the driver sends it, with ordering attributes. */
static int
make_key(struct emu_file *file, const struct memory *m, unsigned int mode, uint32_t lkey,
	 unsigned int relaxed, unsigned int after_write, uint32_t *handle, unsigned int *status)
{
	uint8_t in[PRM_CREATE_MKEY_SIZE + 64] = { 0 }, out[16] = { 0 };
	uint8_t *mkc = in + PRM_MKC_AT, *entry = in + PRM_CREATE_MKEY_SIZE;
	uint64_t be = htobe64(4096);
	int err;

	prm_set(in, PRM_IN_OPCODE, PRM_CMD_CREATE_MKEY);
	prm_set(in, PRM_CREATE_MKEY_OCTWORDS, 1);
	prm_set(mkc, PRM_MKC_ACCESS_MODE_LO, mode);
	prm_set(mkc, PRM_MKC_LR, 1);
	prm_set(mkc, PRM_MKC_LW, 1);
	prm_set(mkc, PRM_MKC_QPN, 0xffffff);
	prm_set(mkc, PRM_MKC_PD, m->pdn);
	prm_set(mkc, PRM_MKC_OCTWORDS, 1);
	prm_set(mkc, PRM_MKC_LOG_PAGE_SIZE, mode == MODE_KSM ? 12 : 0);
	prm_set(mkc, PRM_MKC_RELAXED_ORDERING_WRITE, relaxed & RELAXED_WRITE);
	prm_set(mkc, PRM_MKC_RELAXED_ORDERING_READ, relaxed >> 1);
	prm_set(mkc, PRM_MKC_ORDER_READ_AFTER_WRITE, after_write);
	memcpy(mkc + PRM_MKC_LEN_AT, &be, 8);
	prm_set(entry, PRM_KLM_BYTE_COUNT, 4096);
	prm_set(entry, PRM_KLM_MKEY, lkey);
	err = abi_devx_create(file, in, sizeof(in), out, handle);
	*status = prm_get(out, PRM_OUT_STATUS);
	return err;
}

static void
expect_key(struct abi *abi, const struct memory *m, unsigned int mode, int want)
{
	unsigned int status;
	uint32_t handle;

	assert_int_equal(make_key(abi->file, m, mode, m->lkey, 0, 0, &handle, &status), want);
	assert_int_equal(status, want == 0 ? PRM_STATUS_OK : PRM_STATUS_BAD_PARAM);
	if (want == 0)
		assert_int_equal(abi_devx_free(abi->file, handle), 0);
}

static void
test_key_create(void **state)
{
	struct abi *abi = *state;
	struct memory m;

	memory_make(abi->file, 4096, &m);
	expect_key(abi, &m, MODE_KLM, 0);
	expect_key(abi, &m, MODE_KSM, 0);
	abi->cfg.fault.klm = EMU_KEY_REFUSED;
	expect_key(abi, &m, MODE_KLM, -EREMOTEIO);
	expect_key(abi, &m, MODE_KSM, 0);
	abi->cfg.fault.klm = EMU_KEY_WORKS;
	abi->cfg.fault.ksm = EMU_KEY_REFUSED;
	expect_key(abi, &m, MODE_KLM, 0);
	expect_key(abi, &m, MODE_KSM, -EREMOTEIO);
	abi->cfg.fault.ksm = EMU_KEY_FAILS;
	expect_key(abi, &m, MODE_KSM, 0);
	memory_free(abi->file, &m);
}

/* Indirect keys over host memory are none of its business. */
static void
test_key_create_host(void **state)
{
	struct abi *abi = *state;
	void *page = abi_pages(abi, 4096);
	unsigned int status;
	uint32_t mr, handle;
	struct memory m;

	abi->cfg.fault.klm = EMU_KEY_REFUSED;
	memory_make(abi->file, 4096, &m);
	assert_int_equal(abi_mr_try(abi->file, m.pd, (uintptr_t)page, 4096, (uintptr_t)page,
				    IBV_ACCESS_LOCAL_WRITE, &mr), 0);
	assert_int_equal(make_key(abi->file, &m, MODE_KLM, 0x123456, 0, 0, &handle, &status),
			 0);
	assert_int_equal(abi_devx_free(abi->file, handle), 0);
	assert_int_equal(abi_mr_free(abi->file, mr), 0);
	memory_free(abi->file, &m);
}

static void
query_caps(struct abi *abi, unsigned int group, uint8_t cap[4096])
{
	uint8_t in[16] = { 0 }, out[4112] = { 0 };

	prm_set(in, PRM_IN_OPCODE, PRM_CMD_QUERY_HCA_CAP);
	prm_set(in, PRM_IN_OP_MOD, group << 1 | 1);
	assert_int_equal(abi_devx_general(abi->file, in, sizeof(in), out, sizeof(out)), 0);
	memcpy(cap, out + PRM_CAP_AT, 4096);
}

static void
expect_ordering_caps(struct abi *abi, unsigned int relaxed, unsigned int after_write)
{
	uint8_t cap[4096];

	query_caps(abi, 0, cap);
	assert_int_equal(prm_get(cap, PRM_CAP_RELAXED_ORDERING_WRITE), relaxed);
	assert_int_equal(prm_get(cap, PRM_CAP_RELAXED_ORDERING_READ), relaxed);
	assert_int_equal(prm_get(cap, PRM_CAP_MKC_ORDER_READ_AFTER_WRITE), after_write);
}

static void
expect_ordered_key(struct abi *abi, const struct memory *m, unsigned int relaxed,
		   unsigned int after_write, int want)
{
	unsigned int status;
	uint32_t handle;

	assert_int_equal(make_key(abi->file, m, MODE_KLM, m->lkey, relaxed, after_write, &handle,
				  &status), want);
	if (want == 0)
		assert_int_equal(abi_devx_free(abi->file, handle), 0);
}

static void
test_ordering(void **state)
{
	struct abi *abi = *state;
	uint32_t mr, access = DM_ACCESS | IBV_ACCESS_RELAXED_ORDERING;
	struct memory m;

	memory_make(abi->file, 4096, &m);
	expect_ordering_caps(abi, 1, 0);
	expect_ordered_key(abi, &m, RELAXED, 0, 0);
	expect_ordered_key(abi, &m, RELAXED, 2, -EREMOTEIO);
	assert_int_equal(abi_dm_mr_try(abi->file, m.pd, m.dm, 0, 64, access, &mr, NULL), -EINVAL);

	abi->cfg.fault.ordering = EMU_ORDERING_REFUSED;
	expect_ordering_caps(abi, 0, 0);
	expect_ordered_key(abi, &m, RELAXED, 0, -EREMOTEIO);
	expect_ordered_key(abi, &m, 0, 0, 0);
	assert_int_equal(abi_dm_mr_try(abi->file, m.pd, m.dm, 0, 64, access, &mr, NULL), -EINVAL);
	assert_int_equal(abi_dm_mr_try(abi->file, m.pd, m.dm, 0, 64, DM_ACCESS, &mr, NULL), 0);
	assert_int_equal(abi_mr_free(abi->file, mr), 0);

	abi->cfg.fault.ordering = EMU_ORDERING_DEMANDED;
	expect_ordering_caps(abi, 1, 1);
	assert_int_equal(abi_dm_mr_try(abi->file, m.pd, m.dm, 0, 64, access, &mr, NULL), 0);
	assert_int_equal(abi_mr_free(abi->file, mr), 0);
	expect_ordered_key(abi, &m, RELAXED, 2, 0);
	expect_ordered_key(abi, &m, RELAXED, 0, -EREMOTEIO);
	expect_ordered_key(abi, &m, RELAXED_READ, 2, -EREMOTEIO);
	expect_ordered_key(abi, &m, RELAXED_WRITE, 2, -EREMOTEIO);
	memory_free(abi->file, &m);
}

static void
test_dm_multiple(void **state)
{
	struct abi *abi = *state;
	uint32_t dm, mr, pd = abi_pd(abi->file, NULL);

	abi->cfg.fault.dm_multiple = 64;
	assert_int_equal(abi_dm_try(abi->file, 100, 0, &dm, NULL, NULL), -EINVAL);
	assert_int_equal(abi->devs[0].memic.bytes_used, 0);
	assert_int_equal(abi_dm_try(abi->file, 128, 0, &dm, NULL, NULL), 0);
	assert_int_equal(abi_dm_mr_try(abi->file, pd, dm, 0, 100, DM_ACCESS, &mr, NULL), -EINVAL);
	assert_int_equal(abi_dm_mr_try(abi->file, pd, dm, 4, 64, DM_ACCESS, &mr, NULL), 0);
	assert_int_equal(abi_mr_free(abi->file, mr), 0);
	assert_int_equal(abi_dm_free(abi->file, dm), 0);
	assert_int_equal(abi_pd_free(abi->file, pd), 0);
}

/* Case 9: part of the memory is held by another process, and given back meanwhile. */
static void
test_memic_held(void **state)
{
	struct abi *abi = *state;
	uint32_t dm[3];

	abi->cfg.fault.memic_held = 64 << 10;
	assert_int_equal(abi_dm_try(abi->file, ABI_MEMIC, 0, &dm[0], NULL, NULL), -ENOMEM);
	assert_int_equal(abi_dm_try(abi->file, 64 << 10, 0, &dm[0], NULL, NULL), 0);
	assert_int_equal(abi_dm_try(abi->file, 64, 0, &dm[1], NULL, NULL), -ENOMEM);
	abi->cfg.fault.memic_returned = 5;
	assert_int_equal(abi_dm_try(abi->file, 64, 0, &dm[1], NULL, NULL), -ENOMEM);
	assert_int_equal(abi_dm_try(abi->file, 64 << 10, 0, &dm[1], NULL, NULL), 0);
	assert_int_equal(abi_dm_free(abi->file, dm[0]), 0);
	assert_int_equal(abi_dm_free(abi->file, dm[1]), 0);
	abi->cfg.fault.memic_held = UINT64_MAX;
	abi->cfg.fault.memic_returned = 0;
	assert_int_equal(abi_dm_try(abi->file, 64, 0, &dm[1], NULL, NULL), -ENOMEM);
}

static void
test_memic_run(void **state)
{
	struct abi *abi = *state;
	uint32_t dm[2];

	abi->cfg.fault.memic_run = 32 << 10;
	assert_int_equal(abi_dm_try(abi->file, (32 << 10) + 64, 0, &dm[0], NULL, NULL), -ENOMEM);
	assert_int_equal(abi_dm_try(abi->file, 32 << 10, 0, &dm[0], NULL, NULL), 0);
	assert_int_equal(abi_dm_try(abi->file, 32 << 10, 0, &dm[1], NULL, NULL), 0);
	assert_int_equal(abi_dm_free(abi->file, dm[0]), 0);
	assert_int_equal(abi_dm_free(abi->file, dm[1]), 0);
}

static uint64_t
query_start(struct emu_file *file, uint32_t dm)
{
	uint64_t start, len;
	struct abi_call c;
	uint16_t index;

	abi_begin(&c, UVERBS_OBJECT_DM, MLX5_IB_METHOD_DM_QUERY);
	abi_obj(&c, ABI_OBJ, MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE, dm, 0);
	abi_out(&c, MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET, &start, 8, 0);
	abi_out(&c, MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX, &index, 2, 0);
	abi_out(&c, MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, &len, 8, 0);
	assert_int_equal(abi_run(&c, file), 0);
	return start;
}

static void
test_start_offset(void **state)
{
	struct abi *abi = *state;
	struct emu_access acc = { .dev = &abi->devs[0] };
	uint32_t dm, mr, lkey, pd = abi_pd(abi->file, &acc.pdn);
	uint8_t *cpu, byte, cap[4096];
	uint64_t start = 0;
	uint16_t index;

	abi->cfg.fault.start_offset = 192;
	query_caps(abi, 0xf, cap);
	assert_int_equal(prm_get(cap, PRM_DM_LOG_MAX_ALIGNMENT), 0);
	assert_int_equal(abi_dm_try(abi->file, 2048, 7, &dm, NULL, NULL), -EINVAL);
	assert_int_equal(abi_dm_try(abi->file, 2048, 6, &dm, &index, &start), 0);
	assert_int_equal(start, 192);
	assert_int_equal(query_start(abi->file, dm), 192);
	emu_lock();
	cpu = emu_vma_map(abi->file, NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
			  ((uint64_t)(index >> 8) << 16 | 8 << 8 | (index & 0xff)) * 4096);
	emu_unlock();
	assert_ptr_not_equal(cpu, MAP_FAILED);
	cpu[191] = 1;
	cpu[192] = 2;
	cpu[192 + 2047] = 3;
	assert_int_equal(abi_dm_mr_try(abi->file, pd, dm, 0, 2048, DM_ACCESS, &mr, &lkey), 0);
	assert_int_equal(emu_mkey_read(&acc, lkey, 0, &byte, 1), 0);
	assert_int_equal(byte, 2);
	assert_int_equal(emu_mkey_read(&acc, lkey, 2047, &byte, 1), 0);
	assert_int_equal(byte, 3);
	assert_int_equal(emu_mkey_read(&acc, lkey, 2048, &byte, 1), -EACCES);
	assert_int_equal(abi_mr_free(abi->file, mr), 0);
	assert_int_equal(abi_dm_free(abi->file, dm), 0);
	emu_lock();
	munmap(cpu, 4096);
	emu_vma_unmapped((uintptr_t)cpu, 4096);
	emu_unlock();
	assert_int_equal(abi_pd_free(abi->file, pd), 0);
}

/* Firmware gets no more pages than the length takes, so a whole page starts at 0. */
static void
test_start_offset_without_room(void **state)
{
	struct abi *abi = *state;
	uint64_t start = 1;
	uint32_t dm;

	abi->cfg.fault.start_offset = 192;
	assert_int_equal(abi_dm_try(abi->file, 4096, 0, &dm, NULL, &start), 0);
	assert_int_equal(start, 0);
	assert_int_equal(abi_dm_free(abi->file, dm), 0);
	assert_int_equal(abi_dm_try(abi->file, 4096 - 192, 0, &dm, NULL, &start), 0);
	assert_int_equal(start, 192);
	assert_int_equal(abi_dm_free(abi->file, dm), 0);
	abi->cfg.fault.start_offset = 256;
	assert_int_equal(abi_dm_try(abi->file, 64, 8, &dm, NULL, &start), 0);
	assert_int_equal(start, 256);
	assert_int_equal(abi_dm_free(abi->file, dm), 0);
	assert_int_equal(abi_dm_try(abi->file, 64, 9, &dm, NULL, &start), -EINVAL);
}

static int
open_context(struct abi *abi, uint32_t flags)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req = {
		.total_num_bfregs = 16, .num_low_latency_bfregs = 4, .max_cqe_version = 1,
		.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR, .flags = flags,
	};
	struct emu_file *file = abi_open_bare(&abi->devs[0]);
	struct mlx5_ib_alloc_ucontext_resp resp;
	struct abi_call c;
	int err;

	abi_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	abi_in(&c, UVERBS_ATTR_UHW_IN, &req, sizeof(req), 0);
	abi_out(&c, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp), 0);
	err = abi_run(&c, file);
	abi_close(file);
	return err;
}

static void
test_no_devx(void **state)
{
	struct abi *abi = *state;

	assert_int_equal(open_context(abi, MLX5_IB_ALLOC_UCTX_DEVX), 0);
	abi->cfg.fault.no_devx = true;
	assert_int_equal(open_context(abi, MLX5_IB_ALLOC_UCTX_DEVX), -EINVAL);
	assert_int_equal(open_context(abi, 0), 0);
}

/* ---- SW_ICM ---- */

static void
icm_call(struct abi_call *c, uint64_t *start, uint64_t type, uint64_t len, uint32_t log_align)
{
	abi_begin(c, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC);
	abi_obj(c, ABI_NEW, UVERBS_ATTR_ALLOC_DM_HANDLE, 0, 0);
	abi_val(c, UVERBS_ATTR_ALLOC_DM_LENGTH, len, 8, 0);
	abi_val(c, UVERBS_ATTR_ALLOC_DM_ALIGNMENT, log_align, 4, 0);
	abi_out(c, MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, start, 8, 0);
	abi_val(c, MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE, type, 8, 0);
}

static int
icm_try(struct abi *abi, uint64_t type, uint64_t len, uint32_t log_align, uint32_t *dm,
	uint64_t *start)
{
	struct abi_call c;
	int err;

	icm_call(&c, start, type, len, log_align);
	err = abi_run(&c, abi->file);
	if (err == 0)
		*dm = abi_got(&c, UVERBS_ATTR_ALLOC_DM_HANDLE);
	return err;
}

static void
test_sw_icm_caps(void **state)
{
	struct abi *abi = *state;
	uint8_t cap[4096];

	query_caps(abi, 7, cap);
	assert_int_equal(prm_get(cap, PRM_FT_RX_SW_OWNER_V2), 0);
	abi->cfg.fault.sw_icm = true;
	query_caps(abi, 7, cap);
	assert_int_equal(prm_get(cap, PRM_FT_RX_SW_OWNER_V2), 1);
	assert_int_equal(prm_get(cap, PRM_FT_TX_SW_OWNER_V2), 1);
	query_caps(abi, 0, cap);
	assert_int_equal(prm_get(cap, PRM_CAP_STEERING_FORMAT_VERSION), 15);
	assert_int_equal(prm_get(cap, PRM_CAP_GENERAL_OBJ_TYPES_LO) >> 8 & 1, 1);
	query_caps(abi, 0xf, cap);
	assert_int_not_equal(prm_get64(cap, PRM_DM_PATTERN_ICM_START_AT), 0);
}

/* Case 64: who lacks the capabilities gets EPERM, whatever the card can do. */
static void
test_sw_icm_permission(void **state)
{
	struct abi *abi = *state;
	struct abi_call c;
	uint64_t start;

	if (!abi_can_lose(CAP_SYS_RAWIO) || !abi_can_lose(CAP_NET_RAW))
		skip();
	icm_call(&c, &start, MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM, 4096, 0);
	assert_int_equal(abi_run_without(&c, abi->file, CAP_SYS_RAWIO), -EPERM);
	assert_int_equal(abi_run(&c, abi->file), -EOPNOTSUPP);
	abi->cfg.fault.sw_icm = true;
	icm_call(&c, &start, MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM, 4096, 0);
	assert_int_equal(abi_run_without(&c, abi->file, CAP_NET_RAW), -EPERM);
}

static void
test_sw_icm(void **state)
{
	struct abi *abi = *state;
	struct emu_access acc = { .dev = &abi->devs[0] };
	uint32_t dm[3], mr, lkey, pd = abi_pd(abi->file, &acc.pdn);
	uint64_t start[3];
	uint8_t byte;

	if (!abi_can_lose(CAP_SYS_RAWIO) || !abi_can_lose(CAP_NET_RAW))
		skip();
	abi->cfg.fault.sw_icm = true;
	assert_int_equal(icm_try(abi, MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM, 0, 0, dm, start),
			 -EINVAL);
	assert_int_equal(icm_try(abi, 9, 4096, 0, dm, start), -EOPNOTSUPP);
	/* 3 blocks become 4 */
	assert_int_equal(icm_try(abi, MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM, 3 * 4096, 0, &dm[0],
				 &start[0]), 0);
	assert_int_equal(icm_try(abi, MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM, 1, 0, &dm[1],
				 &start[1]), 0);
	assert_int_equal(start[1] - start[0], 4 * 4096);
	assert_int_equal(icm_try(abi, MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM, 1, 16, &dm[2],
				 &start[2]), 0);
	assert_int_equal(start[2] % (1 << 16), 0);
	assert_int_equal(icm_try(abi, MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM, 1 << 20, 0, &mr,
				 start), -ENOMEM);
	assert_int_equal(abi_dm_mr_try(abi->file, pd, dm[0], 0, 4096, DM_ACCESS, &mr, &lkey), 0);
	assert_int_equal(emu_mkey_read(&acc, lkey, 0, &byte, 1), -EACCES);
	assert_int_equal(abi_dm_free(abi->file, dm[0]), -EBUSY);
	assert_int_equal(abi_mr_free(abi->file, mr), 0);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(abi_dm_free(abi->file, dm[i]), 0);
	/* all of it can be had again */
	assert_int_equal(icm_try(abi, MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM, 1 << 20, 0, &dm[0],
				 start), 0);
	assert_int_equal(icm_try(abi, MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_PATTERN_SW_ICM, 1 << 20,
				 0, &dm[1], start), 0);
	assert_int_equal(abi_dm_free(abi->file, dm[0]), 0);
	assert_int_equal(abi_dm_free(abi->file, dm[1]), 0);
	assert_int_equal(abi_pd_free(abi->file, pd), 0);
}

/* ---- the Nth ioctl ---- */

static void
test_ioctl_any(void **state)
{
	struct abi *abi = *state;
	uint32_t dm[2];

	abi->cfg.fault.ioctl_n = 2;
	abi->cfg.fault.ioctl_errno = EIO;
	dm[0] = abi_dm(abi->file, 64);
	assert_int_equal(abi_dm_try(abi->file, 64, 0, &dm[1], NULL, NULL), -EIO);
	dm[1] = abi_dm(abi->file, 64);
	assert_int_equal(abi_dm_free(abi->file, dm[0]), 0);
	assert_int_equal(abi_dm_free(abi->file, dm[1]), 0);
}

static void
set_ioctl(struct abi *abi, uint64_t n, int err, const char *kind)
{
	abi->devs[0].inject.ioctls = 0;
	abi->cfg.fault.ioctl_n = n;
	abi->cfg.fault.ioctl_errno = err;
	strcpy(abi->cfg.fault.ioctl_kind, kind);
}

static void
test_ioctl_of_a_kind(void **state)
{
	struct abi *abi = *state;
	struct ib_uverbs_alloc_pd in = { 0 };
	struct ib_uverbs_alloc_pd_resp out;
	struct abi_write pd = { .cmd = IB_USER_VERBS_CMD_ALLOC_PD, .in = &in,
				.in_len = sizeof(in), .out = &out, .out_len = sizeof(out) };
	unsigned int status;
	struct memory m;
	uint32_t key;

	memory_make(abi->file, 4096, &m);
	set_ioctl(abi, 1, EAGAIN, "ALLOC_PD"); /* a write command */
	assert_int_equal(abi_write(abi->file, &pd), -EAGAIN);
	set_ioctl(abi, 1, ENOMEM, "CREATE_MKEY"); /* a firmware command */
	assert_int_equal(make_key(abi->file, &m, MODE_KLM, m.lkey, 0, 0, &key, &status),
			 -ENOMEM);
	expect_key(abi, &m, MODE_KLM, 0);
	set_ioctl(abi, 1, EBUSY, "DM_FREE"); /* a method */
	assert_int_equal(abi_mr_free(abi->file, m.mr), 0);
	assert_int_equal(abi_dm_free(abi->file, m.dm), -EBUSY);
	assert_int_equal(abi_dm_free(abi->file, m.dm), 0);
	assert_int_equal(abi_pd_free(abi->file, m.pd), 0);
	set_ioctl(abi, 1, EIO, "NO_SUCH_KIND");
	m.pd = abi_pd(abi->file, NULL);
	assert_int_equal(abi_pd_free(abi->file, m.pd), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, abi_setup, abi_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_key_create),
		TEST(test_key_create_host),
		TEST(test_ordering),
		TEST(test_dm_multiple),
		TEST(test_memic_held),
		TEST(test_memic_run),
		TEST(test_start_offset),
		TEST(test_start_offset_without_room),
		TEST(test_no_devx),
		TEST(test_sw_icm_caps),
		TEST(test_sw_icm_permission),
		TEST(test_sw_icm),
		TEST(test_ioctl_any),
		TEST(test_ioctl_of_a_kind),
	};

	return cmocka_run_group_tests_name("fault ioctls", tests, NULL, NULL);
}
