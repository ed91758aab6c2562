/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Far more than any card has; keeps byte arithmetic away from overflow. */
#define MEMIC_MAX (UINT64_C(1) << 30)

/* Frames of the check wire: shortest Ethernet frame without FCS, jumbo with VLAN. */
#define CHECK_BYTES_MIN 60
#define CHECK_BYTES_MAX 9018

/* Where the sentence of a failed call goes. */
struct sentence {
	char *text;
	size_t len;
};

struct option_kind {
	const char *name;
	int (*set)(struct emu_config *cfg, const char *value, const struct sentence *err);
};

/*
 * PCI ids as in pci.ids; board, firmware and max_dm_size as in public ibv_devinfo -v
 * logs of such cards, as far as doc/guides/mlx5emu.rst says.
 */
static const struct emu_preset presets[] = {
	{ "cx5", 0x1017, "MT_0000000012", { 16, 35, 1012 }, 128 << 10, 2 },
	{ "cx6dx", 0x101d, "MT_0000000359", { 22, 35, 1012 }, 128 << 10, 1 },
	{ "cx7", 0x1021, "MT_0000000838", { 28, 39, 1002 }, 256 << 10, 1 },
	{ "nomemic", 0x101d, "MT_0000000359", { 22, 35, 1012 }, 0, 1 },
};

static int __attribute__((format(printf, 3, 4)))
refuse(const struct sentence *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (err->len > 0)
		vsnprintf(err->text, err->len, fmt, ap);
	va_end(ap);
	return -code;
}

const struct emu_preset *
emu_preset_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(presets); i++)
		if (strcmp(presets[i].name, name) == 0)
			return &presets[i];
	return NULL;
}

/* Digits, or 0x and hex digits; end is left at the first other character. */
static int
parse_digits(const char *text, uint64_t *number, char **end)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');

	/* strtoull() would take blanks and a sign */
	if (!isdigit((unsigned char)text[0]) || (hex && !isxdigit((unsigned char)text[2])))
		return -EINVAL;
	errno = 0;
	*number = strtoull(text, end, hex ? 16 : 10);
	return -errno;
}

static int
parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *number)
{
	uint64_t n;
	char *end;

	if (parse_digits(text, &n, &end) < 0 || *end != '\0' || n < min || n > max)
		return -EINVAL;
	*number = n;
	return 0;
}

/* A number of bytes with an optional K, M or G (powers of 1024). */
static int
parse_size(const char *text, uint64_t max, uint64_t *bytes)
{
	static const char suffixes[] = "KMG";
	unsigned int shift = 0;
	const char *suffix;
	uint64_t n;
	char *end;

	if (parse_digits(text, &n, &end) < 0)
		return -EINVAL;
	if (*end != '\0') {
		suffix = strchr(suffixes, toupper((unsigned char)*end));
		if (suffix == NULL || *suffix == '\0' || end[1] != '\0')
			return -EINVAL;
		shift = 10 * (unsigned int)(suffix - suffixes + 1);
	}
	if (n > (max >> shift))
		return -EINVAL;
	*bytes = n << shift;
	return 0;
}

static int
set_path(char path[PATH_MAX], const char *value, const char *what, const struct sentence *err)
{
	if (value[0] == '\0')
		return refuse(err, EINVAL, "%s: the file name is empty", what);
	/* the text form has one option a line */
	if (strchr(value, '\n') != NULL)
		return refuse(err, EINVAL, "%s: a file name cannot have a line break", what);
	if (strlen(value) >= PATH_MAX)
		return refuse(err, ENAMETOOLONG, "%s: the file name has more than %d bytes",
			      what, PATH_MAX - 1);
	strcpy(path, value);
	return 0;
}

static int
set_ports(struct emu_config *cfg, const char *value, const struct sentence *err)
{
	uint64_t n;

	if (parse_number(value, 1, EMU_MAX_PORTS, &n) < 0)
		return refuse(err, EINVAL, "--ports: '%s' is not a number from 1 to %d",
			      value, EMU_MAX_PORTS);
	cfg->ports = n;
	cfg->ports_given = true;
	return 0;
}

static int
set_one_device(struct emu_config *cfg, const char *value, const struct sentence *err)
{
	cfg->one_device = true;
	return 0;
}

static int
set_preset(struct emu_config *cfg, const char *value, const struct sentence *err)
{
	const struct emu_preset *preset = emu_preset_find(value);

	if (preset == NULL)
		return refuse(err, EINVAL, "--preset: no card '%s'; there are cx5, cx6dx, cx7 and "
			      "nomemic", value);
	cfg->preset = preset;
	if (!cfg->memic_given)
		cfg->memic_bytes = preset->memic_bytes;
	if (!cfg->ports_given)
		cfg->ports = preset->ports;
	return 0;
}

static int
set_memic(struct emu_config *cfg, const char *value, const struct sentence *err)
{
	uint64_t bytes;

	if (parse_size(value, MEMIC_MAX, &bytes) < 0)
		return refuse(err, EINVAL, "--memic: '%s' is not a size from 0 to 1G, as 131072 or "
			      "128K", value);
	cfg->memic_bytes = bytes;
	cfg->memic_given = true;
	return 0;
}

