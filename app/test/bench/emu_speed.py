# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""How fast the software card is: testpmd io with every check on, against memcpy.

Each round measures the floor (two copies a frame on one CPU), then testpmd on each
wire; the table has the medians. A machine that is shared shows in the frames a second,
but hardly in the CPU time that the card's thread takes for a frame.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "../e2e"))
# pylint: disable=wrong-import-position
from harness import Build, Failure, Testpmd, check_card, expect  # noqa: E402

# More than any run can forward.
FRAMES = 1 << 30
RINGS = ["--rxd=1024", "--txd=1024", "--burst=32", "--total-num-mbufs=8192"]
IDLE_LIMIT = 0.02


def engine_seconds(pid):
    """CPU time of the card's thread."""
    folder = f"/proc/{pid}/task"
    for task in os.listdir(folder):
        with open(f"{folder}/{task}/stat", encoding="ascii") as file:
            name, rest = file.read().split("(", 1)[1].rsplit(")", 1)
        if name == "mlx5emu":
            user, system = rest.split()[11:13]
            return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    raise Failure("the card has no thread")


def program_pid(testpmd):
    """The launcher's only child."""
    pid = testpmd.process.pid
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return int(file.read().split()[0])


def floor(program, size):
    return float(subprocess.run([program, str(size)], check=True, capture_output=True,
                                text=True).stdout)


def frames_sent(testpmd):
    return testpmd.query("/ethdev/stats,0")["opackets"]


def forward(build, wire, pool, args):
    """Frames a second, and nanoseconds of the card's thread for each."""
    emu = ["--memic", "1M", "--wire", f"check:{FRAMES}:{args.bytes}" if wire == "check" else wire]
    app = [*RINGS, f"--txpkts={args.bytes}"]
    with Testpmd(build, emu, app=app, pool=pool) as testpmd:
        testpmd.wait_prompt()
        if wire == "check":
            testpmd.start()
        else:
            testpmd.run("start tx_first 16")
        time.sleep(0.5)
        pid = program_pid(testpmd)
        begin, cpu, sent = time.monotonic(), engine_seconds(pid), frames_sent(testpmd)
        time.sleep(args.seconds)
        sent = frames_sent(testpmd) - sent
        cpu, seconds = engine_seconds(pid) - cpu, time.monotonic() - begin
        testpmd.run("stop")
        expect(testpmd.quit() == 0, "testpmd failed")
        stats = testpmd.stats()
    check_card(stats)
    if wire == "check":
        expect(stats["ports"][0]["bad"] == 0, f"bad frames: {stats['ports'][0]}")
    expect(sent > 0, "no frame moved")
    return {"frames_per_second": sent / seconds, "engine_ns_per_frame": cpu / sent * 1e9}


def idle(build, args):
    """Share of a CPU that the card takes while its port is started and nothing moves."""
    with Testpmd(build, ["--wire", "loop"], app=RINGS, pool=None) as testpmd:
        testpmd.wait_prompt()
        time.sleep(1)
        pid = program_pid(testpmd)
        begin, cpu = time.monotonic(), engine_seconds(pid)
        time.sleep(args.seconds)
        share = (engine_seconds(pid) - cpu) / (time.monotonic() - begin)
        testpmd.quit()
    return share


def median(rounds, name):
    return {key: statistics.median(r[name][key] for r in rounds) for key in rounds[0][name]}


def parse():
    parser = argparse.ArgumentParser(description="speed of the emulated card")
    parser.add_argument("build", help="build folder")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3, help="of each measurement")
    parser.add_argument("--bytes", type=int, default=64, help="length of the frames, without FCS")
    parser.add_argument("--json", metavar="FILE", help="write the figures there, too")
    return parser.parse_args()


def main():
    args = parse()
    build = Build(args.build)
    program = os.path.join(build.folder, "app/test/bench/memcpy_floor")
    cases = {f"{wire} {pool or 'host'}": (wire, pool)
             for wire in ("loop", "check") for pool in (None, "mlx5_memic")}
    rounds = []
    for _ in range(args.rounds):
        measured = {"floor": {"frames_per_second": floor(program, args.bytes)}}
        for name, (wire, pool) in cases.items():
            measured[name] = forward(build, wire, pool, args)
        rounds.append(measured)
    base = median(rounds, "floor")["frames_per_second"]
    figures = {"bytes": args.bytes, "floor_frames_per_second": base,
               "idle_cpu_share": idle(build, args), "cases": {}}
    print(f"memcpy floor: {base / 1e6:.1f} M frames/s of {args.bytes} B")
    print(f"{'wire and pool':18} {'M frames/s':>10} {'of floor':>9} {'engine ns/frame':>16}")
    for name in cases:
        result = median(rounds, name)
        rate = result["frames_per_second"]
        figures["cases"][name] = {**result, "ratio": rate / base}
        print(f"{name:18} {rate / 1e6:10.2f} {rate / base:9.4f} "
              f"{result['engine_ns_per_frame']:16.0f}")
    print(f"idle: {figures['idle_cpu_share'] * 100:.2f} % of a CPU")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1)
    if figures["idle_cpu_share"] > IDLE_LIMIT:
        sys.exit(f"the card takes more than {IDLE_LIMIT * 100:.0f} % of a CPU when idle")


if __name__ == "__main__":
    main()
