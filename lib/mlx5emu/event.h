/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_EVENT_H
#define MLX5EMU_EVENT_H

/* Event files: completion channels, asynchronous events, DevX commands and events. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "objects.h"

/*
 * A SEQPACKET socket pair: the process reads one end as it would read the kernel's
 * file, the card writes to the other. The emulator keeps a duplicate of the reader's
 * end, to take back events that were sent and not yet read.
 */
struct emu_channel {
	struct emu_obj obj;
	int user_fd;            /* our duplicate of the reader's end */
	int dev_fd;
	bool omit_data;         /* DevX events: header only */
};

/* Channel behind a descriptor of the process, of a class type; NULL if it is none. */
struct emu_channel *emu_channel_of_fd(const struct emu_file *file, int fd, uint16_t type);
/* Take back unread events whose first 8 bytes are tag; how many there were. */
unsigned int emu_channel_recall(struct emu_channel *channel, uint64_t tag);

/* For close(2): whether an inode is a channel, and the emulator's own descriptor of it. */
bool emu_channel_find(dev_t dev, ino_t ino, int *own_fd);
void emu_channel_closed(dev_t dev, ino_t ino);

/* Completion events of a CQ go to a channel, marked with a tag. */
void emu_channel_watch(struct emu_channel *channel, struct emu_cq *cq, uint64_t tag);

/* Asynchronous event of a file's context (enum ibv_event_type). */
void emu_async_event(struct emu_file *file, uint32_t type, uint64_t element);

#endif
