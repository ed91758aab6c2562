# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""What a sweep measures: runs of testpmd, and of dpdk-memic-perf."""

import json
import os
import tempfile
from typing import NamedTuple

import cells
import harness

SIZES = (64, 128, 256, 512, 1024, 1500, 2048, 4096, 9000)
RINGS = (64, 128, 256, 512, 1024)
CACHES = (0, 32, 64, 128, 256, 512)
SHARE_BYTES = 1500
# the first frames of a ring may be elsewhere than the others: enough of them, and the more
# the longer the rings
FRAMES, SHARE_FRAMES = 4000, 20000
MBUFS = (1023, 4096, 16384, 65536)
# get_put has pools that together want more than a card's usual memory
PERF_CARD = ("--memic", "1M")
PERF_SECONDS = 400


class TestpmdJob(NamedTuple):
    """One cell."""

    cell: cells.Cell
    frames: int
    card: tuple

    @property
    def name(self):
        return str(self.cell)

    def arguments(self):
        """All that the outcome depends on, for comparison."""
        eal, app = cells.testpmd_options(self.cell)
        return {"frames": self.frames, "card": list(self.card), "eal": eal, "testpmd": app}

    def run(self, build):
        return {"cells": [cells.run(build, self.cell, self.frames, self.card)]}


class PerfJob(NamedTuple):
    """One run of dpdk-memic-perf."""

    name: str
    options: tuple

    def arguments(self):
        return {"card": list(PERF_CARD), "perf": list(self.options)}

    def run(self, build):
        env = dict(os.environ)
        program = os.path.join(build.folder, "app/memic-perf/dpdk-memic-perf")
        with tempfile.TemporaryDirectory(prefix="memic.") as folder:
            path = os.path.join(folder, "perf.json")
            command = [program, "--json", path, *self.options, "--", "--no-huge", "-m", "1024",
                       "--no-shconf", pinned_lcores(), "-a", harness.PCI_DEVICE,
                       *harness.plugin_arguments(build.plugin, env)]
            with harness.Program(build, command, PERF_CARD, env) as perf:
                status = perf.wait_exit(PERF_SECONDS)
                if status != 0:
                    raise harness.Failure(f"dpdk-memic-perf ended with status {status}")
            with open(path, encoding="utf-8") as file:
                return {"results": json.load(file)["results"]}


def pinned_lcores():
    """Two lcores with a CPU each, where there are two."""
    cpus = sorted(os.sched_getaffinity(0))
    return "--lcores=" + ",".join(f"{lcore}@{cpu}" for lcore, cpu in enumerate(cpus[:2]))


def testpmd_jobs(card, sizes, rings, caches, frames, share_frames):
    """A job for each cell; what two plots show is run once."""
    shares = [cells.Cell("device", SHARE_BYTES, ring, cache) for ring in rings for cache in caches]
    over_sizes = [cells.Cell(pool, size) for size in sizes for pool in cells.POOLS]
    return [TestpmdJob(cell, share_frames if cell in shares else frames, card)
            for cell in dict.fromkeys(over_sizes + shares)]


def whole(card):
    sizes = [option for n in MBUFS for option in ("--mbufs", str(n))]
    return [
        *testpmd_jobs(card, SIZES, RINGS, CACHES, FRAMES, SHARE_FRAMES),
        PerfJob("perf-get_put", ("--test", "get_put", "--rounds", "21")),
        PerfJob("perf-create-start", ("--test", "create", "--test", "start", "--quick",
                                      "--rounds", "11", *sizes)),
    ]


def quick(card):
    """Enough to see that all of it works."""
    return [
        *testpmd_jobs(card, (64, 1500), (64,), (0,), 300, 300),
        PerfJob("perf", ("--test", "get_put", "--test", "create", "--test", "start", "--quick",
                         "--rounds", "3", "--mbufs", "512", "--mbufs", "1023")),
    ]
