/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/* Options of mlx5emu as text, and the sysfs tree that the launcher writes. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "sysfs.h"

static char err[512];

static int
set(struct emu_config *cfg, const char *name, const char *value)
{
	err[0] = '\0';
	return emu_config_set(cfg, name, value, err, sizeof(err));
}

static void
test_defaults(void **state)
{
	struct emu_config cfg;

	emu_config_init(&cfg);
	assert_int_equal(cfg.ports, 1);
	assert_string_equal(cfg.preset->name, "cx6dx");
	assert_int_equal(cfg.memic_bytes, 128 << 10);
	assert_int_equal(cfg.wire, EMU_WIRE_LOOP);
	assert_string_equal(cfg.stats, "");
	assert_int_equal(emu_config_check(&cfg, err, sizeof(err)), 0);
}

static void
test_presets(void **state)
{
	static const struct {
		const char *name;
		uint16_t device_id;
		uint64_t memic;
	} cards[] = {
		{ "cx5", 0x1017, 128 << 10 },
		{ "cx6dx", 0x101d, 128 << 10 },
		{ "cx7", 0x1021, 256 << 10 },
		{ "nomemic", 0x101d, 0 },
	};
	struct emu_config cfg;
	size_t i;

	for (i = 0; i < sizeof(cards) / sizeof(cards[0]); i++) {
		emu_config_init(&cfg);
		assert_int_equal(set(&cfg, "preset", cards[i].name), 0);
		assert_int_equal(cfg.preset->device_id, cards[i].device_id);
		assert_int_equal(cfg.memic_bytes, cards[i].memic);
	}
	assert_int_equal(set(&cfg, "preset", "cx3"), -EINVAL);
	assert_non_null(strstr(err, "cx3"));
	assert_string_equal(cfg.preset->name, "nomemic");
}

/* --memic counts on whichever side of --preset it stands. */
static void
test_memic_and_preset(void **state)
{
	struct emu_config cfg;

	emu_config_init(&cfg);
	assert_int_equal(set(&cfg, "memic", "64K"), 0);
	assert_int_equal(set(&cfg, "preset", "cx7"), 0);
	assert_int_equal(cfg.memic_bytes, 64 << 10);
	emu_config_init(&cfg);
	assert_int_equal(set(&cfg, "preset", "cx7"), 0);
	assert_int_equal(set(&cfg, "memic", "0"), 0);
	assert_int_equal(cfg.memic_bytes, 0);
}

static void
test_sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {
		{ "0", 0 }, { "63", 63 }, { "262144", 262144 }, { "256K", 262144 },
		{ "256k", 262144 }, { "1M", 1 << 20 }, { "1G", 1 << 30 }, { "0x100", 256 },
		{ "0x4K", 4096 }, { "010", 10 },
	};
	static const char *const bad[] = {
		"", "K", "-1", " 1", "+1", "1 ", "1KK", "1T", "0x", "1.5K", "2G", "1025M",
		"18446744073709551616", "18014398509481985K", "12abc",
	};
	struct emu_config cfg;
	size_t i;

	emu_config_init(&cfg);
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(set(&cfg, "memic", good[i].text), 0);
		assert_int_equal(cfg.memic_bytes, good[i].bytes);
	}
	assert_int_equal(set(&cfg, "memic", "4096"), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(set(&cfg, "memic", bad[i]), -EINVAL);
		assert_non_null(strstr(err, "--memic"));
		assert_int_equal(cfg.memic_bytes, 4096);
	}
}

static void
test_ports(void **state)
{
	static const char *const bad[] = { "0", "9", "", "two", "-1", "2x", "1K" };
	struct emu_config cfg;
	size_t i;

	emu_config_init(&cfg);
	assert_int_equal(set(&cfg, "ports", "8"), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(set(&cfg, "ports", bad[i]), -EINVAL);
		assert_non_null(strstr(err, "--ports"));
		assert_int_equal(cfg.ports, 8);
	}
}

