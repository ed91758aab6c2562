/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_WQE_H
#define MLX5EMU_WQE_H

#include "hw.h"

#define WQEBB_BYTES 64
#define WQE_SEG_BYTES 16
#define WQE_MAX_DS 63           /* the field has 6 bits */

/* Vendor syndromes; the real numbers are not public, these tell our cases apart. */
enum {
	VENDOR_CTRL = 0xd1,     /* control segment */
	VENDOR_OPCODE = 0xd2,
	VENDOR_ETH = 0xd3,      /* Ethernet segment */
	VENDOR_DATA = 0xd4,     /* data segments */
	VENDOR_LENGTH = 0xd5,   /* of the frame */
	VENDOR_MKEY = 0xd6,
	VENDOR_FLUSH = 0xf9,
};

/* One send WQE, copied out of the ring. */
struct wqe {
	struct emu_sq *sq;
	uint8_t opmod, opcode, ds, ce;
	uint16_t index;
	uint16_t bbs;           /* basic blocks */
	uint32_t qpn;
	uint8_t syndrome, vendor; /* of the failure */
	uint8_t data[WQE_MAX_DS * WQE_SEG_BYTES];
};

/* Note why the WQE fails; returns -1 for the caller to pass on. */
int emu_wqe_fail(struct wqe *wqe, uint8_t syndrome, uint8_t vendor, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Execute it: frames go out. Returns 0, or -1 with syndrome and vendor set. */
int emu_wqe_run(struct wqe *wqe);

#endif
