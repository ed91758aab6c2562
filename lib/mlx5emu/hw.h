/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_HW_H
#define MLX5EMU_HW_H

/*
 * What the card itself consists of: functions, keys, queues, flows. The command
 * side (verbs and DevX handlers) creates and destroys these under emu_lock(); the
 * engine thread works on them under the same lock. Handles, files and references
 * of the kernel are not known here; see objects.h.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "config.h"
#include "stats.h"

struct emu_wire;
struct emu_view;

/* MEMIC of one function, see memic.c. */
struct emu_memic {
	uint8_t *va;            /* the engine's own mapping of the whole memory */
	int fd;                 /* memfd behind it; user mappings are of this file */
	uint64_t bytes;         /* max_dm_size */
	uint32_t pages;         /* pages of the BAR window, more than bytes / 4096 */
	uint8_t *page_used;     /* one byte a page */
	uint64_t bytes_used;
	uint8_t *shadow;        /* what the CPU sees instead, see wc.c; NULL without */
	int shadow_fd;
};

/* Blocks of SW_ICM that are taken, one byte each, by type; see sw_icm.c. */
#define EMU_SW_ICM_TYPES 3
#define EMU_SW_ICM_BLOCKS 256
struct emu_sw_icm {
	uint8_t used[EMU_SW_ICM_TYPES][EMU_SW_ICM_BLOCKS];
};

/* How far the faults of --fault have come, see inject.c. */
struct emu_inject {
	uint64_t ioctls, dm_allocs, mkey_uses; /* those that counted so far */
	uint64_t opened_at;     /* emu_clock() of the first context; 0 before */
	uint64_t removed_at;    /* of the removal; 0 before */
	uint64_t cpu_reads, cpu_writes; /* trapped touches of device memory */
	struct emu_wire_fault *wire; /* see wire_fault.c */
};

/* Frames through a port by their destination address, as the vport counters have them. */
enum { EMU_UNICAST, EMU_MULTICAST, EMU_BROADCAST, EMU_CASTS };
struct emu_vport {
	uint64_t packets[EMU_CASTS], bytes[EMU_CASTS];
};

/* Sets of queue counters; the first is the kernel's own, which verbs queues count in. */
#define EMU_COUNTER_SETS 256
#define EMU_KERNEL_COUNTERS 0

/*
 * One PCI function: a port, and an IB device with keys, PDs, queues and MEMIC of its own.
 * With --one-device all but the first are further ports of that: of these what belongs to
 * an IB device is not used; see eswitch.h.
 */
struct emu_dev {
	unsigned int index;
	struct emu_dev *device; /* whose port it is; NULL if it is a device itself */
	char name[16];          /* "mlx5_0", "mlx5_0/2" */
	char netdev[16];        /* "emu0" */
	uint8_t mac[6];
	const struct emu_config *cfg;
	const struct emu_preset *preset;
	struct emu_memic memic;
	struct emu_sw_icm sw_icm;
	struct emu_inject inject;
	struct emu_stats stats;
	struct emu_wire *wire;
	uint32_t next_num;      /* queue, PD, TIR, ... numbers */
	bool removed;
	unsigned int era;       /* how often it came back after a removal */
	bool link_down;         /* its interface is: nothing goes in or out */
	unsigned int mtu;       /* of the interface; longer frames are dropped; 0: no limit */
	struct emu_vport rx, tx;
	uint64_t rx_phy, tx_phy, rx_oversize;
	uint64_t out_of_buffer[EMU_COUNTER_SETS]; /* frames that found no WQE, by counter set */
	struct emu_mkey **mkeys; /* by index, see mkey.c */
	uint32_t mkey_slots, mkey_next;
	unsigned int self_lb;   /* verbs TIRs with self_lb: frames to itself do not leave */
	uint64_t flows_changed; /* emu_clock() of the last flow that came or went */
	LIST_HEAD(, emu_cq) cqs;
	LIST_HEAD(, emu_sq) sqs;
	LIST_HEAD(, emu_rq) rqs;
	/* by ascending priority, then age: of what comes in, and of what goes out */
	TAILQ_HEAD(emu_flow_list, emu_flow) flows, tx_flows;
};

