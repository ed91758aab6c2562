/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "faults.h"

/*
 * NAME[=VALUE]. What a value is follows from the function; each reads the whole text
 * or fails.
 */
struct fault {
	const char *name;
	const char *value;              /* as help shows it, NULL for none */
	const char *text;
	bool (*read)(struct emu_faults *f, const struct fault *self, const char *value);
	size_t offset;                  /* of the member that numbers and switches set */
};

/* ---- values ---- */

static bool
number(const char *text, uint64_t *out)
{
	static const struct { char suffix; unsigned int shift; } units[] = {
		{ 'K', 10 }, { 'M', 20 }, { 'G', 30 },
	};
	unsigned int shift = 0;
	uint64_t v;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	v = strtoull(text, &end, 0);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (toupper((unsigned char)*end) == units[i].suffix)
			shift = units[i].shift;
	if (shift != 0)
		end++;
	if (errno != 0 || *end != '\0' || v == 0 || v << shift >> shift != v)
		return false;
	*out = v << shift;
	return true;
}

static void *
member(struct emu_faults *f, const struct fault *self)
{
	return (char *)f + self->offset;
}

static bool
read_number(struct emu_faults *f, const struct fault *self, const char *value)
{
	return number(value, member(f, self));
}

/* Times are far below what arithmetic in nanoseconds holds. */
#define TIME_MAX UINT64_C(1000000000)

static bool
time_number(const char *text, uint64_t *out)
{
	uint64_t v;

	if (!number(text, &v) || v > TIME_MAX)
		return false;
	*out = v;
	return true;
}

static bool
read_time(struct emu_faults *f, const struct fault *self, const char *value)
{
	return time_number(value, member(f, self));
}

static bool
read_switch(struct emu_faults *f, const struct fault *self, const char *value)
{
	(void)value;
	*(bool *)member(f, self) = true;
	return true;
}

static bool
read_key(struct emu_faults *f, const struct fault *self, const char *value)
{
	enum emu_key_fault *key = member(f, self);

	if (strcmp(value, "create") == 0)
		*key = EMU_KEY_REFUSED;
	else if (strcmp(value, "use") == 0)
		*key = EMU_KEY_FAILS;
	else
		return false;
	return true;
}

static bool
read_direct(struct emu_faults *f, const struct fault *self, const char *value)
{
	(void)self;
	(void)value;
	f->direct = EMU_KEY_FAILS;
	return true;
}

static bool
read_ordering(struct emu_faults *f, const struct fault *self, const char *value)
{
	(void)self;
	if (strcmp(value, "refused") == 0)
		f->ordering = EMU_ORDERING_REFUSED;
	else if (strcmp(value, "demanded") == 0)
		f->ordering = EMU_ORDERING_DEMANDED;
	else
		return false;
	return true;
}

static bool
read_loopback(struct emu_faults *f, const struct fault *self, const char *value)
{
	(void)self;
	if (strcmp(value, "refused") == 0)
		f->loopback = EMU_LOOP_REFUSED;
	else if (strcmp(value, "off") == 0)
		f->loopback = EMU_LOOP_OFF;
	else if (strcmp(value, "corrupts") == 0)
		f->loopback = EMU_LOOP_CORRUPTS;
	else
		return false;
	return true;
}

static bool
read_start_offset(struct emu_faults *f, const struct fault *self, const char *value)
{
	uint64_t v;

	(void)self;
	if (!number(value, &v) || v % 64 != 0 || v >= 4096)
		return false;
	f->start_offset = v;
	return true;
}

static bool
read_errno(const char *name, int *out)
{
	for (int e = 1; e < 134; e++) {
		const char *known = strerrorname_np(e);

		if (known == NULL || strcmp(known, name) != 0)
			continue;
		*out = e;
		return true;
	}
	return false;
}

static bool
read_not_busy(struct emu_faults *f, const struct fault *self, const char *value)
{
	(void)self;
	if (strcmp(value, "dm") == 0)
		f->not_busy = EMU_BUSY_DM_FREED;
	else if (strcmp(value, "pd") == 0)
		f->not_busy = EMU_BUSY_PD_FREED;
	else
		return false;
	return true;
}

static bool
read_node(struct emu_faults *f, const struct fault *self, const char *value)
{
	(void)self;
	return read_errno(value, &f->node_errno);
}

