#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors
#
# What can be found without running anything: check-all.sh [PART]..., default all of
# spdx, style, spelling, shell, python, docs, cppcheck and tidy. Each is a test of the
# suite "check" too, docs several of the suite "doc". Docs and tidy need a build.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

check_spdx() {
	devtools/check_spdx.sh
}

check_style() {
	/usr/bin/python3 devtools/check_style.py
}

# Names of variables and ends of words that a test cuts are no slips.
check_spelling() {
	sources | xargs codespell --ignore-words-list=te,fro,wqs,sting
}

check_shell() {
	sources | grep -E '\.(sh|bash)$|^\.ci/run$' |
		xargs shellcheck --external-sources --source-path=SCRIPTDIR --severity=warning
}

check_python() {
	sources | grep -E '\.py$' | xargs /usr/bin/python3 -c 'import ast, pathlib, sys
for path in sys.argv[1:]: ast.parse(pathlib.Path(path).read_text(encoding="utf-8"), path)'
}

# Pages and headers without warnings, as sphinx and doxygen have them; then, one with the
# other, what tests compare: commands and their marks, messages, options, manual pages.
check_docs() {
	[ -f "$BUILD/build.ninja" ] ||
		die "no build in '$BUILD': devtools/test.sh makes one"
	quietly ninja -C "$BUILD" doc/html doc/mlx5emu.1 doc/api/html app/mlx5emu/mlx5emu \
		app/memic-info/dpdk-memic-info app/memic-perf/dpdk-memic-perf &&
		quietly meson test -C "$BUILD" --no-rebuild --logbase check-docs \
			'commands marks' troubleshooting examples 'peers table' \
			'public headers' 'man memic.h' \
			'man mlx5emu' 'man dpdk-memic-info' 'man dpdk-memic-perf'
}

# Of the system's headers it reads those with macros that it would stumble over. It takes
# members for uninitialized that a list has set, unsigned enums for signed, and halves of
# an array for the whole.
check_cppcheck() {
	cppcheck --quiet --enable=warning,portability -j2 --error-exitcode=1 \
		--include=/usr/include/"$(gcc -print-multiarch)"/sys/queue.h \
		--include=/usr/include/jansson.h --include=/usr/include/link.h \
		--suppress=uninitvar --suppress=invalidPrintfArgType_uint \
		--suppress=overlappingWriteFunction --suppress=sizeofDivisionMemfunc \
		lib drivers app/mlx5emu app/bench app/memic-info app/memic-perf app/testpmd-memic
}

# With the warnings of .clang-tidy, on all that is installed.
check_tidy() {
	[ -f "$BUILD/compile_commands.json" ] ||
		die "no build in '$BUILD': devtools/test.sh makes one"
	sources | grep -E '^(lib|drivers|app/[^/]*)/.*\.c$' | grep -v '^app/test/' |
		xargs -P 2 -n 8 clang-tidy -p "$BUILD" --quiet 2>/dev/null
}

# No corpus of bytes.
sources() {
	tree_files | grep -v '^app/test/fuzz/corpus/'
}

[ $# -gt 0 ] || set -- spdx style spelling shell python docs cppcheck tidy
failed=()
for part in "$@"; do
	declare -F "check_$part" >/dev/null || die "'$part' is no check, see the first lines of $0"
	start=$SECONDS
	if "check_$part"; then
		say "$part: good, $((SECONDS - start)) s"
	else
		say "$part: FAILED"
		failed+=("$part")
	fi
done
[ "${#failed[@]}" -eq 0 ] || die "failed: ${failed[*]}"