/* Of zeros make a device that has neither queues nor flows. */
static inline void
emu_dev_init(struct emu_dev *dev, unsigned int index, const struct emu_config *cfg)
{
	dev->index = index;
	dev->cfg = cfg;
	LIST_INIT(&dev->cqs);
	LIST_INIT(&dev->sqs);
	LIST_INIT(&dev->rqs);
	TAILQ_INIT(&dev->flows);
	TAILQ_INIT(&dev->tx_flows);
}

/* CQE opcodes, op_own[7:4]; PRM "Completion Queue Entry", libmlx5 mlx5dv.h MLX5_CQE_*. */
enum {
	EMU_CQE_REQ = 0,
	EMU_CQE_RESP_SEND = 2,
	EMU_CQE_REQ_ERR = 13,
	EMU_CQE_RESP_ERR = 14,
};

struct emu_cq {
	LIST_ENTRY(emu_cq) next;
	struct emu_dev *dev;
	uint32_t num;
	uint32_t entries;       /* a power of two */
	uint32_t entry_size;    /* 64 or 128 */
	bool padded;            /* the first half of 128 is written, too */
	uint8_t *buf;
	struct emu_view *torn;  /* instead of buf, see pin.h; NULL nearly always */
	volatile uint32_t *dbrec; /* [0] consumer index, [1] arm word */
	uint32_t pi;
	uint32_t seen_ci;       /* consumer index when it was last looked at */
	bool overrun;           /* a CQE found no room: the CQ is dead */
	bool ignore_overrun;    /* cqc.oi */
	uint32_t urgent_pi;     /* pi after the last error CQE, for solicited-only arming */
	uint32_t armed_sn;      /* arm word last answered, if arm_answered */
	bool arm_answered;
	void (*event)(struct emu_cq *cq); /* delivers a completion event, or NULL */
	void (*error)(struct emu_cq *cq); /* delivers IBV_EVENT_CQ_ERR, or NULL */
	void *event_arg;        /* the channel that is told */
	uint64_t event_tag;     /* how the reader knows the CQ again */
	uint32_t events;        /* sent so far */
};

/* Values of the PRM's sqc.state and rqc.state. */
enum emu_queue_state { EMU_Q_RST = 0, EMU_Q_RDY = 1, EMU_Q_ERR = 3 };

struct emu_sq {
	LIST_ENTRY(emu_sq) next;
	struct emu_dev *dev;    /* the port it sends from */
	bool no_rule;           /* no rule of the e-switch leads its frames to a port */
	uint32_t num;           /* what the control segment must name: QP or SQ number */
	uint32_t pdn;
	uint32_t user_index;
	uint8_t *buf;
	struct emu_view *torn;  /* instead of buf */
	uint32_t wqebbs;        /* 64 B basic blocks, a power of two */
	volatile uint32_t *dbrec; /* the SQ's own word, already + 1 */
	uint16_t ci;
	uint16_t seen_pi;       /* last doorbell value, to count doorbells */
	enum emu_queue_state state;
	bool allow_mpw;
	struct emu_cq *cq;
};

struct emu_rq {
	LIST_ENTRY(emu_rq) next;
	struct emu_dev *dev;
	uint32_t num;
	uint32_t pdn;
	uint32_t user_index;
	uint8_t *buf;
	struct emu_view *torn;  /* instead of buf */
	uint32_t entries;       /* a power of two */
	uint32_t log_stride;    /* log2 of a WQE's bytes; 16 B a segment */
	volatile uint32_t *dbrec;
	uint16_t ci;
	uint16_t seen_pi;
	enum emu_queue_state state;
	struct emu_cq *cq;
	uint8_t counters;       /* its set of queue counters */
};

/* Receive hash fields; the bits of the PRM's rx_hash_field_select. */
enum {
	EMU_HASH_SRC_IP = 1 << 0,
	EMU_HASH_DST_IP = 1 << 1,
	EMU_HASH_L4_SPORT = 1 << 2,
	EMU_HASH_L4_DPORT = 1 << 3,
};

/* Where a flow leads: a queue, or several by hash. */
struct emu_tir {
	struct emu_dev *dev;
	uint32_t num;
	unsigned int n;         /* queues; 1 for a direct TIR */
	struct emu_rq **rqs;
	bool toeplitz;          /* otherwise the first queue */
	bool self_lb;           /* takes unicast frames that the function sends to itself */
	bool symmetric;
	uint8_t key[40];
	uint32_t fields;        /* EMU_HASH_* */
};

