/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "emu.h"
#include "eswitch.h"
#include "match.h"
#include "prm.h"
#include "uapi.h"
#include "verbs.h"

/* Flow rules by verbs specs, which become a mask and a value. */

#define MAX_SPECS 10            /* MLX5 limit: IB_FLOW_SPEC_SUPPORT_LAYERS */

static int
flow_destroy(struct emu_obj *obj, bool forced)
{
	struct emu_verbs_flow *flow = (struct emu_verbs_flow *)obj;

	(void)forced;
	if (flow->active)
		emu_flow_remove(&flow->flow);
	return 0;
}

const struct emu_class emu_flow_class = {
	.type = UVERBS_OBJECT_FLOW, .name = "flow", .destroy = flow_destroy,
};

/* ---- verbs specs ---- */

static void
put(struct emu_flow *flow, unsigned int byte, const void *value, const void *mask, size_t len)
{
	memcpy(flow->value + byte, value, len);
	memcpy(flow->mask + byte, mask, len);
}

static void
put_bits(struct emu_flow *flow, unsigned int field, uint32_t value, uint32_t mask)
{
	prm_set(flow->value, field, value);
	prm_set(flow->mask, field, mask);
}

static int
spec_eth(struct emu_flow *flow, const void *spec)
{
	const struct ib_uverbs_flow_spec_eth *s = spec;

	put(flow, EMU_MATCH_DMAC, s->val.dst_mac, s->mask.dst_mac, 6);
	put(flow, EMU_MATCH_SMAC, s->val.src_mac, s->mask.src_mac, 6);
	put(flow, EMU_MATCH_ETHERTYPE, &s->val.ether_type, &s->mask.ether_type, 2);
	if (s->mask.vlan_tag != 0) {
		put(flow, EMU_MATCH_VLAN, &s->val.vlan_tag, &s->mask.vlan_tag, 2);
		put_bits(flow, PRM_FTE_CVLAN_TAG, 1, 1);
	}
	return 0;
}

static int
spec_ipv4(struct emu_flow *flow, const void *spec)
{
	const struct ib_uverbs_flow_spec_ipv4 *s = spec;

	if (s->mask.ttl != 0 || s->mask.flags != 0)
		return -EOPNOTSUPP;
	put_bits(flow, PRM_FTE_IP_VERSION, 4, 0xf);
	put(flow, EMU_MATCH_SRC_IP + 12, &s->val.src_ip, &s->mask.src_ip, 4);
	put(flow, EMU_MATCH_DST_IP + 12, &s->val.dst_ip, &s->mask.dst_ip, 4);
	put(flow, EMU_MATCH_PROTO, &s->val.proto, &s->mask.proto, 1);
	put(flow, EMU_MATCH_TOS, &s->val.tos, &s->mask.tos, 1);
	return 0;
}

static int
spec_ipv6(struct emu_flow *flow, const void *spec)
{
	const struct ib_uverbs_flow_spec_ipv6 *s = spec;

	if (s->mask.flow_label != 0 || s->mask.hop_limit != 0)
		return -EOPNOTSUPP;
	put_bits(flow, PRM_FTE_IP_VERSION, 6, 0xf);
	put(flow, EMU_MATCH_SRC_IP, s->val.src_ip, s->mask.src_ip, 16);
	put(flow, EMU_MATCH_DST_IP, s->val.dst_ip, s->mask.dst_ip, 16);
	put(flow, EMU_MATCH_PROTO, &s->val.next_hdr, &s->mask.next_hdr, 1);
	put(flow, EMU_MATCH_TOS, &s->val.traffic_class, &s->mask.traffic_class, 1);
	return 0;
}

static int
spec_l4(struct emu_flow *flow, const void *spec, bool tcp)
{
	const struct ib_uverbs_flow_spec_tcp_udp *s = spec;
	unsigned int at = tcp ? EMU_MATCH_TCP : EMU_MATCH_UDP;
	uint8_t proto = tcp ? 6 : 17, all = 0xff;

	put(flow, EMU_MATCH_PROTO, &proto, &all, 1);
	put(flow, at, &s->val.src_port, &s->mask.src_port, 2);
	put(flow, at + 2, &s->val.dst_port, &s->mask.dst_port, 2);
	return 0;
}

