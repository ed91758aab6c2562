#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors
#
# Usage: testpmd.sh [[EAL OPTION]... --] [TESTPMD OPTION]...
#
# Run the distribution's dpdk-testpmd on a software ConnectX with pools in its memory, and
# with the flags --memic-* and the commands of libtestpmd_memic; commands come from stdin.
# MLX5EMU_OPTIONS replaces the options of mlx5emu, by default "--memic 256K".

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

eal=()
for arg in "$@"; do
	if [ "$arg" = -- ]; then
		while [ "$1" != -- ]; do
			eal+=("$1")
			shift
		done
		shift
		break
	fi
done

install_packages >&2
build "$BUILD" gcc "${RUNTIME[@]}" app/testpmd-memic/libtestpmd_memic.so >&2

# EAL refuses plugins below a folder that all may write; a bare name it leaves to ld.so
plugins=()
for plugin in "$BUILD"/drivers/mempool/mlx5_memic/librte_mempool_mlx5_memic.so \
	"$BUILD"/app/testpmd-memic/libtestpmd_memic.so; do
	plugins+=(-d "$(basename "$plugin")")
	LD_LIBRARY_PATH=$(dirname "$plugin")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
done
export LD_LIBRARY_PATH

read -r -a emu <<<"${MLX5EMU_OPTIONS:---memic 256K}"
RUNTIME_DIRECTORY=$(mktemp -d)
export RUNTIME_DIRECTORY
trap 'rm -rf "$RUNTIME_DIRECTORY"' EXIT

cpus=$(awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status)
"$BUILD"/app/mlx5emu/mlx5emu "${emu[@]}" -- dpdk-testpmd --no-huge -m 256 \
	--lcores "0@($cpus),1@($cpus)" "${plugins[@]}" --mbuf-pool-ops-name=mlx5_memic \
	"${eal[@]}" -- -i --total-num-mbufs=4096 "$@"
