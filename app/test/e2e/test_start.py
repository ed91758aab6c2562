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
    """Milliseconds in a process that has touched no memory before."""
    env = dict(os.environ)
    command = [os.path.join(build.folder, "app/test/e2e/e2e_start"), "--no-huge", "-m",
               str(64 + mbufs * 2304 // (1 << 20) * 2), lcores(1), "-a", PCI_DEVICE,
               *plugin_arguments(build.plugin, env), "--", ops, str(mbufs)]
    with Program(build, command, ["--memic", "256K"], env) as program:
        expect(program.wait_exit() == 0, f"status {program.status}")
        check_card(program.stats())
        return float(re.search(r"([0-9.]+) ms", program.output)[1])


def linear(build, mbufs, rounds, limit):
    """Medians of interleaved runs, spilled pool on 4 KiB pages."""
    times = {"mlx5_memic": [], "ring_mp_mc": []}
    for _ in range(int(rounds)):
        for ops, list_of_times in times.items():
            list_of_times.append(once(build, ops, int(mbufs)))
    for ops, list_of_times in times.items():
        print(f"{ops}: {mbufs} mbufs, median {statistics.median(list_of_times):.0f} ms of "
              f"{rounds}, from {min(list_of_times):.0f} to {max(list_of_times):.0f}")
    ratio = statistics.median(times["mlx5_memic"]) / statistics.median(times["ring_mp_mc"])
    print(f"ratio {ratio:.3f}")
    expect(ratio <= float(limit), f"ratio {ratio:.3f}, more than {limit}")


main({case.__name__: case for case in (linear,)})
