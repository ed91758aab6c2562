/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <linux/capability.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "emu.h"
#include "eswitch.h"
#include "match.h"
#include "prm.h"
#include "uapi.h"
#include "verbs.h"

/* Flow rules by mlx5 matchers, which are a mask in firmware's own layout. */

/* Bits of match_criteria_enable; PRM "Flow Table Entry match parameters" has the parts. */
enum { CRITERIA_OUTER = 1 << 0, CRITERIA_MISC2 = 1 << 3 };

/* fte_match_param.misc_parameters_2.metadata_reg_c_0: the port, in switchdev mode */
#define REG_C0_AT 236

struct matcher {
	struct emu_obj obj;
	uint8_t mask[EMU_MATCH_BYTES];
	uint32_t reg_c0_mask;
	enum emu_flow_kind kind;
	uint16_t priority;
	uint64_t table;         /* enum mlx5_ib_uapi_flow_table_type */
};

static const struct emu_class matcher_class = {
	.type = MLX5_IB_OBJECT_FLOW_MATCHER, .name = "flow matcher",
};

/* What a frame can be compared in; everything else of a mask must be zero. */
static int
check_mask(const struct emu_dev *dev, const uint8_t *mask, size_t len, uint8_t criteria)
{
	/* without an e-switch nobody writes the register */
	uint8_t known = CRITERIA_OUTER | (emu_eswitch_on(dev) ? CRITERIA_MISC2 : 0);

	if (criteria & ~known)
		goto refuse;
	for (size_t i = 0; i < len; i++) {
		bool reg_c0 = i >= REG_C0_AT && i < REG_C0_AT + 4 && (criteria & CRITERIA_MISC2);

		if (mask[i] != 0 && !emu_match_fills(i) && !reg_c0)
			goto refuse;
	}
	return 0;
refuse:
	emu_trace("  matcher criteria 0x%x: fields that are not emulated", criteria);
	return -EOPNOTSUPP;
}

static int
matcher_kind(struct emu_call *call, struct matcher *m)
{
	static const enum emu_flow_kind kinds[] = {
		[MLX5_IB_FLOW_TYPE_NORMAL] = EMU_FLOW_NORMAL,
		[MLX5_IB_FLOW_TYPE_ALL_DEFAULT] = EMU_FLOW_ALL_DEFAULT,
		[MLX5_IB_FLOW_TYPE_MC_DEFAULT] = EMU_FLOW_MC_DEFAULT,
	};
	/* an enumeration: the type is in the attribute's head, its data is a priority */
	unsigned int type = emu_enum_id(call, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE);

	if (type == MLX5_IB_FLOW_TYPE_SNIFFER) {
		emu_trace("  sniffers are not emulated");
		return -EOPNOTSUPP;
	}
	m->kind = kinds[type];
	m->priority = emu_in_u64(call, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, 0);
	return 0;
}

/* mlx5_ib_matcher_ns(), mlx5_ib_ft_type_to_namespace() */
static int
matcher_table(struct emu_call *call, struct matcher *m)
{
	uint64_t flags;
	int err = emu_in_flags(call, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS,
			       IBV_FLOW_ATTR_FLAGS_EGRESS, &flags);

	if (err != 0)
		return err;
	m->table = flags != 0 ? MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX :
		   MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX;
	if (!emu_has(call, MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE))
		return 0;
	if (emu_has(call, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS))
		return -EINVAL;
	m->table = emu_in_u64(call, MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, 0);
	if (m->table > MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TX)
		return -EINVAL;
	return m->table > MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX ? -EOPNOTSUPP : 0;
}

static int
matcher_create(struct emu_call *call)
{
	size_t len = emu_len(call, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK);
	uint8_t mask[sizeof(struct mlx5_ib_match_params)], criteria = 0;
	struct matcher *m;
	int err;

	err = emu_in(call, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, mask, sizeof(mask));
	if (err != 0)
		return err;
	emu_in(call, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA, &criteria, 1);
	err = check_mask(call->dev, mask, len < sizeof(mask) ? len : sizeof(mask), criteria);
	if (err != 0)
		return err;
	m = emu_obj_new(call->file, &matcher_class, sizeof(*m));
	if (m == NULL)
		return -ENOMEM;
	memcpy(m->mask, mask, sizeof(m->mask));
	m->reg_c0_mask = prm_get(mask, PRM_FTE_METADATA_REG_C_0);
	err = matcher_kind(call, m);
	if (err == 0)
		err = matcher_table(call, m);
	if (err != 0) {
		emu_obj_discard(&m->obj);
		return err;
	}
	return emu_out_obj(call, MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE, &m->obj);
}

