/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_DEVX_H
#define MLX5EMU_DEVX_H

/* Firmware commands that come through DevX. */

#include "uapi.h"
#include "verbs.h"

struct emu_devx_call {
	struct emu_file *file;
	struct emu_dev *dev;
	const uint8_t *in;
	size_t in_len;
	uint8_t *out;           /* zeroed */
	size_t out_len;
	const char *why;        /* of a refusal, for the trace */
};

struct emu_devx_cmd {
	uint16_t opcode;
	const char *name;
	uint16_t in_min, out_min;
	/* Each returns a PRM_STATUS_*. */
	int (*create)(struct emu_devx_call *call, struct emu_devx_obj *obj);
	int (*general)(struct emu_devx_call *call);
	/*
	 * Modify and query: on the object of the handle, which is of the kind that target
	 * creates and has the number in the field id.
	 */
	int (*on_object)(struct emu_devx_call *call, struct emu_obj *obj);
	uint16_t target;
	unsigned int id;
	void (*destroy)(struct emu_devx_obj *obj);
};

struct emu_devx_table {
	const struct emu_devx_cmd *cmds;
	unsigned int n;
};
#define EMU_DEVX_TABLE(name, c) const struct emu_devx_table name = { (c), EMU_COUNT(c) }

extern const struct emu_devx_table emu_devx_caps, emu_devx_mkeys, emu_devx_queues,
	emu_devx_receive, emu_devx_counters;

/* ---- devx_opcode.c: which way into firmware a command may take ---- */
bool emu_devx_is_create(uint16_t opcode, uint16_t op_mod);
bool emu_devx_is_modify(uint16_t opcode, uint16_t op_mod);
bool emu_devx_is_query(uint16_t opcode);
bool emu_devx_is_general(uint16_t opcode);
bool emu_devx_is_open(uint16_t opcode);

/* Registered user memory. */
struct emu_umem {
	struct emu_obj obj;
	uint32_t id;
	uint64_t addr, len;
	struct emu_pin *pin;
	bool writable;          /* by the card */
};

/* Refuse with a status and a reason. */
static inline int
emu_devx_refuse(struct emu_devx_call *call, int status, const char *why)
{
	call->why = why;
	return status;
}

/* The queue that a command on an object is about, DevX' own or one of verbs. */
struct emu_rq *emu_devx_rq(struct emu_obj *obj);
struct emu_sq *emu_devx_sq(struct emu_obj *obj);
/* Object of the calling file by creating command and number, or NULL. */
struct emu_devx_obj *emu_devx_find(struct emu_file *file, uint16_t opcode, uint32_t num);
/* The same, or one that verbs made and a command of that kind would have. */
struct emu_obj *emu_devx_find_any(struct emu_file *file, uint16_t opcode, uint32_t num);
/* PD and memory by number; the new object stands on what was found. NULL if unknown. */
struct emu_pd *emu_devx_use_pd(struct emu_devx_obj *obj, uint32_t pdn);
/* A part of a umem. */
struct emu_umem_part {
	struct emu_pin *pin;
	uint64_t off, len;      /* in the pin */
};
/*
 * len bytes at an offset of a umem; false when unknown, out of bounds or not for writing.
 * Refusing that at once is an assumption, as the card might fail later.
 */
bool emu_devx_use_umem(struct emu_devx_obj *obj, uint32_t id, uint64_t offset, uint64_t len,
		       bool write, struct emu_umem_part *part);
/* Whether a ring and its doorbell record lie as queue contexts can say. */
bool emu_devx_is_aligned(const struct emu_umem_part *buf, const struct emu_umem_part *dbrec);

#endif
