/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "devx.h"
#include "emu.h"
#include "prm.h"

/* Counters of flows, made one by one: a bulk of them is no capability. */

static int
alloc_flow_counter(struct emu_devx_call *call, struct emu_devx_obj *obj)
{
	if (prm_get(call->in, PRM_ALLOC_FLOW_COUNTER_BULK) != 0)
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "counters come one by one");
	obj->num = emu_next_num(call->dev);
	prm_set(call->out, PRM_OUT_OBJECT, obj->num);
	return PRM_STATUS_OK;
}

static int
query_flow_counter(struct emu_devx_call *call, struct emu_obj *obj)
{
	struct emu_flow_counter *counter = &((struct emu_devx_obj *)obj)->counter;

	if (prm_get(call->in, PRM_QUERY_FLOW_COUNTER_TO_MEMORY) ||
	    prm_get(call->in, PRM_QUERY_FLOW_COUNTER_COUNT) > 1)
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM,
				       "counters are read one by one, into the answer");
	prm_set64(call->out, PRM_QUERY_FLOW_COUNTER_PACKETS_AT, counter->packets);
	prm_set64(call->out, PRM_QUERY_FLOW_COUNTER_OCTETS_AT, counter->bytes);
	if (prm_get(call->in, PRM_QUERY_FLOW_COUNTER_CLEAR))
		*counter = (struct emu_flow_counter){ 0 };
	return PRM_STATUS_OK;
}

static const struct emu_devx_cmd cmds[] = {
	{ .opcode = PRM_CMD_ALLOC_FLOW_COUNTER, .name = "ALLOC_FLOW_COUNTER", .in_min = 16,
	  .out_min = 16, .create = alloc_flow_counter },
	{ .opcode = PRM_CMD_QUERY_FLOW_COUNTER, .name = "QUERY_FLOW_COUNTER", .in_min = 32,
	  .out_min = 32, .on_object = query_flow_counter, .target = PRM_CMD_ALLOC_FLOW_COUNTER,
	  .id = PRM_QUERY_FLOW_COUNTER_ID },
};

EMU_DEVX_TABLE(emu_devx_counters, cmds);
