/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <linux/rtnetlink.h>
#include <net/if.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include "abi.h"
#include "eswitch.h"
#include "nldev.h"
#include "rtnl.h"
#include "sysfs.h"

/* --one-device: one IB device with two ports, an uplink and a representor. */

#define EX IB_USER_VERBS_CMD_FLAG_EXTENDED

static int
setup(void **state)
{
	struct abi *abi;

	abi_setup_closed(state);
	abi = *state;
	abi->cfg.one_device = true;
	abi->devs[1].device = &abi->devs[0];
	abi->file = abi_open(&abi->devs[0], true);
	return 0;
}

/* ---- ports ---- */

static int
query_port(struct abi *abi, uint64_t number)
{
	struct ib_uverbs_query_port_resp_ex resp;
	struct abi_call c;

	abi_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);
	abi_val(&c, UVERBS_ATTR_QUERY_PORT_PORT_NUM, number, 8, 0);
	abi_out(&c, UVERBS_ATTR_QUERY_PORT_RESP, &resp, sizeof(resp), 0);
	return abi_run(&c, abi->file);
}

static int
query_switch(struct abi *abi, uint32_t number, struct mlx5_ib_uapi_query_port *resp)
{
	struct abi_call c;

	abi_begin(&c, UVERBS_OBJECT_DEVICE, MLX5_IB_METHOD_QUERY_PORT);
	abi_val(&c, MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, number, 4, 0);
	abi_out(&c, MLX5_IB_ATTR_QUERY_PORT, resp, sizeof(*resp), 0);
	return abi_run(&c, abi->file);
}

static void
ports(void **state)
{
	const uint64_t both = MLX5_IB_UAPI_QUERY_PORT_VPORT | MLX5_IB_UAPI_QUERY_PORT_VPORT_REG_C0 |
			      MLX5_IB_UAPI_QUERY_PORT_ESW_OWNER_VHCA_ID;
	struct ib_uverbs_query_device_resp device;
	struct abi *abi = *state;
	struct mlx5_ib_uapi_query_port port[2];
	uint64_t in = 0;

	assert_int_equal(query_port(abi, 0), -EINVAL);
	assert_int_equal(query_port(abi, 1), 0);
	assert_int_equal(query_port(abi, 2), 0);
	assert_int_equal(query_port(abi, 3), -EINVAL);
	assert_int_equal(query_port(abi, UINT64_C(1) << 32 | 1), -EINVAL);
	assert_int_equal(query_switch(abi, 0, &port[0]), -EINVAL);
	assert_int_equal(query_switch(abi, 3, &port[0]), -EINVAL);
	assert_int_equal(query_switch(abi, 1, &port[0]), 0);
	assert_int_equal(query_switch(abi, 2, &port[1]), 0);
	assert_int_equal(port[0].flags, both);
	assert_int_equal(port[1].flags, both | MLX5_IB_UAPI_QUERY_PORT_VPORT_VHCA_ID);
	assert_int_equal(port[0].vport, EMU_VPORT_UPLINK);
	assert_int_equal(port[1].vport, 1);
	assert_int_equal(port[0].reg_c0.mask, EMU_METADATA_MASK);
	assert_int_equal(port[1].reg_c0.mask, EMU_METADATA_MASK);
	assert_int_not_equal(port[0].reg_c0.value, port[1].reg_c0.value);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_not_equal(port[i].reg_c0.value, 0);
		assert_int_equal(port[i].reg_c0.value & ~port[i].reg_c0.mask, 0);
	}
	assert_int_equal(abi_write(abi->file, &(struct abi_write){
		.cmd = IB_USER_VERBS_CMD_QUERY_DEVICE, .in = &in, .in_len = sizeof(in),
		.out = &device, .out_len = sizeof(device) }), 0);
	assert_int_equal(device.phys_port_cnt, 2);
}

/* ---- send queues ---- */

static struct emu_sq *
last_sq(struct abi *abi)
{
	return LIST_FIRST(&abi->devs[0].sqs);
}