/* fte_match_set_lyr_2_4 is 64 bytes; PRM "Flow Table Entry match parameters". */
#define EMU_MATCH_BYTES 64

enum emu_flow_kind {
	EMU_FLOW_NORMAL,        /* value and mask */
	EMU_FLOW_ALL_DEFAULT,   /* everything nobody else wants (verbs ALL_DEFAULT) */
	EMU_FLOW_MC_DEFAULT,    /* the same for multicast */
};

/* From which port frames have to come, a mask of 0: from any. See eswitch.h. */
struct emu_source {
	uint32_t reg_c0, reg_c0_mask;
};

/* What a flow may count in besides itself. */
struct emu_flow_counter {
	uint64_t packets, bytes;
};

struct emu_flow {
	TAILQ_ENTRY(emu_flow) next;
	struct emu_dev *dev;
	struct emu_source source;
	enum emu_flow_kind kind;
	uint32_t priority;      /* lower first */
	uint8_t mask[EMU_MATCH_BYTES];
	uint8_t value[EMU_MATCH_BYTES];
	bool egress;            /* of frames that the port sends */
	bool any;               /* matches every frame; steer.c sets it */
	bool drop;
	struct emu_tir *tir;    /* NULL when dropping, and on the way out */
	uint32_t tag;           /* flow tag of the CQE, 24 bits */
	struct emu_flow_counter count;
	struct emu_flow_counter *counter; /* DevX', or NULL */
};

/* How a key's addresses turn into memory. */
enum emu_mkey_mode { EMU_MKEY_MTT, EMU_MKEY_MEMIC, EMU_MKEY_KLM, EMU_MKEY_KSM };

/* mkc access bits, as the PRM names them: local read and write, remote read and write. */
enum { EMU_ACCESS_LR = 1, EMU_ACCESS_LW = 2, EMU_ACCESS_RR = 4, EMU_ACCESS_RW = 8 };

struct emu_klm {
	uint32_t bytes;         /* KLM only */
	uint32_t key;
	uint64_t addr;
};

struct emu_mkey {
	struct emu_dev *dev;
	uint32_t key;           /* index << 8 | variant; the index is given by emu_mkey_add() */
	uint32_t pdn;
	uint32_t access;
	enum emu_mkey_mode mode;
	uint64_t start;         /* first address; 0 for zero-based keys */
	uint64_t len;
	uint8_t *base;          /* MTT and MEMIC: memory of the first address */
	struct emu_view *torn;  /* MTT: instead of base */
	unsigned int log_entry; /* KSM: log2 of an entry's bytes */
	uint32_t n;             /* KLM and KSM entries */
	struct emu_klm *entries;
	uint64_t *ends;         /* KLM: running sums of bytes; mkey.c makes and frees it */
	uint32_t n_ends;
};

/* Functions of the card; exactly config.ports of them. */
extern struct emu_dev *emu_devs;
extern unsigned int emu_dev_count;

/* The one lock: command side and engine. The engine gives way when somebody waits. */
void emu_lock(void);
void emu_unlock(void);
/*
 * Whether the calling thread holds it, the engine's included: what allocates or looks up
 * symbols for such a thread must not come for the lock again.
 */
bool emu_locked_here(void);

/* ---- memic.c ---- */

/* log2 of the largest alignment in units of 64 bytes: device_mem_cap's field */
enum { EMU_MEMIC_LOG_MAX_ALIGN = 6 };

#define EMU_MEMIC_PAGE 4096u

int emu_memic_init(struct emu_memic *m, uint64_t bytes);
/*
 * Take size bytes (a multiple of 64) in whole, consecutive pages of the window.
 * 0 with the first page, or -ENOMEM when bytes or pages are out.
 */
int emu_memic_take(struct emu_memic *m, uint64_t size, uint32_t *page);
void emu_memic_give(struct emu_memic *m, uint64_t size, uint32_t page);
/* Nobody has any of it any more. */
void emu_memic_clear(struct emu_memic *m);

#endif
