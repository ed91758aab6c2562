#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors
#
# Usage: walk.sh [RELEASE]
#
# The way of a newcomer through README.md on a machine that has nothing: a Debian made for
# it (by default bookworm), with no package but what the scripts install. Each step has to
# end well and to print what it is for. Leaves walk.log in the build folder, stops at the
# first step that fails. Takes half an hour and needs root.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. devtools/chroot.sh

release=${1:-bookworm}
folder=$CHROOT_CACHE/walk-$release
log=$BUILD/walk.log
steps=0

obstacle=$(chroot_obstacle)
[ -z "$obstacle" ] || die "cannot make a Debian here: $obstacle"

tell() {
	printf '%s\n' "$*" | tee -a "$log"
}

# NAME PATTERN...: run standard input as a script in the tree, and find each pattern in what
# it prints.
step() {
	local name=$1 pattern script output status=0 start=$SECONDS
	shift

	script=$(cat)
	output=$(mktemp)
	tell "== $name"
	sed 's/^/$ /' <<<"$script" >>"$log"
	chroot_run "$folder" bash -ec "cd /srv/dpdk-memic; $script" >"$output" 2>&1 \
		</dev/null || status=$?
	cat "$output" >>"$log"
	for pattern in "$@"; do
		grep -qE -e "$pattern" "$output" || {
			tell "== $name: nothing printed matches '$pattern'"
			status=1
		}
	done
	if [ "$status" -ne 0 ]; then
		tail -n 30 "$output"
		rm -f "$output"
		tell "== $name: failed with status $status after $((SECONDS - start)) s"
		exit 1
	fi
	rm -f "$output"
	steps=$((steps + 1))
	tell "== $name: $((SECONDS - start)) s"
}

mkdir -p "$BUILD"
: >"$log"
[ ! -e "$folder" ] || rm -rf --one-file-system "$folder"
chroot_make "$release" "$folder"
copy_tree "$folder/srv/dpdk-memic"
tell "== Debian $(<"$folder/etc/debian_version"), $(nproc) CPUs, version $(<VERSION)"

step demo 'over PCIe crosses' 'report.json' <<'END'
devtools/demo.sh
END

step 'plot of the demo' '<svg' <<'END'
head -c 2000 build/demo/pcie.svg
END

step tests '^tests: [0-9]+ passed, 0 failed' <<'END'
devtools/test.sh
END

step "testpmd with flags and commands" "^ *mlx5_0  0000:08:00.0" "ratio to ring" \
	"frames on the device: [0-9]" <<'END'
devtools/testpmd.sh --rxd=64 --txd=64 --mbuf-size=1664 --memic-size=192K <<'COMMANDS'
show memic all
memic bench pool mb_pool_0 seconds 1
memic bench forward seconds 2
start tx_first
show memic stats
stop
quit
COMMANDS
END

step 'every get_put, plotted' 'get-put.svg' <<'END'
devtools/perf.sh --rounds 3 --test get_put --json get_put.json
devtools/plot get-put get_put.json
END

step sweep 'report.html' <<'END'
devtools/sweep.sh --quick
END

find_installed="find / -xdev \( -path /proc -o -path /srv -o -path /etc/dpkg \) -prune -o \
	! -type d \( -name '*memic*' -o -name '*mlx5emu*' \) -print"

step install 'librte_mempool_mlx5_memic.so' <<END
meson setup build && ninja -C build && ninja -C build install && ldconfig
$find_installed
END

step 'testpmd on the installed driver' 'mb_pool_0 .* 157 ' <<'END'
printf 'start\nshow memic all\nstop\nquit\n' |
	mlx5emu --memic 256K -- dpdk-testpmd -a 0000:08:00.0 \
		--no-huge -m 256 --mbuf-pool-ops-name=mlx5_memic -- --rxd=64 --txd=64 --burst=16 \
		--mbuf-size=1664 --mbcache=0 --total-num-mbufs=1025 -i
END

step 'an application of its own' 'echo: 144 buffers on mlx5_0' <<'END'
cp -r /usr/local/share/doc/dpdk-memic/sample ~/sample
cd ~/sample
make
mlx5emu --memic 256K --wire check:500:1500 -- \
    ./echo --no-huge -m 128 -a 0000:08:00.0 -- 500
END

step 'what a card can do' 'MEMIC' <<'END'
mlx5emu -- dpdk-memic-info --probe
man -l build/doc/memic.7 >/dev/null 2>&1 || test -s /usr/local/share/man/man7/memic.7
END

step uninstall <<END
ninja -C build uninstall
left=\$($find_installed)
if [ -n "\$left" ]; then echo "left: \$left"; exit 1; fi
END

tell "== walk: $steps steps in $SECONDS s"
