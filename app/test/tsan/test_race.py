# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""A race of the driver's on lcores, made on purpose: whether the sanitizer would tell."""

import os
import re

from harness import PCI_DEVICE, Program, expect, lcores, main, plugin_arguments

# exit status of a program with reports
REPORTED = 66


def run(build, *more):
    # what goes on after a race is anybody's guess
    options = os.environ.get("TSAN_OPTIONS", "")
    env = dict(os.environ, TSAN_OPTIONS=f"{options}:halt_on_error=1".lstrip(":"))
    command = [os.path.join(build.folder, "app/test/tsan/tsan_race"), "--no-huge", "-m", "128",
               lcores(2), "-a", PCI_DEVICE, *plugin_arguments(build.plugin, env), *more]
    with Program(build, command, emu=("--memic", "256K"), env=env) as program:
        program.wait_exit()
        reports = re.findall(r"WARNING: ThreadSanitizer: .*?={18}", program.output, re.S)
        return program, reports


def apart(build):
    program, reports = run(build)
    expect(program.status == 0 and not reports, "a report of what is no race:\n" + program.output)


def race(build):
    program, reports = run(build, "race")
    expect(program.status == REPORTED, f"status {program.status}:\n{program.output}")
    # in the driver's own code, reached from the loop of an lcore
    expect(any(re.search(r"data race.*drivers/mempool/mlx5_memic/", report, re.S)
               for report in reports), "no report of it:\n" + program.output)


main({case.__name__: case for case in (apart, race)})
