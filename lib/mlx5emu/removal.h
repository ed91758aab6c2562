/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_REMOVAL_H
#define MLX5EMU_REMOVAL_H

/* What a removed device answers; see inject.h for how it goes. */

#include "uapi.h"

/* Whether the kernel says EIO to a method, or to a command inside INVOKE_WRITE. */
bool emu_removal_refuses(const struct emu_file *file, const struct emu_method *method);
bool emu_removal_refuses_write(const struct emu_file *file, uint32_t cmd);

#endif