static size_t
spec_size(uint32_t type)
{
	switch (type) {
	case IBV_FLOW_SPEC_ETH: return sizeof(struct ib_uverbs_flow_spec_eth);
	case IBV_FLOW_SPEC_IPV4:
	case IBV_FLOW_SPEC_IPV4_EXT: return sizeof(struct ib_uverbs_flow_spec_ipv4);
	case IBV_FLOW_SPEC_IPV6: return sizeof(struct ib_uverbs_flow_spec_ipv6);
	case IBV_FLOW_SPEC_TCP:
	case IBV_FLOW_SPEC_UDP: return sizeof(struct ib_uverbs_flow_spec_tcp_udp);
	case IBV_FLOW_SPEC_ACTION_TAG: return sizeof(struct ib_uverbs_flow_spec_action_tag);
	case IBV_FLOW_SPEC_ACTION_DROP: return sizeof(struct ib_uverbs_flow_spec_action_drop);
	default: return 0;
	}
}

static int
parse_spec(struct emu_flow *flow, const struct ib_uverbs_flow_spec_hdr *hdr)
{
	if (spec_size(hdr->type) == 0) {
		emu_trace("  flow spec 0x%x is not emulated", hdr->type);
		return -EOPNOTSUPP;
	}
	if (hdr->size != spec_size(hdr->type))
		return -EINVAL;
	switch (hdr->type) {
	case IBV_FLOW_SPEC_ETH:
		return spec_eth(flow, hdr);
	case IBV_FLOW_SPEC_IPV4:
	case IBV_FLOW_SPEC_IPV4_EXT:
		return spec_ipv4(flow, hdr);
	case IBV_FLOW_SPEC_IPV6:
		return spec_ipv6(flow, hdr);
	case IBV_FLOW_SPEC_TCP:
	case IBV_FLOW_SPEC_UDP:
		return spec_l4(flow, hdr, hdr->type == IBV_FLOW_SPEC_TCP);
	case IBV_FLOW_SPEC_ACTION_TAG:
		flow->tag = ((const struct ib_uverbs_flow_spec_action_tag *)hdr)->tag_id;
		return flow->tag > 0xffffff ? -EINVAL : 0;
	default: /* drop */
		flow->drop = true;
		return 0;
	}
}

static int
parse_specs(struct emu_flow *flow, const struct ib_uverbs_flow_attr *attr)
{
	const uint8_t *p = (const uint8_t *)attr->flow_specs;
	const struct ib_uverbs_flow_spec_hdr *hdr;
	size_t left = attr->size;
	int err;

	for (unsigned int i = 0; i < attr->num_of_specs; i++) {
		hdr = (const struct ib_uverbs_flow_spec_hdr *)p;
		if (left < sizeof(*hdr) || hdr->size < sizeof(*hdr) || hdr->size > left)
			return -EINVAL;
		err = parse_spec(flow, hdr);
		if (err != 0)
			return err;
		p += hdr->size;
		left -= hdr->size;
	}
	return left == 0 ? 0 : -EINVAL;
}

/* ib_uverbs_ex_create_flow(), then mlx5_ib_create_flow() in hw/mlx5/fs.c */
static int
check_flow_attr(const struct emu_dev *dev, const struct ib_uverbs_create_flow *req, size_t in_len)
{
	const struct ib_uverbs_flow_attr *attr = &req->flow_attr;

	if (req->comp_mask)
		return -EINVAL;
	if (!emu_capable(CAP_NET_RAW))
		return -EPERM;
	if (attr->num_of_specs > MAX_SPECS || attr->size > in_len - sizeof(*req))
		return -EINVAL;
	if (attr->flags & ~(IBV_FLOW_ATTR_FLAGS_DONT_TRAP | IBV_FLOW_ATTR_FLAGS_EGRESS))
		return -EINVAL;
	if ((attr->flags & IBV_FLOW_ATTR_FLAGS_DONT_TRAP) &&
	    (attr->type == IBV_FLOW_ATTR_ALL_DEFAULT || attr->type == IBV_FLOW_ATTR_MC_DEFAULT))
		return -EINVAL;
	if (attr->priority >= EMU_FLOW_PRIORITIES)
		return -ENOMEM;
	/* mlx5_ib_create_flow(); 0 would be no port's representor in _create_flow_rule() */
	if (attr->port > emu_port_count(dev) || (attr->port == 0 && emu_eswitch_on(dev)))
		return -EINVAL;
	if (attr->flags != 0 || attr->type > IBV_FLOW_ATTR_MC_DEFAULT) {
		emu_trace("  flow type %u flags 0x%x are not emulated", attr->type, attr->flags);
		return attr->type > IBV_FLOW_ATTR_SNIFFER ? -EINVAL : -EOPNOTSUPP;
	}
	return 0;
}

