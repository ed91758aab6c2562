/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "objects.h"
#include "uapi.h"

/* A card on which CQs do not know who stands on them. */

void __real_emu_obj_use(struct emu_obj *obj, struct emu_obj *other);
void __wrap_emu_obj_use(struct emu_obj *obj, struct emu_obj *other);

void
__wrap_emu_obj_use(struct emu_obj *obj, struct emu_obj *other)
{
	if (other == NULL || other->class->type != UVERBS_OBJECT_CQ)
		__real_emu_obj_use(obj, other);
}
