#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors
#
# Tests that take too long for every day: thousands of lives of pools and ports, medians
# of port starts, the whole sweep, every failure once, minutes of fuzzing, and all tests
# under sanitizers and valgrind. Each part has a limit of time. Ends with the line "tests:
# N passed, N failed, N skipped"; the exit status is 0 if some test passed and none failed.
#
# usage: test-long.sh [CYCLES [FUZZ_SECONDS]]   (default 3000, and 180 for each target)

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cycles=${1:-3000}
fuzz_seconds=${2:-180}
[[ $cycles =~ ^[1-9][0-9]*$ ]] || die "'$cycles' is no number of cycles"
[[ $fuzz_seconds =~ ^[1-9][0-9]*$ ]] || die "'$fuzz_seconds' is no number of seconds"

install_packages
build "$BUILD" gcc

passed=0
failed=0
skipped=0
failures=()

# Limit in seconds, name, command. A command that ends with the line of test.sh counts as
# the tests that it ran, another one as one test; its last lines say what it measured.
try() {
	local limit=$1 name=$2 log status=0 start=$SECONDS counts p f s
	shift 2

	log=$(mktemp)
	say "$name"
	timeout --kill-after=30 "$limit" "$@" >"$log" 2>&1 || status=$?
	counts=$(grep -oE '^tests: [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" |
		tail -n 1 | tr -dc '0-9 ' || true)
	read -r p f s <<<"${counts:-0 0 0}"
	# what failed beside its tests, as a build or the limit, failed too
	[ "$status" -eq 0 ] || [ "$f" -gt 0 ] || f=1
	[ "$status" -ne 0 ] || [ -n "$counts" ] || p=1
	passed=$((passed + p))
	failed=$((failed + f))
	skipped=$((skipped + s))
	if [ "$status" -eq 0 ]; then
		grep -E '[0-9]+ cycles:|at most|[0-9] steps|median|^ratio|^fuzz |^tests:' \
			"$log" || true
	else
		tail -n 60 "$log"
		[ "$status" -ne 124 ] || say "$name: not done within $limit s"
		failures+=("$name")
	fi
	say "$name: $((SECONDS - start)) s"
	rm -f "$log"
}

for flow_en in 0 1; do
	try 1800 "lives of pools, $cycles cycles, dv_flow_en=$flow_en" /usr/bin/python3 \
		app/test/e2e/test_soak.py "$BUILD" cycles "$flow_en" "$cycles"
done
try 900 "port start, 200000 mbufs" /usr/bin/python3 app/test/e2e/test_start.py "$BUILD" linear \
	200000 15 1.02
# else it finds all there from the last time
rm -rf "$BUILD/sweep-long"
try 1800 "sweep" devtools/sweep.sh --output "$BUILD/sweep-long"
# every call that fails once: the driver's with other errors, EAL's start, and DPDK's own
for flow_en in 0 1; do
	for error in ENOMEM EIO EBUSY EREMOTEIO; do
		try 600 "every failure once, $error, dv_flow_en=$flow_en" /usr/bin/python3 \
			app/test/e2e/test_steps.py "$BUILD" ours "$flow_en" "$error"
	done
	try 1800 "every failure of DPDK's once, dv_flow_en=$flow_en" /usr/bin/python3 \
		app/test/e2e/test_steps.py "$BUILD" others "$flow_en" 1
done
try 600 "every failure at the start once" /usr/bin/python3 app/test/e2e/test_steps.py "$BUILD" \
	load 1
for target in ioctl wqe packet config rules; do
	# beside the seconds: building, and counting what was reached
	try $((fuzz_seconds + 600)) "fuzz $target, $fuzz_seconds s" devtools/fuzz.sh \
		"$fuzz_seconds" "$target"
done
for kind in asan tsan valgrind; do
	try 3600 "sanitizer $kind" devtools/sanitize.sh "$kind"
done

[ "${#failures[@]}" -eq 0 ] || printf 'failed: %s\n' "${failures[@]}"
echo "tests: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
