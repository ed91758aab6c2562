/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_SYSFS_H
#define MLX5EMU_SYSFS_H

/*
 * The part of /sys in which libibverbs, libmlx5, EAL and the mlx5 PMD look for
 * ConnectX functions. Only the launcher writes it.
 */

#include <stddef.h>
#include <stdint.h>

#include "config.h"

#define EMU_MAC_LEN 6

/* MAC address of a port: b8:59:9f:aa:bb:cc and the index. */
void emu_sysfs_mac(unsigned int port, uint8_t mac[EMU_MAC_LEN]);

/*
 * --one-device: what a port's network device is called in the e-switch, and the switch:
 * IFLA_PHYS_PORT_NAME and IFLA_PHYS_SWITCH_ID.
 */
#define EMU_PORT_NAME_LEN 16
#define EMU_SWITCH_ID_LEN 8
void emu_sysfs_port_name(unsigned int port, char name[EMU_PORT_NAME_LEN]);
void emu_sysfs_switch_id(uint8_t id[EMU_SWITCH_ID_LEN]);

/*
 * Write the tree of all ports under the folder root, which is made if it is not there.
 * On error returns a negative errno and writes a sentence to err; what was written
 * so far stays.
 */
int emu_sysfs_write(const struct emu_config *cfg, const char *root, char *err, size_t err_len);

#endif
