/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <endian.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "destroy.h"
#include "loop.h"

/*
 * A frame to the function's own address comes back inside the card, without a cable, if
 * the receiving queue was made with MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC: the
 * kernel then enables local loopback of the function (mlx5_ib_enable_lb() in its
 * hw/mlx5/main.c). Its driver's own self test relies on the same
 * (mlx5e_test_loopback() in core/en_selftest.c), and so does the lpbk_mode of DPDK's PMD.
 *
 * The flow rule wants the own address, a source address that is nobody's and the
 * EtherType that IEEE 802 sets aside for local experiments, all together: no frame of
 * anybody else goes there. Should loopback not work the frames leave by the wire, and are
 * of no meaning to who gets them.
 */
#define QUEUE 32
#define CQES 128
#define WAIT_NS 150000000ll
#define ETHERTYPE 0x88b5

/* Locally administered, and another one for each loop that there may be at a time. */
static void
choose_source(uint8_t source[6])
{
	static atomic_uint loops;
	uint32_t tail = (uint32_t)getpid() << 8 | (atomic_fetch_add(&loops, 1) & 0xff);

	source[0] = 0x02;
	source[1] = 0x4d;
	memcpy(source + 2, &tail, sizeof(tail));
}

static int
fail(const struct memic_loop *loop, const char *call, int err)
{
	return memic_fail(err, "%s for frames that port %u of %s sends to itself: %s%s", call,
			  loop->port_num, loop->dev->caps.name, memic_errno_name(err),
			  err == EPERM ? ": raw packet queues need CAP_NET_RAW" : "");
}

/* ---- queues ---- */

/* Remember what is left behind, as what stands on it is no longer known. */
static void
note(struct memic_loop *loop, int err)
{
	if (loop->left == 0)
		loop->left = err;
}

static void
close_queues(struct memic_loop *loop)
{
	if (loop->flow != NULL)
		note(loop, memic_destroy(ibv_destroy_flow, loop->flow));
	loop->flow = NULL;
	if (loop->qp != NULL)
		note(loop, memic_destroy(ibv_destroy_qp, loop->qp));
	loop->qp = NULL;
	if (loop->cq != NULL)
		note(loop, memic_destroy(ibv_destroy_cq, loop->cq));
	loop->cq = NULL;
	loop->ci = 0;
}

static struct ibv_qp *
create_qp(struct memic_loop *loop)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.send_cq = loop->cq,
		.recv_cq = loop->cq,
		.cap = {
			.max_send_wr = QUEUE, .max_recv_wr = QUEUE,
			.max_send_sge = LOOP_SGES, .max_recv_sge = LOOP_SGES,
		},
		.sq_sig_all = 1,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = loop->pd,
	};
	struct mlx5dv_qp_init_attr dv_attr = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
		/* a short frame must go to the buffer and not into the completion */
		.create_flags = MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC |
				MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE,
	};

	errno = 0;
	return mlx5dv_create_qp(loop->dev->ctx, &attr, &dv_attr);
}

static int
start_qp(struct memic_loop *loop)
{
	static const enum ibv_qp_state states[] = { IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS };
	struct ibv_qp_attr attr = { .port_num = (uint8_t)loop->port_num };
	int err = 0;
	size_t i;

	for (i = 0; err == 0 && i < sizeof(states) / sizeof(states[0]); i++) {
		attr.qp_state = states[i];
		err = memic_verbs_errno(ibv_modify_qp(loop->qp, &attr, IBV_QP_STATE |
						      (i == 0 ? IBV_QP_PORT : 0)));
	}
	return err;
}

static struct ibv_flow *
create_flow(struct memic_loop *loop)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} rule = {
		.attr = {
			.type = IBV_FLOW_ATTR_NORMAL, .size = sizeof(rule), .num_of_specs = 1,
			.port = (uint8_t)loop->port_num,
		},
		.eth = {
			.type = IBV_FLOW_SPEC_ETH, .size = sizeof(rule.eth),
			.val.ether_type = htobe16(ETHERTYPE), .mask.ether_type = 0xffff,
		},
	};

	_Static_assert(offsetof(__typeof__(rule), eth) == sizeof(rule.attr), "no gap between");
	memcpy(rule.eth.val.dst_mac, loop->port.mac, 6);
	memcpy(rule.eth.val.src_mac, loop->source, 6);
	memset(rule.eth.mask.dst_mac, 0xff, 6);
	memset(rule.eth.mask.src_mac, 0xff, 6);
	errno = 0;
	return ibv_create_flow(loop->qp, &rule.attr);
}

