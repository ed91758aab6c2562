/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef TEST_FUZZ_IOCTL_H
#define TEST_FUZZ_IOCTL_H

/* Parts of the target that makes ioctls. */

#include "card.h"
#include "objects.h"
#include "uapi.h"

/*
 * All the memory that the process under test has: at a fixed address, so that an input
 * can name places in it. The first part is the program's (rings, records, buffers), the
 * rest holds the arguments of the call being made. What lies elsewhere is not mapped, as
 * far as the card can tell.
 */
#define ARENA_AT 0x300000000000u
#define ARENA_USER (128u * 1024)
#define ARENA_CALL (64u * 1024)

void arena_clear(void);
/* Room for a call's argument; 8-byte aligned. Forgotten by the next call. */
uint8_t *arena_take(size_t len);
void arena_call_begin(void);

#define IOCTL_FILES 4
#define IOCTL_FDS 16

/* The program: what it has open. */
struct process {
	struct card card;
	struct emu_file *files[IOCTL_FILES];
	int fds[IOCTL_FDS];     /* event files; -1 for none */
};

/* close(2) of one of them, with what the card's shim does then. */
void process_close_fd(struct process *process, unsigned int i);

/* Make the call that the input describes, on a file. */
void ioctl_call(struct process *process, struct emu_file *file, struct fuzz_in *in);

/* Stop unless all references between objects and queues are as they should. */
void ioctl_check(const struct process *process);

#endif
