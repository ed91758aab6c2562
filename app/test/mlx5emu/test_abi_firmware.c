/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "abi.h"

/*
 * What firmware answers to commands that make objects: keys, queues, tables. A refusal is
 * EREMOTEIO with the status in the output; statuses are assumptions, being nowhere public.
 */

static uint8_t in[4096], out[16];
static uint32_t pd, pdn, umem, umem_id, ro_umem_id, td, td_num, tis, tis_num, cq, cqn;
static uint8_t *mem;

#define MEM 32768
#define OK PRM_STATUS_OK
#define PARAM PRM_STATUS_BAD_PARAM
#define RESOURCE PRM_STATUS_BAD_RESOURCE
#define LEN PRM_STATUS_BAD_INPUT_LEN

static void
command(uint16_t opcode)
{
	memset(in, 0, sizeof(in));
	prm_set(in, PRM_IN_OPCODE, opcode);
}

static void
set64(uint8_t *at, uint64_t value)
{
	value = htobe64(value);
	memcpy(at, &value, sizeof(value));
}

/* The status that a creating command gets; on success the object's handle and number. */
static int
create_at(struct emu_file *file, size_t len, uint32_t *handle, uint32_t *num)
{
	int err = abi_devx_create(file, in, len, out, handle);

	if (err != 0)
		assert_int_equal(err, -EREMOTEIO);
	*num = err == 0 ? prm_get(out, PRM_OUT_OBJECT) : 0;
	return prm_get(out, PRM_OUT_STATUS);
}

/* The same, let go again. */
static int
once(struct abi *abi, size_t len)
{
	uint32_t handle, num;
	int status = create_at(abi->file, len, &handle, &num);

	if (status == OK)
		assert_int_equal(abi_devx_free(abi->file, handle), 0);
	return status;
}

static int
umem_free(struct emu_file *file, uint32_t handle)
{
	return abi_destroy(file, MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG,
			   MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, handle);
}

/* ---- keys ---- */

enum { MTT = 1, KLM = 2, KSM = 3 };

static uint8_t *
mkey(uint32_t mode, uint64_t start, uint64_t len)
{
	uint8_t *mkc = in + PRM_MKC_AT;

	command(PRM_CMD_CREATE_MKEY);
	prm_set(mkc, PRM_MKC_ACCESS_MODE_LO, mode);
	prm_set(mkc, PRM_MKC_LR, 1);
	prm_set(mkc, PRM_MKC_LW, 1);
	prm_set(mkc, PRM_MKC_QPN, 0xffffff);
	prm_set(mkc, PRM_MKC_PD, pdn);
	prm_set(mkc, PRM_MKC_VARIANT, 0x42);
	set64(mkc + PRM_MKC_START_ADDR_AT, start);
	set64(mkc + PRM_MKC_LEN_AT, len);
	prm_set(in, PRM_CREATE_MKEY_UMEM_ID, umem_id);
	prm_set(in, PRM_CREATE_MKEY_OCTWORDS, mode == MTT ? 0 : 1);
	prm_set(in + PRM_CREATE_MKEY_SIZE, PRM_KLM_BYTE_COUNT, len);
	return mkc;
}

