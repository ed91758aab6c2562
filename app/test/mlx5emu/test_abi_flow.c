/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <linux/capability.h>

#include "abi.h"

/* Flow rules by verbs specs and by mlx5 matchers. */

#define EX IB_USER_VERBS_CMD_FLAG_EXTENDED
#define EGRESS IBV_FLOW_ATTR_FLAGS_EGRESS
#define DONT_TRAP IBV_FLOW_ATTR_FLAGS_DONT_TRAP

static uint32_t pd, cq, qp;

static int
setup(void **state)
{
	struct abi *abi;

	abi_setup(state);
	abi = *state;
	pd = abi_pd(abi->file, NULL);
	cq = abi_cq(abi, abi->file, NULL);
	qp = abi_qp(abi, abi->file, pd, cq);
	return 0;
}

/* ---- by verbs ---- */

struct rule {
	size_t len;             /* of the specs */
	const void *uhw;
	size_t uhw_len;
	union {
		struct ib_uverbs_create_flow req; /* its specs are behind it */
		uint8_t room[sizeof(struct ib_uverbs_create_flow) + 512];
	};
};

static struct ib_uverbs_flow_spec_hdr *
spec_at(struct rule *r, size_t off)
{
	return (void *)(r->room + sizeof(r->req) + off);
}

static void
start(struct rule *r)
{
	memset(r, 0, sizeof(*r));
	r->req.qp_handle = qp;
	r->req.flow_attr.port = 1;
}

static void *
add_spec(struct rule *r, uint32_t type, uint16_t size)
{
	struct ib_uverbs_flow_spec_hdr *hdr = spec_at(r, r->len);

	hdr->type = type;
	hdr->size = size;
	r->len += size;
	r->req.flow_attr.num_of_specs++;
	r->req.flow_attr.size += size;
	return hdr;
}

static void
add_eth(struct rule *r)
{
	struct ib_uverbs_flow_spec_eth *eth = add_spec(r, IBV_FLOW_SPEC_ETH, sizeof(*eth));

	memset(eth->mask.dst_mac, 0xff, 6);
	eth->val.dst_mac[5] = 9;
}

static struct abi_write
rule_write(const struct rule *r, void *resp)
{
	return (struct abi_write){
		.cmd = EX | IB_USER_VERBS_EX_CMD_CREATE_FLOW, .in = &r->req,
		.in_len = sizeof(r->req) + r->len, .out = resp,
		.out_len = sizeof(struct ib_uverbs_create_flow_resp), .uhw_in = r->uhw,
		.uhw_in_len = r->uhw_len,
	};
}

static int
once(struct emu_file *file, const struct rule *r)
{
	struct ib_uverbs_create_flow_resp resp;
	struct abi_write w = rule_write(r, &resp);
	struct ib_uverbs_destroy_flow in;
	int err = abi_write(file, &w);

	if (err != 0)
		return err;
	assert_int_equal(abi_qp_free(file, qp), -EBUSY);
	in = (struct ib_uverbs_destroy_flow){ .comp_mask = 1, .flow_handle = resp.flow_handle };
	w = (struct abi_write){ .cmd = EX | IB_USER_VERBS_EX_CMD_DESTROY_FLOW, .in = &in,
				.in_len = sizeof(in) };
	assert_int_equal(abi_write(file, &w), -EINVAL);
	in.comp_mask = 0;
	assert_int_equal(abi_write(file, &w), 0);
	assert_int_equal(abi_write(file, &w), -ENOENT);
	return 0;
}

