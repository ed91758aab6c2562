#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors
#
# Build and test the tree with the DPDK and rdma-core of several releases of Debian, each
# in a folder made by debootstrap, which is kept: test-matrix.sh [--prepare] [RELEASE]...
# (default bookworm trixie testing). One line tells of each:
#
#   dpdk 24.11.8 rdma-core 56.1: N passed, N failed, N skipped
#
# The exit status is 0 if tests passed and none failed; testing does not decide it. With
# --prepare the folders are only made and filled with packages, which needs the network.
# MEMIC_CACHE names where they are, default dpdk-memic in the cache folder of the user.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. devtools/chroot.sh

# What is the same with each release: there the first is built by clang and checked as well.
LEFT_OUT=(check doc devtools)
LEFT_OUT_PACKAGES=(clang clang-tidy codespell cppcheck doxygen libclang-rt-dev python3-sphinx
	shellcheck valgrind)

# The logs of tests, one for each release.
LOGS=$BUILD/matrix

prepare=
if [ "${1:-}" = --prepare ]; then
	prepare=1
	shift
fi
[ $# -gt 0 ] || set -- "${RELEASES[@]}"
for release in "$@"; do
	chroot_known "$release"
done

# RELEASE: the folder with all packages. Status 1 if there is no such Debian to be had here,
# 2 if it has not what the tests need.
provide() {
	local folder=$CHROOT_CACHE/$1 held status=0
	local -a packages

	mapfile -t packages < <(listed_packages devtools/packages |
		grep -vxF "$(printf '%s\n' "${LEFT_OUT_PACKAGES[@]}")")
	mkdir -p "$CHROOT_CACHE"
	# two at once would fill the same folder
	exec {held}>"$folder.lock"
	flock "$held"
	if ! chroot_make "$1" "$folder"; then
		status=1
	elif ! chroot_install "$folder" "${packages[@]}"; then
		status=2
	fi
	exec {held}>&-
	return "$status"
}

# RELEASE: the tree as it is now, compiled, as far as it has changed since the last run.
compile() {
	local folder=$CHROOT_CACHE/$1 tree=$CHROOT_CACHE/$1/srv/dpdk-memic

	say "$1: building with gcc"
	copy_tree "$tree"
	# shellcheck disable=SC2016 # as it is in there
	quietly chroot_run "$folder" bash -c 'set -e
		cd /srv/dpdk-memic
		[ -f ../build/build.ninja ] || CC=gcc meson setup --werror ../build
		ninja -C ../build'
}

# RELEASE: its tests, whose log is kept.
run_tests() {
	local folder=$CHROOT_CACHE/$1 log=srv/build/meson-logs/testlog.json

	say "$1: running the tests but those of the suites ${LEFT_OUT[*]} and fuzz"
	rm -f "${folder:?}/$log"
	# what the log says counts, as in test.sh
	chroot_run "$folder" meson test -C /srv/build --no-rebuild \
		"${LEFT_OUT[@]/#/--no-suite=}" || true
	cp "$folder/$log" "$LOGS/$1.json"
}

# RELEASE PACKAGE: its version there.
version_of() {
	# shellcheck disable=SC2016 # dpkg fills it in
	upstream_version "$(chroot_run "$CHROOT_CACHE/$1" dpkg-query -W -f '${Version}' "$2")"
}

# RELEASE RESULT REASON: a log that says so. SKIP is for what this machine lacks, FAIL for
# what the tree does.
not_tested() {
	say "$1: not tested: $3"
	printf '{"name": "release %s: %s", "result": "%s", "duration": 0}\n' "$1" "$3" "$2" \
		>"$LOGS/$1.json"
}

# RELEASE: line and log of it. Fails if something failed.
test_release() {
	local of="release $1" why lacks=0

	why=$(chroot_obstacle)
	if [ -n "$why" ]; then
		not_tested "$1" SKIP "$why"
	else
		provide "$1" || lacks=$?
		case $lacks in
		1) not_tested "$1" SKIP "it cannot be had here, see above" ;;
		2) not_tested "$1" FAIL "its packages cannot be installed, see above" ;;
		*)
			of="dpdk $(version_of "$1" libdpdk-dev)"
			of="$of rdma-core $(version_of "$1" libibverbs-dev)"
			compile "$1" && run_tests "$1" ||
				not_tested "$1" FAIL "it cannot be built, see above"
			;;
		esac
	fi
	if /usr/bin/python3 devtools/count_tests.py --of "$of" "$LOGS/$1.json"; then
		passed=1
	else
		grep -q '"result": "SKIP", "duration": 0}' "$LOGS/$1.json"
	fi
}

# It may be there, or not to be had; the obstacle is named for each release.
(install_packages devtools/packages.chroot) || true
if [ -n "$prepare" ]; then
	for release in "$@"; do
		why=$(chroot_obstacle)
		[ -z "$why" ] || die "$release cannot be made: $why"
		provide "$release"
	done
	exit
fi
mkdir -p "$LOGS"
[ -n "$(chroot_obstacle)" ] || reserve_huge_pages 128
status=0
passed=
for release in "$@"; do
	test_release "$release" || [ "$release" = "$ADVISORY" ] || status=1
done
[ -n "$passed" ] || die "no release passed"
exit "$status"
