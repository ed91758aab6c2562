#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors
#
# Set everything up on a Debian 12, build with gcc and clang and run all tests; then build
# and test with the releases of Debian that are named, as test-matrix.sh does: test.sh
# [RELEASE]... Ends with the line "tests: N passed, N failed, N skipped", of all of them;
# the exit status is 0 if some test passed and none failed.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. devtools/chroot.sh

log=$BUILD/meson-logs/testlog.json
fuzz_log=$BUILD/clang/meson-logs/testlog.json
logs=("$log" "$fuzz_log")
for release in "$@"; do
	chroot_known "$release"
	[ "$release" = "$ADVISORY" ] || logs+=("$BUILD/matrix/$release.json")
done

# Begin to make the releases, which takes the network more than a CPU.
prepare_releases() {
	say "making in the background: $*"
	prepare_log=$(mktemp)
	# a group of its own, to be ended as a whole
	set -m
	devtools/test-matrix.sh --prepare "$@" >"$prepare_log" 2>&1 &
	prepare=$!
	set +m
	trap 'kill -- "-$prepare" 2>/dev/null || true; rm -f "$prepare_log"' EXIT
}

# Run them and leave their logs, whatever the result: it is counted with all others.
test_releases() {
	local file

	wait "$prepare" || true
	cat "$prepare_log"
	rm -f "$prepare_log" "${logs[@]:2}"
	devtools/test-matrix.sh "$@" || true
	for file in "${logs[@]:2}"; do
		[ -f "$file" ] ||
			echo '{"name": "releases", "result": "FAIL", "duration": 0}' >"$file"
	done
}

install_packages
[ $# -eq 0 ] || prepare_releases "$@"
build "$BUILD" gcc
build "$BUILD/clang" clang

reserve_huge_pages 128
say "running the tests of $BUILD"
rm -f "$log" "$fuzz_log"
# its status says less than the log: a test that cannot even start must count as failed
meson test -C "$BUILD" --no-rebuild || true
[ -f "$log" ] || die "meson ran no test"
say "fuzzing for a moment"
meson test -C "$BUILD/clang" --no-rebuild --suite fuzz --verbose || true
[ -f "$fuzz_log" ] || die "meson ran no fuzz test"
[ $# -eq 0 ] || test_releases "$@"
exec /usr/bin/python3 devtools/count_tests.py "${logs[@]}"