static int
open_queues(struct memic_loop *loop)
{
	const char *call = "ibv_create_cq";
	int err;

	errno = 0;
	loop->cq = ibv_create_cq(loop->dev->ctx, CQES, NULL, NULL, 0);
	if (loop->cq == NULL)
		goto err_errno;
	call = "mlx5dv_create_qp";
	loop->qp = create_qp(loop);
	if (loop->qp == NULL)
		goto err_errno;
	call = "ibv_modify_qp";
	err = start_qp(loop);
	if (err != 0)
		goto err_close;
	call = "ibv_create_flow";
	loop->flow = create_flow(loop);
	if (loop->flow == NULL)
		goto err_errno;
	return 0;

err_errno:
	err = memic_null_errno();
err_close:
	close_queues(loop);
	return fail(loop, call, err);
}

/* ---- the whole ---- */

int
memic_loop_close(struct memic_loop *loop)
{
	int err;

	if (loop == NULL)
		return 0;
	close_queues(loop);
	if (loop->mr != NULL)
		note(loop, memic_destroy(ibv_dereg_mr, loop->mr));
	/* fails where it cuts a mapping in two and there can be no more of them */
	if (loop->tx != NULL && munmap(loop->tx, 2 * LOOP_FRAME_MAX) != 0)
		munmap(loop->tx, 2 * LOOP_FRAME_MAX);
	if (loop->pd != NULL)
		note(loop, memic_destroy(ibv_dealloc_pd, loop->pd));
	err = loop->left;
	if (err != 0)
		fail(loop, "giving back what was made", err);
	free(loop);
	return -err;
}

/* Pages of its own, so that a registration touches nothing of the program. */
static int
open_memory(struct memic_loop *loop)
{
	void *mem;

	errno = 0;
	loop->pd = ibv_alloc_pd(loop->dev->ctx);
	if (loop->pd == NULL)
		return fail(loop, "ibv_alloc_pd", memic_null_errno());
	mem = mmap(NULL, 2 * LOOP_FRAME_MAX, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		return fail(loop, "mmap", errno);
	loop->tx = mem;
	loop->rx = loop->tx + LOOP_FRAME_MAX;
	errno = 0;
	loop->mr = ibv_reg_mr(loop->pd, mem, 2 * LOOP_FRAME_MAX, IBV_ACCESS_LOCAL_WRITE);
	if (loop->mr == NULL)
		return fail(loop, "ibv_reg_mr", memic_null_errno());
	return 0;
}

int
memic_loop_open(struct memic_device *dev, unsigned int port, struct memic_loop **out)
{
	struct memic_loop *loop = calloc(1, sizeof(*loop));
	int rc;

	if (loop == NULL)
		return memic_fail(ENOMEM, "no host memory to loop frames on %s: ENOMEM",
				  dev->caps.name);
	loop->dev = dev;
	loop->port_num = port;
	choose_source(loop->source);
	rc = memic_port_query(dev, port, &loop->port);
	/* nothing is to be sent to a peer that did not ask for it */
	if (rc == 0 && loop->port.switchdev)
		rc = memic_fail(EOPNOTSUPP, "port %u of %s is in switchdev mode: EOPNOTSUPP: "
				"its frames to itself would leave by the wire: use legacy mode "
				"(devlink dev eswitch) to find out", port, dev->caps.name);
	if (rc == 0)
		rc = open_memory(loop);
	if (rc == 0)
		rc = open_queues(loop);
	if (rc != 0) {
		memic_loop_close(loop);
		return rc;
	}
	*out = loop;
	return 0;
}

/* ---- frames ---- */

size_t
memic_loop_longest(const struct memic_loop *loop)
{
	size_t len = loop->port.mtu + 14u;

	return len < LOOP_FRAME_MAX ? len : LOOP_FRAME_MAX;
}

void
memic_loop_make(struct memic_loop *loop, uint8_t *frame, size_t len)
{
	uint32_t word = ++loop->seq * 2654435761u;
	size_t i;

	memcpy(frame, loop->port.mac, 6);
	memcpy(frame + 6, loop->source, 6);
	frame[12] = ETHERTYPE >> 8;
	frame[13] = ETHERTYPE & 0xff;
	for (i = 14; i < len; i++) {
		word = word * 1664525 + 1013904223;
		frame[i] = (uint8_t)(word >> 24);
	}
}

/*
 * The next completion, if it is there. Looked at before the library is asked for it, as
 * that prints errors, which are an answer here, to standard error.
 */
static const struct mlx5_cqe64 *
peek(struct memic_loop *loop, const struct mlx5dv_cq *cq)
{
	const uint8_t *entry = (const uint8_t *)cq->buf +
			       (size_t)(loop->ci & (cq->cqe_cnt - 1)) * cq->cqe_size;
	const struct mlx5_cqe64 *cqe = (const void *)(entry + cq->cqe_size - sizeof(*cqe));
	/* nothing else of the entry may have been read before */
	uint8_t op_own = __atomic_load_n(&cqe->op_own, __ATOMIC_ACQUIRE);

	if (op_own >> 4 == MLX5_CQE_INVALID || (op_own & 1) != !!(loop->ci & cq->cqe_cnt))
		return NULL;
	return cqe;
}

static enum loop_end
refused(struct memic_loop *loop, const struct mlx5_cqe64 *cqe)
{
	const struct mlx5_err_cqe *err = (const void *)cqe;

	loop->syndrome = err->syndrome;
	loop->vendor = err->vendor_err_synd;
	return cqe->op_own >> 4 == MLX5_CQE_RESP_ERR ? LOOP_RECV_ERROR : LOOP_SEND_ERROR;
}

static long long
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static enum loop_end
await(struct memic_loop *loop)
{
	struct mlx5dv_cq cq = { 0 };
	struct mlx5dv_obj obj = { .cq = { .in = loop->cq, .out = &cq } };
	long long deadline = now_ns() + WAIT_NS;
	const struct mlx5_cqe64 *cqe;
	struct ibv_wc wc;
	int seen = 0, rc = memic_verbs_errno(mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ));

	if (rc != 0) {
		fail(loop, "mlx5dv_init_obj", rc);
		return LOOP_FAILED;
	}
	while (seen < 2) {
		cqe = peek(loop, &cq);
		if (cqe == NULL) {
			if (now_ns() > deadline)
				return LOOP_LOST;
			sched_yield();
			continue;
		}
		if (cqe->op_own >> 4 == MLX5_CQE_REQ_ERR || cqe->op_own >> 4 == MLX5_CQE_RESP_ERR)
			return refused(loop, cqe);
		rc = ibv_poll_cq(loop->cq, 1, &wc);
		if (rc != 1) {
			fail(loop, "ibv_poll_cq", rc < 0 ? memic_verbs_errno(rc) : EIO);
			return LOOP_FAILED;
		}
		loop->ci++;
		seen++;
		if (wc.opcode == IBV_WC_RECV)
			loop->bytes = wc.byte_len;
	}
	return LOOP_ARRIVED;
}

