/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "verbs_port.h"

struct ibv_context *
port_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx;

	assert_non_null(list);
	assert_non_null(list[0]);
	ctx = ibv_open_device(list[0]);
	assert_non_null(ctx);
	ibv_free_device_list(list);
	return ctx;
}

void
port_move_qp(struct ibv_qp *qp, enum ibv_qp_state to)
{
	struct ibv_qp_attr attr = { .qp_state = to, .port_num = 1 };

	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE |
				       (to == IBV_QPS_INIT ? IBV_QP_PORT : 0)), 0);
}

static void
add_flow(struct port *p)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} rule = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL, .size = sizeof(rule), .num_of_specs = 1,
			  .port = 1 },
		.eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(rule.eth),
			 .val.dst_mac = { 2, 0, 0, 0, 0, 7 },
			 .mask.dst_mac = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } },
	};

	p->flow = ibv_create_flow(p->qp, (struct ibv_flow_attr *)(void *)&rule);
	assert_non_null(p->flow);
}

void
port_open(struct port *p, uint8_t *mem)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RAW_PACKET, .sq_sig_all = 1,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	memset(p, 0, sizeof(*p));
	p->ctx = port_device();
	p->pd = ibv_alloc_pd(p->ctx);
	p->channel = ibv_create_comp_channel(p->ctx);
	assert_non_null(p->channel);
	p->cq = ibv_create_cq(p->ctx, 64, (void *)0x77, p->channel, 0);
	assert_non_null(p->cq);
	init.send_cq = init.recv_cq = p->cq;
	p->qp = ibv_create_qp(p->pd, &init);
	assert_non_null(p->qp);
	port_move_qp(p->qp, IBV_QPS_INIT);
	port_move_qp(p->qp, IBV_QPS_RTR);
	port_move_qp(p->qp, IBV_QPS_RTS);
	p->own = mem == NULL ? aligned_alloc(4096, PORT_MEM) : NULL;
	p->mem = mem == NULL ? p->own : mem;
	p->mr = ibv_reg_mr(p->pd, p->mem, PORT_MEM, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(p->mr);
	add_flow(p);
}

void
port_close(struct port *p)
{
	assert_int_equal(ibv_destroy_qp(p->qp), EBUSY);
	assert_int_equal(ibv_destroy_flow(p->flow), 0);
	assert_int_equal(ibv_destroy_cq(p->cq), EBUSY);
	assert_int_equal(ibv_destroy_qp(p->qp), 0);
	assert_int_equal(ibv_destroy_cq(p->cq), 0);
	assert_int_equal(ibv_destroy_comp_channel(p->channel), 0);
	assert_int_equal(ibv_dealloc_pd(p->pd), EBUSY);
	assert_int_equal(ibv_dereg_mr(p->mr), 0);
	assert_int_equal(ibv_dealloc_pd(p->pd), 0);
	assert_int_equal(ibv_close_device(p->ctx), 0);
	free(p->own);
}

void
port_fill(uint8_t *frame, uint64_t id)
{
	static const uint8_t head[14] = { 2, 0, 0, 0, 0, 7, 2, 0, 0, 0, 0, 9, 0x88, 0xb5 };

	memcpy(frame, head, sizeof(head));
	for (int i = sizeof(head); i < PORT_FRAME; i++)
		frame[i] = (uint8_t)(i * 7 + id);
}

void
port_receive_at(struct port *p, uint64_t id, const void *to, uint32_t lkey)
{
	struct ibv_sge sge = { (uintptr_t)to, 2048, lkey };
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 }, *bad;

	assert_int_equal(ibv_post_recv(p->qp, &wr, &bad), 0);
}

void
port_receive(struct port *p, uint64_t id, uint32_t lkey)
{
	port_receive_at(p, id, p->mem + PORT_MEM / 2, lkey);
}

void
port_send_at(struct port *p, uint64_t id, const void *from, uint32_t lkey)
{
	struct ibv_sge sge = { (uintptr_t)from, PORT_FRAME, lkey };
	struct ibv_send_wr wr = {
		.wr_id = id, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
	}, *bad;

	assert_int_equal(ibv_post_send(p->qp, &wr, &bad), 0);
}

void
port_send(struct port *p, uint64_t id, uint32_t lkey)
{
	port_fill(p->mem, id);
	port_send_at(p, id, p->mem, lkey);
}

int
port_completion(struct port *p, struct ibv_wc *wc)
{
	const struct timespec tick = { 0, 1000000 };

	for (int i = 0; i < 1000; i++) {
		int n = ibv_poll_cq(p->cq, 1, wc);

		if (n != 0)
			return n;
		nanosleep(&tick, NULL);
	}
	return 0;
}
