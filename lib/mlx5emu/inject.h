/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_INJECT_H
#define MLX5EMU_INJECT_H

/*
 * Where the faults of --fault bite. Without the fault each of these does nothing. All
 * are called under emu_lock(), or before the engine starts.
 */

#include "emu.h"
#include "wire.h"

/* ---- inject.c ---- */

/*
 * A command of a kind, by its traced name: 0, or the negative errno with which it has to
 * fail. The ioctl itself comes first, then the write or firmware command inside it.
 */
int emu_inject_ioctl(struct emu_dev *dev, const char *kind, bool first);
/* Whether this use of a key has to fail. */
bool emu_inject_mkey_use(struct emu_dev *dev, enum emu_mkey_use use);
/* A MEMIC allocation of size bytes: 0, or -ENOMEM while others have the memory. */
int emu_inject_dm_alloc(struct emu_dev *dev, uint64_t size);
/* Where an allocation of size bytes starts in its first page. */
uint64_t emu_inject_start_offset(const struct emu_dev *dev, uint64_t size);
/* log2 of the largest alignment of allocations, in units of 64 bytes. */
unsigned int emu_inject_log_max_align(const struct emu_dev *dev);
/* Members of the port's statistics that only a fault makes. */
void emu_inject_stats(const struct emu_dev *dev, json_t *port);

/* ---- wire_fault.c ---- */

/* Whether frames that the port sends pass through faults on their way to the wire. */
bool emu_wire_fault_any(const struct emu_dev *dev);
void emu_wire_fault_transmit(struct emu_dev *dev, const uint8_t *frame, size_t len);
/* Send what is due; true if there was some. */
bool emu_wire_fault_poll(struct emu_dev *dev);
void emu_wire_fault_close(struct emu_dev *dev);
void emu_wire_fault_stats(const struct emu_dev *dev, json_t *port);

/* ---- wc.c ---- */

/* File behind the CPU's mappings of device memory; a negative errno if there is none. */
int emu_wc_fd(struct emu_dev *dev);
/* A doorbell record moved: what the CPU stored before is seen from now on. */
void emu_wc_doorbell(struct emu_dev *dev);
/* The card wrote len bytes at p, an address of the engine's. */
void emu_wc_written(struct emu_dev *dev, const uint8_t *p, size_t len);
void emu_wc_close(struct emu_dev *dev);

/* ---- removal.c ---- */

/* Remove the device when its time has come, and bring it back. */
void emu_removal_poll(struct emu_dev *dev);
void emu_removal_now(struct emu_dev *dev);

#endif
