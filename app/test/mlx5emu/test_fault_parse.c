/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/* cmocka.h wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

/* What --fault takes, what it refuses, and that the library gets what the launcher got. */

static struct emu_faults
parsed(const char *spec)
{
	struct emu_faults f = { 0 };
	char err[200] = "";

	if (emu_fault_parse(&f, spec, err, sizeof(err)) != 0)
		fail_msg("%s: %s", spec, err);
	return f;
}

static void
test_values(void **state)
{
	struct emu_faults f;

	(void)state;
	assert_int_equal(parsed("klm=create").klm, EMU_KEY_REFUSED);
	assert_int_equal(parsed("klm=use").klm, EMU_KEY_FAILS);
	assert_int_equal(parsed("ksm=use").ksm, EMU_KEY_FAILS);
	assert_int_equal(parsed("direct").direct, EMU_KEY_FAILS);
	assert_int_equal(parsed("ordering=refused").ordering, EMU_ORDERING_REFUSED);
	assert_int_equal(parsed("ordering=demanded").ordering, EMU_ORDERING_DEMANDED);
	assert_int_equal(parsed("loopback=refused").loopback, EMU_LOOP_REFUSED);
	assert_int_equal(parsed("loopback=off").loopback, EMU_LOOP_OFF);
	assert_int_equal(parsed("loopback=corrupts").loopback, EMU_LOOP_CORRUPTS);
	assert_int_equal(parsed("dm-multiple=64").dm_multiple, 64);
	assert_int_equal(parsed("memic-held=128K").memic_held, 131072);
	assert_int_equal(parsed("memic-returned=3").memic_returned, 3);
	assert_int_equal(parsed("memic-run=1M").memic_run, 1 << 20);
	assert_int_equal(parsed("start-offset=192").start_offset, 192);
	assert_true(parsed("one-page").one_page);
	assert_int_equal(parsed("not-busy=dm").not_busy, EMU_BUSY_DM_FREED);
	assert_int_equal(parsed("not-busy=pd").not_busy, EMU_BUSY_PD_FREED);
	assert_int_equal(parsed("node=ENOENT").node_errno, ENOENT);
	assert_true(parsed("no-devx").no_devx);
	assert_true(parsed("sw-icm").sw_icm);
	f = parsed("mkey-use=0x10");
	assert_int_equal(f.mkey_use, 16);
	assert_int_equal(f.mkey_use_kinds, EMU_MKEY_READ | EMU_MKEY_WRITE);
	assert_int_equal(parsed("mkey-use=read:3").mkey_use_kinds, EMU_MKEY_READ);
	f = parsed("mkey-use=write:1K");
	assert_int_equal(f.mkey_use, 1024);
	assert_int_equal(f.mkey_use_kinds, EMU_MKEY_WRITE);
	assert_int_equal(parsed("drop=2").drop, 2);
	assert_int_equal(parsed("delay=1000").delay_us, 1000);
	assert_int_equal(parsed("reorder=7").reorder, 7);
	assert_int_equal(parsed("remove=frames:9").remove_frames, 9);
	assert_int_equal(parsed("remove=ms:10").remove_ms, 10);
	assert_int_equal(parsed("return=20").return_ms, 20);
	assert_true(parsed("return=closed").return_closed);
	assert_true(parsed("write-combining").write_combining);
	assert_int_equal(parsed("incoherent=stores:3").lose_stores, 3);
	assert_int_equal(parsed("incoherent=loads:1K").lose_loads, 1024);
	assert_true(parsed("any-variant").any_variant);
	assert_int_equal(parsed("trap=read").trap, EMU_TRAP_READ);
	assert_int_equal(parsed("trap=write").trap, EMU_TRAP_WRITE);
	assert_int_equal(parsed("trap=all").trap, EMU_TRAP_READ | EMU_TRAP_WRITE);
	f = parsed("ioctl=3:ENOMEM");
	assert_int_equal(f.ioctl_n, 3);
	assert_int_equal(f.ioctl_errno, ENOMEM);
	assert_string_equal(f.ioctl_kind, "");
	assert_false(f.ioctl_on);
	f = parsed("ioctl=2+:EBUSY:DM_FREE");
	assert_true(f.ioctl_on);
	assert_int_equal(f.ioctl_n, 2);
	f = parsed("ioctl=1:EIO:CREATE_MKEY");
	assert_int_equal(f.ioctl_errno, EIO);
	assert_string_equal(f.ioctl_kind, "CREATE_MKEY");
}

