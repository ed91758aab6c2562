# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""--memic-stats-file: lines of JSON, one each second and one at exit."""

import json
import os
import signal
import time

from common import POOL, SLOTS, Console
from harness import check_card, device_pools, expect, main


def read(path):
    """All lines; a line that is not whole is no JSON."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def path_of(build, name):
    return os.path.join(build.folder, f"testpmd-memic-{name}-{os.getpid()}.json")


def lines(build):
    path = path_of(build, "lines")
    emu = ["--memic", "256K", "--wire", "check:100000000:1500"]
    try:
        with Console(build, ["--memic-dev=mlx5_0", f"--memic-stats-file={path}"], emu=emu
                     ) as testpmd:
            testpmd.wait_prompt()
            testpmd.start()
            time.sleep(3.5)
            testpmd.run("stop")
            last = testpmd.query("/ethdev/stats,0")
            pool = device_pools(testpmd)[POOL]
            expect(testpmd.quit() == 0, "testpmd failed")
            check_card(testpmd.stats())
        found = read(path)
    finally:
        os.unlink(path)
    check_lines(found)
    end = found[-1]
    expect(end["event"] == "exit", f"{end}")
    port = end["ports"][0]
    expect(port["address"] == "0000:08:00.0" and port["tx_packets"] == last["opackets"],
           f"{port}, {last}")
    expect(end["pools"][0]["device_slots"] == SLOTS, f"{end}")
    expect(end["pools"][0]["device_gets"] == pool["device_gets"], f"{end}, {pool}")
    for member in ("foreign_dropped", "foreign_bounced"):
        expect(end["pools"][0][member] == 0, f"{end}")
    expect(end["devices"][0]["slot_bytes"] == SLOTS * 1664, f"{end}")


def check_lines(found):
    """Intervals of about a second, in which counters do not go back."""
    intervals = [line for line in found if line["event"] == "interval"]
    expect(len(intervals) >= 3, f"{len(intervals)} intervals")
    for line in found:
        expect(set(line) == {"event", "time", "seconds", "ports", "pools", "devices"}, f"{line}")
        expect(line["event"] in ("interval", "port", "exit"), f"{line}")
    for before, line in zip(intervals, intervals[1:]):
        expect(0.2 < line["time"] - before["time"] < 3, f"{before['time']}, {line['time']}")
        for old, new in zip(before["ports"], line["ports"]):
            expect(new["rx_packets"] >= old["rx_packets"], f"{old}, {new}")
    expect(any(line["ports"] and line["ports"][0]["rx_packets"] for line in intervals),
           "no frame in any interval")


def ports_come_and_go(build):
    """Ports are stopped, closed, detached and attached while lines are written."""
    path = path_of(build, "ports")
    try:
        with Console(build, ["--memic-dev=mlx5_0", f"--memic-stats-file={path}"]) as testpmd:
            testpmd.wait_prompt()
            for _ in range(3):
                testpmd.run("port stop all")
                testpmd.run("port start all")
            testpmd.run("port stop all")
            testpmd.run("port close all")
            testpmd.run("device detach 0000:08:00.0")
            testpmd.run("port attach 0000:08:00.0")
            expect(testpmd.quit() == 0, "testpmd failed")
        found = read(path)
    finally:
        os.unlink(path)
    events = [line["event"] for line in found]
    expect(events.count("port") >= 5 and events[-1] == "exit", f"{events}")


def killed(build):
    """A signal leaves whole lines, the last of them with the ports' last counters."""
    path = path_of(build, "killed")
    try:
        with Console(build, ["--memic-dev=mlx5_0", f"--memic-stats-file={path}"]) as testpmd:
            testpmd.wait_prompt()
            testpmd.process.send_signal(signal.SIGTERM)
            testpmd.wait_exit()
        found = read(path)
    finally:
        os.unlink(path)
    expect(any(line["event"] == "port" and line["ports"] for line in found), f"{found}")


def full(build):
    """A disk that is full is told once; testpmd goes on."""
    with Console(build, ["--memic-dev=mlx5_0", "--memic-stats-file=/dev/full"]) as testpmd:
        testpmd.wait_prompt()
        testpmd.wait_for("--memic-stats-file: No space left on device; nothing more is written")
        time.sleep(1.5)
        expect(testpmd.output.count("nothing more is written") == 1, "told twice")
        expect(testpmd.quit() == 0, "testpmd failed")
        check_card(testpmd.stats())


main({case.__name__: case for case in (lines, ports_come_and_go, killed, full)})
