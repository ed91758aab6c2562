/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <sys/utsname.h>

#include <jansson.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_lcore.h>
#include <rte_version.h>

#include "perf.h"

/** Of the JSON; another number when members change their meaning or go. */
#define SCHEMA "dpdk-memic-perf/1"

unsigned int report_device_slots;

static json_t *results;
static json_t *at;

/* ---- results ---- */

int
report_open(void)
{
	results = json_array();
	return results == NULL ? -1 : 0;
}

void
result_begin(const char *test)
{
	at = json_object();
	result_string("test", test);
}

void
result_string(const char *key, const char *value)
{
	json_object_set_new(at, key, json_string(value));
}

void
result_number(const char *key, double value)
{
	json_object_set_new(at, key, json_real(value));
}

void
result_integer(const char *key, long long value)
{
	json_object_set_new(at, key, json_integer(value));
}

void
result_variant(const char *key, const struct variant *v, const char *ratio_to)
{
	char name[64];

	result_number(key, v->median);
	snprintf(name, sizeof(name), "%s_p10", key);
	result_number(name, v->low);
	snprintf(name, sizeof(name), "%s_p90", key);
	result_number(name, v->high);
	result_number(ratio_to, v->ratio);
	snprintf(name, sizeof(name), "%s_p10", ratio_to);
	result_number(name, v->ratio_low);
	snprintf(name, sizeof(name), "%s_p90", ratio_to);
	result_number(name, v->ratio_high);
}

void
result_end(void)
{
	json_array_append_new(results, at);
	at = NULL;
}

/* ---- table ---- */

static bool
ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n >= k && strcmp(text + n - k, end) == 0;
}

/* Numbers that were measured are real ones, but for the share in host memory. */
static bool
is_measured(const char *key, const json_t *value)
{
	return json_is_real(value) && strcmp(key, "spill") != 0;
}

static double
spread_of(const json_t *result, const char *key, const char *end)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%s", key, end);
	return json_number_value(json_object_get(result, name));
}

static void
print_subject(json_t *result)
{
	char text[256] = "";
	const char *key;
	json_t *value;
	size_t len = 0;

	json_object_foreach(result, key, value) {
		if (is_measured(key, value) || len >= sizeof(text))
			continue;
		if (json_is_string(value))
			len += snprintf(text + len, sizeof(text) - len, "%s ",
					json_string_value(value));
		else
			len += snprintf(text + len, sizeof(text) - len, "%s %g ", key,
					json_number_value(value));
	}
	printf("%-78s", text);
}

/* Medians; the spread of a ratio is what a difference is held against. */
static void
print_result(json_t *result)
{
	const char *key;
	json_t *value;

	print_subject(result);
	json_object_foreach(result, key, value) {
		if (!is_measured(key, value) || ends_with(key, "_p10") || ends_with(key, "_p90"))
			continue;
		printf(" %9.3f %s", json_real_value(value), key);
		if (json_object_get(result, "ratio_to_copy") != value &&
		    strncmp(key, "ratio_", 6) == 0)
			printf(" [%.3f %.3f]", spread_of(result, key, "_p10"),
			       spread_of(result, key, "_p90"));
	}
	putchar('\n');
}

/* ---- files ---- */

static FILE *
file_open(const char *path)
{
	FILE *f = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");

	if (f == NULL)
		fprintf(stderr, "'%s' cannot be written: %s\n", path, strerror(errno));
	return f;
}

static bool
file_close(FILE *f, const char *path)
{
	bool good = fflush(f) == 0 && ferror(f) == 0;

	if (f != stdout && fclose(f) != 0)
		good = false;
	if (!good)
		fprintf(stderr, "'%s' cannot be written: %s\n", path, strerror(errno));
	return good;
}

static void
read_cpu(char *model, size_t len)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[256];

	model[0] = '\0';
	while (f != NULL && model[0] == '\0' && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, "model name", 10) == 0 && strchr(line, ':') != NULL)
			snprintf(model, len, "%.*s", (int)strcspn(strchr(line, ':') + 2, "\n"),
				 strchr(line, ':') + 2);
	if (f != NULL)
		fclose(f);
}

static json_t *
environment(void)
{
	struct utsname uts;
	char cpu[128];

	read_cpu(cpu, sizeof(cpu));
	if (uname(&uts) != 0)
		memset(&uts, 0, sizeof(uts));
	return json_pack("{s:s, s:s, s:s, s:s, s:I, s:i, s:b, s:i, s:b}",
			 "dpdk", rte_version(), "kernel", uts.release, "machine", uts.machine,
			 "cpu", cpu, "tsc_hz", (json_int_t)rte_get_tsc_hz(),
			 "lcores", (int)rte_lcore_count(), "huge_pages", rte_eal_has_hugepages(),
			 "rounds", (int)perf_options.rounds, "quick", perf_options.quick);
}

static bool
write_json(void)
{
	json_t *root = json_pack("{s:s, s:o, s:O}", "schema", SCHEMA, "env", environment(),
				 "results", results);
	FILE *f = root == NULL ? NULL : file_open(perf_options.json);
	bool good = f != NULL;

	if (good && json_dumpf(root, f, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) != 0)
		good = false;
	if (f != NULL) {
		fputc('\n', f);
		good = file_close(f, perf_options.json) && good;
	}
	json_decref(root);
	return good;
}

/* Columns in the order in which they come first. */
static json_t *
columns(void)
{
	json_t *keys = json_object();
	json_t *result, *value;
	const char *key;
	size_t i;

	json_array_foreach(results, i, result)
		json_object_foreach(result, key, value)
			json_object_set_new(keys, key, json_null());
	return keys;
}

static void
write_row(FILE *f, json_t *keys, json_t *result)
{
	const char *key, *comma = "";
	json_t *unused, *value;

	json_object_foreach(keys, key, unused) {
		fputs(comma, f);
		comma = ",";
		value = result == NULL ? NULL : json_object_get(result, key);
		if (result == NULL)
			fputs(key, f);
		else if (json_is_string(value))
			fputs(json_string_value(value), f);
		else if (value != NULL)
			fprintf(f, "%.6g", json_number_value(value));
	}
	fputc('\n', f);
}

static bool
write_csv(void)
{
	FILE *f = file_open(perf_options.csv);
	json_t *keys, *result;
	size_t i;

	if (f == NULL)
		return false;
	keys = columns();
	write_row(f, keys, NULL);
	json_array_foreach(results, i, result)
		write_row(f, keys, result);
	json_decref(keys);
	return file_close(f, perf_options.csv);
}

bool
report_close(void)
{
	bool good = true;
	json_t *result;
	size_t i;
	bool quiet = (perf_options.json != NULL && strcmp(perf_options.json, "-") == 0) ||
		(perf_options.csv != NULL && strcmp(perf_options.csv, "-") == 0);

	/* what goes to standard output as JSON or CSV is for programs */
	json_array_foreach(results, i, result)
		if (!quiet)
			print_result(result);
	if (perf_options.json != NULL)
		good = write_json();
	if (perf_options.csv != NULL)
		good = write_csv() && good;
	json_decref(results);
	return good;
}