static void
keys(void **state)
{
	const size_t size = PRM_CREATE_MKEY_SIZE, one = size + PRM_KLM_SIZE;
	struct abi *abi = *state;
	uint8_t *mkc;

#define KEY(mode, start, len, change, bytes, want) do { \
	mkc = mkey(mode, start, len); \
	(void)mkc; \
	change; \
	assert_int_equal(once(abi, bytes), want); \
} while (0)
	KEY(MTT, 0x10000, 4096, (void)0, size, OK);
	KEY(MTT, 0x10000, MEM, (void)0, size, OK);
	KEY(MTT, 0x10000, MEM + 1, (void)0, size, RESOURCE);
	KEY(MTT, 0x10008, 64, (void)0, size, PARAM); /* not where the umem starts */
	KEY(MTT, 0x10000, 64, prm_set(in, PRM_CREATE_MKEY_UMEM_ID, 99), size, RESOURCE);
	KEY(MTT, 0x10000, MEM, set64(in + PRM_CREATE_MKEY_UMEM_OFFSET_AT, 4096), size, RESOURCE);
	KEY(MTT, 0x10000, MEM - 4096, set64(in + PRM_CREATE_MKEY_UMEM_OFFSET_AT, 4096), size, OK);
	KEY(MTT, 0x10000, 64, set64(in + PRM_CREATE_MKEY_UMEM_OFFSET_AT, UINT64_MAX), size,
	    RESOURCE);
	KEY(MTT, 0x10000, 64, prm_set(in, PRM_CREATE_MKEY_UMEM_ID, ro_umem_id), size, RESOURCE);
	KEY(MTT, 0x10000, 64, prm_set(in, PRM_CREATE_MKEY_UMEM_ID, ro_umem_id);
	    prm_set(mkc, PRM_MKC_LW, 0), size, OK);
	KEY(KLM, 0x10000, 4096, (void)0, one, OK);
	KEY(KLM, 0x10000, 4096, (void)0, one - 1, LEN);
	KEY(KLM, 0x10000, 4096, prm_set(in, PRM_CREATE_MKEY_OCTWORDS, 2), one, LEN);
	KEY(KLM, 0x10000, 4096, prm_set(in, PRM_CREATE_MKEY_OCTWORDS, 0), one, PARAM);
	KEY(KLM, 0x10000, 4096, prm_set(in, PRM_CREATE_MKEY_OCTWORDS, UINT32_MAX), one, PARAM);
	KEY(KSM, 0x10000, 4096, prm_set(mkc, PRM_MKC_LOG_PAGE_SIZE, 12), one, OK);
	KEY(KSM, 0x10000, 4096, prm_set(mkc, PRM_MKC_LOG_PAGE_SIZE, 11), one, PARAM);
	KEY(KSM, 0x10000, 4097, prm_set(mkc, PRM_MKC_LOG_PAGE_SIZE, 12), one, PARAM);
	KEY(KSM, 0x10040, 64, prm_set(mkc, PRM_MKC_LOG_PAGE_SIZE, 12), one, PARAM);
	/* any kind */
	KEY(KLM, 0, 0, (void)0, one, PARAM);
	KEY(KLM, 0, 64, prm_set(mkc, PRM_MKC_PD, pdn + 77), one, RESOURCE);
	KEY(KLM, 0, 64, prm_set(mkc, PRM_MKC_QPN, 5), one, PARAM);
	KEY(KLM, 0, 64, prm_set(mkc, PRM_MKC_FREE, 1), one, PARAM);
	KEY(KLM, 0, 64, prm_set(mkc, PRM_MKC_BSF_EN, 1), one, PARAM);
	KEY(KLM, 0, 64, prm_set(mkc, PRM_MKC_ATOMIC, 1), one, PARAM);
	KEY(KLM, 0, 64, prm_set(mkc, PRM_MKC_LENGTH64, 1), one, PARAM);
	KEY(0, 0, 64, (void)0, one, PARAM);
	KEY(KLM, 0, 64, prm_set(mkc, PRM_MKC_ACCESS_MODE_HI, 1), one, PARAM);
}

static void
key_references(void **state)
{
	struct abi *abi = *state;
	uint32_t handle, num;

	mkey(MTT, 0, 64);
	assert_int_equal(create_at(abi->file, PRM_CREATE_MKEY_SIZE, &handle, &num), OK);
	assert_int_equal(umem_free(abi->file, umem), -EINVAL); /* BAD_RES_STATE */
	assert_int_equal(abi_pd_free(abi->file, pd), -EBUSY);
	emu_lock();
	assert_non_null(emu_mkey_find(&abi->devs[0], num << 8 | 0x42));
	assert_null(emu_mkey_find(&abi->devs[0], num << 8 | 0x43));
	assert_null(emu_mkey_find(&abi->devs[1], num << 8 | 0x42));
	emu_unlock();
	assert_int_equal(abi_devx_free(abi->file, handle), 0);
}

/* ---- queues ---- */

static uint8_t *
new_cq(void)
{
	uint8_t *cqc = in + PRM_CQC_AT;

	command(PRM_CMD_CREATE_CQ);
	prm_set(in, PRM_CREATE_CQ_UMEM_ID, umem_id);
	prm_set(cqc, PRM_CQC_DBR_UMEM_ID, umem_id);
	set64(cqc + PRM_CQC_DBR_ADDR_AT, MEM - 64);
	prm_set(cqc, PRM_CQC_LOG_SIZE, 6);
	prm_set(cqc, PRM_CQC_EQN, 7);
	return cqc;
}

