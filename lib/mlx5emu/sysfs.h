/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_SYSFS_H
#define MLX5EMU_SYSFS_H

/*
 * The part of /sys in which libibverbs, libmlx5, EAL and the mlx5 PMD look for
 * ConnectX functions. Only the launcher uses it.
 */

#include <stddef.h>
#include <stdint.h>

#include "config.h"

#define EMU_MAC_LEN 6

/* MAC address of a port: b8:59:9f:aa:bb:cc and the index. */
void emu_sysfs_mac(unsigned int port, uint8_t mac[EMU_MAC_LEN]);

/*
 * Write the tree of all ports under the folder root, which is made if it is not there.
 * On error returns a negative errno and writes a sentence to err; what was written
 * so far stays.
 */
int emu_sysfs_write(const struct emu_config *cfg, const char *root, char *err, size_t err_len);

#endif
