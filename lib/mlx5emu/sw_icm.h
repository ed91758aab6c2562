/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_SW_ICM_H
#define MLX5EMU_SW_ICM_H

/* Interconnect context memory that software manages: --fault sw-icm. */

#include "uapi.h"

/* An allocation: blocks of a type's area, and memory that its MRs are over. */
struct emu_sw_icm_area {
	struct emu_dev *dev;
	unsigned int type;      /* index of the area */
	uint32_t block, blocks;
	uint8_t *mem;
};

/* MLX5_IB_DM_SW_ICM_ALLOWED_ACCESS in hw/mlx5/mlx5_ib.h */
#define EMU_SW_ICM_ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
	IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ZERO_BASED)

/* DM_ALLOC of an SW_ICM type. */
int emu_sw_icm_alloc(struct emu_call *call, uint64_t type, uint64_t length, uint32_t log_align);
void emu_sw_icm_free(struct emu_sw_icm_area *area);

/* Fields of the capability groups; none without the fault. */
void emu_sw_icm_general_caps(const struct emu_dev *dev, uint8_t *cap);
void emu_sw_icm_flow_table_caps(const struct emu_dev *dev, uint8_t *cap);
void emu_sw_icm_memory_caps(const struct emu_dev *dev, uint8_t *cap);

#endif
