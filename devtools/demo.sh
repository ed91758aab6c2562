#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors
#
# Set everything up on a Debian 12, build, and let the distribution's dpdk-testpmd
# forward 100,000 checked frames twice on a software ConnectX: out of host memory, and
# out of the card's. Leaves demo/report.json and a plot in the build folder.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install_packages
build "$BUILD" gcc "${RUNTIME[@]}"
exec /usr/bin/python3 devtools/demo.py "$BUILD"
