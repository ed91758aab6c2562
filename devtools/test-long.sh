#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors
#
# Tests that take too long for every day: thousands of lives of pools and ports, and
# medians of port starts. Ends with the line "long tests: N passed, N failed"; the exit
# status is 0 if none failed.
#
# usage: test-long.sh [CYCLES]   (default 3000)

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cycles=${1:-3000}
[[ $cycles =~ ^[1-9][0-9]*$ ]] || die "'$cycles' is no number of cycles"

install_packages
build "$BUILD" gcc

passed=0
failed=0

# Run one test; its last lines say what it measured.
try() {
	local name=$1 log
	shift

	log=$(mktemp)
	say "$name"
	if "$@" >"$log" 2>&1; then
		passed=$((passed + 1))
		grep -E '[0-9]+ cycles:|at most|median|^ratio' "$log" || true
	else
		failed=$((failed + 1))
		tail -n 40 "$log"
		say "$name: failed"
	fi
	rm -f "$log"
}

for flow_en in 0 1; do
	try "lives of pools, $cycles cycles, dv_flow_en=$flow_en" /usr/bin/python3 \
		app/test/e2e/test_soak.py "$BUILD" cycles "$flow_en" "$cycles"
done
try "port start, 200000 mbufs" /usr/bin/python3 app/test/e2e/test_start.py "$BUILD" linear \
	200000 9 1.15

echo "long tests: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