static void
test_wires(void **state)
{
	struct emu_config cfg;

	emu_config_init(&cfg);
	assert_int_equal(set(&cfg, "wire", "check:100000:1500"), 0);
	assert_int_equal(cfg.wire, EMU_WIRE_CHECK);
	assert_int_equal(cfg.check_count, 100000);
	assert_int_equal(cfg.check_bytes, 1500);
	assert_int_equal(set(&cfg, "wire", "pcap:a.pcap:b.pcap"), 0);
	assert_int_equal(cfg.wire, EMU_WIRE_PCAP);
	assert_string_equal(cfg.pcap_in, "a.pcap");
	assert_string_equal(cfg.pcap_out, "b.pcap");
	assert_int_equal(set(&cfg, "wire", "pcap::b.pcap"), 0);
	assert_string_equal(cfg.pcap_in, "");
	assert_int_equal(set(&cfg, "wire", "pcap:a.pcap:"), 0);
	assert_string_equal(cfg.pcap_out, "");
	assert_int_equal(set(&cfg, "wire", "pair"), 0);
	assert_int_equal(cfg.wire, EMU_WIRE_PAIR);
	/* the launcher would make files of names that are left from another wire */
	assert_string_equal(cfg.pcap_in, "");
	assert_int_equal(cfg.check_count, 0);
	assert_int_equal(set(&cfg, "wire", "loop"), 0);
	assert_int_equal(cfg.wire, EMU_WIRE_LOOP);
}

static void
test_wrong_wires(void **state)
{
	static const char *const bad[] = {
		"", "bogus", "pcap", "pcap:", "pcap::", "pcap:a", "check", "check:", "check:1",
		"check:0:1500", "check:x:1500", "check:10:59", "check:10:9019", "check:10:",
		"check:10:1500x", "loop ",
	};
	struct emu_config cfg;
	size_t i;

	emu_config_init(&cfg);
	assert_int_equal(set(&cfg, "wire", "check:7:64"), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(set(&cfg, "wire", bad[i]), -EINVAL);
		assert_non_null(strstr(err, "--wire"));
		assert_int_equal(cfg.wire, EMU_WIRE_CHECK);
		assert_int_equal(cfg.check_count, 7);
		assert_int_equal(cfg.check_bytes, 64);
	}
	assert_int_equal(set(&cfg, "wire", "tap"), 0);
	assert_int_equal(cfg.wire, EMU_WIRE_TAP);
	assert_int_equal(set(&cfg, "tap-fds", "200,x"), -EINVAL);
	assert_int_equal(set(&cfg, "tap-fds", "200,201"), 0);
	assert_int_equal(cfg.tap_fds[1], 201);
}

static void
test_paths(void **state)
{
	struct emu_config cfg;
	char *longest;

	emu_config_init(&cfg);
	assert_int_equal(set(&cfg, "stats", "/a/b c"), 0);
	assert_int_equal(set(&cfg, "stats", ""), -EINVAL);
	assert_int_equal(set(&cfg, "stats", "a\nroot="), -EINVAL);
	longest = malloc(PATH_MAX + 1);
	assert_non_null(longest);
	memset(longest, 'a', PATH_MAX);
	longest[PATH_MAX] = '\0';
	assert_int_equal(set(&cfg, "stats", longest), -ENAMETOOLONG);
	assert_string_equal(cfg.stats, "/a/b c");
	longest[PATH_MAX - 1] = '\0';
	assert_int_equal(set(&cfg, "trace", longest), 0);
	assert_string_equal(cfg.trace, longest);
	free(longest);
}

static void
test_refused(void **state)
{
	struct emu_config cfg;

	emu_config_init(&cfg);
	assert_int_equal(set(&cfg, "nosuch", "1"), -EINVAL);
	assert_non_null(strstr(err, "nosuch"));
	assert_int_equal(set(&cfg, "fault", "nosuch"), -EINVAL);
	assert_int_equal(cfg.n_faults, 0);
	/* a short buffer is not overrun */
	err[4] = '#';
	assert_int_equal(emu_config_set(&cfg, "ports", "x", err, 4), -EINVAL);
	assert_string_equal(err, "--p");
	assert_int_equal(err[4], '#');
	assert_int_equal(emu_config_set(&cfg, "ports", "x", NULL, 0), -EINVAL);
}

