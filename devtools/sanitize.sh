#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors
#
# Run the tests under AddressSanitizer with UndefinedBehaviorSanitizer, under
# ThreadSanitizer, and under valgrind: devtools/sanitize.sh [asan|tsan|valgrind]...
# (default all): cases 84 and 87. Ends with the line "tests: N passed, N failed, N skipped".

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

logs=()

# Folder and value of b_sanitize. gcc's runtimes are shared libraries, which can be
# preloaded into programs that are not instrumented; clang's are not.
build_sanitized() {
	say "building with $2 in $1"
	if [ ! -f "$1/build.ninja" ]; then
		CC=gcc quietly meson setup "$1" -Db_sanitize="$2" -Db_lundef=false
	fi
	quietly ninja -C "$1"
}

# Folder, name of the log, arguments of meson, a set-up first of them.
run_tests() {
	local folder=$1 name=$2 log
	shift 2

	say "testing: $name"
	log=$folder/meson-logs/$name.json
	[ "$1" != --setup ] || log=$folder/meson-logs/$name-$2.json # as meson names it then
	rm -f "$log"
	# some kernels have more random bits in addresses than runtimes expect
	setarch -R meson test -C "$folder" --no-rebuild --logbase "$name" \
		--timeout-multiplier 10 "$@" || true
	[ -f "$log" ] || die "meson ran no test of $name"
	logs+=("$log")
}

# Run with a runtime preloaded, as the programs under the emulator are the distribution's.
# Arguments: the runtime, a library to preload before it or nothing, and the command.
preloaded() {
	local runtime
	runtime=$(gcc -print-file-name="$1")
	LD_PRELOAD=${2:+$2:}$runtime "${@:3}"
}

asan() {
	local folder=$BUILD/asan

	build_sanitized "$folder" address,undefined
	export UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1"
	ASAN_OPTIONS=detect_leaks=1 run_tests "$folder" asan-unit --suite unit
	# EAL and the PMD leave memory to the end of the process, python as well; and freed
	# memory is kept for less long, as tests look at how much a process has.
	ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=1 preloaded libasan.so "" \
		run_tests "$folder" asan-e2e --suite emu --suite e2e
}

# What has more than one thread of ours in it.
TSAN_E2E=('forward host dv_flow_en=0' 'forward host dv_flow_en=1'
	'forward dv_flow_en=0 mkey=klm queues=4' 'forward dv_flow_en=1 mkey=klm queues=4'
	'forward dv_flow_en=1 mkey=ksm queues=1' 'pool quit_under_traffic' 'pool stop_start'
	'pool close_port' 'mempool-policy dv_flow_en=0' 'mempool-policy dv_flow_en=1'
	'mlx5emu threads' 'mlx5emu share' 'mlx5emu share removed')

tsan() {
	local folder=$BUILD/tsan others=$BUILD/tsan/app/test/tsan/libtsan_others.so

	build_sanitized "$folder" thread
	preloaded libtsan.so "$others" run_tests "$folder" tsan-unit --suite unit
	preloaded libtsan.so "$others" run_tests "$folder" tsan-e2e "${TSAN_E2E[@]}"
	# whether the sanitizer, told all this, sees a race
	preloaded libtsan.so "$others" run_tests "$folder" tsan-control --suite tsan
}

valgrind() {
	build "$BUILD" gcc
	# a suite that is asked for overrides those that the set-up leaves out
	run_tests "$BUILD" valgrind --setup valgrind --suite unit --no-suite abi \
		--no-suite real-time
	run_tests "$BUILD" valgrind-abi --setup valgrind_abi --suite abi
}

install_packages
reserve_huge_pages 192
[ $# -gt 0 ] || set -- asan tsan valgrind
for kind in "$@"; do
	case $kind in
	asan | tsan | valgrind) "$kind" ;;
	*) die "'$kind' is none of asan, tsan and valgrind" ;;
	esac
done
exec /usr/bin/python3 devtools/count_tests.py "${logs[@]}"
