/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_NETDEV_H
#define MLX5EMU_NETDEV_H

/*
 * What mlx5_core's network device would answer where the TAP device that stands for it
 * answers otherwise: ethtool, the limits of the MTU, and the link that goes with the
 * interface. All may be called from any thread, without emu_lock().
 */

#include <stdbool.h>

struct emu_dev;

/* Take over what the interface is set to when the card is made. */
void emu_netdev_look(struct emu_dev *dev);

/*
 * An ioctl on a socket. True if it was ours and is answered: *ret is what ioctl(2)
 * returns, with errno set. False if the kernel is to answer.
 */
bool emu_netdev_ioctl(int fd, unsigned long request, void *arg, int *ret);

/*
 * Open a file of counters below /sys/class/infiniband/mlx5_N/ports/1/hw_counters: a
 * descriptor of its present text, or -1 if the path is no such file.
 */
int emu_netdev_open_counter(const char *path, int flags);

#endif