static int
to_init(struct abi *abi, uint32_t qp, uint8_t port)
{
	struct ib_uverbs_modify_qp in = {
		.qp_handle = qp, .attr_mask = IBV_QP_STATE | IBV_QP_PORT,
		.qp_state = IBV_QPS_INIT, .port_num = port,
	};

	return abi_write(abi->file, &(struct abi_write){ .cmd = IB_USER_VERBS_CMD_MODIFY_QP,
							 .in = &in, .in_len = sizeof(in) });
}

static void
send_queues(void **state)
{
	struct abi *abi = *state;
	uint32_t pd = abi_pd(abi->file, NULL), cq = abi_cq(abi, abi->file, NULL);
	uint32_t qp = abi_qp(abi, abi->file, pd, cq);
	struct ib_uverbs_query_qp query = { .qp_handle = qp };
	struct ib_uverbs_query_qp_resp resp;

	assert_true(last_sq(abi)->no_rule);
	assert_int_equal(to_init(abi, qp, 0), -EINVAL);
	assert_int_equal(to_init(abi, qp, 3), -EINVAL);
	assert_true(last_sq(abi)->no_rule);
	assert_int_equal(to_init(abi, qp, 2), 0);
	assert_false(last_sq(abi)->no_rule);
	assert_ptr_equal(last_sq(abi)->dev, &abi->devs[1]);
	assert_int_equal(abi_write(abi->file, &(struct abi_write){
		.cmd = IB_USER_VERBS_CMD_QUERY_QP, .in = &query, .in_len = sizeof(query),
		.out = &resp, .out_len = sizeof(resp) }), 0);
	assert_int_equal(resp.port_num, 2);
	assert_int_equal(abi_qp_free(abi->file, qp), 0);
}

/* ---- flows ---- */

static int
add_flow(struct abi *abi, uint32_t qp, uint8_t port)
{
	struct ib_uverbs_create_flow in = {
		.qp_handle = qp,
		.flow_attr = { .type = IBV_FLOW_ATTR_ALL_DEFAULT, .port = port },
	};
	struct ib_uverbs_create_flow_resp resp;

	return abi_write(abi->file, &(struct abi_write){
		.cmd = EX | IB_USER_VERBS_EX_CMD_CREATE_FLOW, .in = &in, .in_len = sizeof(in),
		.out = &resp, .out_len = sizeof(resp) });
}

static void
verbs_flows(void **state)
{
	struct abi *abi = *state;
	uint32_t pd = abi_pd(abi->file, NULL), cq = abi_cq(abi, abi->file, NULL);
	uint32_t qp = abi_qp(abi, abi->file, pd, cq);
	const struct emu_flow *flow;

	assert_int_equal(add_flow(abi, qp, 0), -EINVAL);
	assert_int_equal(add_flow(abi, qp, 3), -EINVAL);
	assert_int_equal(add_flow(abi, qp, 2), 0);
	flow = TAILQ_FIRST(&abi->devs[0].flows);
	assert_false(emu_source_matches(&flow->source, &abi->devs[0]));
	assert_true(emu_source_matches(&flow->source, &abi->devs[1]));
}

static int
make_matcher(struct abi *abi, uint8_t criteria, size_t byte, uint32_t *handle)
{
	uint8_t mask[sizeof(struct mlx5_ib_match_params)] = { 0 };
	struct abi_call c;
	int err;

	mask[byte] = mask[byte + 1] = 0xff;
	abi_begin(&c, MLX5_IB_OBJECT_FLOW_MATCHER, MLX5_IB_METHOD_FLOW_MATCHER_CREATE);
	abi_obj(&c, ABI_NEW, MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE, 0, 0);
	abi_in(&c, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, mask, sizeof(mask), 0);
	abi_enum(&c, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, MLX5_IB_FLOW_TYPE_NORMAL, 0, 2);
	abi_val(&c, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA, criteria, 1, 0);
	err = abi_run(&c, abi->file);
	if (err == 0)
		*handle = abi_got(&c, MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE);
	return err;
}

