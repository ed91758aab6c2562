/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_NLDEV_H
#define MLX5EMU_NLDEV_H

/*
 * RDMA netlink, as drivers/infiniband/core/nldev.c answers it: devices, their ports and
 * network interfaces, their character devices.
 */

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* A socket of protocol NETLINK_RDMA: a descriptor, or -1 with errno. */
int emu_nldev_socket(int type);

/*
 * Requests on such a socket. True if fd is one: *ret is what sendmsg(2) returns, and the
 * answers can be received. False if the kernel is to send.
 */
bool emu_nldev_send(int fd, const struct msghdr *msg, ssize_t *ret);

/* A socket was closed. */
void emu_nldev_closed(const struct stat *st);

#endif