static void
test_check(void **state)
{
	struct emu_config cfg;

	emu_config_init(&cfg);
	assert_int_equal(set(&cfg, "wire", "pair"), 0);
	assert_int_equal(emu_config_check(&cfg, err, sizeof(err)), -EINVAL);
	assert_int_equal(set(&cfg, "ports", "2"), 0);
	assert_int_equal(emu_config_check(&cfg, err, sizeof(err)), 0);
	assert_int_equal(set(&cfg, "wire", "pcap::out"), 0);
	assert_int_equal(emu_config_check(&cfg, err, sizeof(err)), -EINVAL);
	assert_int_equal(set(&cfg, "ports", "1"), 0);
	assert_int_equal(emu_config_check(&cfg, err, sizeof(err)), 0);
}

static void
test_text(void **state)
{
	static const char *const options[][2] = {
		{ "ports", "2" }, { "preset", "cx7" }, { "memic", "0" },
		{ "wire", "check:5:9000" }, { "stats", "/tmp/s = t" }, { "trace", "/tmp/t" },
		{ "dir", "/tmp/d" }, { "root", NULL },
	};
	struct emu_config cfg, back;
	char *text, *again;
	size_t i;

	emu_config_init(&cfg);
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		assert_int_equal(set(&cfg, options[i][0], options[i][1]), 0);
	text = emu_config_to_text(&cfg);
	assert_non_null(text);
	assert_int_equal(emu_config_from_text(&back, text, err, sizeof(err)), 0);
	assert_int_equal(back.ports, 2);
	assert_ptr_equal(back.preset, emu_preset_find("cx7"));
	assert_int_equal(back.memic_bytes, 0);
	assert_int_equal(back.check_count, 5);
	assert_int_equal(back.check_bytes, 9000);
	assert_string_equal(back.stats, "/tmp/s = t");
	assert_string_equal(back.trace, "/tmp/t");
	assert_string_equal(back.dir, "/tmp/d");
	assert_true(back.root);
	again = emu_config_to_text(&back);
	assert_string_equal(again, text);
	free(again);
	free(text);
}

static void
test_text_pcap(void **state)
{
	struct emu_config cfg, back;
	char *text;

	emu_config_init(&cfg);
	assert_int_equal(set(&cfg, "wire", "pcap::/o"), 0);
	text = emu_config_to_text(&cfg);
	assert_int_equal(emu_config_from_text(&back, text, err, sizeof(err)), 0);
	assert_int_equal(back.wire, EMU_WIRE_PCAP);
	assert_string_equal(back.pcap_in, "");
	assert_string_equal(back.pcap_out, "/o");
	free(text);
}

static void
test_wrong_text(void **state)
{
	static const char *const bad[] = {
		"ports=2\nmemic", "ports=2\nmemic=x", "ports=2\nnosuch=1", "ports=1\nwire=pair",
	};
	struct emu_config cfg;
	size_t i;

	emu_config_init(&cfg);
	assert_int_equal(set(&cfg, "ports", "3"), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err[0] = '\0';
		assert_int_equal(emu_config_from_text(&cfg, bad[i], err, sizeof(err)), -EINVAL);
		assert_string_not_equal(err, "");
		assert_int_equal(cfg.ports, 3);
	}
}

/* ---- the tree ---- */

static char tree[64];

