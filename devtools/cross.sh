#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors
#
# Build everything for the Arm cores of a BlueField with Debian's cross compiler, and run
# the tests of the suites unit and emu under qemu: cross.sh [--build-only]. Works in a
# Debian 12 of its own, which is kept for the next run: MEMIC_CACHE names the folder. Ends
# with the line "arm64: N passed, N failed, N skipped". Needs root.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. devtools/chroot.sh

RELEASE=bookworm
TREE=/srv/dpdk-memic
ARM_BUILD=/srv/build-arm64
CROSS_FILE=devtools/cross/aarch64-linux-gnu.ini
PACKAGES=(crossbuild-essential-arm64 meson ninja-build pkg-config python3 qemu-user-static
	ibverbs-providers:arm64 libcmocka-dev:arm64 libdpdk-dev:arm64 libibverbs-dev:arm64
	libjansson-dev:arm64 libnuma-dev:arm64 libpcap-dev:arm64)

# What Debian 12's qemu cannot run. It gives no memory at low addresses (identity mappings),
# its own memory counts as the program's (what grows), and it is slow (a device comes back
# before the test has looked).
NOT_UNDER_QEMU='memic-probe|mempool-way|mempool-lifetime .*|mempool-removal .*'

# Programs that start others need the kernel to know what runs them: in a user namespace,
# which has a register of its own since Linux 6.7, unless this machine knows already.
# shellcheck disable=SC2016
RUN_ARM='set -e
cd "$1"
shift
if ! app/mlx5emu/mlx5emu --version >/dev/null 2>&1; then
	mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
	cat /usr/lib/binfmt.d/qemu-aarch64.conf >/proc/sys/fs/binfmt_misc/register
fi
app/mlx5emu/mlx5emu --version >/dev/null
exec "$@"'

# Names of the tests, one a line.
test_names() {
	chroot_run "$root" meson introspect --tests "$ARM_BUILD" |
		/usr/bin/python3 -c 'import json, re, sys
for test in json.load(sys.stdin):
    suites = {suite.split(":")[-1] for suite in test["suite"]}
    if suites & {"unit", "emu"} and not re.fullmatch(sys.argv[1], test["name"]):
        print(test["name"])' "$NOT_UNDER_QEMU"
}

case ${1:-} in
--build-only | '') ;;
*) die "usage: cross.sh [--build-only]" ;;
esac
install_packages devtools/packages.chroot
obstacle=$(chroot_obstacle)
[ -z "$obstacle" ] || die "no cross build: $obstacle"

root=$CHROOT_CACHE/$RELEASE-cross-arm64
mkdir -p "$CHROOT_CACHE"
# two at once would fill the same folder; let go when the script ends
exec {held}>"$root.lock"
flock "$held"
chroot_make "$RELEASE" "$root"
chroot_run "$root" dpkg --add-architecture arm64
chroot_install "$root" "${PACKAGES[@]}"
copy_tree "$root$TREE"

say "building with aarch64-linux-gnu-gcc in $root$ARM_BUILD"
if [ ! -f "$root$ARM_BUILD/build.ninja" ]; then
	quietly chroot_run "$root" meson setup --werror --cross-file "$TREE/$CROSS_FILE" \
		-Ddocs=disabled "$TREE" "$ARM_BUILD"
fi
quietly chroot_run "$root" ninja -C "$ARM_BUILD"
[ "${1:-}" != --build-only ] || exit 0

mapfile -t names < <(test_names)
[ "${#names[@]}" -gt 0 ] || die "meson names no test"
say "running ${#names[@]} tests under qemu"
log=$root$ARM_BUILD/meson-logs/testlog.json
rm -f "$log"
chroot_run "$root" unshare --user --map-root-user --mount bash -c "$RUN_ARM" bash \
	"$ARM_BUILD" meson test --no-rebuild --timeout-multiplier 5 "${names[@]}" || true
[ -f "$log" ] || die "meson ran no test"
exec /usr/bin/python3 devtools/count_tests.py --of arm64 "$log"