static void
rules(void **state)
{
	const struct mlx5_ib_create_flow counters = { .ncounters_data = 1 }, nothing = { 0 };
	struct abi *abi = *state;
	struct emu_file *f = abi->file;
	struct rule r;

#define RULE(change, want) do { \
	start(&r); \
	add_eth(&r); \
	change; \
	assert_int_equal(once(f, &r), want); \
	assert_int_equal(TAILQ_EMPTY(&abi->devs[0].flows), true); \
} while (0)
	RULE((void)0, 0);
	RULE(r.req.comp_mask = 1, -EINVAL);
	RULE(r.req.qp_handle = 99, -EINVAL);
	RULE(r.req.qp_handle = cq, -EINVAL);
	RULE(r.req.flow_attr.port = 0, 0);
	RULE(r.req.flow_attr.port = 2, -EINVAL);
	RULE(r.req.flow_attr.priority = 15, 0);
	RULE(r.req.flow_attr.priority = 16, -ENOMEM);
	RULE(r.req.flow_attr.type = 7, -EINVAL);
	RULE(r.req.flow_attr.type = IBV_FLOW_ATTR_SNIFFER, -EOPNOTSUPP);
	RULE(r.req.flow_attr.flags = 1, -EINVAL);
	RULE(r.req.flow_attr.flags = 8, -EINVAL);
	RULE(r.req.flow_attr.flags = EGRESS, -EOPNOTSUPP);
	RULE(r.req.flow_attr.flags = DONT_TRAP, -EOPNOTSUPP);
	RULE(r.req.flow_attr.flags = DONT_TRAP; r.req.flow_attr.type = IBV_FLOW_ATTR_ALL_DEFAULT,
	     -EINVAL);
	/* sizes that do not add up */
	RULE(r.req.flow_attr.num_of_specs = 2, -EINVAL);
	RULE(r.req.flow_attr.num_of_specs = 0, -EINVAL);
	RULE(r.req.flow_attr.num_of_specs = 11, -EINVAL);
	RULE(r.req.flow_attr.size++, -EINVAL);
	RULE(r.req.flow_attr.size--, -EINVAL);
	RULE(r.len -= 8, -EINVAL);
	RULE(spec_at(&r, 0)->size -= 2, -EINVAL);
	RULE(spec_at(&r, 0)->size = 0, -EINVAL);
	RULE(spec_at(&r, 0)->type = 0x7777, -EOPNOTSUPP);
	/* counters */
	RULE(r.uhw = &nothing; r.uhw_len = sizeof(nothing), 0);
	RULE(r.uhw = &counters; r.uhw_len = sizeof(counters), -EOPNOTSUPP);
	RULE(r.uhw = &nothing; r.uhw_len = 4, -EOPNOTSUPP);
}

static void
specs(void **state)
{
	struct abi *abi = *state;
	struct ib_uverbs_flow_spec_action_tag *tag;
	struct ib_uverbs_flow_spec_ipv4 *ip4;
	struct ib_uverbs_flow_spec_ipv6 *ip6;
	struct rule r;

#define SPEC(add, want) do { \
	start(&r); \
	add_eth(&r); \
	add; \
	assert_int_equal(once(abi->file, &r), want); \
} while (0)
	SPEC(add_spec(&r, IBV_FLOW_SPEC_IPV4, sizeof(*ip4)), 0);
	SPEC(add_spec(&r, IBV_FLOW_SPEC_IPV6, sizeof(*ip6)), 0);
	SPEC(add_spec(&r, IBV_FLOW_SPEC_UDP, sizeof(struct ib_uverbs_flow_spec_tcp_udp)), 0);
	SPEC(add_spec(&r, IBV_FLOW_SPEC_TCP, sizeof(struct ib_uverbs_flow_spec_tcp_udp)), 0);
	SPEC(add_spec(&r, IBV_FLOW_SPEC_TCP, sizeof(struct ib_uverbs_flow_spec_eth)), -EINVAL);
	SPEC(add_spec(&r, IBV_FLOW_SPEC_ACTION_DROP,
		      sizeof(struct ib_uverbs_flow_spec_action_drop)), 0);
	/* what cannot be compared is refused, not ignored */
	SPEC(ip4 = add_spec(&r, IBV_FLOW_SPEC_IPV4_EXT, sizeof(*ip4)); ip4->mask.ttl = 1,
	     -EOPNOTSUPP);
	SPEC(ip6 = add_spec(&r, IBV_FLOW_SPEC_IPV6, sizeof(*ip6)); ip6->mask.flow_label = 1,
	     -EOPNOTSUPP);
	SPEC(add_spec(&r, IBV_FLOW_SPEC_VXLAN_TUNNEL, 16), -EOPNOTSUPP);
	SPEC(add_spec(&r, IBV_FLOW_SPEC_ETH | IBV_FLOW_SPEC_INNER,
		      sizeof(struct ib_uverbs_flow_spec_eth)), -EOPNOTSUPP);
	SPEC(tag = add_spec(&r, IBV_FLOW_SPEC_ACTION_TAG, sizeof(*tag)); tag->tag_id = 0xffffff, 0);
	SPEC(tag = add_spec(&r, IBV_FLOW_SPEC_ACTION_TAG, sizeof(*tag)); tag->tag_id = 1 << 24,
	     -EINVAL);
}

