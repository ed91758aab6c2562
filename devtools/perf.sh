#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors
#
# Usage: perf.sh [DPDK-MEMIC-PERF OPTION]... [-- EAL OPTION...]
#
# Run dpdk-memic-perf with memory set up: on the first ConnectX with device memory, or
# where there is none on a software one. PERF_DEVICE names the card by PCI address.
# Huge pages are reserved if the kernel gives them, and given back.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

HUGE=/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
# 1 GiB: pools of the test start with 65536 mbufs take the most
PAGES=512
before=
scratch=

cleanup() {
	if [ -n "$before" ]; then
		echo "$before" >"$HUGE" || true
	fi
	if [ -n "$scratch" ]; then
		if mountpoint -q "$scratch/huge"; then
			umount "$scratch/huge"
		fi
		rm -rf "$scratch"
	fi
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Sets "memory" to EAL's options.
reserve_pages() {
	local free_pages

	memory=(--no-huge -m 1024)
	[ -w "$HUGE" ] || return 0
	before=$(cat "$HUGE")
	free_pages=$(cat "${HUGE%/*}/free_hugepages")
	if [ "$free_pages" -lt "$PAGES" ]; then
		echo $((before + PAGES - free_pages)) >"$HUGE" 2>/dev/null || true
	fi
	free_pages=$(cat "${HUGE%/*}/free_hugepages")
	[ "$free_pages" -ge "$PAGES" ] || return 0
	mkdir "$scratch/huge"
	mount -t hugetlbfs -o pagesize=2M none "$scratch/huge" 2>/dev/null || return 0
	memory=(-m 1024 --huge-dir "$scratch/huge")
}

# PCI address of a card that has device memory, or nothing.
find_card() {
	local device address

	for device in /sys/class/infiniband/mlx5_*; do
		[ -e "$device" ] || continue
		address=$(basename "$(readlink -f "$device/device")")
		if ibv_devinfo -d "$(basename "$device")" -v 2>/dev/null |
			grep -q 'maximum available device memory:[[:space:]]*[1-9]'; then
			echo "$address"
			return
		fi
	done
}

own=()
while [ "$#" -gt 0 ] && [ "$1" != -- ]; do
	own+=("$1")
	shift
done
[ "$#" -eq 0 ] || shift

install_packages >&2
build "$BUILD" gcc "${RUNTIME[@]}" app/memic-perf/dpdk-memic-perf >&2

scratch=$(mktemp -d)
export RUNTIME_DIRECTORY=$scratch
reserve_pages

# EAL refuses plugins below a folder that all may write; a bare name it leaves to ld.so
plugin=$BUILD/drivers/mempool/mlx5_memic/librte_mempool_mlx5_memic.so
export LD_LIBRARY_PATH="${plugin%/*}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

card=${PERF_DEVICE:-$(find_card)}
launcher=()
if [ -z "$card" ]; then
	say "no card with device memory: measuring on a software one" >&2
	launcher=("$BUILD/app/mlx5emu/mlx5emu" --memic 1M --)
	card=0000:08:00.0
fi

cpus=$(nproc)
lcores=0
[ "$cpus" -lt 2 ] || lcores=0,1
status=0
"${launcher[@]}" "$BUILD/app/memic-perf/dpdk-memic-perf" "${own[@]}" -- \
	"${memory[@]}" --no-shconf --file-prefix="memicperf$$" \
	--lcores "$(/usr/bin/python3 -c '
import os, sys
cpus = sorted(os.sched_getaffinity(0))
print(",".join(f"{lcore}@{cpus[lcore]}" for lcore in map(int, sys.argv[1].split(","))))
' "$lcores")" \
	-d "$(basename "$plugin")" -a "$card" "$@" || status=$?
exit "$status"