/* What an earlier --wire had of its own goes with it. */
static void
choose_wire(struct emu_config *cfg, enum emu_wire_kind wire)
{
	cfg->wire = wire;
	cfg->pcap_in[0] = '\0';
	cfg->pcap_out[0] = '\0';
	cfg->check_count = 0;
	cfg->check_bytes = 0;
}

static int
set_wire_pcap(struct emu_config *cfg, const char *value, const struct sentence *err)
{
	char in_path[PATH_MAX] = "", out_path[PATH_MAX] = "";
	char *in = strdupa(value), *out = strchr(in, ':');
	int ret = 0;

	if (out == NULL || strcmp(value, ":") == 0)
		return refuse(err, EINVAL, "--wire: pcap wants two files, as pcap:IN:OUT; one "
			      "of them may be empty");
	*out++ = '\0';
	if (*in != '\0')
		ret = set_path(in_path, in, "--wire", err);
	if (ret == 0 && *out != '\0')
		ret = set_path(out_path, out, "--wire", err);
	if (ret < 0)
		return ret;
	choose_wire(cfg, EMU_WIRE_PCAP);
	strcpy(cfg->pcap_in, in_path);
	strcpy(cfg->pcap_out, out_path);
	return 0;
}

static int
set_wire_check(struct emu_config *cfg, const char *value, const struct sentence *err)
{
	uint64_t count, bytes;
	char *end;

	/* parse_digits() leaves the colon to us */
	if (parse_digits(value, &count, &end) < 0 || *end != ':' || count == 0)
		return refuse(err, EINVAL, "--wire: check wants COUNT and BYTES above 0, as "
			      "check:100000:1500, not '%s'", value);
	if (parse_number(end + 1, CHECK_BYTES_MIN, CHECK_BYTES_MAX, &bytes) < 0)
		return refuse(err, EINVAL, "--wire: check sends frames of %d to %d bytes, not '%s'",
			      CHECK_BYTES_MIN, CHECK_BYTES_MAX, end + 1);
	choose_wire(cfg, EMU_WIRE_CHECK);
	cfg->check_count = count;
	cfg->check_bytes = bytes;
	return 0;
}

static int
set_wire(struct emu_config *cfg, const char *value, const struct sentence *err)
{
	if (strcmp(value, "loop") == 0)
		choose_wire(cfg, EMU_WIRE_LOOP);
	else if (strcmp(value, "pair") == 0)
		choose_wire(cfg, EMU_WIRE_PAIR);
	else if (strcmp(value, "tap") == 0)
		choose_wire(cfg, EMU_WIRE_TAP);
	else if (strncmp(value, "pcap:", 5) == 0)
		return set_wire_pcap(cfg, value + 5, err);
	else if (strncmp(value, "check:", 6) == 0)
		return set_wire_check(cfg, value + 6, err);
	else
		return refuse(err, EINVAL, "--wire: no wire '%s'; there are loop, pair, "
			      "tap, pcap:IN:OUT and check:COUNT:BYTES", value);
	return 0;
}

static int
set_fault(struct emu_config *cfg, const char *value, const struct sentence *err)
{
	struct emu_faults changed = cfg->fault;
	char why[160];

	if (strchr(value, '\n') != NULL || strlen(value) >= sizeof(cfg->faults[0]))
		return refuse(err, EINVAL, "--fault: the text has a line break or more than %zu "
			      "bytes", sizeof(cfg->faults[0]) - 1);
	if (cfg->n_faults == EMU_MAX_FAULTS)
		return refuse(err, E2BIG, "--fault: more than %d given", EMU_MAX_FAULTS);
	if (emu_fault_parse(&changed, value, why, sizeof(why)) < 0)
		return refuse(err, EINVAL, "--fault: %s", why);
	cfg->fault = changed;
	strcpy(cfg->faults[cfg->n_faults++], value);
	return 0;
}

static int
set_stats(struct emu_config *cfg, const char *value, const struct sentence *err)
{
	return set_path(cfg->stats, value, "--stats", err);
}

static int
set_trace(struct emu_config *cfg, const char *value, const struct sentence *err)
{
	return set_path(cfg->trace, value, "--trace", err);
}

static int
set_dir(struct emu_config *cfg, const char *value, const struct sentence *err)
{
	return set_path(cfg->dir, value, "dir", err);
}

/* From the launcher to the library only: the descriptors in the order of the ports. */
static int
set_tap_fds(struct emu_config *cfg, const char *value, const struct sentence *err)
{
	unsigned int n = 0;
	int fds[EMU_MAX_PORTS] = { 0 };
	char *end = NULL;
	uint64_t fd;

	do {
		if (parse_digits(value, &fd, &end) < 0 || fd > INT_MAX)
			return refuse(err, EINVAL, "tap-fds: no descriptor in '%s'", value);
		fds[n++] = (int)fd;
		value = end + 1;
	} while (*end == ',' && n < EMU_MAX_PORTS);
	memcpy(cfg->tap_fds, fds, sizeof(fds));
	return 0;
}