static void
capability(void **state)
{
	struct abi *abi = *state;
	struct ib_uverbs_create_flow_resp resp;
	struct abi_write w;
	struct rule r;

	if (!abi_can_lose(CAP_NET_RAW))
		skip();
	start(&r);
	add_eth(&r);
	w = rule_write(&r, &resp);
	assert_int_equal(abi_write_without(abi->file, &w, CAP_NET_RAW), -EPERM);
	assert_int_equal(abi_write_without(abi->file, &w, CAP_SYS_RAWIO), 0);
}

/* A QP that only sends is no destination. */
static void
no_receiver(void **state)
{
	struct abi *abi = *state;
	struct abi_call c;
	struct abi_qp q;
	struct rule r;

	abi_qp_call(abi, &c, &q, pd, cq);
	q.req.rq_wqe_count = 0;
	assert_int_equal(abi_run(&c, abi->file), 0);
	start(&r);
	add_eth(&r);
	r.req.qp_handle = abi_got(&c, UVERBS_ATTR_CREATE_QP_HANDLE);
	assert_int_equal(once(abi->file, &r), -EINVAL);
}

/* ---- by matchers ---- */

struct match {
	uint8_t mask[64], value[64];
	uint8_t type, criteria;
	uint64_t prio;
	size_t prio_len;
	int64_t table;          /* -1: not said */
	int64_t flags;
};

static const struct match plain = {
	.type = MLX5_IB_FLOW_TYPE_NORMAL, .prio_len = 2, .criteria = 1, .table = -1, .flags = -1,
};

static int
make_matcher(struct emu_file *file, const struct match *m, uint32_t *handle)
{
	struct abi_call c;
	int err;

	abi_begin(&c, MLX5_IB_OBJECT_FLOW_MATCHER, MLX5_IB_METHOD_FLOW_MATCHER_CREATE);
	abi_obj(&c, ABI_NEW, MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE, 0, 0);
	abi_in(&c, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, m->mask, 64, 0);
	abi_enum(&c, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, m->type, m->prio, m->prio_len);
	abi_val(&c, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA, m->criteria, 1, 0);
	if (m->table >= 0)
		abi_val(&c, MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, m->table, 8, 0);
	if (m->flags >= 0)
		abi_val(&c, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS, m->flags, 8, 0);
	err = abi_run(&c, file);
	if (err == 0)
		*handle = abi_got(&c, MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE);
	return err;
}

static int
free_matcher(struct emu_file *file, uint32_t handle)
{
	return abi_destroy(file, MLX5_IB_OBJECT_FLOW_MATCHER, MLX5_IB_METHOD_FLOW_MATCHER_DESTROY,
			   MLX5_IB_ATTR_FLOW_MATCHER_DESTROY_HANDLE, handle);
}

static void
matchers(void **state)
{
	struct abi *abi = *state;
	struct match m;
	uint32_t h;

#define MATCHER(change, want) do { \
	m = plain; \
	change; \
	assert_int_equal(make_matcher(abi->file, &m, &h), want); \
	if ((want) == 0) \
		assert_int_equal(free_matcher(abi->file, h), 0); \
} while (0)
	MATCHER((void)0, 0);
	MATCHER(m.type = MLX5_IB_FLOW_TYPE_ALL_DEFAULT; m.prio_len = 0, 0);
	MATCHER(m.type = MLX5_IB_FLOW_TYPE_MC_DEFAULT; m.prio_len = 0, 0);
	MATCHER(m.type = MLX5_IB_FLOW_TYPE_ALL_DEFAULT, -EINVAL);
	MATCHER(m.prio_len = 0, -EINVAL);
	MATCHER(m.prio_len = 4, -EINVAL);
	MATCHER(m.type = MLX5_IB_FLOW_TYPE_SNIFFER; m.prio_len = 0, -EOPNOTSUPP);
	MATCHER(m.type = 4, -EOPNOTSUPP);
	MATCHER(m.prio = 99, 0); /* found out when a rule is made */
	MATCHER(m.table = MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX, 0);
	MATCHER(m.table = MLX5_IB_UAPI_FLOW_TABLE_TYPE_FDB, -EOPNOTSUPP);
	MATCHER(m.table = 5, -EINVAL);
	MATCHER(m.flags = EGRESS, 0);
	MATCHER(m.flags = DONT_TRAP, -EINVAL);
	MATCHER(m.flags = 0; m.table = 0, -EINVAL); /* one or the other */
	/* fields and groups that frames are not compared in */
	MATCHER(m.criteria = 2, -EOPNOTSUPP);
	MATCHER(m.mask[24] = 1, -EOPNOTSUPP);
	MATCHER(m.mask[63] = 1, 0);
}

