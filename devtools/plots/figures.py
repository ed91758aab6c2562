# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""What the plots show, out of reports."""

from dataclasses import dataclass, field

# of the pool's buffers in a sweep or demo, in the order of the legend
POOLS = {"host": "host pool", "split": "split pool (64 B of each frame on host)",
         "device": "device pool"}
OPS = ("copy", "ring_mp_mc", "ring_mp_mc again", "stack", "lf_stack", "mlx5_memic")
BURST = 32


@dataclass
class Series:
    """Points (x, y) of a line, or bars (group, y, low, high)."""

    label: str
    points: list


@dataclass
class Figure:
    """A plot; with groups it has bars, else lines."""

    title: str
    x_label: str
    y_label: str
    series: list
    x_log: bool = False
    y_log: bool = False
    y_top: float = None
    groups: list = field(default_factory=list)

    def x_values(self):
        return sorted({point[0] for series in self.series for point in series.points})


def by_label(pairs):
    """Series out of (label, point), points in order, labels as they first came."""
    found = {}
    for label, point in pairs:
        found.setdefault(label, []).append(point)
    return [Series(label, sorted(points)) for label, points in found.items()]


def some(report, name, items, what):
    if not items:
        report.fail(name, f"has no {what}")
    return items


# ---- out of dpdk-memic-perf ----

def spread(result, name):
    """Median and deciles."""
    return tuple(result.number(name + end, positive=True) for end in ("", "_p10", "_p90"))


def ops_label(result):
    ops = result.text("ops")
    if ops == "copy":
        return "copy of pointers alone"
    return ops + (", half on host" if result.number("spill") == 0.5 else "")


def ops_order(result):
    ops = result.text("ops")
    return OPS.index(ops) if ops in OPS else len(OPS), result.number("spill")


def get_put(report):
    results = some(report, "results", [
        result for result in report.items("results")
        if result.text("test") == "get_put" and result.number("bulk") == BURST],
        f"get_put with bursts of {BURST}")
    keys = sorted({(result.number("cache"), result.number("lcores")) for result in results})
    pairs = [(ops_label(result),
              (keys.index((result.number("cache"), result.number("lcores"))),
               *spread(result, "cycles_per_object")))
             for result in sorted(results, key=ops_order)]
    groups = [f"cache {cache:g}, {lcores:g} lcore{'s' if lcores > 1 else ''}"
              for cache, lcores in keys]
    return Figure(f"Get and put of bursts of {BURST}: medians, first to ninth decile",
                  "cache of each lcore [mbufs] and lcores at once",
                  "get and put [TSC cycles per mbuf]",
                  by_label(pairs), y_log=True, groups=groups)


def create_start(report):
    tests = {"create": ("made and freed", "microseconds", 1000),
             "start": ("made, port started", "milliseconds", 1)}
    results = some(report, "results", [
        result for result in report.items("results") if result.text("test") in tests
        and (result.text("test") == "start" or result.number("spill") != 0.5)],
        "create or start")
    pairs = []
    for result in results:
        what, member, per_ms = tests[result.text("test")]
        pairs.append((f"{what}, {result.text('ops')}",
                      (result.number("mbufs", positive=True),
                       result.number(member, positive=True) / per_ms)))
    return Figure("Making pools and starting ports, medians", "size of the pool [mbufs]",
                  "time [ms]", by_label(pairs), x_log=True, y_log=True)


# ---- out of what the card counted ----

def pcie_per_frame(run):
    """All bytes that crossed PCIe for one frame, both ways, without TLP headers."""
    over = sum(run.number(name) for name in ("host_payload_bytes", "inline_bytes", "other_bytes"))
    return over / run.number("frames", positive=True)


def device_share(run):
    """Part of the frames' bytes that the card found in its own memory, in percent."""
    memic, host = run.number("memic_payload_bytes"), run.number("host_payload_bytes")
    if memic + host == 0:
        run.fail("memic_payload_bytes", "is 0, and so is host_payload_bytes")
    return 100 * memic / (memic + host)


def pcie(report):
    """Over frame size: with the rings and caches of the smallest kind that was run."""
    runs = some(report, "cells", report.items("cells"), "run")
    ring, cache = min((run.number("ring"), run.number("cache")) for run in runs)
    pairs = []
    for pool, label in POOLS.items():
        for run in runs:
            if run.text("pool") not in POOLS:
                run.fail("pool", f"'{run.text('pool')}' is none of {', '.join(POOLS)}")
            if (run.text("pool"), run.number("ring"), run.number("cache")) == (pool, ring, cache):
                pairs.append((label, (run.number("frame_bytes", positive=True),
                                      pcie_per_frame(run))))
    return Figure(f"Bytes over PCIe for each forwarded frame, rings of {ring:g}",
                  "frame size without FCS [B]",
                  "bytes over PCIe per frame, in and out [B]",
                  by_label(pairs), x_log=True, y_log=True)


def share(report):
    """Over caches, a line for each depth of rings, of frames of the size run most often."""
    runs = some(report, "cells", [run for run in report.items("cells")
                                  if run.text("pool") == "device"], "run of a device pool")
    sizes = [run.number("frame_bytes") for run in runs]
    size = max(sorted(set(sizes)), key=sizes.count)
    runs = sorted((run for run in runs if run.number("frame_bytes") == size),
                  key=lambda run: (run.number("ring"), run.number("cache")))
    pairs = [(f"rings of {run.number('ring'):g}", (run.number("cache"), device_share(run)))
             for run in runs]
    return Figure(f"Frames in device memory, {size:g} B each",
                  "cache of each lcore [mbufs]",
                  "frames in device memory [%]", by_label(pairs), y_top=105)


# name: the function, the list of the report that it wants
FIGURES = {"get-put": (get_put, "results"), "create-start": (create_start, "results"),
           "pcie": (pcie, "cells"), "share": (share, "cells")}
