/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_VERBS_H
#define MLX5EMU_VERBS_H

/* Objects of the command side that more than one file works with. */

#include "event.h"
#include "objects.h"

struct emu_pd {
	struct emu_obj obj;
	uint32_t pdn;
};

struct emu_dm {
	struct emu_obj obj;
	uint64_t length;        /* as asked for; what bounds its MRs */
	uint64_t size;          /* rounded up to 64 */
	uint8_t *base;          /* the engine's view of the first byte */
	struct emu_memic_range *range;
	struct emu_sw_icm_area *icm; /* instead of a range: SW_ICM */
};

struct emu_uar {
	struct emu_obj obj;
	uint32_t page_id;
	struct emu_mmap_entry *entry;
};

struct emu_verbs_cq {
	struct emu_obj obj;
	struct emu_cq cq;
};

struct emu_verbs_wq {
	struct emu_obj obj;
	struct emu_rq rq;
};

struct emu_ind_tbl {
	struct emu_obj obj;
	uint32_t num;
	unsigned int n;
	struct emu_rq **rqs;
};

struct emu_verbs_qp {
	struct emu_obj obj;
	uint32_t qpn;
	uint32_t tisn;          /* of the TIS that the kernel makes for a raw SQ */
	uint32_t state;         /* enum ibv_qp_state */
	uint8_t port;           /* of the IB device; 1 until it is told */
	bool has_sq, has_rq;    /* neither for an RSS QP, which is a TIR only */
	bool sig_all;           /* for the library, which may ask for it */
	struct emu_sq sq;
	struct emu_rq rq;
	struct emu_tir tir;
	struct emu_rq *own_rq;  /* where tir.rqs points to in a QP with an RQ of its own */
};

/* Of a port's own rules; MLX5_BY_PASS_NUM_REGULAR_PRIOS in the kernel's mlx5 fs.h. */
enum { EMU_FLOW_PRIORITIES = 16 };

struct emu_verbs_flow {
	struct emu_obj obj;
	struct emu_flow flow;
	bool active;            /* in the receive table */
};

/* An object made by a DevX command; what kind is told by the command. */
struct emu_devx_obj {
	struct emu_obj obj;
	uint16_t opcode;        /* of the creating command */
	uint32_t num;
	union {
		struct emu_mkey mkey;
		struct emu_cq cq;
		struct emu_rq rq;
		struct emu_sq sq;
		struct {
			struct emu_tir tir;
			struct emu_rq *direct; /* where tir.rqs points to without a table */
		};
		struct emu_rqt {
			unsigned int n;
			struct emu_rq **rqs;
		} rqt;
		struct { uint32_t transport_domain; } tis;
		struct emu_flow_counter counter;
	};
};

/* Whether this process opened a context; others have nothing to report. */
extern bool emu_context_opened;

extern const struct emu_class emu_pd_class, emu_mr_class, emu_dm_class, emu_cq_class,
	emu_wq_class, emu_ind_tbl_class, emu_qp_class, emu_flow_class, emu_devx_class;

/* Transport domain of the queues that the kernel makes; below what emu_next_num() gives. */
enum { EMU_KERNEL_DOMAIN = 1 };

/* The next number of the device's common space of PDs, queues and tables. */
static inline uint32_t
emu_next_num(struct emu_dev *dev)
{
	return dev->next_num++ & 0xffffff;
}

enum { EMU_COMP_VECTORS = 16 };

/* A doorbell record: receive and send counter, or consumer index and arm word. */
enum { EMU_DBREC_SIZE = 8 };

/*
 * Contexts give addresses of queues in units of 64 bytes (mlx5_umem_find_best_quantized_pgoff()
 * in hw/mlx5/mem.c), and of doorbell records in units of 8.
 */
static inline bool
emu_queue_is_aligned(uint64_t buf, uint64_t dbrec)
{
	return buf % 64 == 0 && dbrec % EMU_DBREC_SIZE == 0;
}

/* A CQ by its number, verbs' and DevX's alike. */
struct emu_cq *emu_cq_find(struct emu_dev *dev, uint32_t num);
/* A new CQ's record shows no arming yet; left as it is where the process cannot write it. */
void emu_cq_disarm(struct emu_cq *cq);

/* Whether the calling thread has a capability in its user namespace (CAP_*). */
bool emu_capable(int cap);
/* Whether --fault dm-multiple refuses a length of device memory. */
bool emu_dm_length_refused(const struct emu_dev *dev, uint64_t length);
/* ib_check_mr_access(): 0 or -EINVAL. */
int emu_check_mr_access(uint32_t verbs_access);

#endif