static void
cqs(void **state)
{
	struct abi *abi = *state;
	uint8_t *cqc;

#define CQ(change, want) do { \
	cqc = new_cq(); \
	change; \
	assert_int_equal(once(abi, PRM_CREATE_CQ_SIZE), want); \
} while (0)
	CQ((void)cqc, OK);
	CQ(prm_set(cqc, PRM_CQC_CQE_SZ, 1), OK);
	CQ(prm_set(cqc, PRM_CQC_CQE_SZ, 2), OK);
	CQ(prm_set(cqc, PRM_CQC_CQE_SZ, 3), PARAM);
	CQ(prm_set(cqc, PRM_CQC_LOG_SIZE, 9), OK);
	CQ(prm_set(cqc, PRM_CQC_LOG_SIZE, 10), RESOURCE);
	CQ(prm_set(cqc, PRM_CQC_LOG_SIZE, 23), PARAM);
	CQ(prm_set(cqc, PRM_CQC_EQN, 8), RESOURCE);
	CQ(prm_set(in, PRM_CREATE_CQ_UMEM_ID, 1), RESOURCE);
	CQ(prm_set(in, PRM_CREATE_CQ_UMEM_ID, ro_umem_id), RESOURCE);
	CQ(prm_set(cqc, PRM_CQC_DBR_UMEM_ID, 1), RESOURCE);
	CQ(set64(cqc + PRM_CQC_DBR_ADDR_AT, MEM - 4), RESOURCE);
	CQ(set64(cqc + PRM_CQC_DBR_ADDR_AT, 12), PARAM);
	CQ(set64(in + PRM_CREATE_CQ_UMEM_OFFSET_AT, 32), PARAM);
	CQ(set64(in + PRM_CREATE_CQ_UMEM_OFFSET_AT, UINT64_MAX - 63), RESOURCE);
}

static uint8_t *
new_queue(uint16_t opcode)
{
	uint8_t *ctx = in + PRM_CTX_AT, *wq = ctx + PRM_QC_WQ_AT;

	command(opcode);
	prm_set(ctx, PRM_QC_CQN, cqn);
	prm_set(wq, PRM_WQ_TYPE, 1);
	prm_set(wq, PRM_WQ_PD, pdn);
	prm_set(wq, PRM_WQ_LOG_SIZE, 6);
	prm_set(wq, PRM_WQ_LOG_STRIDE, opcode == PRM_CMD_CREATE_SQ ? 6 : 4);
	prm_set(wq, PRM_WQ_UMEM_ID, umem_id);
	prm_set(wq, PRM_WQ_DBR_UMEM_ID, umem_id);
	set64(wq + PRM_WQ_DBR_ADDR_AT, MEM - 64);
	if (opcode == PRM_CMD_CREATE_SQ) {
		prm_set(ctx, PRM_SQC_TIS_LIST_SIZE, 1);
		prm_set(ctx, PRM_SQC_TIS, tis_num);
	} else {
		prm_set(ctx, PRM_RQC_VLAN_STRIP_DISABLE, 1);
	}
	return ctx;
}