static int
set_root(struct emu_config *cfg, const char *value, const struct sentence *err)
{
	cfg->root = true;
	return 0;
}

static const struct option_kind kinds[] = {
	{ "ports", set_ports },
	{ "one-device", set_one_device },
	{ "preset", set_preset },
	{ "memic", set_memic },
	{ "wire", set_wire },
	{ "fault", set_fault },
	{ "stats", set_stats },
	{ "trace", set_trace },
	{ "dir", set_dir },
	{ "tap-fds", set_tap_fds },
	{ "root", set_root },
};

void
emu_config_init(struct emu_config *cfg)
{
	memset(cfg, 0, sizeof(*cfg));
	cfg->ports = 1;
	cfg->preset = emu_preset_find("cx6dx");
	cfg->memic_bytes = cfg->preset->memic_bytes;
	cfg->wire = EMU_WIRE_LOOP;
}

int
emu_config_set(struct emu_config *cfg, const char *name, const char *value, char *err,
	       size_t err_len)
{
	struct sentence sentence = { err, err_len };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return kinds[i].set(cfg, value == NULL ? "" : value, &sentence);
	return refuse(&sentence, EINVAL, "no option '%s'", name);
}

int
emu_config_check(const struct emu_config *cfg, char *err, size_t err_len)
{
	struct sentence sentence = { err, err_len };

	if (cfg->one_device && cfg->ports < 2)
		return refuse(&sentence, EINVAL, "--one-device is an uplink and representors: it "
			      "wants --ports 2 to %d, not %u", EMU_MAX_PORTS, cfg->ports);
	if (cfg->wire == EMU_WIRE_PAIR && cfg->ports % 2 != 0)
		return refuse(&sentence, EINVAL, "--wire pair joins port 0 with 1, 2 with 3, and "
			      "so on: it wants an even --ports, not %u", cfg->ports);
	if (cfg->wire == EMU_WIRE_PCAP && cfg->ports != 1)
		return refuse(&sentence, EINVAL, "--wire pcap has one pair of files: it wants "
			      "--ports 1, not %u", cfg->ports);
	return 0;
}

static void
print_wire(FILE *out, const struct emu_config *cfg)
{
	unsigned int i;

	switch (cfg->wire) {
	case EMU_WIRE_LOOP:
		fprintf(out, "wire=loop\n");
		break;
	case EMU_WIRE_PAIR:
		fprintf(out, "wire=pair\n");
		break;
	case EMU_WIRE_TAP:
		fprintf(out, "wire=tap\ntap-fds=");
		for (i = 0; i < cfg->ports; i++)
			fprintf(out, "%d%c", cfg->tap_fds[i], i + 1 < cfg->ports ? ',' : '\n');
		break;
	case EMU_WIRE_PCAP:
		fprintf(out, "wire=pcap:%s:%s\n", cfg->pcap_in, cfg->pcap_out);
		break;
	case EMU_WIRE_CHECK:
		fprintf(out, "wire=check:%" PRIu64 ":%" PRIu32 "\n", cfg->check_count,
			cfg->check_bytes);
		break;
	}
}

char *
emu_config_to_text(const struct emu_config *cfg)
{
	char *text = NULL;
	unsigned int i;
	size_t len;
	FILE *out;

	out = open_memstream(&text, &len);
	if (out == NULL)
		return NULL;
	fprintf(out, "ports=%u\npreset=%s\nmemic=%" PRIu64 "\n", cfg->ports, cfg->preset->name,
		cfg->memic_bytes);
	if (cfg->one_device)
		fprintf(out, "one-device=\n");
	print_wire(out, cfg);
	for (i = 0; i < cfg->n_faults; i++)
		fprintf(out, "fault=%s\n", cfg->faults[i]);
	if (cfg->stats[0] != '\0')
		fprintf(out, "stats=%s\n", cfg->stats);
	if (cfg->trace[0] != '\0')
		fprintf(out, "trace=%s\n", cfg->trace);
	if (cfg->dir[0] != '\0')
		fprintf(out, "dir=%s\n", cfg->dir);
	if (cfg->root)
		fprintf(out, "root=\n");
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

int
emu_config_from_text(struct emu_config *cfg, const char *text, char *err, size_t err_len)
{
	struct sentence sentence = { err, err_len };
	char *copy, *line, *value, *save;
	struct emu_config new;
	int ret = 0;

	copy = strdup(text);
	if (copy == NULL)
		return refuse(&sentence, ENOMEM, "no memory for the text of %s", EMU_ENV);
	emu_config_init(&new);
	for (line = strtok_r(copy, "\n", &save); line != NULL && ret == 0;
	     line = strtok_r(NULL, "\n", &save)) {
		value = strchr(line, '=');
		if (value == NULL) {
			ret = refuse(&sentence, EINVAL, "%s: the line '%s' has no '='", EMU_ENV,
				     line);
			break;
		}
		*value++ = '\0';
		ret = emu_config_set(&new, line, value, err, err_len);
	}
	free(copy);
	if (ret == 0)
		ret = emu_config_check(&new, err, err_len);
	if (ret == 0)
		*cfg = new;
	return ret;
}
