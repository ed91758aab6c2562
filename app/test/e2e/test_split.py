# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Buffer split: what crosses PCIe and what the CPU touches, to the byte; and the demo."""

import json
import os
import subprocess
import sys
import tempfile

import split
from harness import (Testpmd, check_card, check_wire, device_pools, expect, expect_output,
                     main)

FRAMES = 1000
DEMO = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../../devtools/demo.py")


def check_bytes(run, header):
    """The first bytes of each frame were in host memory, the others on the card, both ways."""
    for name, each in (("host", header), ("memic", split.FRAME_BYTES - header)):
        for way in ("read", "write"):
            got = run.port[f"{name}_{way}_bytes"]
            expect(got == FRAMES * each, f"{name}_{way}_bytes is {got}, not {FRAMES * each}")
    expect(run.port["inline_bytes"] == 0, f"bytes were inlined: {run.port}")
    check_card(run.stats)


def check_frames(run):
    expect(run.returned == FRAMES and run.bad == 0,
           f"{run.returned} of {FRAMES} frames came back, {run.bad} of them wrong")


def io_split(build, flow_en):
    """Nobody looks into frames: only headers cross PCIe."""
    run = split.io(build, FRAMES, device=f"dv_flow_en={flow_en}")
    check_wire(run.port, FRAMES)
    check_bytes(run, split.HEADER)
    expect(run.port["cpu_reads"] + run.port["cpu_writes"] == 0, f"CPU touches: {run.port}")


def macswap_split(build, flow_en):
    """Headers are read and written, and the CPU touches nothing on the card."""
    run = split.macswap(build, FRAMES, True, device=f"dv_flow_en={flow_en}")
    check_frames(run)
    check_bytes(run, split.HEADER)
    expect(run.port["cpu_reads"] + run.port["cpu_writes"] == 0, f"CPU touches: {run.port}")


def macswap_whole(build, flow_en):
    """The control: whole frames on the card, and the CPU reads and writes there for each."""
    run = split.macswap(build, FRAMES, False, device=f"dv_flow_en={flow_en}")
    check_frames(run)
    check_bytes(run, 0)
    for key in ("cpu_reads", "cpu_writes"):
        expect(run.port[key] >= FRAMES, f"{key} is {run.port[key]}, fewer than frames")


def pools(build):
    """The rule's pool is on the card and the other is not, with the reason; both count."""
    with split.testpmd(build, True, "loop") as testpmd:
        testpmd.wait_prompt()
        found = device_pools(testpmd)
        expect(testpmd.quit() == 0, "testpmd failed")
    expect(sorted(found) == ["mb_pool_0", "mb_pool_0_1"], f"pools {sorted(found)}")
    head, data = found["mb_pool_0"], found["mb_pool_0_1"]
    expect(head["device_slots"] == 0 and "no rule" in head["reason"], str(head))
    expect(data["device_slots"] == 157 and data["reason"] == "", str(data))
    expect(head["host_out"] == 64, f"header buffers in the Rx ring: {head}")
    expect(data["device_out"] + data["host_out"] == 64, f"buffers in the Rx ring: {data}")


def case_75(build):
    """Case 75: sizes that cannot be are refused at once; those that start do forward."""
    app = ["--rxd=64", "--txd=128", "--burst=16", "--mbcache=0", "--total-num-mbufs=1025",
           "--rx-offloads=0x102000", "--tx-offloads=0x8000"]
    # no room behind the headroom; a frame longer than one buffer without scatter
    for bad, message in ((["--mbuf-size=128,2176", "--rxpkts=64,0", *app], "mbuf_data_room_size"),
                         (["--mbuf-size=2176", "--max-pkt-len=9018", *app[:5]], "Scatter offload")):
        with Testpmd(build, ["--memic", "256K"], split.RULE, bad) as testpmd:
            testpmd.wait_prompt()
            expect_output(testpmd, message + r"[\s\S]*Start ports failed")
            expect(testpmd.quit() == 0, "testpmd failed")
            check_card(testpmd.stats())
    # a length of 0 is the rest of the buffer
    with Testpmd(build, ["--memic", "256K", "--wire", f"check:{FRAMES}:1500"], split.RULE,
                 ["--mbuf-size=256,2176", "--rxpkts=64,0", *app]) as testpmd:
        split.forward(testpmd, FRAMES, "io")
        check_card(testpmd.stats())
        port = testpmd.stats()["ports"][0]
    check_wire(port, FRAMES)
    expect(port["host_write_bytes"] >= FRAMES * 64 and port["memic_write_bytes"] > 0, str(port))


def demo(build):
    """The demo ends well, and its report has what scripts look for."""
    with tempfile.TemporaryDirectory(prefix="memic.") as folder:
        run = subprocess.run([sys.executable, DEMO, build.folder, "500", "300", folder, "64"],
                             check=False, capture_output=True, text=True)
        print(run.stdout + run.stderr)
        expect(run.returncode == 0, f"status {run.returncode}")
        with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
            report = json.load(file)
        with open(os.path.join(folder, "pcie.svg"), encoding="utf-8") as file:
            plot = file.read()
        expect(os.path.getsize(os.path.join(folder, "pcie.png")) > 10000, "no picture")
    expect(plot.count('id="pcie_plot_') == 3 and "frame size" in plot, "not the plot")
    runs = {run["pool"]: run for run in report["runs"]}
    expect(list(runs) == ["host", "mlx5_memic", "mlx5_memic_split", "mlx5_memic_macswap",
                          "mlx5_memic_split_macswap"], f"runs {list(runs)}")
    for name in ("host", "mlx5_memic"):
        expect(list(runs[name]) == [
            "pool", "frames", "frame_bytes", "payload_errors", "drops", "device_slots",
            "host_payload_bytes", "memic_payload_bytes", "inline_bytes", "other_bytes",
            "protection_errors", "leaked_objects"], f"members of {name}: {list(runs[name])}")
    each = [(run["host_payload_bytes"] + run["inline_bytes"] + run["other_bytes"]) / run["frames"]
            for run in runs.values()]
    by_size = {(cell["pool"], cell["frame_bytes"]): cell for cell in report["cells"]}
    expect(list(by_size) == [(pool, size) for size, pools in (
        (1500, ("host", "device", "split")), (64, ("host", "device", "split"))) for pool in pools],
        f"cells {list(by_size)}")
    for (pool, size), cell in by_size.items():
        header = min(size, {"host": size, "device": 0, "split": split.HEADER}[pool])
        expect(cell["host_payload_bytes"] == 2 * header * cell["frames"], f"{cell}")
    expect(report["schema"] == "dpdk-memic-demo/1", f"{report['schema']}")
    expect(abs(report["ratio_all_bytes"] - each[1] / each[0]) < 1e-9, f"{report}")
    expect(runs["mlx5_memic_split_macswap"]["cpu_reads"] == 0 and
           runs["mlx5_memic_macswap"]["cpu_reads"] >= 300, f"{report}")


main({case.__name__: case for case in (
    io_split, macswap_split, macswap_whole, pools, case_75, demo)})
