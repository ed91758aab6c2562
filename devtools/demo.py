# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""testpmd forwards on a software ConnectX, and every byte is counted.

First the main job twice, with the default host pool and out of MEMIC; then buffer split,
for programs that look into frames; then frames of other sizes. Started by demo.sh; prints
tables and writes demo/report.json and a plot, demo/pcie.svg and .png, in the build folder.

usage: demo.py BUILD_FOLDER [FRAMES SPLIT_FRAMES REPORT_FOLDER SIZE[,SIZE]...]
"""

import json
import os
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "../app/test/e2e"))

import cells  # noqa: E402: the line above shows where the next ones are
import harness  # noqa: E402
import split  # noqa: E402
from plots.draw import CannotDraw, draw, find_gnuplot  # noqa: E402
from plots.figures import FIGURES  # noqa: E402
from plots.inputs import BadInput, load  # noqa: E402

SCHEMA = "dpdk-memic-demo/1"
FRAMES = 100000
SPLIT_FRAMES = 10000
# beside FRAME_BYTES
SIZES = (64, 512, 4096, 9000)
SIZE_FRAMES = 2000
FRAME_BYTES = split.FRAME_BYTES
MEMIC = "256K"

ROWS = (
    ("frames forwarded", "frames"),
    ("frames dropped", "drops"),
    ("frames with a wrong byte", "payload_errors"),
    ("packet buffers on the card", "device_slots"),
    ("payload bytes over PCIe", "host_payload_bytes"),
    ("payload bytes inside the card", "memic_payload_bytes"),
    ("payload bytes inlined into WQEs", "inline_bytes"),
    ("other bytes over PCIe", "other_bytes"),
    ("protection errors", "protection_errors"),
    ("objects left after quit", "leaked_objects"),
)
SPLIT_ROWS = (
    *ROWS[:4],
    ("header bytes of each frame on host", "header_bytes"),
    *ROWS[4:8],
    ("CPU reads of the card's memory", "cpu_reads"),
    ("CPU writes to the card's memory", "cpu_writes"),
    *ROWS[8:],
)


class Progress:
    """How far a run is, once a second."""

    def __init__(self, text, frames):
        self.text = text
        self.frames = frames
        self.last = 0
        print(f"{text} ...", flush=True)

    def __call__(self, frames):
        if time.monotonic() - self.last >= 1:
            self.last = time.monotonic()
            print(f"{self.text}: {frames:,} of {self.frames:,} frames", flush=True)


def whole(build, pool, frames, progress):
    """Forward whole frames with testpmd, which looks into none."""
    emu = ["--memic", MEMIC, "--wire", f"check:{frames}:{FRAME_BYTES}"]
    slots = 0
    with harness.Testpmd(build, emu, app=harness.FITTING, pool=pool) as testpmd:
        testpmd.wait_prompt()
        if pool:
            slots = sum(info["device_slots"] for info in harness.device_pools(testpmd).values())
        testpmd.start()
        testpmd.forward(frames, progress)
        status = testpmd.quit()
        if status != 0:
            raise harness.Failure(f"testpmd ended with status {status}")
        stats = testpmd.stats()
    return split.Result(slots, stats, stats["ports"][0]["returned"], stats["ports"][0]["bad"])


def entry(name, frames, run):
    """One entry of the report."""
    port = run.port
    return {
        "pool": name,
        "frames": run.returned,
        "frame_bytes": FRAME_BYTES,
        "payload_errors": run.bad,
        "drops": frames - run.returned,
        "device_slots": run.slots,
        **cells.counted(port),
        "protection_errors": run.stats["protection_errors"],
        "leaked_objects": run.stats["leaked_objects"],
    }


def split_entry(name, frames, run, mode, header):
    """The same with what only the runs of the second part have."""
    return {**entry(name, frames, run), "mode": mode, "header_bytes": header,
            "cpu_reads": run.port["cpu_reads"], "cpu_writes": run.port["cpu_writes"]}


def pcie_per_frame(run):
    """All bytes that crossed PCIe for one frame, without TLP headers."""
    over = run["host_payload_bytes"] + run["inline_bytes"] + run["other_bytes"]
    return over / max(run["frames"], 1)


def table(heads, rows, runs):
    """The runs side by side."""
    lines = ["".join(f"{text:>{width}}" for text, width in zip(("", *line), (36, 14, 14, 14)))
             for line in heads]
    for title, key in rows:
        lines.append(f"{title:36}" + "".join(f"{run[key]:>14,}" for run in runs))
    title = "all bytes over PCIe per frame"
    lines.append(f"{title:36}" + "".join(f"{pcie_per_frame(run):>14.1f}" for run in runs))
    return "\n".join(lines)


def broken_promises(run, frames, rows=ROWS):
    """Sentences about what is not as it should be; none when all is well."""
    name = run["pool"]
    header = run["frame_bytes"] if name == "host" else run.get("header_bytes", 0)
    wanted = {"frames": frames, "payload_errors": 0, "drops": 0, "protection_errors": 0,
              "leaked_objects": 0, "inline_bytes": 0,
              "host_payload_bytes": 2 * header * frames,
              "memic_payload_bytes": 2 * (run["frame_bytes"] - header) * frames}
    if header and name != "host":
        wanted.update(cpu_reads=0, cpu_writes=0)
    titles = {key: title for title, key in rows}
    for key, value in wanted.items():
        if run[key] != value:
            yield f"{name}: {titles[key]}: {run[key]:,} instead of {value:,}"
    if (run["device_slots"] > 0) != (name != "host"):
        yield f"{name}: {run['device_slots']} packet buffers on the card"
    # or the counters prove nothing where they are 0
    if "mode" in run and not header:
        for key in ("cpu_reads", "cpu_writes"):
            if run[key] < frames:
                yield f"{name}: {titles[key]}: {run[key]:,}, fewer than frames"


def write_report(folder, runs, ratio, by_size):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "report.json")
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump({"schema": SCHEMA, "runs": runs, "ratio_all_bytes": ratio, "cells": by_size},
                  file, indent=2)
        file.write("\n")
    os.replace(path + ".new", path)
    return path


class Steps:
    """Counts runs."""

    def __init__(self, total):
        self.total = total
        self.done = 0

    def __call__(self, text, frames):
        self.done += 1
        return Progress(f"run {self.done} of {self.total}, {text}", frames)


def main_job(build, frames, step):
    """The first part: entries of both runs."""
    return [entry(name, frames, whole(build, pool, frames, step(f"pool {name}", frames)))
            for name, pool in (("host", None), ("mlx5_memic", "mlx5_memic"))]


def buffer_split(build, frames, step):
    """The second part: entries of its three runs."""
    runs = []
    for name, mode, header in (
            ("mlx5_memic_split", "io", split.HEADER),
            ("mlx5_memic_macswap", "macswap", 0),
            ("mlx5_memic_split_macswap", "macswap", split.HEADER)):
        progress = step(f"{mode}, {'headers split off' if header else 'whole frames'}", frames)
        run = getattr(split, mode)(build, frames, split=header != 0, progress=progress)
        runs.append(split_entry(name, frames, run, mode, header))
    return runs


def over_sizes(build, runs, sizes, step):
    """The third part: a cell for each pool and size; those of FRAME_BYTES were run already."""
    known = {"host": "host", "mlx5_memic": "device", "mlx5_memic_split": "split"}
    found = [{**run, **cells.Cell(known[run["pool"]], FRAME_BYTES)._asdict()}
             for run in runs if run["pool"] in known]
    for size in sizes:
        for pool in cells.POOLS:
            progress = step(f"{pool} pool, frames of {size} bytes", SIZE_FRAMES)
            found.append(cells.run(build, cells.Cell(pool, size), SIZE_FRAMES,
                                   ["--memic", MEMIC], progress))
    return found


def show(frames, split_frames, runs, ratio):
    print(f"\n{frames:,} frames of {FRAME_BYTES} bytes through dpdk-testpmd on a software ConnectX "
          f"with {MEMIC} of MEMIC\n\n" + table((("host pool", "mlx5_memic"),), ROWS, runs[:2]) +
          f"\n\nover PCIe crosses {ratio:.3f} of what it was\n\n"
          f"{split_frames:,} frames: buffer split leaves the first {split.HEADER} bytes of each in "
          "host memory, and in\nmacswap mode the CPU reads and writes the headers of each\n\n" +
          table((("io", "macswap", "macswap"), ("split", "whole", "split")), SPLIT_ROWS, runs[2:]))


def show_sizes(by_size):
    """Over frame size, all bytes over PCIe per frame."""
    lines = [f"all bytes over PCIe per frame, with other sizes {SIZE_FRAMES:,} frames of each\n",
             f"{'':36}" + "".join(f"{pool + ' pool':>14}" for pool in cells.POOLS)]
    for size in sorted({cell["frame_bytes"] for cell in by_size}):
        each = {cell["pool"]: pcie_per_frame(cell) for cell in by_size
                if cell["frame_bytes"] == size}
        lines.append(f"{f'frames of {size:,} bytes':36}" +
                     "".join(f"{each[pool]:>14.1f}" for pool in cells.POOLS))
    print("\n" + "\n".join(lines))


def main():
    find_gnuplot()
    build = harness.Build(sys.argv[1])
    defaults = (FRAMES, SPLIT_FRAMES, os.path.join(build.folder, "demo"),
                ",".join(map(str, SIZES)))
    frames, split_frames, folder, sizes = sys.argv[2:] or defaults
    frames, split_frames = int(frames), int(split_frames)
    sizes = [int(size) for size in sizes.split(",")]
    step = Steps(5 + len(cells.POOLS) * len(sizes))
    first = main_job(build, frames, step)
    second = buffer_split(build, split_frames, step)
    by_size = over_sizes(build, first + second, sizes, step)
    ratio = pcie_per_frame(first[1]) / max(pcie_per_frame(first[0]), 1)
    path = write_report(folder, first + second, ratio, by_size)
    show(frames, split_frames, first + second, ratio)
    show_sizes(by_size)
    figure, needed = FIGURES["pcie"]
    plots = draw(figure(load(path, needed)), "pcie", os.path.join(folder, "pcie"))
    print("\n" + "\n".join([path, *plots]))
    broken = [sentence for run in first for sentence in broken_promises(run, frames)]
    broken += [sentence for run in second
               for sentence in broken_promises(run, split_frames, SPLIT_ROWS)]
    for sentence in broken:
        print(f"demo failed: {sentence}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (harness.Failure, BadInput, CannotDraw) as failure:
        print(f"demo failed: {failure}", file=sys.stderr)
        sys.exit(1)