static void
test_refused(void **state)
{
	static const char *const bad[] = {
		"", "=", "nosuch", "nosuch=1", "klm", "klm=", "klm=never", "klm=create ",
		"direct=1", "ordering=maybe", "dm-multiple", "dm-multiple=0", "dm-multiple=-1",
		"dm-multiple=1Q", "memic-held=99999999999999999999",
		"memic-held=0x3fffffffffffffffG", "memic-run=1KK", "start-offset=100",
		"start-offset=4096", "start-offset=0", "no-devx=1", "sw-icm=", "ioctl=1",
		"ioctl=0:EIO", "ioctl=1:EFOO", "ioctl=1:5", "ioctl=:EIO", "ioctl=1::X",
		"ioctl=+:EIO", "ioctl=1++:EIO", "ioctl=1+2:EIO", "not-busy", "not-busy=mr",
		"one-page=1", "node", "node=2", "node=EFOO",
		"ioctl=1:EIO:a_kind_whose_name_is_longer_than_any_that_is", "mkey-use=",
		"mkey-use=read:", "mkey-use=write:0", "mkey-use=both:1", "drop=x",
		"delay=1000000001", "remove=5", "remove=frames:", "remove=ms:0",
		"remove=ms:9999999G", "return", "return=open", "write-combining=1", "trap",
		"trap=none",
	};
	struct emu_faults f, before;
	char err[200];

	(void)state;
	memset(&f, 0x5a, sizeof(f));
	before = f;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err[0] = '\0';
		if (emu_fault_parse(&f, bad[i], err, sizeof(err)) != -EINVAL)
			fail_msg("'%s' was taken", bad[i]);
		if (err[0] == '\0')
			fail_msg("'%s' is refused without a word", bad[i]);
	}
	assert_memory_equal(&f, &before, sizeof(f));
}

/* The launcher hands the text to the library, which parses it again. */
static void
test_through_text(void **state)
{
	static const char *const specs[] = {
		"klm=create", "memic-held=64K", "ioctl=2:EIO:DM_ALLOC", "trap=all", "no-devx",
	};
	struct emu_config cfg, copy;
	char err[300], *text;

	(void)state;
	emu_config_init(&cfg);
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
		assert_int_equal(emu_config_set(&cfg, "fault", specs[i], err, sizeof(err)), 0);
	text = emu_config_to_text(&cfg);
	assert_non_null(text);
	assert_int_equal(emu_config_from_text(&copy, text, err, sizeof(err)), 0);
	free(text);
	assert_int_equal(copy.n_faults, 5);
	assert_memory_equal(&copy.fault, &cfg.fault, sizeof(cfg.fault));
	assert_int_equal(copy.fault.memic_held, 65536);
}

static void
test_too_many(void **state)
{
	struct emu_config cfg;
	char err[300] = "";

	(void)state;
	emu_config_init(&cfg);
	for (unsigned int i = 0; i < EMU_MAX_FAULTS; i++)
		assert_int_equal(emu_config_set(&cfg, "fault", "direct", err, sizeof(err)), 0);
	assert_int_equal(emu_config_set(&cfg, "fault", "no-devx", err, sizeof(err)), -E2BIG);
	assert_string_not_equal(err, "");
	assert_false(cfg.fault.no_devx);
	assert_int_equal(emu_config_set(&cfg, "fault", "direct\nno-devx", err, sizeof(err)),
			 -EINVAL);
}

static void
test_help_names_all(void **state)
{
	static const char *const names[] = {
		"klm=", "ksm=", "direct\n", "ordering=", "dm-multiple=", "memic-held=",
		"memic-returned=", "memic-run=", "start-offset=", "one-page\n", "not-busy=",
		"node=", "no-devx\n", "sw-icm\n", "ioctl=", "mkey-use=", "drop=",
		"delay=", "reorder=", "remove=", "write-combining\n", "trap=",
	};
	char *text = NULL;
	size_t len;
	FILE *out;

	(void)state;
	out = open_memstream(&text, &len);
	assert_non_null(out);
	emu_fault_help(out);
	fclose(out);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strstr(text, names[i]) == NULL)
			fail_msg("help does not name %s", names[i]);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_through_text),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_help_names_all),
	};

	return cmocka_run_group_tests_name("fault parse", tests, NULL, NULL);
}
