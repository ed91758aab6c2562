/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rig.h"

static char dir[64];

static int
make_dir(void **state)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%.40s/mlx5emu-XXXXXX", tmp != NULL ? tmp : "/tmp");
	return mkdtemp(dir) != NULL ? 0 : -1;
}

static int
remove_dir(void **state)
{
	return rmdir(dir);
}

static void
members_of_the_contract(void **state)
{
	static const char *const members[] = {
		"tx_frames", "rx_frames", "tx_bytes", "rx_bytes", "host_read_bytes",
		"host_write_bytes", "memic_read_bytes", "memic_write_bytes", "inline_bytes",
		"wqe_bytes", "cqe_bytes", "doorbells", "errors", "rx_no_wqe", "rx_no_match",
		"rx_dropped", "protection_errors", "cq_overruns",
	};
	struct rig *r = rig_new();
	json_t *root, *port;
	char path[100];
	size_t i;

	snprintf(path, sizeof(path), "%s/stats.json", dir);
	for (i = 0; i < sizeof(struct emu_stats) / 8; i++)
		((uint64_t *)&r->devs[0].stats)[i] = 1000 + i;
	r->devs[0].stats.protection_errors = 40;
	r->devs[1].stats.protection_errors = 2;
	r->devs[1].stats.tx_bytes = 1ull << 40;
	assert_int_equal(emu_stats_write(path, 3), 0);
	root = json_load_file(path, 0, NULL);
	assert_non_null(root);
	assert_int_equal(json_integer_value(json_object_get(root, "leaked_objects")), 3);
	assert_int_equal(json_integer_value(json_object_get(root, "protection_errors")), 42);
	assert_int_equal(json_array_size(json_object_get(root, "ports")), 2);
	port = json_array_get(json_object_get(root, "ports"), 0);
	assert_string_equal(json_string_value(json_object_get(port, "name")), "mlx5_0");
	for (i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		assert_true(json_is_integer(json_object_get(port, members[i])));
	assert_int_equal(json_integer_value(json_object_get(port, "tx_frames")), 1000);
	assert_int_equal(json_integer_value(json_object_get(port, "host_read_bytes")), 1004);
	assert_int_equal(json_object_size(port), sizeof(struct emu_stats) / 8 + 1);
	port = json_array_get(json_object_get(root, "ports"), 1);
	assert_int_equal(json_integer_value(json_object_get(port, "tx_bytes")), 1ll << 40);
	json_decref(root);
	unlink(path);
	rig_free(r);
}

static void
written_as_a_whole(void **state)
{
	struct rig *r = rig_new();
	struct dirent *entry;
	unsigned int n = 0;
	char path[100];
	DIR *d;

	snprintf(path, sizeof(path), "%s/stats.json", dir);
	assert_int_equal(emu_stats_write(path, 0), 0);
	assert_int_equal(emu_stats_write(path, 0), 0);
	d = opendir(dir);
	while ((entry = readdir(d)) != NULL)
		n += entry->d_name[0] != '.';
	closedir(d);
	assert_int_equal(n, 1);
	unlink(path);
	snprintf(path, sizeof(path), "%s/nonexistent/stats.json", dir);
	assert_int_equal(emu_stats_write(path, 0), -ENOENT);
	rig_free(r);
}

static void
report_keeps_the_last(void **state)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out;
	int i;

	for (i = 0; i < EMU_REPORTS + 10; i++)
		emu_report("number %d.", i);
	out = open_memstream(&text, &len);
	assert_int_equal(emu_report_print(out), EMU_REPORTS);
	fclose(out);
	assert_null(strstr(text, "number 9."));
	assert_non_null(strstr(text, "number 10."));
	assert_non_null(strstr(text, "number 41."));
	free(text);
}

static void
trace_to_a_file(void **state)
{
	char path[100], line[200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/trace", dir);
	assert_false(emu_tracing);
	emu_trace_open("");
	assert_false(emu_tracing);
	emu_trace_open(path);
	assert_true(emu_tracing);
	errno = ENOSPC;
	emu_trace("ioctl %d", 7);
	assert_int_equal(errno, ENOSPC);
	/* There before the file is closed: programs crash. */
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	assert_non_null(strstr(line, " ioctl 7\n"));
	fclose(f);
	unlink(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_of_the_contract),
		cmocka_unit_test(written_as_a_whole),
		cmocka_unit_test(report_keeps_the_last),
		cmocka_unit_test(trace_to_a_file),
	};

	return cmocka_run_group_tests_name("mlx5emu stats", tests, make_dir, remove_dir);
}
