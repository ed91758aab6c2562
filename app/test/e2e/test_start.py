# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""From a pool's creation to its port's start: not slower than with an ordinary pool.

The PMD walks over a pinned pool in a way that is quadratic in the number of pages, so
that what is guarded against is slower by a factor of 50 and more.
"""

import os
import re
import statistics

from harness import PCI_DEVICE, Program, check_card, expect, lcores, main, plugin_arguments


def once(build, ops, mbufs):
    """Milliseconds of clock and CPU in a process that has touched no memory before."""
    env = dict(os.environ)
    command = [os.path.join(build.folder, "app/test/e2e/e2e_start"), "--no-huge", "-m",
               str(64 + mbufs * 2304 // (1 << 20) * 2), lcores(1), "-a", PCI_DEVICE,
               *plugin_arguments(build.plugin, env), "--", ops, str(mbufs)]
    with Program(build, command, ["--memic", "256K"], env) as program:
        expect(program.wait_exit() == 0, f"status {program.status}")
        check_card(program.stats())
        match = re.search(r"([0-9.]+) ms, ([0-9.]+) ms of CPU", program.output)
        return float(match[1]), float(match[2])


def linear(build, mbufs, rounds, limit):
    """Medians of interleaved runs, spilled pool on 4 KiB pages.

    The limit is for the time on the CPU: a busy machine makes any figure of the clock.
    """
    times = {"mlx5_memic": [], "ring_mp_mc": []}
    for _ in range(int(rounds)):
        for ops, list_of_times in times.items():
            list_of_times.append(once(build, ops, int(mbufs)))
    for i, what in enumerate(("clock", "CPU")):
        medians = []
        for ops, list_of_times in times.items():
            column = [one[i] for one in list_of_times]
            medians.append(statistics.median(column))
            print(f"{ops}: {mbufs} mbufs, {what}: median {medians[-1]:.0f} ms of {rounds}, "
                  f"from {min(column):.0f} to {max(column):.0f}")
        ratio = medians[0] / medians[1]
        print(f"ratio {ratio:.3f} by the {what}")
    expect(ratio <= float(limit), f"ratio {ratio:.3f}, more than {limit}")


main({case.__name__: case for case in (linear,)})
