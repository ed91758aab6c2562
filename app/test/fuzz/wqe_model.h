/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef TEST_FUZZ_WQE_MODEL_H
#define TEST_FUZZ_WQE_MODEL_H

/* A send and a receive queue on one CQ, and what must be true of them at any time. */

#include "card.h"

#define MODEL_PD 7
#define MODEL_KEYS 6            /* host, device, KLM, KSM, another PD's, read-only */
#define MODEL_ENTRIES 4         /* of an indirect key */
#define MODEL_MEM 8192

/* One side's completions so far. */
struct model_side {
	bool failed;            /* an error came that was no flush */
	uint64_t good, errors;
};

struct model {
	struct card card;
	struct emu_dev *dev;
	struct emu_wire wire;
	uint64_t wire_frames, wire_bytes;
	uint8_t *host, *memic;
	struct emu_mkey keys[MODEL_KEYS];
	struct emu_klm klms[2][MODEL_ENTRIES];
	struct emu_cq cq;
	struct emu_sq sq;
	struct emu_rq rq;
	struct emu_rq *rqs[1];
	struct emu_tir tir;
	struct emu_flow flow;
	uint32_t cq_db[2], sq_db, rq_db;
	uint32_t seen_pi;       /* CQEs looked at so far */
	bool lossy;             /* the CQ may write over what was not looked at */
	struct model_side send, receive;
	uint64_t offered;       /* frames brought to the port */
	uint64_t events;
};

void model_init(struct model *m, struct fuzz_in *in);
void model_fini(struct model *m);

/* One round of the engine. */
void model_run(struct model *m, unsigned int budget);
/* Write the consumer index, as it lies in the doorbell record. */
void model_consume(struct model *m, uint32_t record);
/* Rounds until there is no more work: it must end. */
void model_drain(struct model *m, unsigned int budget);
/* A frame comes from the wire. */
void model_receive(struct model *m, struct fuzz_in *in);
/* The queue was made ready again: good completions may follow errors. */
void model_forget_errors(struct model *m, bool send);
void model_check(struct model *m);

#endif