/* What SQs and RQs have in common. */
static void
queues(struct abi *abi, uint16_t opcode)
{
	uint8_t *ctx, *wq;

#define QUEUE(op, change, want) do { \
	ctx = new_queue(op); \
	wq = ctx + PRM_QC_WQ_AT; \
	(void)wq; \
	change; \
	assert_int_equal(once(abi, PRM_CREATE_WQ_SIZE), want); \
} while (0)
	QUEUE(opcode, (void)0, OK);
	QUEUE(opcode, prm_set(ctx, PRM_QC_STATE, 1), PARAM);
	QUEUE(opcode, prm_set(ctx, PRM_QC_CQN, 1), RESOURCE);
	QUEUE(opcode, prm_set(wq, PRM_WQ_TYPE, 0), PARAM);
	QUEUE(opcode, prm_set(wq, PRM_WQ_TYPE, 3), PARAM); /* striding */
	QUEUE(opcode, prm_set(wq, PRM_WQ_SIGNATURE, 1), PARAM);
	QUEUE(opcode, prm_set(wq, PRM_WQ_PD, 1), RESOURCE);
	QUEUE(opcode, prm_set(wq, PRM_WQ_LOG_SIZE, 16), PARAM);
	QUEUE(opcode, prm_set(wq, PRM_WQ_LOG_SIZE, 15), RESOURCE); /* the umem is shorter */
	QUEUE(opcode, prm_set(wq, PRM_WQ_LOG_STRIDE, 3), PARAM);
	QUEUE(opcode, prm_set(wq, PRM_WQ_UMEM_ID, 1), RESOURCE);
	QUEUE(opcode, prm_set(wq, PRM_WQ_UMEM_ID, ro_umem_id), OK); /* the card only reads it */
	QUEUE(opcode, prm_set(wq, PRM_WQ_DBR_UMEM_ID, 1), RESOURCE);
	QUEUE(opcode, set64(wq + PRM_WQ_DBR_ADDR_AT, 4), PARAM);
	QUEUE(opcode, set64(wq + PRM_WQ_UMEM_OFFSET_AT, 16), PARAM);
}

static void
sqs(void **state)
{
	struct abi *abi = *state;
	uint8_t *ctx, *wq;

	queues(abi, PRM_CMD_CREATE_SQ);
	QUEUE(PRM_CMD_CREATE_SQ, prm_set(ctx, PRM_SQC_TIS, 1), RESOURCE);
	QUEUE(PRM_CMD_CREATE_SQ, prm_set(ctx, PRM_SQC_TIS_LIST_SIZE, 0), RESOURCE);
	QUEUE(PRM_CMD_CREATE_SQ, prm_set(ctx, PRM_SQC_HAIRPIN, 1), PARAM);
	QUEUE(PRM_CMD_CREATE_SQ, prm_set(ctx, PRM_SQC_NON_WIRE, 1), PARAM);
	QUEUE(PRM_CMD_CREATE_SQ, prm_set(wq, PRM_WQ_LOG_STRIDE, 4), PARAM);
}

static void
rqs(void **state)
{
	struct abi *abi = *state;
	uint8_t *ctx, *wq;

	queues(abi, PRM_CMD_CREATE_RQ);
	QUEUE(PRM_CMD_CREATE_RQ, prm_set(ctx, PRM_RQC_SCATTER_FCS, 1), PARAM);
	QUEUE(PRM_CMD_CREATE_RQ, prm_set(ctx, PRM_RQC_VLAN_STRIP_DISABLE, 0), PARAM);
	QUEUE(PRM_CMD_CREATE_RQ, prm_set(ctx, PRM_RQC_MEM_TYPE, 1), PARAM);
	QUEUE(PRM_CMD_CREATE_RQ, prm_set(ctx, PRM_RQC_HAIRPIN, 1), PARAM);
	QUEUE(PRM_CMD_CREATE_RQ, prm_set(ctx, PRM_RQC_DELAY_DROP_EN, 1), PARAM);
}

static uint32_t
rq(struct emu_file *file, uint32_t *num)
{
	uint32_t handle;

	new_queue(PRM_CMD_CREATE_RQ);
	assert_int_equal(create_at(file, PRM_CREATE_WQ_SIZE, &handle, num), OK);
	return handle;
}

static int
move(struct emu_file *file, uint32_t handle, uint32_t num, uint32_t from, uint32_t to)
{
	int err;

	command(PRM_CMD_MODIFY_RQ);
	prm_set(in, PRM_IN_OBJECT, num);
	prm_set(in, PRM_IN_QUEUE_STATE, from);
	prm_set(in + PRM_CTX_AT, PRM_QC_STATE, to);
	err = abi_devx_modify(file, handle, in, PRM_CREATE_WQ_SIZE, out, sizeof(out));
	assert_int_equal(err, prm_get(out, PRM_OUT_STATUS) == OK ? 0 : -EREMOTEIO);
	return prm_get(out, PRM_OUT_STATUS);
}

