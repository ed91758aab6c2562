#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors
#
# Set everything up on a Debian 12, build with gcc and clang and run all tests. Ends
# with the line "tests: N passed, N failed, N skipped"; the exit status is 0 if some
# test passed and none failed.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install_packages
build "$BUILD" gcc
build "$BUILD/clang" clang

reserve_huge_pages 128
say "running the tests of $BUILD"
log=$BUILD/meson-logs/testlog.json
fuzz_log=$BUILD/clang/meson-logs/testlog.json
rm -f "$log" "$fuzz_log"
# its status says less than the log: a test that cannot even start must count as failed
meson test -C "$BUILD" --no-rebuild || true
[ -f "$log" ] || die "meson ran no test"
say "fuzzing for a moment"
meson test -C "$BUILD/clang" --no-rebuild --suite fuzz --verbose || true
[ -f "$fuzz_log" ] || die "meson ran no fuzz test"
exec /usr/bin/python3 devtools/count_tests.py "$log" "$fuzz_log"
