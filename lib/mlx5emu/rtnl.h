/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_RTNL_H
#define MLX5EMU_RTNL_H

/*
 * With --one-device: what rtnetlink says of the network devices of an e-switch's ports and
 * cannot say of the TAP devices that stand for them, IFLA_PHYS_PORT_NAME and
 * IFLA_PHYS_SWITCH_ID.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* recvmsg(2) of the kernel's, and as in libc a point where a thread may be cancelled. */
ssize_t emu_rtnl_recvmsg(int fd, struct msghdr *msg, int flags);

/*
 * A recvmsg(2). True if fd is a rtnetlink socket and --one-device was given: *ret is the
 * answer. False if the kernel's is good.
 */
bool emu_rtnl_receive(int fd, struct msghdr *msg, int flags, ssize_t *ret);

/*
 * Copy a datagram of rtnetlink's with what is to be added, up to EMU_RTNL_MORE bytes a
 * message. Returns its new length.
 */
#define EMU_RTNL_MORE 32
size_t emu_rtnl_extend(uint8_t *to, const uint8_t *from, size_t len);

#endif