static void
queue_states(void **state)
{
	enum { RST = EMU_Q_RST, RDY = EMU_Q_RDY, ERR = EMU_Q_ERR };
	const int wrong = PRM_STATUS_BAD_RES_STATE;
	struct emu_file *f = ((struct abi *)*state)->file;
	uint32_t num, q = rq(f, &num);

	assert_int_equal(move(f, q, num, RDY, ERR), wrong); /* it is in RST */
	assert_int_equal(move(f, q, num, RST, 2), PARAM);
	assert_int_equal(move(f, q, num, RST, RDY), OK);
	assert_int_equal(move(f, q, num, RST, RDY), wrong);
	assert_int_equal(move(f, q, num, RDY, ERR), OK);
	assert_int_equal(move(f, q, num, ERR, RDY), wrong);
	assert_int_equal(move(f, q, num, ERR, RST), OK);
	assert_int_equal(move(f, q, num, RST, RDY), OK);
}

/* ---- tables and receivers ---- */

static size_t
table(uint16_t opcode, uint32_t num, const uint32_t *rqns, unsigned int n)
{
	uint8_t *ctx = in + PRM_CTX_AT;

	command(opcode);
	prm_set(in, PRM_IN_OBJECT, num);
	prm_set(ctx, PRM_RQTC_MAX_SIZE, n);
	prm_set(ctx, PRM_RQTC_ACTUAL_SIZE, n);
	for (unsigned int i = 0; i < n; i++)
		prm_set(ctx + PRM_RQTC_LIST_AT + i * 4, PRM_FIELD(8, 24), rqns[i]);
	return PRM_CTX_AT + PRM_RQTC_LIST_AT + n * 4;
}

/* A table holds the RQs that it lists now, not those of before. */
static void
tables(void **state)
{
	struct abi *abi = *state;
	struct emu_file *f = abi->file;
	uint32_t num[3], q[3], rqt, rqtn, bad[2];
	size_t len;

	for (int i = 0; i < 3; i++)
		q[i] = rq(f, &num[i]);
	bad[0] = num[0];
	bad[1] = 1;
	table(PRM_CMD_CREATE_RQT, 0, num, 0);
	assert_int_equal(once(abi, PRM_CTX_AT + PRM_RQTC_LIST_AT), PARAM);
	len = table(PRM_CMD_CREATE_RQT, 0, num, 2);
	assert_int_equal(once(abi, len - 4), LEN);
	len = table(PRM_CMD_CREATE_RQT, 0, bad, 2);
	assert_int_equal(once(abi, len), RESOURCE);
	len = table(PRM_CMD_CREATE_RQT, 0, num, 2);
	assert_int_equal(create_at(f, len, &rqt, &rqtn), OK);
	assert_int_equal(abi_devx_free(f, q[0]), -EINVAL);
	/* a list that is refused changes nothing */
	len = table(PRM_CMD_MODIFY_RQT, rqtn, bad, 2);
	assert_int_equal(abi_devx_modify(f, rqt, in, len, out, sizeof(out)), -EREMOTEIO);
	assert_int_equal(abi_devx_free(f, q[1]), -EINVAL);
	len = table(PRM_CMD_MODIFY_RQT, rqtn, &num[2], 1);
	assert_int_equal(abi_devx_modify(f, rqt, in, len, out, sizeof(out)), 0);
	assert_int_equal(abi_devx_free(f, q[0]), 0);
	assert_int_equal(abi_devx_free(f, q[1]), 0);
	assert_int_equal(abi_devx_free(f, q[2]), -EINVAL);
	assert_int_equal(abi_devx_free(f, rqt), 0);
	assert_int_equal(abi_devx_free(f, q[2]), 0);
}

static uint8_t *
tir(uint32_t disp, uint32_t target)
{
	uint8_t *ctx = in + PRM_CTX_AT;

	command(PRM_CMD_CREATE_TIR);
	prm_set(ctx, PRM_TIRC_DISP_TYPE, disp);
	prm_set(ctx, PRM_TIRC_TRANSPORT_DOMAIN, td_num);
	prm_set(ctx, disp == 0 ? PRM_TIRC_RQN : PRM_TIRC_RQT, target);
	prm_set(ctx, PRM_TIRC_HASH_FN, disp == 0 ? 0 : 2);
	return ctx;
}

