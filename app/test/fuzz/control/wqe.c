/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "emu.h"

/* A card that now and then loses a completion. */

bool __real_emu_cq_push(struct emu_cq *cq, uint8_t cqe[64], unsigned int opcode);
bool __wrap_emu_cq_push(struct emu_cq *cq, uint8_t cqe[64], unsigned int opcode);

bool
__wrap_emu_cq_push(struct emu_cq *cq, uint8_t cqe[64], unsigned int opcode)
{
	if (opcode == EMU_CQE_RESP_SEND && cq->pi % 2 == 1)
		return true;
	return __real_emu_cq_push(cq, cqe, opcode);
}
