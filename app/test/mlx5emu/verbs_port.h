/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef TEST_MLX5EMU_VERBS_PORT_H
#define TEST_MLX5EMU_VERBS_PORT_H

/* cmocka.h wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <infiniband/verbs.h>

/* A raw packet QP that receives what it sends, on the first device and the loop wire. */

#define PORT_MEM 65536
#define PORT_FRAME 1000

struct port {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_flow *flow;
	struct ibv_mr *mr;      /* of mem */
	uint8_t *mem;           /* PORT_MEM bytes; sent from the first half */
	uint8_t *own;           /* the same if it is to be freed */
};

struct ibv_context *port_device(void);
/* Memory to use, whole pages, or NULL. Failures stop the test. */
void port_open(struct port *p, uint8_t *mem);
void port_close(struct port *p);
void port_move_qp(struct ibv_qp *qp, enum ibv_qp_state to);
/* A frame of PORT_FRAME bytes that follow from the id. */
void port_fill(uint8_t *frame, uint64_t id);
/* Receive into the second half of mem. */
void port_receive(struct port *p, uint64_t id, uint32_t lkey);
void port_receive_at(struct port *p, uint64_t id, const void *to, uint32_t lkey);
/* Fill the beginning of mem and send it; or send what is there. */
void port_send(struct port *p, uint64_t id, uint32_t lkey);
void port_send_at(struct port *p, uint64_t id, const void *from, uint32_t lkey);
/* The next completion within a second, or none. */
int port_completion(struct port *p, struct ibv_wc *wc);

#endif
