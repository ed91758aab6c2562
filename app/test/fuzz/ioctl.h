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

/* A step of the input. */
enum ioctl_step {
	IOCTL_CALL = 0,         /* and all that are none of the others */
	IOCTL_MEMORY = 8,
	IOCTL_RUN = 9,
	IOCTL_OPEN = 10,
	IOCTL_CLOSE = 11,
	IOCTL_MAP = 12,
	IOCTL_UNMAP = 13,
	IOCTL_CLOSE_FD = 14,
	IOCTL_RECEIVE = 15,
	IOCTL_STEPS = 16,
};

/* How an attribute of a call is given. */
enum ioctl_how {
	IOCTL_FITS = 0,
	IOCTL_LENGTH = 2,       /* a length of its own */
	IOCTL_ABSENT = 3,
	IOCTL_RAW = 4,          /* all members of the attribute as they come */
	IOCTL_NOWHERE = 5,      /* data at an address that is not there */
	IOCTL_MASK = 7,         /* others are as IOCTL_FITS */
};

/* Most data of an attribute. */
#define IOCTL_DATA_MAX 2048u

/* The method and the write command of some bytes, and the byte of an object or method. */
const struct emu_method *ioctl_method(uint8_t object, uint8_t method);
uint32_t ioctl_write(uint8_t byte);
uint8_t ioctl_method_byte(uint16_t id);
uint8_t ioctl_write_byte(uint64_t cmd);

/* Make the call that the input describes, on a file. */
void ioctl_call(struct process *process, struct emu_file *file, struct fuzz_in *in);

/* Stop unless all references between objects and queues are as they should. */
void ioctl_check(const struct process *process);

#endif