static void
matchers(void **state)
{
	/* Linux mlx5_ifc.h: criteria bit 3, misc_parameters_2 at 192, metadata_reg_c_0 at 44 */
	const uint8_t misc2 = 1 << 3;
	const size_t reg_c0 = 192 + 44;
	struct abi *abi = *state;
	const struct emu_flow *flow;
	uint8_t value[sizeof(struct mlx5_ib_match_params)] = { 0 };
	struct abi_call c;
	uint32_t m;

	assert_int_equal(make_matcher(abi, 0, reg_c0, &m), -EOPNOTSUPP);
	assert_int_equal(make_matcher(abi, misc2, reg_c0 + 4, &m), -EOPNOTSUPP);
	assert_int_equal(make_matcher(abi, misc2, reg_c0 - 4, &m), -EOPNOTSUPP);
	assert_int_equal(make_matcher(abi, misc2 | 1 << 2, reg_c0, &m), -EOPNOTSUPP);
	abi->cfg.one_device = false;
	assert_int_equal(make_matcher(abi, misc2, reg_c0, &m), -EOPNOTSUPP);
	abi->cfg.one_device = true;
	assert_int_equal(make_matcher(abi, misc2, reg_c0, &m), 0);
	value[reg_c0 + 1] = 2; /* the representor's, upper half of the register */
	abi_begin(&c, UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_CREATE_FLOW);
	abi_obj(&c, ABI_NEW, MLX5_IB_ATTR_CREATE_FLOW_HANDLE, 0, 0);
	abi_in(&c, MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, value, sizeof(value), 0);
	abi_obj(&c, ABI_OBJ, MLX5_IB_ATTR_CREATE_FLOW_MATCHER, m, 0);
	abi_val(&c, MLX5_IB_ATTR_CREATE_FLOW_FLAGS, MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP, 4, 0);
	assert_int_equal(abi_run(&c, abi->file), 0);
	flow = TAILQ_FIRST(&abi->devs[0].flows);
	assert_false(emu_source_matches(&flow->source, &abi->devs[0]));
	assert_true(emu_source_matches(&flow->source, &abi->devs[1]));
}

/* ---- RDMA netlink ---- */

struct request {
	struct nlmsghdr hdr;
	struct { struct nlattr attr; uint32_t value; } device, port;
};

union answer {
	struct nlmsghdr hdr;
	uint8_t room[4096];
};

/* The first message of the answer; a negative errno where that is an error. */
static int
ask(int fd, uint16_t command, uint16_t flags, uint32_t device, uint32_t port, union answer *a)
{
	struct request r = {
		.hdr = { .nlmsg_len = sizeof(r), .nlmsg_flags = NLM_F_REQUEST | flags,
			 .nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command) },
		.device = { { 8, RDMA_NLDEV_ATTR_DEV_INDEX }, device },
		.port = { { 8, RDMA_NLDEV_ATTR_PORT_INDEX }, port },
	};
	struct iovec iov = { &r, sizeof(r) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t ret;

	assert_true(emu_nldev_send(fd, &msg, &ret));
	assert_int_equal(ret, sizeof(r));
	assert_true(recv(fd, a, sizeof(*a), MSG_DONTWAIT) > 0);
	if (a->hdr.nlmsg_type == NLMSG_ERROR)
		return ((const struct nlmsgerr *)NLMSG_DATA(&a->hdr))->error;
	return 0;
}

static uint32_t
get_u32(const union answer *a, uint16_t type)
{
	size_t off = NLMSG_HDRLEN;
	uint32_t value;

	while (off < a->hdr.nlmsg_len) {
		const struct nlattr *attr = (const void *)(a->room + off);

		memcpy(&value, a->room + off + NLA_HDRLEN, sizeof(value));
		if (attr->nla_type == type)
			return value;
		off += NLA_ALIGN(attr->nla_len);
	}
	return 0;
}

