/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_SHIM_H
#define MLX5EMU_SHIM_H

#include "objects.h"

/* A libc call that the library answers in the place of libc. */
#define EXPORT __attribute__((visibility("default")))

/* The device file behind a descriptor, or NULL. Call under the lock. */
struct emu_file *emu_file_of_fd(int fd);

#endif
