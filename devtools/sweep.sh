#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors
#
# Usage: sweep.sh [OPTION]...
#
# Run host, device and split pools through testpmd over sizes of frames, depths of rings and
# sizes of caches, and dpdk-memic-perf over pools, on a software ConnectX. Leaves a report
# page, plots and results.json in sweep in the build folder. What an earlier run of the same
# build on the same machine has measured stays. --help lists the options.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install_packages
build "$BUILD" gcc "${RUNTIME[@]}" app/memic-perf/dpdk-memic-perf
exec /usr/bin/python3 devtools/sweep "$BUILD" "$@"