/* get_dests(), mlx5_ib_devx_is_flow_counter(); a counter is no part of a bulk */
static int
flow_counter(struct emu_call *call, struct emu_verbs_flow *flow)
{
	const uint16_t offset_id = MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET;
	struct emu_devx_obj *devx = emu_obj(call, MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX);
	uint32_t offset = 0;

	if (devx == NULL)
		return 0;
	if (emu_has(call, offset_id)) {
		if (emu_len(call, offset_id) != sizeof(offset))
			return -EINVAL;
		emu_in(call, offset_id, &offset, sizeof(offset));
	}
	if (offset != 0 || devx->opcode != PRM_CMD_ALLOC_FLOW_COUNTER)
		return -EINVAL;
	flow->flow.counter = &devx->counter;
	emu_obj_use(&flow->obj, &devx->obj);
	return 0;
}

/* get_dests() in hw/mlx5/fs.c; without a destination a frame on the way out just leaves */
static int
flow_dest(struct emu_call *call, struct emu_verbs_flow *flow, const struct matcher *m)
{
	bool egress = m->table == MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX;
	struct emu_devx_obj *devx = emu_obj(call, MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX);
	struct emu_verbs_qp *qp = emu_obj(call, MLX5_IB_ATTR_CREATE_FLOW_DEST_QP);
	uint64_t flags;
	int err = emu_in_flags(call, MLX5_IB_ATTR_CREATE_FLOW_FLAGS,
			       MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP |
			       MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DEFAULT_MISS, &flags);

	if (err != 0)
		return err;
	flow->flow.drop = flags & MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP;
	if ((devx != NULL) + (qp != NULL) + (flags != 0) > 1 || flags & (flags - 1))
		return -EINVAL;
	if (flags & MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DEFAULT_MISS) {
		emu_trace("  a default miss action is not emulated");
		return -EOPNOTSUPP;
	}
	if (egress ? devx != NULL || qp != NULL : devx == NULL && qp == NULL && flags == 0)
		return -EINVAL;
	if (devx != NULL && devx->opcode != PRM_CMD_CREATE_TIR)
		return -EINVAL;
	if (qp != NULL && qp->tir.rqs == NULL)
		return -EINVAL;
	flow->flow.tir = devx != NULL ? &devx->tir : qp != NULL ? &qp->tir : NULL;
	emu_obj_use(&flow->obj, devx != NULL ? &devx->obj : qp != NULL ? &qp->obj : NULL);
	return 0;
}

static int
flow_create(struct emu_call *call)
{
	struct matcher *m = emu_obj(call, MLX5_IB_ATTR_CREATE_FLOW_MATCHER);
	uint8_t value[sizeof(struct mlx5_ib_match_params)] = { 0 };
	struct emu_verbs_flow *flow;
	int err;

	if (!emu_capable(CAP_NET_RAW))
		return -EPERM;
	if (emu_has(call, MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS)) {
		emu_trace("  flow actions are not emulated");
		return -EOPNOTSUPP;
	}
	flow = emu_obj_new(call->file, &emu_flow_class, sizeof(*flow));
	if (flow == NULL)
		return -ENOMEM;
	flow->flow.dev = call->dev;
	flow->flow.kind = m->kind;
	flow->flow.priority = m->priority;
	memcpy(flow->flow.mask, m->mask, sizeof(m->mask));
	flow->flow.source.reg_c0_mask = m->reg_c0_mask;
	flow->flow.tag = emu_in_u64(call, MLX5_IB_ATTR_CREATE_FLOW_TAG, 0);
	err = emu_in(call, MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, value, sizeof(value));
	memcpy(flow->flow.value, value, sizeof(flow->flow.value));
	flow->flow.source.reg_c0 = prm_get(value, PRM_FTE_METADATA_REG_C_0);
	if (err == 0)
		err = flow->flow.tag > 0xffffff ? -EINVAL : flow_dest(call, flow, m);
	if (err == 0)
		err = flow_counter(call, flow);
	if (err == 0 && m->priority >= EMU_FLOW_PRIORITIES)
		err = -ENOMEM; /* raw_fs_rule_add() */
	if (err != 0) {
		emu_obj_discard(&flow->obj);
		return err;
	}
	emu_obj_use(&flow->obj, &m->obj);
	flow->flow.egress = m->table == MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX;
	flow->active = true;
	emu_flow_add(&flow->flow);
	return emu_out_obj(call, MLX5_IB_ATTR_CREATE_FLOW_HANDLE, &flow->obj);
}

