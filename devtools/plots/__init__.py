# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Plots of measurements: what is read, what is shown, how it is drawn."""
