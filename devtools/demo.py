# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""testpmd forwards on a software ConnectX, and every byte is counted.

First the main job twice, with the default host pool and out of MEMIC; then buffer split,
for programs that look into frames. Started by demo.sh; prints two tables and writes
demo/report.json in the build folder.

usage: demo.py BUILD_FOLDER [FRAMES SPLIT_FRAMES REPORT_FOLDER]
"""

import json
import os
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "../app/test/e2e"))

import harness  # noqa: E402: the line above shows where it is
import split  # noqa: E402

FRAMES = 100000
SPLIT_FRAMES = 10000
FRAME_BYTES = split.FRAME_BYTES
MEMIC = "256K"
DOORBELL_BYTES = 8

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
    other = port["wqe_bytes"] + port["cqe_bytes"] + DOORBELL_BYTES * port["doorbells"]
    return {
        "pool": name,
        "frames": run.returned,
        "frame_bytes": FRAME_BYTES,
        "payload_errors": run.bad,
        "drops": frames - run.returned,
        "device_slots": run.slots,
        "host_payload_bytes": port["host_read_bytes"] + port["host_write_bytes"],
        "memic_payload_bytes": port["memic_read_bytes"] + port["memic_write_bytes"],
        "inline_bytes": port["inline_bytes"],
        "other_bytes": other,
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


def write_report(folder, runs, ratio):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "report.json")
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump({"runs": runs, "ratio_all_bytes": ratio}, file, indent=2)
        file.write("\n")
    os.replace(path + ".new", path)
    return path


def main_job(build, frames):
    """The first part: entries of both runs."""
    return [entry(name, frames, whole(build, pool, frames, Progress(text, frames)))
            for name, pool, text in (
                ("host", None, "run 1 of 5, pool host"),
                ("mlx5_memic", "mlx5_memic", "run 2 of 5, pool mlx5_memic"))]


def buffer_split(build, frames):
    """The second part: entries of its three runs."""
    runs = []
    for step, (name, mode, header) in enumerate((
            ("mlx5_memic_split", "io", split.HEADER),
            ("mlx5_memic_macswap", "macswap", 0),
            ("mlx5_memic_split_macswap", "macswap", split.HEADER)), 3):
        how = "headers split off" if header else "whole frames"
        progress = Progress(f"run {step} of 5, {mode}, {how}", frames)
        run = getattr(split, mode)(build, frames, split=header != 0, progress=progress)
        runs.append(split_entry(name, frames, run, mode, header))
    return runs


def show(frames, split_frames, runs, ratio):
    print(f"\n{frames:,} frames of {FRAME_BYTES} bytes through dpdk-testpmd on a software ConnectX "
          f"with {MEMIC} of MEMIC\n\n" + table((("host pool", "mlx5_memic"),), ROWS, runs[:2]) +
          f"\n\nover PCIe crosses {ratio:.3f} of what it was\n\n"
          f"{split_frames:,} frames: buffer split leaves the first {split.HEADER} bytes of each in "
          "host memory, and in\nmacswap mode the CPU reads and writes the headers of each\n\n" +
          table((("io", "macswap", "macswap"), ("split", "whole", "split")), SPLIT_ROWS, runs[2:]))


def main():
    build = harness.Build(sys.argv[1])
    defaults = (FRAMES, SPLIT_FRAMES, os.path.join(build.folder, "demo"))
    frames, split_frames, folder = sys.argv[2:] or defaults
    frames, split_frames = int(frames), int(split_frames)
    first = main_job(build, frames)
    second = buffer_split(build, split_frames)
    ratio = pcie_per_frame(first[1]) / max(pcie_per_frame(first[0]), 1)
    path = write_report(folder, first + second, ratio)
    show(frames, split_frames, first + second, ratio)
    print(f"\n{path}")
    broken = [sentence for run in first for sentence in broken_promises(run, frames)]
    broken += [sentence for run in second
               for sentence in broken_promises(run, split_frames, SPLIT_ROWS)]
    for sentence in broken:
        print(f"demo failed: {sentence}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except harness.Failure as failure:
        print(f"demo failed: {failure}", file=sys.stderr)
        sys.exit(1)