static void
rdma_netlink(void **state)
{
	struct abi *abi = *state;
	int fd = emu_nldev_socket(SOCK_RAW);
	struct sockaddr_nl any = { .nl_family = AF_NETLINK };
	union answer a;
	unsigned int n;

	/* qemu's emulation of a process knows few kinds of netlink sockets */
	if (fd < 0 && errno == EPROTONOSUPPORT)
		skip();
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&any, sizeof(any)), 0);
	strcpy(abi->devs[1].netdev, "lo");
	assert_int_equal(ask(fd, RDMA_NLDEV_CMD_GET, 0, 0, 0, &a), 0);
	assert_int_equal(get_u32(&a, RDMA_NLDEV_ATTR_PORT_INDEX), 2);
	assert_int_equal(ask(fd, RDMA_NLDEV_CMD_GET, 0, 1, 0, &a), -ENODEV);
	assert_int_equal(ask(fd, RDMA_NLDEV_CMD_PORT_GET, 0, 0, 2, &a), 0);
	assert_int_equal(get_u32(&a, RDMA_NLDEV_ATTR_PORT_INDEX), 2);
	assert_int_equal(get_u32(&a, RDMA_NLDEV_ATTR_NDEV_INDEX), if_nametoindex("lo"));
	assert_int_equal(ask(fd, RDMA_NLDEV_CMD_PORT_GET, 0, 0, 0, &a), -EINVAL);
	assert_int_equal(ask(fd, RDMA_NLDEV_CMD_PORT_GET, 0, 0, 3, &a), -EINVAL);
	assert_int_equal(ask(fd, RDMA_NLDEV_CMD_PORT_GET, 0, 1, 1, &a), -ENODEV);
	assert_int_equal(ask(fd, RDMA_NLDEV_CMD_PORT_GET, NLM_F_DUMP, 0, 0, &a), 0);
	for (n = 1; a.hdr.nlmsg_type != NLMSG_DONE; n++) {
		assert_int_equal(get_u32(&a, RDMA_NLDEV_ATTR_PORT_INDEX), n);
		assert_true(recv(fd, &a, sizeof(a), MSG_DONTWAIT) > 0);
	}
	assert_int_equal(n, 3);
	close(fd);
}

/* ---- rtnetlink ---- */

static bool
has_attribute(struct nlmsghdr *hdr, uint16_t type, const void *want, size_t len)
{
	struct rtattr *attr = IFLA_RTA(NLMSG_DATA(hdr));
	int left = (int)(hdr->nlmsg_len - NLMSG_LENGTH(sizeof(struct ifinfomsg)));

	for (; RTA_OK(attr, left); attr = RTA_NEXT(attr, left))
		if (attr->rta_type == type)
			return RTA_PAYLOAD(attr) == len && memcmp(RTA_DATA(attr), want, len) == 0;
	return false;
}

static int
ask_for_link(const char *name)
{
	struct {
		struct nlmsghdr hdr;
		struct ifinfomsg info;
	} r = {
		.hdr = { .nlmsg_len = sizeof(r), .nlmsg_type = RTM_GETLINK,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		.info = { .ifi_index = (int)if_nametoindex(name) },
	};
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);

	assert_true(fd >= 0);
	assert_int_equal(send(fd, &r, sizeof(r), 0), sizeof(r));
	return fd;
}