enum loop_end
memic_loop_pass(struct memic_loop *loop, struct ibv_sge *from, int n_from, struct ibv_sge *to,
		int n_to)
{
	struct ibv_recv_wr recv = { .sg_list = to, .num_sge = n_to }, *bad_recv;
	struct ibv_send_wr send = {
		.sg_list = from, .num_sge = n_from, .opcode = IBV_WR_SEND,
	}, *bad_send;
	enum loop_end end;
	int err;

	if (loop->qp == NULL)
		return LOOP_FAILED;
	err = memic_verbs_errno(ibv_post_recv(loop->qp, &recv, &bad_recv));
	if (err == 0)
		err = memic_verbs_errno(ibv_post_send(loop->qp, &send, &bad_send));
	if (err != 0) {
		fail(loop, "posting a frame", err);
		end = LOOP_FAILED;
	} else {
		end = await(loop);
	}
	/* an error ends the queues, and a late frame must not meet the next one's buffer */
	if (end != LOOP_ARRIVED && end != LOOP_FAILED) {
		close_queues(loop);
		if (open_queues(loop) != 0)
			end = LOOP_FAILED;
	}
	return end;
}

void
memic_loop_explain(const struct memic_loop *loop, enum loop_end end, char *text, size_t size)
{
	switch (end) {
	case LOOP_ARRIVED:
		snprintf(text, size, "arrived");
		break;
	case LOOP_LOST:
		snprintf(text, size, "did not come back within %lld ms", WAIT_NS / 1000000);
		break;
	case LOOP_SEND_ERROR:
	case LOOP_RECV_ERROR:
		snprintf(text, size, "was refused by the %s queue with syndrome 0x%x (%s), vendor "
			 "syndrome 0x%x", end == LOOP_SEND_ERROR ? "send" : "receive",
			 loop->syndrome, loop->syndrome == MLX5_CQE_SYNDROME_LOCAL_PROT_ERR ?
			 "protection" : loop->syndrome == MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR ?
			 "length" : "see the PRM", loop->vendor);
		break;
	default:
		snprintf(text, size, "was not tried to the end: %s", memic_last_error());
	}
}

void
memic_loop_excuse(const struct memic_loop *loop, char *text, size_t size)
{
	const struct memic_port *port = &loop->port;

	if (!port->up)
		snprintf(text, size, "the interface of port %u is down: bring it up (ip link set "
			 "dev ... up) and try again", loop->port_num);
	else if (!port->netdev)
		snprintf(text, size, "the interface of port %u is not in this network namespace: "
			 "try there, with the interface up", loop->port_num);
	else
		snprintf(text, size, "the switch of the card does not send frames of port %u back "
			 "to it%s: put a loopback plug in, or try another port", loop->port_num,
			 port->active ? "" : ", whose link is down");
}
