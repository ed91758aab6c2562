/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef E2E_STEP_COUNT_H
#define E2E_STEP_COUNT_H

#include "step.h"

/* Between the calls that may fail and who counts them. */

/* Count a call of this thread; true, with errno set, if it has to fail. */
bool step_fails(enum step_kind kind, const char *name, int err);
/* What is called until step_leave() is part of one call, which was counted. */
void step_enter(void);
void step_leave(void);
/* Whether something is to be lost, see plant in step.h. */
bool step_loses_free(void);
bool step_loses_destroy(void);

/* Blocks that were allocated and not freed, by all threads. */
size_t step_live_blocks(void);

#endif /* E2E_STEP_COUNT_H */
