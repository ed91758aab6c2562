/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_CONFIG_H
#define MLX5EMU_CONFIG_H

/*
 * What the launcher was asked for. The launcher parses its command line with
 * emu_config_set(), hands the result to the preloaded library as text in one
 * environment variable, and the library parses that with the same code.
 */

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "faults.h"

#define EMU_MAX_PORTS 8
#define EMU_MAX_FAULTS 32
#define EMU_ENV "MLX5EMU"        /* the variable */

enum emu_wire_kind { EMU_WIRE_LOOP, EMU_WIRE_PAIR, EMU_WIRE_TAP, EMU_WIRE_PCAP, EMU_WIRE_CHECK };

/* A card as public ibv_devinfo logs show it. */
struct emu_preset {
	const char *name;
	uint16_t device_id;     /* PCI */
	const char *board_id;   /* PSID */
	uint32_t fw[3];         /* major, minor, sub-minor */
	uint64_t memic_bytes;   /* max_dm_size */
	unsigned int ports;     /* functions of such a card */
};

struct emu_config {
	unsigned int ports;     /* the preset's unless --ports was given */
	bool ports_given;
	bool one_device;
	const struct emu_preset *preset;
	uint64_t memic_bytes;   /* the preset's unless --memic came after it */
	bool memic_given;
	enum emu_wire_kind wire;
	char pcap_in[PATH_MAX], pcap_out[PATH_MAX];
	int tap_fds[EMU_MAX_PORTS]; /* --wire tap: descriptors that the launcher hands down */
	uint64_t check_count;
	uint32_t check_bytes;   /* frame size without FCS */
	unsigned int n_faults;
	char faults[EMU_MAX_FAULTS][128]; /* as given */
	struct emu_faults fault;          /* what they say together */
	char stats[PATH_MAX];   /* "" for none */
	char trace[PATH_MAX];
	char dir[PATH_MAX];     /* the run's folder: generated sysfs */
	bool root;
};

void emu_config_init(struct emu_config *cfg);

/*
 * Set one option by its long name without the dashes ("memic", "wire", ...).
 * On error returns a negative errno and writes a sentence to err; cfg is as before.
 */
int emu_config_set(struct emu_config *cfg, const char *name, const char *value,
		   char *err, size_t err_len);

/* Checks that need all options together; same errors. */
int emu_config_check(const struct emu_config *cfg, char *err, size_t err_len);

/* Text of EMU_ENV, to be freed; and back. Options are lines "name=value". */
char *emu_config_to_text(const struct emu_config *cfg);
int emu_config_from_text(struct emu_config *cfg, const char *text, char *err, size_t err_len);

const struct emu_preset *emu_preset_find(const char *name);

#endif