static int
make_flow(struct emu_file *file, uint32_t matcher, int64_t to_qp, int64_t to_devx, uint64_t flags,
	  uint32_t tag)
{
	static const uint8_t value[64];
	struct abi_call c;
	int err;

	abi_begin(&c, UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_CREATE_FLOW);
	abi_obj(&c, ABI_NEW, MLX5_IB_ATTR_CREATE_FLOW_HANDLE, 0, 0);
	abi_in(&c, MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, value, 64, 0);
	abi_obj(&c, ABI_OBJ, MLX5_IB_ATTR_CREATE_FLOW_MATCHER, matcher, 0);
	if (to_qp >= 0)
		abi_obj(&c, ABI_OBJ, MLX5_IB_ATTR_CREATE_FLOW_DEST_QP, to_qp, 0);
	if (to_devx >= 0)
		abi_obj(&c, ABI_OBJ, MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX, to_devx, 0);
	abi_val(&c, MLX5_IB_ATTR_CREATE_FLOW_FLAGS, flags, 8, 0);
	abi_val(&c, MLX5_IB_ATTR_CREATE_FLOW_TAG, tag, 4, 0);
	err = abi_run(&c, file);
	if (err == 0) {
		assert_int_equal(free_matcher(file, matcher), -EBUSY);
		assert_int_equal(abi_destroy(file, UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_DESTROY_FLOW,
			MLX5_IB_ATTR_DESTROY_FLOW_HANDLE,
			abi_got(&c, MLX5_IB_ATTR_CREATE_FLOW_HANDLE)), 0);
	}
	return err;
}

static void
destinations(void **state)
{
	enum { MISS = MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DEFAULT_MISS,
	       DROP = MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP };
	struct abi *abi = *state;
	struct emu_file *f = abi->file;
	uint32_t td = abi_devx_simple(f, PRM_CMD_ALLOC_TRANSPORT_DOMAIN, 16, NULL), rx, tx, far;
	struct match m = plain;

	assert_int_equal(make_matcher(f, &m, &rx), 0);
	m.table = MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX;
	assert_int_equal(make_matcher(f, &m, &tx), 0);
	m = plain;
	m.prio = 16;
	assert_int_equal(make_matcher(f, &m, &far), 0);

	assert_int_equal(make_flow(f, rx, qp, -1, 0, 5), 0);
	assert_int_equal(make_flow(f, rx, -1, -1, DROP, 5), 0);
	assert_int_equal(make_flow(f, rx, -1, -1, 0, 5), -EINVAL);
	assert_int_equal(make_flow(f, rx, qp, -1, DROP, 5), -EINVAL);
	assert_int_equal(make_flow(f, rx, qp, td, 0, 5), -EINVAL);
	assert_int_equal(make_flow(f, rx, -1, td, 0, 5), -EINVAL); /* is_flow_dest() */
	assert_int_equal(make_flow(f, rx, -1, -1, DROP | MISS, 5), -EINVAL);
	assert_int_equal(make_flow(f, rx, -1, -1, MISS, 5), -EOPNOTSUPP);
	assert_int_equal(make_flow(f, rx, -1, -1, 8, 5), -EINVAL);
	assert_int_equal(make_flow(f, rx, cq, -1, 0, 5), -EINVAL);
	assert_int_equal(make_flow(f, rx, 99, -1, 0, 5), -ENOENT);
	assert_int_equal(make_flow(f, rx, qp, -1, 0, 0xffffff), 0);
	assert_int_equal(make_flow(f, rx, qp, -1, 0, 1 << 24), -EINVAL);
	assert_int_equal(make_flow(f, far, qp, -1, 0, 5), -ENOMEM);
	/* on the way out there is the port, or nothing */
	assert_int_equal(make_flow(f, tx, -1, -1, 0, 5), 0);
	assert_int_equal(make_flow(f, tx, -1, -1, DROP, 5), 0);
	assert_int_equal(make_flow(f, tx, qp, -1, 0, 5), -EINVAL);
	assert_true(TAILQ_EMPTY(&abi->devs[0].flows));
	assert_true(TAILQ_EMPTY(&abi->devs[0].tx_flows));
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, abi_teardown)
	const struct CMUnitTest tests[] = {
		TEST(rules), TEST(specs), TEST(capability), TEST(no_receiver), TEST(matchers),
		TEST(destinations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