/* struct mlx5_ib_create_flow: counters to read, which are not emulated */
static int
check_flow_udata(struct emu_call *call)
{
	struct mlx5_ib_create_flow req;
	int err;

	if (emu_len(call, UVERBS_ATTR_UHW_IN) == 0)
		return 0;
	if (emu_len(call, UVERBS_ATTR_UHW_IN) < sizeof(req))
		return -EOPNOTSUPP;
	err = emu_in(call, UVERBS_ATTR_UHW_IN, &req, sizeof(req));
	return err != 0 ? err : req.ncounters_data != 0 || req.reserved != 0 ? -EOPNOTSUPP : 0;
}

static int
write_create_flow(struct emu_call *call, const void *in, size_t in_len)
{
	static const enum emu_flow_kind kinds[] = {
		[IBV_FLOW_ATTR_NORMAL] = EMU_FLOW_NORMAL,
		[IBV_FLOW_ATTR_ALL_DEFAULT] = EMU_FLOW_ALL_DEFAULT,
		[IBV_FLOW_ATTR_MC_DEFAULT] = EMU_FLOW_MC_DEFAULT,
	};
	const struct ib_uverbs_create_flow *req = in;
	struct ib_uverbs_create_flow_resp resp = { 0 };
	struct emu_verbs_qp *qp;
	struct emu_verbs_flow *flow;
	int err = check_flow_attr(call->dev, req, in_len);

	if (err == 0)
		err = check_flow_udata(call);
	if (err != 0)
		return err;
	qp = (struct emu_verbs_qp *)emu_obj_find(call->file, req->qp_handle, UVERBS_OBJECT_QP,
						 &err);
	if (qp == NULL || qp->tir.rqs == NULL)
		return -EINVAL;
	flow = emu_obj_new(call->file, &emu_flow_class, sizeof(*flow));
	if (flow == NULL)
		return -ENOMEM;
	flow->flow.dev = call->dev;
	flow->flow.kind = kinds[req->flow_attr.type];
	flow->flow.priority = req->flow_attr.priority;
	if (emu_eswitch_on(call->dev))
		emu_source_set(&flow->flow.source,
			       emu_port_find(call->dev, req->flow_attr.port));
	err = parse_specs(&flow->flow, &req->flow_attr);
	if (err == 0)
		err = emu_obj_commit(&flow->obj);
	if (err != 0) {
		emu_obj_discard(&flow->obj);
		return err;
	}
	flow->flow.tir = flow->flow.drop ? NULL : &qp->tir;
	flow->active = true;
	emu_obj_use(&flow->obj, &qp->obj);
	emu_flow_add(&flow->flow);
	resp.flow_handle = flow->obj.handle;
	err = emu_out(call, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	if (err != 0)
		emu_obj_destroy(&flow->obj, true);
	return err;
}

static int
write_destroy_flow(struct emu_call *call, const void *in, size_t in_len)
{
	const struct ib_uverbs_destroy_flow *req = in;
	struct emu_obj *flow;
	int err;

	(void)in_len;
	if (req->comp_mask)
		return -EINVAL;
	flow = emu_obj_find(call->file, req->flow_handle, UVERBS_OBJECT_FLOW, &err);
	return flow == NULL ? err : emu_obj_destroy(flow, false);
}

static const struct emu_method methods[] = {
	EMU_METHOD(UVERBS_OBJECT_FLOW, UVERBS_METHOD_FLOW_DESTROY, "FLOW_DESTROY", NULL,
		EMU_SPECS(EMU_OBJ(UVERBS_ATTR_DESTROY_FLOW_HANDLE, UVERBS_OBJECT_FLOW,
				  EMU_OBJ_DESTROY))),
};

#define EX IB_USER_VERBS_CMD_FLAG_EXTENDED

static const struct emu_write writes[] = {
	{ EX | IB_USER_VERBS_EX_CMD_CREATE_FLOW, "EX_CREATE_FLOW",
	  sizeof(struct ib_uverbs_create_flow), sizeof(struct ib_uverbs_create_flow_resp),
	  write_create_flow },
	{ EX | IB_USER_VERBS_EX_CMD_DESTROY_FLOW, "EX_DESTROY_FLOW",
	  sizeof(struct ib_uverbs_destroy_flow), 0, write_destroy_flow },
};

EMU_TABLE(emu_flow_table, methods, writes);
