/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <string.h>

#include "emu.h"
#include "uapi.h"
#include "verbs.h"
#include "vma.h"

#define MAX_CQE ((1u << 22) - 1)
#define KNOWN_FLAGS (MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD | \
	MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX | MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS)

static int
cq_destroy(struct emu_obj *obj, bool forced)
{
	(void)forced;
	LIST_REMOVE(&((struct emu_verbs_cq *)obj)->cq, next);
	return 0;
}

const struct emu_class emu_cq_class = {
	.type = UVERBS_OBJECT_CQ, .name = "CQ", .destroy = cq_destroy,
};

struct emu_cq *
emu_cq_find(struct emu_dev *dev, uint32_t num)
{
	struct emu_cq *cq;

	LIST_FOREACH(cq, &dev->cqs, next)
		if (cq->num == num)
			return cq;
	return NULL;
}

void
emu_cq_disarm(struct emu_cq *cq)
{
	const uint32_t word = EMU_CQ_NOT_ARMED;

	emu_copy_to_user((uintptr_t)&cq->dbrec[1], &word, sizeof(word));
}

/* mini_cqe_res_format_to_hw() in hw/mlx5/cq.c; what it allows is never used, see cmd_device.c */
static int
check_compression(const struct mlx5_ib_create_cq *req)
{
	if (req->cqe_comp_en != 1)
		return 0;
	if (req->cqe_comp_res_format == MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX)
		return -EOPNOTSUPP;
	return req->cqe_comp_res_format == MLX5_IB_CQE_RES_FORMAT_HASH ||
	       req->cqe_comp_res_format == MLX5_IB_CQE_RES_FORMAT_CSUM ? 0 : -EINVAL;
}

/* create_cq_user() in hw/mlx5/cq.c */
static int
check_create(const struct mlx5_ib_create_cq *req, uint64_t cqe, uint64_t vector,
	     uint32_t *entries)
{
	int err;

	if (cqe == 0 || cqe > MAX_CQE || vector >= EMU_COMP_VECTORS)
		return -EINVAL; /* assumption for 0: the library never lets it come here */
	if (req->flags & ~KNOWN_FLAGS)
		return -EINVAL;
	if (req->cqe_size != 64 && req->cqe_size != 128)
		return -EINVAL;
	if (req->reserved0 != 0 || req->reserved1 != 0)
		return -EINVAL;
	for (*entries = 1; *entries < cqe + 1; *entries <<= 1)
		;
	err = emu_pin_check(req->buf_addr, (uint64_t)*entries * req->cqe_size, true);
	if (err == 0)
		err = emu_pin_check(req->db_addr, EMU_DBREC_SIZE, false);
	if (err != 0)
		return err;
	if (!emu_queue_is_aligned(req->buf_addr, req->db_addr))
		return -EINVAL;
	if (!(req->flags & MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX))
		return -EINVAL; /* contexts with UARs of their own have no other */
	/* no capability for the former */
	if ((req->flags & MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS) ||
	    ((req->flags & MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD) && req->cqe_size != 128))
		return -EOPNOTSUPP;
	return check_compression(req);
}

static void
attach_channel(struct emu_call *call, struct emu_verbs_cq *cq)
{
	struct emu_channel *channel = emu_obj(call, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL);

	if (channel != NULL)
		emu_channel_watch(channel, &cq->cq,
				  emu_in_u64(call, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 0));
}

/* UVERBS_METHOD_CQ_CREATE's own checks; every CQE carries a timestamp, asked for or not */
static int
read_create(struct emu_call *call, struct mlx5_ib_create_cq *req, uint64_t *flags)
{
	int err = emu_in_flags(call, UVERBS_ATTR_CREATE_CQ_FLAGS,
			       IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION |
			       IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN, flags);

	if (err != 0)
		return err;
	if (emu_len(call, UVERBS_ATTR_UHW_IN) < offsetof(struct mlx5_ib_create_cq, flags))
		return -EINVAL;
	return emu_in(call, UVERBS_ATTR_UHW_IN, req, sizeof(*req));
}

