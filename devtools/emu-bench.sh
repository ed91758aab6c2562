#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors
#
# How many frames a second testpmd passes through the emulated card with every check on,
# as a ratio to a memcpy floor of the same run: devtools/emu-bench.sh [options], which
# --help lists.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install_packages
build "$BUILD" gcc "${RUNTIME[@]}" app/test/bench/memcpy_floor
exec /usr/bin/python3 app/test/bench/emu_speed.py "$BUILD" "$@"
