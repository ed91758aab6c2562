#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors
#
# Fuzz the emulator and the driver's rules for longer than the tests do:
#   devtools/fuzz.sh [SECONDS [TARGET]...]
# SECONDS (default 60) are spent on each TARGET (ioctl, wqe, packet, config, rules; default
# all). Inputs that reach new code are kept in $MEMIC_BUILD/fuzz/TARGET and used again the
# next time; what fails is left in the current folder and printed.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

seconds=${1:-60}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || die "'$seconds' is no number of seconds"
targets=("${@:2}")
[ "${#targets[@]}" -gt 0 ] || targets=(ioctl wqe packet config rules)

install_packages
folder=$BUILD/clang
for target in "${targets[@]}"; do
	[ -d "app/test/fuzz/corpus/$target" ] || die "there is no target '$target'"
done
build "$folder" clang "${targets[@]/#/app/test/fuzz/fuzz_}" \
	"${targets[@]/#/app/test/fuzz/fuzz_count_}"

failed=0
for target in "${targets[@]}"; do
	mkdir -p "$BUILD/fuzz/$target"
	/usr/bin/python3 app/test/fuzz/run.py --seconds "$seconds" \
		--count "$folder/app/test/fuzz/fuzz_count_$target" --grow "$BUILD/fuzz/$target" \
		"$folder/app/test/fuzz/fuzz_$target" \
		"app/test/fuzz/corpus/$target" || failed=$((failed + 1))
done
[ "$failed" -eq 0 ] || die "$failed targets failed"