/* mlx5_ib_flow_type: a normal flow comes with its priority */
static const uint16_t flow_type_sizes[] = {
	[MLX5_IB_FLOW_TYPE_NORMAL] = 2,
	[MLX5_IB_FLOW_TYPE_SNIFFER] = 0,
	[MLX5_IB_FLOW_TYPE_ALL_DEFAULT] = 0,
	[MLX5_IB_FLOW_TYPE_MC_DEFAULT] = 0,
};

static const struct emu_method methods[] = {
	EMU_METHOD(UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_CREATE_FLOW, "mlx5 CREATE_FLOW",
		flow_create,
		EMU_SPECS(
			EMU_OBJ(MLX5_IB_ATTR_CREATE_FLOW_HANDLE, UVERBS_OBJECT_FLOW, EMU_OBJ_NEW),
			EMU_IN_RANGE(MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, 1,
				     sizeof(struct mlx5_ib_match_params)),
			EMU_OBJ(MLX5_IB_ATTR_CREATE_FLOW_MATCHER, MLX5_IB_OBJECT_FLOW_MATCHER,
				EMU_OBJ_READ),
			EMU_OPT_OBJ(MLX5_IB_ATTR_CREATE_FLOW_DEST_QP, UVERBS_OBJECT_QP,
				    EMU_OBJ_READ),
			EMU_OPT_OBJ(MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX, MLX5_IB_OBJECT_DEVX_OBJ,
				    EMU_OBJ_READ),
			EMU_OBJS(MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS,
				 UVERBS_OBJECT_FLOW_ACTION, 1, 2),
			EMU_OPT_IN(MLX5_IB_ATTR_CREATE_FLOW_TAG, 4),
			EMU_OBJS(MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX,
				 MLX5_IB_OBJECT_DEVX_OBJ, 1, 1),
			EMU_OPT_IN_RANGE(MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET, 4,
					 UINT16_MAX),
			EMU_FLAGS(MLX5_IB_ATTR_CREATE_FLOW_FLAGS))),
	EMU_METHOD(UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_DESTROY_FLOW, "mlx5 DESTROY_FLOW", NULL,
		EMU_SPECS(EMU_OBJ(MLX5_IB_ATTR_DESTROY_FLOW_HANDLE, UVERBS_OBJECT_FLOW,
				  EMU_OBJ_DESTROY))),
	EMU_METHOD(MLX5_IB_OBJECT_FLOW_MATCHER, MLX5_IB_METHOD_FLOW_MATCHER_CREATE,
		"FLOW_MATCHER_CREATE", matcher_create,
		EMU_SPECS(
			EMU_OBJ(MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE,
				MLX5_IB_OBJECT_FLOW_MATCHER, EMU_OBJ_NEW),
			EMU_IN_RANGE(MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, 1,
				     sizeof(struct mlx5_ib_match_params)),
			EMU_ENUM(MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, EMU_COUNT(flow_type_sizes),
				 flow_type_sizes),
			EMU_IN(MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA, 1),
			EMU_FLAGS(MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS),
			EMU_OPT_CONST(MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE))),
	EMU_METHOD(MLX5_IB_OBJECT_FLOW_MATCHER, MLX5_IB_METHOD_FLOW_MATCHER_DESTROY,
		"FLOW_MATCHER_DESTROY", NULL,
		EMU_SPECS(EMU_OBJ(MLX5_IB_ATTR_FLOW_MATCHER_DESTROY_HANDLE,
				  MLX5_IB_OBJECT_FLOW_MATCHER, EMU_OBJ_DESTROY))),
};

EMU_METHOD_TABLE(emu_matcher_table, methods);