/* N[+]:ERRNO[:KIND] */
static bool
read_ioctl(struct emu_faults *f, const struct fault *self, const char *value)
{
	char text[100], *err, *kind;
	uint64_t n;
	size_t digits;
	bool on;
	int e;

	(void)self;
	if (strlen(value) >= sizeof(text))
		return false;
	strcpy(text, value);
	err = strchr(text, ':');
	if (err == NULL)
		return false;
	*err++ = '\0';
	digits = strcspn(text, "+");
	on = strcmp(text + digits, "+") == 0;
	if (on)
		text[digits] = '\0';
	kind = strchr(err, ':');
	if (kind != NULL)
		*kind++ = '\0';
	if (!number(text, &n) || !read_errno(err, &e) ||
	    (kind != NULL && strlen(kind) >= sizeof(f->ioctl_kind)))
		return false;
	f->ioctl_n = n;
	f->ioctl_on = on;
	f->ioctl_errno = e;
	strcpy(f->ioctl_kind, kind == NULL ? "" : kind);
	return true;
}

/* N, read:N or write:N */
static bool
read_mkey_use(struct emu_faults *f, const struct fault *self, const char *value)
{
	(void)self;
	f->mkey_use_kinds = EMU_MKEY_READ | EMU_MKEY_WRITE;
	if (strncmp(value, "read:", 5) == 0) {
		f->mkey_use_kinds = EMU_MKEY_READ;
		value += 5;
	} else if (strncmp(value, "write:", 6) == 0) {
		f->mkey_use_kinds = EMU_MKEY_WRITE;
		value += 6;
	}
	return number(value, &f->mkey_use);
}

/* frames:N or ms:N */
static bool
read_remove(struct emu_faults *f, const struct fault *self, const char *value)
{
	(void)self;
	if (strncmp(value, "frames:", 7) == 0)
		return number(value + 7, &f->remove_frames);
	if (strncmp(value, "ms:", 3) == 0)
		return time_number(value + 3, &f->remove_ms);
	return false;
}

/* MILLISECONDS or closed */
static bool
read_return(struct emu_faults *f, const struct fault *self, const char *value)
{
	(void)self;
	if (strcmp(value, "closed") != 0)
		return time_number(value, &f->return_ms);
	f->return_closed = true;
	return true;
}

/* stores:N or loads:N */
static bool
read_incoherent(struct emu_faults *f, const struct fault *self, const char *value)
{
	(void)self;
	if (strncmp(value, "stores:", 7) == 0)
		return number(value + 7, &f->lose_stores);
	if (strncmp(value, "loads:", 6) == 0)
		return number(value + 6, &f->lose_loads);
	return false;
}

static bool
read_trap(struct emu_faults *f, const struct fault *self, const char *value)
{
	(void)self;
	if (strcmp(value, "read") == 0)
		f->trap = EMU_TRAP_READ;
	else if (strcmp(value, "write") == 0)
		f->trap = EMU_TRAP_WRITE;
	else if (strcmp(value, "all") == 0)
		f->trap = EMU_TRAP_READ | EMU_TRAP_WRITE;
	else
		return false;
	return true;
}

/* ---- table ---- */

#define AT(member) offsetof(struct emu_faults, member)

