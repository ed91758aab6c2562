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
	/* modify and query, on the object that the handle names */
	int (*modify)(struct emu_devx_call *call, struct emu_obj *obj);
	void (*destroy)(struct emu_devx_obj *obj);
};

struct emu_devx_table {
	const struct emu_devx_cmd *cmds;
	unsigned int n;
};
#define EMU_DEVX_TABLE(name, c) const struct emu_devx_table name = { (c), EMU_COUNT(c) }

extern const struct emu_devx_table emu_devx_caps, emu_devx_mkeys, emu_devx_queues,
	emu_devx_receive;

/* Registered user memory. */
struct emu_umem {
	struct emu_obj obj;
	uint32_t id;
	uint64_t addr, len;
};

/* Refuse with a status and a reason. */
static inline int
emu_devx_refuse(struct emu_devx_call *call, int status, const char *why)
{
	call->why = why;
	return status;
}

/* Object of the calling file by creating command and number, or NULL. */
struct emu_devx_obj *emu_devx_find(struct emu_file *file, uint16_t opcode, uint32_t num);
/* PD and memory by number; the new object stands on what was found. NULL if unknown. */
struct emu_pd *emu_devx_use_pd(struct emu_devx_obj *obj, uint32_t pdn);
/* Address of len bytes at an offset of a umem, or NULL when unknown or out of bounds. */
void *emu_devx_use_umem(struct emu_devx_obj *obj, uint32_t id, uint64_t offset, uint64_t len);

#endif
