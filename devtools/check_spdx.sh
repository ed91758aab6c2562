#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors
#
# Every file of the tree starts with a licence tag and the copyright line. Usage:
# check_spdx.sh [FOLDER]

set -euo pipefail

cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"

# The licence itself, and files whose format or readers take no such lines. What fuzzers are
# fed with is bytes, and what devtools/plot has drawn comes from measurements.
exempt='^(LICENSE|ABI_VERSION|VERSION|MAINTAINERS|(.*/)?\.gitignore|app/test/fuzz/corpus/.*'
exempt+='|doc/guides/images/[a-z-]+\.svg)$'

# Without git (a tarball) whatever lies there, less the build folders.
list() {
	git ls-files --cached --others --exclude-standard 2>/dev/null ||
		find . -type f -not -path './build*' -not -path './.git/*' \
			-not -path '*/__pycache__/*' -printf '%P\n'
}

checked=0
failed=0
while read -r file; do
	[[ $file =~ $exempt ]] && continue
	[ -f "$file" ] || continue
	checked=$((checked + 1))
	# no process for each of hundreds of files, which takes a minute on a busy machine
	mapfile -n 4 lines <"$file"
	top=${lines[*]}
	if [[ $top != *"SPDX-License-Identifier: BSD-3-Clause"* ||
		$top != *"Copyright(c) 2026 The dpdk-memic authors"* ]]; then
		echo "$file: no SPDX tag or copyright in the first four lines" >&2
		failed=1
	fi
done < <(list)

[ "$checked" -gt 0 ] || { echo "no file found to check" >&2; exit 1; }
echo "$checked files checked"
exit "$failed"