static void
receivers(void **state)
{
	const size_t len = PRM_CTX_AT + 0xf0;
	struct abi *abi = *state;
	struct emu_file *f = abi->file;
	uint32_t num, q = rq(f, &num), rqt, rqtn, h, hn;
	uint8_t *ctx;

	assert_int_equal(create_at(f, table(PRM_CMD_CREATE_RQT, 0, &num, 1), &rqt, &rqtn), OK);
#define TIR(disp, target, change, want) do { \
	ctx = tir(disp, target); \
	(void)ctx; \
	change; \
	assert_int_equal(once(abi, len), want); \
} while (0)
	TIR(0, num, (void)0, OK);
	TIR(1, rqtn, (void)0, OK);
	TIR(0, 1, (void)0, RESOURCE);
	TIR(1, num, (void)0, RESOURCE);
	TIR(2, num, (void)0, PARAM);
	TIR(1, rqtn, prm_set(ctx, PRM_TIRC_HASH_FN, 1), PARAM);
	TIR(0, num, prm_set(ctx, PRM_TIRC_LRO_MASK, 1), PARAM);
	TIR(0, num, prm_set(ctx, PRM_TIRC_TRANSPORT_DOMAIN, 0xabcd), RESOURCE);
	TIR(0, num, prm_set(ctx, PRM_TIRC_TRANSPORT_DOMAIN, 0), OK);
	tir(0, num);
	assert_int_equal(create_at(f, len, &h, &hn), OK);
	assert_int_equal(abi_devx_free(f, q), -EINVAL);
	assert_int_equal(abi_devx_free(f, tis), 0);
	assert_int_equal(abi_devx_free(f, td), -EINVAL);
	assert_int_equal(abi_devx_free(f, h), 0);
	assert_int_equal(abi_devx_free(f, td), 0);
}

/* The table is older than the RQ that it was changed to: closing must not care. */
static void
close_in_any_order(void **state)
{
	struct abi *abi = *state;
	struct emu_file *f = abi->file;
	uint32_t old, new, rqt, rqtn, h;

	rq(f, &old);
	assert_int_equal(create_at(f, table(PRM_CMD_CREATE_RQT, 0, &old, 1), &rqt, &rqtn), OK);
	rq(f, &new);
	assert_int_equal(abi_devx_modify(f, rqt, in, table(PRM_CMD_MODIFY_RQT, rqtn, &new, 1), out,
					 sizeof(out)), 0);
	tir(1, rqtn);
	assert_int_equal(create_at(f, PRM_CTX_AT + 0xf0, &h, &old), OK);
	abi->file = NULL;
	abi_close(f);
	assert_int_equal(emu_objects_alive(NULL), 0);
}

static int
setup(void **state)
{
	uint32_t ro;
	struct abi_call c;
	struct abi *abi;

	abi_setup(state);
	abi = *state;
	mem = abi_pages(abi, MEM);
	pd = abi_pd(abi->file, &pdn);
	umem = abi_umem(abi->file, mem, MEM, &umem_id);
	abi_begin(&c, MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG);
	abi_obj(&c, ABI_NEW, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, 0, 0);
	abi_val(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, (uintptr_t)mem, 8, 0);
	abi_val(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, MEM, 8, 0);
	abi_out(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, &ro, 4, 0);
	assert_int_equal(abi_run(&c, abi->file), 0);
	ro_umem_id = ro;
	td = abi_devx_simple(abi->file, PRM_CMD_ALLOC_TRANSPORT_DOMAIN, 16, &td_num);
	command(PRM_CMD_CREATE_TIS);
	prm_set(in + PRM_CTX_AT, PRM_TISC_TRANSPORT_DOMAIN, td_num);
	assert_int_equal(create_at(abi->file, PRM_CTX_AT + 0xa0, &tis, &tis_num), OK);
	new_cq();
	assert_int_equal(create_at(abi->file, PRM_CREATE_CQ_SIZE, &cq, &cqn), OK);
	return 0;
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, abi_teardown)
	const struct CMUnitTest tests[] = {
		TEST(keys), TEST(key_references), TEST(cqs), TEST(sqs), TEST(rqs),
		TEST(queue_states), TEST(tables), TEST(receivers), TEST(close_in_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
