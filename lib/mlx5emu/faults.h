/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_FAULTS_H
#define MLX5EMU_FAULTS_H

/*
 * Where it is not known what hardware does, or where it may fail, an option makes the
 * card answer the other way. "--fault help" prints the table of faults.c.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Whether and when a kind of key over MEMIC is refused. */
enum emu_key_fault { EMU_KEY_WORKS, EMU_KEY_REFUSED, EMU_KEY_FAILS };

enum emu_ordering_fault { EMU_ORDERING_TAKEN, EMU_ORDERING_REFUSED, EMU_ORDERING_DEMANDED };

/* What becomes of frames that a function sends to itself. */
enum emu_loop_fault { EMU_LOOP_WORKS, EMU_LOOP_REFUSED, EMU_LOOP_OFF, EMU_LOOP_CORRUPTS };

/* What is freed though a memory region stands on it. */
enum emu_busy_fault { EMU_BUSY_TOLD, EMU_BUSY_DM_FREED, EMU_BUSY_PD_FREED };

/* What a queue does with a key; bits. */
enum emu_mkey_use { EMU_MKEY_READ = 1, EMU_MKEY_WRITE = 2 };

/* CPU touches of device memory that are trapped; bits. */
enum { EMU_TRAP_READ = 1, EMU_TRAP_WRITE = 2 };

struct emu_faults {
	enum emu_key_fault klm, ksm, direct;
	enum emu_ordering_fault ordering;
	enum emu_loop_fault loopback;
	uint64_t dm_multiple;           /* lengths that are no multiple of it are refused; 0 any */
	uint64_t memic_held;            /* bytes that other processes or functions have */
	uint64_t memic_returned;        /* they give them back at this allocation; 0 never */
	uint64_t memic_run;             /* largest piece that can be had; 0 all */
	uint64_t start_offset;          /* where allocations begin in their first page */
	bool no_devx;
	int node_errno;                 /* the device's node cannot be opened; 0 it can */
	bool one_page;                  /* CPU mappings show their first page only */
	enum emu_busy_fault not_busy;
	bool sw_icm;
	uint64_t ioctl_n;               /* this ioctl (of a kind) fails; 0 none */
	bool ioctl_on;                  /* and so do all after it */
	int ioctl_errno;
	char ioctl_kind[40];            /* method or write command by its traced name, "" for any */
	uint64_t mkey_use;              /* this use of a key is a protection error */
	unsigned int mkey_use_kinds;    /* EMU_MKEY_*: uses that count; 0 none */
	uint64_t drop;                  /* every so manieth frame is lost on the wire; 0 none */
	uint64_t delay_us;              /* frames spend that long on the wire */
	uint64_t reorder;               /* every so manieth frame swaps with the next; 0 none */
	uint64_t remove_frames;         /* the device goes after so many frames; 0 never */
	uint64_t remove_ms;             /* or so long after its first context was opened */
	uint64_t return_ms;             /* it is there again so long after that; 0 never */
	bool return_closed;             /* or once what was opened before is closed */
	bool write_combining;           /* CPU stores reach the card with the next doorbell */
	uint64_t lose_stores;           /* from this doorbell on they never do; 0 never */
	uint64_t lose_loads;            /* from this one on the CPU sees no writes of the card */
	bool any_variant;               /* the low byte of keys is not looked at */
	unsigned int trap;              /* EMU_TRAP_* */
};

/*
 * Take one --fault NAME[=VALUE]. On error a negative errno with a sentence in err, and
 * nothing changed.
 */
int emu_fault_parse(struct emu_faults *faults, const char *spec, char *err, size_t err_len);
void emu_fault_help(FILE *out);

#endif