static int
cq_create(struct emu_call *call)
{
	uint64_t cqe = emu_in_u64(call, UVERBS_ATTR_CREATE_CQ_CQE, 0), flags;
	struct mlx5_ib_create_cq_resp resp = { 0 };
	struct mlx5_ib_create_cq req;
	struct emu_verbs_cq *cq;
	uint32_t entries, got;
	int err = read_create(call, &req, &flags);

	if (err != 0)
		return err;
	err = check_create(&req, cqe, emu_in_u64(call, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0),
			   &entries);
	if (err != 0)
		return err;
	cq = emu_obj_new(call->file, &emu_cq_class, sizeof(*cq));
	if (cq == NULL)
		return -ENOMEM;
	cq->cq = (struct emu_cq){
		.dev = call->dev,
		.num = emu_next_num(call->dev),
		.entries = entries,
		.entry_size = req.cqe_size,
		.padded = req.flags & MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD,
		.ignore_overrun = flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN,
	};
	attach_channel(call, cq);
	got = entries - 1;
	resp.cqn = cq->cq.num;
	err = emu_pin_memory(&cq->obj, req.buf_addr, (uint64_t)entries * req.cqe_size,
			     &cq->cq.buf, &cq->cq.torn);
	if (err == 0)
		err = emu_pin_doorbell(&cq->obj, req.db_addr, &cq->cq.dbrec);
	if (err == 0)
		err = emu_out(call, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &got, sizeof(got));
	if (err == 0)
		err = emu_out(call, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	if (err != 0) {
		emu_obj_discard(&cq->obj);
		return err;
	}
	emu_cq_disarm(&cq->cq);
	LIST_INSERT_HEAD(&call->dev->cqs, &cq->cq, next);
	return emu_out_obj(call, UVERBS_ATTR_CREATE_CQ_HANDLE, &cq->obj);
}

/*
 * The library waits until it has acknowledged as many events as we say were
 * reported, so those sent and not yet read are taken back first, as in
 * ib_uverbs_release_ucq(). Destroying is thus done here, not by the codec.
 */
static int
cq_destroy_method(struct emu_call *call)
{
	struct emu_verbs_cq *cq = emu_obj(call, UVERBS_ATTR_DESTROY_CQ_HANDLE);
	struct ib_uverbs_destroy_cq_resp resp = { 0 };
	int err;

	if (cq->obj.users > 0)
		return -EBUSY;
	if (cq->cq.event != NULL)
		cq->cq.events -= emu_channel_recall(cq->cq.event_arg, cq->cq.event_tag);
	resp.comp_events_reported = cq->cq.events;
	err = emu_obj_destroy(&cq->obj, false);
	return err != 0 ? err : emu_out(call, UVERBS_ATTR_DESTROY_CQ_RESP, &resp, sizeof(resp));
}

static const struct emu_method methods[] = {
	EMU_METHOD(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, "CQ_CREATE", cq_create,
		EMU_SPECS(
			EMU_OBJ(UVERBS_ATTR_CREATE_CQ_HANDLE, UVERBS_OBJECT_CQ, EMU_OBJ_NEW),
			EMU_IN(UVERBS_ATTR_CREATE_CQ_CQE, 4),
			EMU_IN(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8),
			EMU_OPT_FD(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL,
				   UVERBS_OBJECT_COMP_CHANNEL, EMU_OBJ_READ),
			EMU_IN(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4),
			EMU_FLAGS(UVERBS_ATTR_CREATE_CQ_FLAGS),
			EMU_OUT(UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4),
			EMU_OPT_FD(UVERBS_ATTR_CREATE_CQ_EVENT_FD, UVERBS_OBJECT_ASYNC_EVENT,
				   EMU_OBJ_READ),
			EMU_UHW)),
	EMU_METHOD(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, "CQ_DESTROY", cq_destroy_method,
		EMU_SPECS(
			EMU_OBJ(UVERBS_ATTR_DESTROY_CQ_HANDLE, UVERBS_OBJECT_CQ, EMU_OBJ_READ),
			EMU_OUT(UVERBS_ATTR_DESTROY_CQ_RESP,
				sizeof(struct ib_uverbs_destroy_cq_resp)))),
};

EMU_METHOD_TABLE(emu_cq_table, methods);
