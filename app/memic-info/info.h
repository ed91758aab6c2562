/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MEMIC_INFO_H
#define MEMIC_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <memic.h>

/* Exit status, as DPDK's and meson's tests have it. */
enum { INFO_GOOD = 0, INFO_FAILED = 1, INFO_USAGE = 2, INFO_NOTHING = 77 };

struct info_options {
	bool json;
	bool probe;
	const char *device;             /* NULL: all */
	bool alloc;
	enum memic_dm_type alloc_type;
	size_t alloc_bytes;
	unsigned int port;
	unsigned int removal_seconds;
};

#define INFO_PORTS 8
#define INFO_CHECKS 32
#define INFO_SENTENCE 768       /* of libmemic */

struct info_port {
	const char *state;
	const char *link_layer;
	unsigned int speed_gbps;        /* 0: not known */
};

/* Whether a type of device memory can be allocated, by trial. */
struct info_type {
	bool may;
	char why[INFO_SENTENCE];
};

struct info_device {
	char name[64];
	bool open;
	char error[INFO_SENTENCE];      /* why it could not be opened */
	struct memic_caps caps;
	char board[64];                 /* PSID; "" where it is not told */
	unsigned int part_id;           /* of the vendor, as 4125 */
	int numa;                       /* -1: none */
	char pcie[64];                  /* link, "" where it is not told */
	unsigned int n_ports;
	struct info_port ports[INFO_PORTS];
	bool measured;                  /* what can be had now is known */
	size_t total, largest;
	struct info_type types[MEMIC_DM_TYPES];

	bool alloc_tried;
	int alloc_rc;                   /* negative errno */
	char alloc_text[INFO_SENTENCE];

	bool probed;
	int missing;                    /* needed checks without a yes */
	unsigned int n_checks;
	struct memic_check checks[INFO_CHECKS];
};

struct info {
	struct info_options options;
	unsigned int n;
	struct info_device *devices;
};

/* options.c: 0; INFO_USAGE after a message; -1 when only help was wanted. */
int info_options_parse(struct info_options *options, int argc, char **argv);

/* sysfs.c */
void info_sysfs_text(const struct ibv_device *ibdev, const char *file, char *text, size_t size);
void info_sysfs_pcie(const struct ibv_device *ibdev, char *text, size_t size);
/* Version of a shared library that is loaded, as "1.14.44.0"; "" if its file has none. */
void info_library_version(void *symbol, char *text, size_t size);

/* device.c: look at a device, allocate and probe as the options say. */
void info_device_look(struct info_device *d, const char *name, const struct info_options *options);

/* What is printed. */
void info_print_text(const struct info *info);  /* text.c */
int info_print_json(const struct info *info);   /* json.c: 0 or -1 */

#endif /* MEMIC_INFO_H */