static int
make_tree(void **state)
{
	strcpy(tree, "/tmp/test_config.XXXXXX");
	return mkdtemp(tree) == NULL ? -1 : 0;
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static int
remove_tree(void **state)
{
	return nftw(tree, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void
assert_file(const char *name, const char *text)
{
	char path[512], content[1024];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", tree, name);
	fd = open(path, O_RDONLY);
	assert_return_code(fd, errno);
	len = read(fd, content, sizeof(content) - 1);
	close(fd);
	assert_return_code(len, errno);
	content[len] = '\0';
	assert_string_equal(content, text);
}

/* Paths as libibverbs, EAL and the PMD put them together, through the links. */
static void
test_tree(void **state)
{
	struct emu_config cfg;

	emu_config_init(&cfg);
	assert_int_equal(set(&cfg, "ports", "2"), 0);
	assert_int_equal(set(&cfg, "preset", "cx5"), 0);
	assert_int_equal(emu_sysfs_write(&cfg, tree, err, sizeof(err)), 0);
	assert_file("class/infiniband_verbs/abi_version", "6\n");
	assert_file("class/infiniband_verbs/uverbs1/ibdev", "mlx5_1\n");
	assert_file("class/infiniband_verbs/uverbs1/dev", "231:193\n");
	assert_file("class/infiniband_verbs/uverbs1/device/vendor", "0x15b3\n");
	assert_file("class/infiniband/mlx5_0/node_guid", "b859:9f03:00aa:bbcc\n");
	assert_file("class/infiniband/mlx5_1/ports/1/gids/0",
		    "fe80:0000:0000:0000:ba59:9fff:feaa:bbcd\n");
	assert_file("class/infiniband/mlx5_1/device/device", "0x1017\n");
	assert_file("class/infiniband/mlx5_1/device/net/emu1/dev_port", "0\n");
	assert_file("bus/pci/devices/0000:08:00.1/class", "0x020000\n");
	assert_file("bus/pci/devices/0000:08:00.1/uevent",
		    "DRIVER=mlx5_core\nPCI_CLASS=20000\nPCI_ID=15B3:1017\n"
		    "PCI_SUBSYS_ID=15B3:0001\nPCI_SLOT_NAME=0000:08:00.1\n"
		    "MODALIAS=pci:v000015B3d00001017sv000015B3sd00000001bc02sc00i00\n");
	/* again over what is there, as a second run in the same folder */
	assert_int_equal(emu_sysfs_write(&cfg, tree, err, sizeof(err)), 0);
}

static void
assert_missing(const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", tree, name);
	assert_int_equal(access(path, F_OK), -1);
}

/* One function, and what tells an uplink from a representor. */
static void
test_one_device(void **state)
{
	struct emu_config cfg, copy;
	char *text;

	emu_config_init(&cfg);
	assert_int_equal(set(&cfg, "one-device", NULL), 0);
	assert_int_equal(emu_config_check(&cfg, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "--ports 2"));
	assert_int_equal(set(&cfg, "ports", "3"), 0);
	assert_int_equal(emu_config_check(&cfg, err, sizeof(err)), 0);
	text = emu_config_to_text(&cfg);
	assert_int_equal(emu_config_from_text(&copy, text, err, sizeof(err)), 0);
	assert_true(copy.one_device);
	free(text);
	assert_int_equal(emu_sysfs_write(&cfg, tree, err, sizeof(err)), 0);
	assert_file("bus/pci/devices/0000:08:00.0/sriov_numvfs", "2\n");
	assert_file("class/infiniband/mlx5_0/hw_counters/out_of_buffer", "0\n");
	assert_file("class/infiniband/mlx5_0/ports/3/gid_attrs/ndevs/0", "emu2\n");
	assert_file("class/infiniband/mlx5_0/device/net/emu0/phys_port_name", "p0\n");
	assert_file("class/infiniband/mlx5_0/device/net/emu2/phys_port_name", "pf0vf1\n");
	assert_file("class/infiniband/mlx5_0/device/net/emu2/phys_switch_id",
		    "ccbbaa00039f59b8\n");
	assert_missing("bus/pci/devices/0000:08:00.1");
	assert_missing("class/infiniband/mlx5_1");
	assert_missing("class/infiniband/mlx5_0/ports/4");
	assert_missing("class/infiniband/mlx5_0/ports/1/hw_counters");
}

static void
test_tree_fails(void **state)
{
	struct emu_config cfg;
	char path[128];

	emu_config_init(&cfg);
	snprintf(path, sizeof(path), "%s/nosuch/sys", tree);
	assert_int_equal(emu_sysfs_write(&cfg, path, err, sizeof(err)), -ENOENT);
	assert_non_null(strstr(err, path));
	assert_non_null(strstr(err, "ENOENT"));
}

static void
test_mac(void **state)
{
	static const uint8_t third[] = { 0xb8, 0x59, 0x9f, 0xaa, 0xbb, 0xce };
	uint8_t mac[EMU_MAC_LEN];

	emu_sysfs_mac(2, mac);
	assert_memory_equal(mac, third, sizeof(mac));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_presets),
		cmocka_unit_test(test_memic_and_preset),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_wires),
		cmocka_unit_test(test_wrong_wires),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_text_pcap),
		cmocka_unit_test(test_wrong_text),
		cmocka_unit_test_setup_teardown(test_tree, make_tree, remove_tree),
		cmocka_unit_test_setup_teardown(test_one_device, make_tree, remove_tree),
		cmocka_unit_test_setup_teardown(test_tree_fails, make_tree, remove_tree),
		cmocka_unit_test(test_mac),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
