/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "info.h"

#define COLUMNS 100

/* A text from a column on, broken between words. */
static void
print_wrapped(const char *text, int column)
{
	int room = COLUMNS - column, len, used = 0;

	while (*text != '\0') {
		len = (int)strcspn(text, " ");
		if (used > 0 && used + 1 + len > room) {
			printf("\n%*s", column, "");
			used = 0;
		}
		used += printf("%s%.*s", used > 0 ? " " : "", len, text);
		text += len;
		text += strspn(text, " ");
	}
	printf("\n");
}

static const char *
yes_no(bool yes)
{
	return yes ? "yes" : "no";
}

static void
print_ports(const struct info_device *d)
{
	unsigned int i;

	for (i = 0; i < d->n_ports; i++) {
		printf("  port %u          %s, %s", i + 1, d->ports[i].state,
		       d->ports[i].link_layer);
		if (d->ports[i].speed_gbps != 0)
			printf(", %u Gb/s", d->ports[i].speed_gbps);
		printf("\n");
	}
}

static void
print_memory(const struct info_device *d)
{
	printf("  max_dm_size     %" PRIu64 " bytes\n", d->caps.max_dm_size);
	if (d->measured)
		printf("  free now        %zu bytes, %zu of them in one piece\n", d->total,
		       d->largest);
	else
		printf("  free now        could not be found out\n");
	printf("  limits          pages of %ld bytes, alignment up to %llu bytes, ",
	       sysconf(_SC_PAGESIZE), 1ull << d->caps.log_max_align);
	if (d->caps.memic_bar_size != 0)
		printf("BAR window of %" PRIu64 " bytes\n", d->caps.memic_bar_size);
	else
		printf("size of the BAR window unknown\n");
	printf("  keys            DevX %s, relaxed ordered writes %s, reads %s\n",
	       yes_no(d->caps.devx), yes_no(d->caps.relaxed_ordering_write),
	       yes_no(d->caps.relaxed_ordering_read));
}

static void
print_types(const struct info_device *d)
{
	enum memic_dm_type type;

	printf("\n  %-30s %-8s %s\n", "type", "may", "why");
	for (type = 0; type < MEMIC_DM_TYPES; type++) {
		printf("  %-30s %-8s ", memic_dm_type_name(type), yes_no(d->types[type].may));
		print_wrapped(d->types[type].why, 42);
	}
}

static void
print_checks(const struct info_device *d)
{
	unsigned int i;

	printf("\n  %-30s %-8s %s\n", "check (* needed)", "answer", "what was seen");
	for (i = 0; i < d->n_checks; i++) {
		const struct memic_check *c = &d->checks[i];

		printf("  %s%-*s %-8s ", c->name, 30 - (int)strlen(c->name), c->needed ? "*" : "",
		       memic_answer_name(c->answer));
		print_wrapped(c->reason, 42);
	}
	if (d->missing == 0)
		printf("\n  All that is needed works.\n");
	else if (d->missing > 0)
		printf("\n  %d of what is needed did not prove to work.\n", d->missing);
}

static void
print_device(const struct info_device *d)
{
	if (!d->open) {
		printf("%s\n  ", d->name);
		print_wrapped(d->error, 2);
		return;
	}
	printf("%s\n", d->name);
	printf("  address         %s\n", d->caps.address);
	printf("  part            MT%u", d->part_id);
	if (d->board[0] != '\0')
		printf(", board %s", d->board);
	printf("\n  firmware        %s\n", d->caps.fw_ver);
	if (d->numa >= 0)
		printf("  NUMA node       %d\n", d->numa);
	else
		printf("  NUMA node       none\n");
	if (d->pcie[0] != '\0')
		printf("  PCIe            %s\n", d->pcie);
	print_ports(d);
	print_memory(d);
	print_types(d);
	if (d->alloc_tried) {
		printf("\n  --alloc         %s", d->alloc_rc == 0 ? "" : "failed: ");
		print_wrapped(d->alloc_text, 18);
	}
	if (d->probed)
		print_checks(d);
	if (d->error[0] != '\0') {
		printf("\n  ");
		print_wrapped(d->error, 2);
	}
}

void
info_print_text(const struct info *info)
{
	unsigned int i;

	for (i = 0; i < info->n; i++) {
		if (i > 0)
			printf("\n");
		print_device(&info->devices[i]);
	}
}