static const struct fault table[] = {
	{ "klm", "create|use", "KLM keys over device memory are refused (EREMOTEIO), or each use "
	  "of one is a protection error", read_key, AT(klm) },
	{ "ksm", "create|use", "the same for KSM keys", read_key, AT(ksm) },
	{ "direct", NULL, "each use of a DM MR's own key by a queue is a protection error",
	  read_direct, 0 },
	{ "ordering", "refused|demanded", "relaxed ordering is no capability and refused for DM "
	  "MRs (EINVAL), or mkeys without ordering attributes are refused (EREMOTEIO)",
	  read_ordering, 0 },
	{ "loopback", "refused|off|corrupts", "queues that take frames of their own function are "
	  "refused (EREMOTEIO), or such frames leave by the wire, or arrive with a wrong byte",
	  read_loopback, 0 },
	{ "dm-multiple", "BYTES", "lengths of device memory and of MRs over it that are no "
	  "multiple are refused (EINVAL)", read_number, AT(dm_multiple) },
	{ "memic-held", "BYTES", "others hold so much of the device memory", read_number,
	  AT(memic_held) },
	{ "memic-returned", "N", "they give it back just before the Nth allocation", read_number,
	  AT(memic_returned) },
	{ "memic-run", "BYTES", "no single allocation can have more (ENOMEM)", read_number,
	  AT(memic_run) },
	{ "start-offset", "BYTES", "allocations begin there in their first page if their last one "
	  "leaves the room, and cannot be aligned further (a multiple of 64 below 4096)",
	  read_start_offset, 0 },
	{ "one-page", NULL, "mappings of device memory show the CPU their first page over and over",
	  read_switch, AT(one_page) },
	{ "not-busy", "dm|pd", "device memory, or a protection domain, is freed in spite of the "
	  "memory regions that stand on it", read_not_busy, 0 },
	{ "node", "ERRNO", "the device's node cannot be opened", read_node, 0 },
	{ "no-devx", NULL, "contexts with DevX are refused (EINVAL)", read_switch, AT(no_devx) },
	{ "sw-icm", NULL, "the SW_ICM types are there for who has the capabilities", read_switch,
	  AT(sw_icm) },
	{ "ioctl", "N[+]:ERRNO[:KIND]", "the Nth ioctl of a device fails, with a + all from the "
	  "Nth on; of those of a KIND, a name as --trace shows it", read_ioctl, 0 },
	{ "mkey-use", "[read:|write:]N", "the Nth use of a key by a queue, or the Nth read or "
	  "write with one, is a protection error", read_mkey_use, 0 },
	{ "drop", "N", "every Nth frame that a port sends is lost on the wire", read_number,
	  AT(drop) },
	{ "delay", "MICROSECONDS", "frames that a port sends spend that long on the wire",
	  read_time, AT(delay_us) },
	{ "reorder", "N", "every Nth frame that a port sends changes places with the next",
	  read_number, AT(reorder) },
	{ "remove", "frames:N|ms:N", "the device is removed after N frames sent and received, or N "
	  "milliseconds after its first context was opened", read_remove, 0 },
	{ "return", "MILLISECONDS|closed", "a device that was removed is there again after that "
	  "time, or once all that was opened before is closed, for who opens it then",
	  read_return, 0 },
	{ "write-combining", NULL, "what the CPU stores to device memory is seen by the card only "
	  "when the next doorbell record moves", read_switch, AT(write_combining) },
	{ "incoherent", "stores:N|loads:N", "from the Nth doorbell of a device on, its card sees "
	  "no more stores of the CPU to device memory, or the CPU nothing that the card writes "
	  "there",
	  read_incoherent, 0 },
	{ "any-variant", NULL, "keys are told apart by their index alone, and a wrong low byte "
	  "passes", read_switch, AT(any_variant) },
	{ "trap", "read|write|all", "CPU accesses to device memory are counted and reported with "
	  "a backtrace", read_trap, 0 },
};

#define FAULTS (sizeof(table) / sizeof(table[0]))

static const struct fault *
find(const char *name, size_t len)
{
	for (size_t i = 0; i < FAULTS; i++)
		if (strlen(table[i].name) == len && strncmp(table[i].name, name, len) == 0)
			return &table[i];
	return NULL;
}

int
emu_fault_parse(struct emu_faults *faults, const char *spec, char *err, size_t err_len)
{
	size_t len = strcspn(spec, "=");
	const char *value = spec[len] == '=' ? spec + len + 1 : NULL;
	const struct fault *fault = find(spec, len);
	struct emu_faults changed = *faults;

	if (fault == NULL) {
		snprintf(err, err_len, "unknown fault '%.*s'; --fault help lists them", (int)len,
			 spec);
		return -EINVAL;
	}
	if ((fault->value == NULL) != (value == NULL)) {
		snprintf(err, err_len, fault->value == NULL ? "fault %s takes no value" :
			 "fault %s wants =%s", fault->name, fault->value);
		return -EINVAL;
	}
	if (!fault->read(&changed, fault, value)) {
		snprintf(err, err_len, "fault %s: '%s' is not %s", fault->name, value,
			 fault->value);
		return -EINVAL;
	}
	*faults = changed;
	return 0;
}

void
emu_fault_help(FILE *out)
{
	fprintf(out, "--fault NAME[=VALUE], several may be given; sizes take K, M and G\n\n");
	for (size_t i = 0; i < FAULTS; i++)
		fprintf(out, "  %s%s%s\n      %s\n", table[i].name,
			table[i].value == NULL ? "" : "=",
			table[i].value == NULL ? "" : table[i].value, table[i].text);
}
