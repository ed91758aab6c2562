# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""The main job twice: testpmd forwards with the default host pool and out of MEMIC.

Started by demo.sh; prints a table and writes demo/report.json in the build folder.
"""

import json
import os
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "../app/test/e2e"))

import harness  # noqa: E402: the line above shows where it is

FRAMES = 100000
FRAME_BYTES = 1500
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


class Progress:
    """How far a run is, once a second."""

    def __init__(self, text):
        self.text = text
        self.last = 0
        print(f"{text} ...", flush=True)

    def __call__(self, frames):
        if time.monotonic() - self.last >= 1:
            self.last = time.monotonic()
            print(f"{self.text}: {frames:,} of {FRAMES:,} frames", flush=True)


def slots_on_device(testpmd):
    """Packet buffers that the pools of testpmd have in device memory."""
    return sum(info["device_slots"] for info in harness.device_pools(testpmd).values())


def forward(build, pool, progress):
    """One run of testpmd; returns its slots and the card's statistics."""
    emu = ["--memic", MEMIC, "--wire", f"check:{FRAMES}:{FRAME_BYTES}"]
    slots = 0
    with harness.Testpmd(build, emu, app=harness.FITTING, pool=pool) as testpmd:
        testpmd.wait_prompt()
        if pool:
            slots = slots_on_device(testpmd)
        testpmd.start()
        testpmd.forward(FRAMES, progress)
        status = testpmd.quit()
        if status != 0:
            raise harness.Failure(f"testpmd ended with status {status}")
        return slots, testpmd.stats()


def result(pool, slots, stats):
    """One entry of the report."""
    port = stats["ports"][0]
    other = port["wqe_bytes"] + port["cqe_bytes"] + DOORBELL_BYTES * port["doorbells"]
    return {
        "pool": pool,
        "frames": port["returned"],
        "frame_bytes": FRAME_BYTES,
        "payload_errors": port["bad"],
        "drops": port["lost"],
        "device_slots": slots,
        "host_payload_bytes": port["host_read_bytes"] + port["host_write_bytes"],
        "memic_payload_bytes": port["memic_read_bytes"] + port["memic_write_bytes"],
        "inline_bytes": port["inline_bytes"],
        "other_bytes": other,
        "protection_errors": stats["protection_errors"],
        "leaked_objects": stats["leaked_objects"],
    }


def pcie_per_frame(run):
    """All bytes that crossed PCIe for one frame, without TLP headers."""
    over = run["host_payload_bytes"] + run["inline_bytes"] + run["other_bytes"]
    return over / max(run["frames"], 1)


def table(runs):
    """The runs side by side."""
    lines = [f"{'':34}{'host pool':>14}{'mlx5_memic':>14}"]
    for title, key in ROWS:
        lines.append(f"{title:34}" + "".join(f"{run[key]:>14,}" for run in runs))
    title = "all bytes over PCIe per frame"
    lines.append(f"{title:34}" + "".join(f"{pcie_per_frame(run):>14.1f}" for run in runs))
    return "\n".join(lines)


def broken_promises(run):
    """Sentences about what is not as it should be; none when all is well."""
    name = run["pool"]
    through = 2 * run["frame_bytes"] * run["frames"]
    on_host, on_card = (through, 0) if name == "host" else (0, through)
    wanted = {"frames": FRAMES, "payload_errors": 0, "drops": 0, "protection_errors": 0,
              "leaked_objects": 0, "inline_bytes": 0, "host_payload_bytes": on_host,
              "memic_payload_bytes": on_card}
    titles = {key: title for title, key in ROWS}
    for key, value in wanted.items():
        if run[key] != value:
            yield f"{name}: {titles[key]}: {run[key]:,} instead of {value:,}"
    if (run["device_slots"] > 0) != (name != "host"):
        yield f"{name}: {run['device_slots']} packet buffers on the card"


def write_report(build, runs, ratio):
    folder = os.path.join(build.folder, "demo")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "report.json")
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump({"runs": runs, "ratio_all_bytes": ratio}, file, indent=2)
        file.write("\n")
    os.replace(path + ".new", path)
    return path


def main():
    build = harness.Build(sys.argv[1])
    runs = []
    for step, (name, pool) in enumerate((("host", None), ("mlx5_memic", "mlx5_memic")), 1):
        progress = Progress(f"run {step} of 2, pool {name}")
        runs.append(result(name, *forward(build, pool, progress)))
    ratio = pcie_per_frame(runs[1]) / max(pcie_per_frame(runs[0]), 1)
    path = write_report(build, runs, ratio)
    print(f"\n{FRAMES:,} frames of {FRAME_BYTES} bytes through dpdk-testpmd on a software ConnectX "
          f"with {MEMIC} of MEMIC\n\n{table(runs)}\n\n"
          f"over PCIe crosses {ratio:.3f} of what it was; {path}")
    broken = [sentence for run in runs for sentence in broken_promises(run)]
    for sentence in broken:
        print(f"demo failed: {sentence}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except harness.Failure as failure:
        print(f"demo failed: {failure}", file=sys.stderr)
        sys.exit(1)
