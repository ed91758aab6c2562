/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MEMIC_LOOP_H
#define MEMIC_LOOP_H

/*
 * A port that sends frames to itself, inside the card, through a raw packet queue pair of
 * its own. See loop.c for how, and for what it leaves alone.
 */

#include <stddef.h>
#include <stdint.h>

#include "port.h"
#include "private.h"

#define LOOP_SGES 4
/* The most of a frame, and of each of the two halves of the host buffer. */
#define LOOP_FRAME_MAX 9216
#define LOOP_HEADER 18 /* what some cards want inline: an Ethernet header with a VLAN tag */

enum loop_end {
	LOOP_ARRIVED,
	LOOP_LOST,       /* sent, and nothing came within the time */
	LOOP_SEND_ERROR, /* the card refused to send it */
	LOOP_RECV_ERROR, /* the card refused to receive it */
	LOOP_FAILED,     /* a call failed, see memic_last_error() */
};

struct memic_loop {
	struct memic_device *dev;
	struct memic_port port;
	unsigned int port_num;
	uint8_t source[6];      /* source address, which tells its frames from others' */
	struct ibv_pd *pd;
	uint8_t *tx, *rx;       /* host memory, LOOP_FRAME_MAX bytes each */
	struct ibv_mr *mr;      /* over both */
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_flow *flow;
	uint32_t ci;            /* completions seen on the CQ */
	uint32_t seq;           /* frames made so far */
	unsigned int bytes;     /* of the last frame that arrived */
	unsigned int syndrome, vendor; /* of the last one that was refused */
	int left;               /* errno of the first object that could not be destroyed */
};

/* Open a loop on a port; 0 or a negative errno with a sentence, and nothing left. */
int memic_loop_open(struct memic_device *dev, unsigned int port, struct memic_loop **out);
/* Close it; 0, or the negative errno of the first object that could not be destroyed. */
int memic_loop_close(struct memic_loop *loop);

/* Longest frame that the port takes. */
size_t memic_loop_longest(const struct memic_loop *loop);
/* Write the next frame, with all bytes different from the last one's, to @p frame. */
void memic_loop_make(struct memic_loop *loop, uint8_t *frame, size_t len);
/*
 * Send a frame and wait for it. After all but LOOP_ARRIVED the queues are new ones. The
 * first SGE of what is sent lies where the CPU can read LOOP_HEADER bytes.
 */
enum loop_end memic_loop_pass(struct memic_loop *loop, struct ibv_sge *from, int n_from,
			      struct ibv_sge *to, int n_to);
/* What became of a frame, for people. */
void memic_loop_explain(const struct memic_loop *loop, enum loop_end end, char *text,
			size_t size);
/* Why no frame comes back at all, as far as can be told. */
void memic_loop_excuse(const struct memic_loop *loop, char *text, size_t size);

static inline struct ibv_sge
loop_host_sge(const struct memic_loop *loop, const void *addr, size_t len)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)addr, .length = (uint32_t)len, .lkey = loop->mr->lkey,
	};
}

#endif /* MEMIC_LOOP_H */