static void
rtnetlink(void **state)
{
	const uint8_t switch_id[] = { 0xcc, 0xbb, 0xaa, 0, 3, 0x9f, 0x59, 0xb8 };
	struct abi *abi = *state;
	union answer a = { .room = { 0 } };
	struct sockaddr_nl from;
	struct iovec iov = { NULL, 0 };
	struct msghdr msg = { .msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &iov,
			      .msg_iovlen = 1 };
	ssize_t whole, plain, ret;
	int fd;

	strcpy(abi->devs[1].netdev, "lo");
	fd = ask_for_link("lo");
	plain = recv(fd, &a, sizeof(a), MSG_PEEK | MSG_TRUNC);
	assert_false(has_attribute(&a.hdr, IFLA_PHYS_PORT_NAME, "pf0vf0", 6));
	/* as the PMD asks, for the length first */
	assert_true(emu_rtnl_receive(fd, &msg, MSG_PEEK | MSG_TRUNC, &whole));
	assert_true(whole > plain && whole <= plain + EMU_RTNL_MORE);
	assert_true(msg.msg_flags & MSG_TRUNC);
	iov = (struct iovec){ &a, 64 };
	assert_true(emu_rtnl_receive(fd, &msg, MSG_PEEK, &ret));
	assert_int_equal(ret, 64);
	iov.iov_len = sizeof(a);
	assert_true(emu_rtnl_receive(fd, &msg, 0, &ret));
	assert_int_equal(ret, whole);
	assert_int_equal(msg.msg_flags & MSG_TRUNC, 0);
	assert_int_equal(from.nl_family, AF_NETLINK);
	assert_int_equal(a.hdr.nlmsg_len, whole);
	assert_true(has_attribute(&a.hdr, IFLA_PHYS_PORT_NAME, "pf0vf0", 6));
	assert_true(has_attribute(&a.hdr, IFLA_PHYS_SWITCH_ID, switch_id, sizeof(switch_id)));
	/* the acknowledgement is as it was */
	assert_true(emu_rtnl_receive(fd, &msg, 0, &ret));
	assert_int_equal(a.hdr.nlmsg_type, NLMSG_ERROR);
	assert_true(emu_rtnl_receive(fd, &msg, MSG_DONTWAIT, &ret));
	assert_int_equal(ret, -1);
	assert_int_equal(errno, EAGAIN);
	close(fd);
	abi->cfg.one_device = false;
	assert_false(emu_rtnl_receive(0, &msg, 0, &ret));
}

/* Links of others and what is no whole message stay; ours may be anywhere. */
static void
datagrams(void **state)
{
	struct {
		struct nlmsghdr hdr;
		struct ifinfomsg info;
	} m[3] = { 0 };
	struct abi *abi = *state;
	uint8_t in[sizeof(m) + 3], out[2 * sizeof(in)];
	struct nlmsghdr *hdr;
	size_t len;

	strcpy(abi->devs[0].netdev, "lo");
	for (unsigned int i = 0; i < 3; i++) {
		m[i].hdr.nlmsg_len = sizeof(m[i]);
		m[i].hdr.nlmsg_type = i == 2 ? RTM_NEWLINK : RTM_DELLINK;
		m[i].info.ifi_index = (int)if_nametoindex("lo");
	}
	m[0].hdr.nlmsg_type = RTM_NEWLINK;
	m[0].info.ifi_index = 0x7fffffff;
	memset(in, 0xee, sizeof(in));
	memcpy(in, m, sizeof(m));
	len = emu_rtnl_extend(out, in, sizeof(in));
	assert_memory_equal(out, in, 2 * sizeof(m[0]));
	hdr = (struct nlmsghdr *)(out + 2 * sizeof(m[0]));
	assert_true(has_attribute(hdr, IFLA_PHYS_PORT_NAME, "p0", 2));
	assert_int_equal(len, sizeof(in) + hdr->nlmsg_len - sizeof(m[2]));
	assert_memory_equal(out + len - 3, in + sizeof(m), 3);
	/* a length that reaches beyond the datagram */
	m[0].hdr.nlmsg_len = 1000;
	memcpy(in, m, sizeof(m));
	assert_int_equal(emu_rtnl_extend(out, in, sizeof(in)), sizeof(in));
	assert_memory_equal(out, in, sizeof(in));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ports, setup, abi_teardown),
		cmocka_unit_test_setup_teardown(send_queues, setup, abi_teardown),
		cmocka_unit_test_setup_teardown(verbs_flows, setup, abi_teardown),
		cmocka_unit_test_setup_teardown(matchers, setup, abi_teardown),
		cmocka_unit_test_setup_teardown(rdma_netlink, setup, abi_teardown),
		cmocka_unit_test_setup_teardown(rtnetlink, setup, abi_teardown),
		cmocka_unit_test_setup_teardown(datagrams, setup, abi_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
