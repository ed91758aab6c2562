#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

# devtools/common.sh names what the demo builds, and ninja has a rule for each of them.

set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../../../devtools/common.sh"

[ "${#RUNTIME[@]}" -gt 0 ]
for target in "${RUNTIME[@]}" app/testpmd-memic/libtestpmd_memic.so \
	app/memic-perf/dpdk-memic-perf app/test/bench/memcpy_floor; do
	ninja -C "$1" -t query "$target" >/dev/null || die "'$target' is not known to ninja"
	[ -s "$1/$target" ] || die "'$target' was not built"
done
