# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Commands of the plugin, from standard input and from a file."""

import os
import re
import tempfile
import time

from common import POOL, SLOTS, Console, only, rows_of
from harness import PCI_DEVICE, PROMPT, check_card, check_wire, device_pools, expect, main


def show(build):
    """Figures are those that the driver's telemetry gives."""
    with Console(build, ["--memic-dev=mlx5_0"]) as testpmd:
        testpmd.wait_prompt()
        pool = device_pools(testpmd)[POOL]
        for command in ("show memic all", f"show memic pool {POOL}"):
            row = only(testpmd.table(command, "pool"))
            for name, key in (("slots", "device_slots"), ("free", "device_free"),
                              ("out", "device_out"), ("peak", "device_peak"),
                              ("host mbufs", "host_slots"), ("host free", "host_free"),
                              ("host out", "host_out")):
                expect(row[name] == str(pool[key]), f"{name} is {row[name]}, {key} {pool[key]}")
            expect(row["device"] == "mlx5_0" and row["key"] == "klm", str(row))
            expect(row["slot [B]"] == "1664", str(row))
        expect(int(row["slots"]) == SLOTS, str(row))
        expect(f"cache of each lcore: {pool['cache_size']} mbufs" in
               testpmd.run(f"show memic pool {POOL}"), "cache")
        for command in ("show memic all", "show memic devices"):
            row = only(testpmd.table(command, "device"))
            expect(row == {"device": "mlx5_0", "address": "0000:08:00.0", "memory [B]": "262144",
                           "held [B]": "262144", "in slots [B]": str(SLOTS * 1664),
                           "quarantined [B]": "0", "pools": "1", "state": "open"}, str(row))
        row = only(testpmd.table("show memic port 0", "queue"))
        expect(row == {"queue": "0", "rx ring": "64", "tx ring": "64", "pool": POOL,
                       "slots": str(SLOTS), "memory": "mlx5_0, then host"}, str(row))
        row = only(testpmd.table("show memic all", "port"))
        expect(row["device"] == "mlx5_0" and row["bus address"] == "0000:08:00.0", str(row))
        expect(testpmd.quit() == 0, "testpmd failed")
        check_card(testpmd.stats())


def rates(build):
    """Rates come from counters over the interval; a clear begins it anew."""
    with Console(build, ["--memic-dev=mlx5_0"], emu=["--memic", "256K", "--wire",
                                                     "check:100000000:1500"]) as testpmd:
        testpmd.wait_prompt()
        testpmd.start()
        expect("begin anew" in testpmd.run("clear memic stats"), "no answer")
        before = testpmd.query("/ethdev/stats,0")
        testpmd.forward(before["opackets"] + 5000)
        answer = testpmd.run("show memic stats")
        after = testpmd.query("/ethdev/stats,0")
        seconds = float(re.search(r"Over the last ([\d.]+) s", answer)[1])
        row = only(testpmd.table("show memic stats", "port"))
        expect(set(row) == {"port", "rx [pkt/s]", "tx [pkt/s]", "rx [Mbit/s]",
                            "tx [Mbit/s]", "missed [/s]", "no mbuf [/s]", "errors [/s]"},
               str(row))
        row = only(rows_of(answer, "port"))
        most = (after["ipackets"] - before["ipackets"]) / (seconds - 0.005)
        expect(0 < float(row["rx [pkt/s]"]) <= most + 1, f"{row}, at most {most}")
        frames = float(row["rx [pkt/s]"])
        expect(abs(float(row["rx [Mbit/s]"]) - frames * 1500 * 8 / 1e6) < 0.1, str(row))
        row = only(rows_of(answer, "pool"))
        expect(float(row["with slot [%]"]) > 95, str(row))
        expect(float(row["gets with slot [/s]"]) > 0, str(row))
        testpmd.run("stop")
        testpmd.run("show memic stats")
        row = only(testpmd.table("show memic stats", "pool"))
        expect(row["with slot [%]"] == "-" and row["gets with slot [/s]"] == "0", str(row))
        out = int(row["slots out"])
        testpmd.run("clear memic stats")
        row = only(testpmd.table("show memic stats", "pool"))
        expect(int(row["slots peak"]) >= out, str(row))
        expect(int(row["slots peak"]) <= out + device_pools(testpmd)[POOL]["device_cached"],
               str(row))
        testpmd.quit()


def foreign(build):
    """Frames that cross to a port of another device, by pool: dropped, then bounced."""
    frames = 400
    emu = ["--memic", "256K", "--ports", "2", "--wire", f"check:{frames}:1500"]
    for value, way, other in (("drop", "dropped", "bounced"), ("bounce", "bounced", "dropped")):
        flags = ["--memic-siblings=1", f"--memic-foreign={value}"]
        with Console(build, flags, emu, devices=(PCI_DEVICE, "0000:08:00.1")) as testpmd:
            testpmd.wait_prompt()
            answer = testpmd.run("show memic all") + testpmd.run("show memic stats")
            expect("foreign" not in answer, f"nothing to tell: {answer}")
            testpmd.run("start")
            deadline = time.monotonic() + 60
            while any(port["ipackets"] < frames for port in
                      (testpmd.query(f"/ethdev/stats,{port}") for port in (0, 1))):
                expect(time.monotonic() < deadline, "stuck")
                time.sleep(0.1)
            testpmd.run("stop")
            told = {row["pool"]: row for row in testpmd.table("show memic stats", "pool", nth=1)}
            rows = testpmd.table("show memic all", "pool", nth=1)
            pools = device_pools(testpmd)
            expect(sorted(row["pool"] for row in rows) == sorted(pools) == sorted(told), f"{rows}")
            for row in rows:
                counted = pools[row["pool"]][f"foreign_{way}"]
                # a frame counts each time that it is tried
                expect(counted >= frames, f"{way} {counted}")
                expect(row[f"foreign {way} [frames]"] == str(counted) and
                       row[f"foreign {other} [frames]"] == "0", f"{row}, {counted}")
                expect(float(told[row["pool"]][f"foreign {way} [/s]"]) > 0 and
                       told[row["pool"]][f"foreign {other} [/s]"] == "0", f"{told}")
                expect(f"on ports of other devices: "
                       f"{row['foreign dropped [frames]']} frames dropped, "
                       f"{row['foreign bounced [frames]']} bounced"
                       in testpmd.run(f"show memic pool {row['pool']}"), f"{row}")
            expect(testpmd.quit() == 0, "testpmd failed")
            check_card(testpmd.stats())


def dump(build):
    with Console(build, ["--memic-dev=mlx5_0"]) as testpmd:
        testpmd.wait_prompt()
        answer = testpmd.run(f"memic dump pool {POOL}").replace("\r", "")
        expect(f"mempool <{POOL}>@0x" in answer and "ops_name: <mlx5_memic>" in answer, answer)
        pool = device_pools(testpmd)[POOL]
        for line in (", ops mlx5_memic", "  rule=--memic flags", "  device=mlx5_0",
                     f"  device_slots={SLOTS}", f"  host_free={pool['host_free']}"):
            expect(line + "\n" in answer, f"no '{line}': {answer}")
        expect(f"slots 0-{SLOTS - 1}: bytes 0-{SLOTS * 1664 - 1} of the region" in answer, answer)
        testpmd.quit()


def probe(build):
    """A device beside the pools that use it; and why there is nothing to put to the test."""
    with Console(build, ["--memic-size=64K"]) as testpmd:
        testpmd.wait_prompt()
        for device in ("mlx5_0", "0000:08:00.0"):
            rows = testpmd.table(f"memic probe {device}", "check", 60)
            answers = {row["check"]: row["answer"] for row in rows}
            expect(answers.get("klm") == "yes", f"{answers}")
            expect(all(row["answer"] == "yes" for row in rows if row["needed"] == "yes"), f"{rows}")
        expect("All that is needed of 0000:08:00.0 works." in testpmd.output, "no summary")
        expect("mlx5_9" in testpmd.run("memic probe mlx5_9"), "no sentence")
        testpmd.run("start")
        testpmd.run("stop")
        expect(testpmd.quit() == 0, "testpmd failed")
        # keys are misused on purpose
        expect(testpmd.stats()["leaked_objects"] == 0, "objects are left")
    with Console(build, ["--memic-size=all"]) as testpmd:
        testpmd.wait_prompt()
        answer = testpmd.run("memic probe mlx5_0", 60)
        expect("Nothing to put to the test: pools have all memory of mlx5_0." in answer, answer)
        testpmd.quit()


def beside(build, flow_en, frames):
    """Whether ports of the same device and of another were still forwarding so many frames when
    the probe had ended: none lost, no byte changed, and a flow rule saw each and none of the
    probe's."""
    with Console(build, device=f"dv_flow_en={flow_en}", devices=("0000:08:00.0", "0000:08:00.1"),
                 emu=["--ports", "2", "--wire", f"check:{frames}:1500"]) as testpmd:
        testpmd.wait_prompt()
        # with dv_flow_en=0 the PMD has no counters
        count = "count /" if flow_en == "1" else ""
        answer = testpmd.run(f"flow create 0 ingress pattern eth / end actions {count} queue "
                             "index 0 / end")
        expect("created" in answer, answer)
        testpmd.start()
        before = testpmd.query("/ethdev/stats,0")["opackets"]
        rows = testpmd.table("memic probe mlx5_0", "check", 60)
        after = testpmd.query("/ethdev/stats,0")["opackets"]
        expect(all(row["answer"] == "yes" for row in rows if row["needed"] == "yes"), f"{rows}")
        testpmd.forward(frames, ports=(0, 1))
        if count:
            answer = testpmd.run("flow query 0 0 count")
            hits = int(re.search(r"hits: (\d+)", answer)[1])
            # a ring of 64 may have been full before there was a rule
            expect(frames - 64 <= hits <= frames, answer)
        expect(testpmd.quit() == 0, "testpmd failed")
        stats = testpmd.stats()
        for port in stats["ports"]:
            check_wire(port, frames)
        expect(stats["leaked_objects"] == 0, f"{stats}")
        looped = stats["ports"][0]["looped_frames"]
        expect(looped > 100, f"the probe looped {looped} frames")
        print(f"dv_flow_en={flow_en}: of {frames} frames {before} before the probe, {after} behind "
              f"it, {looped} of its own, none lost")
        return before < after < frames


def probe_running(build):
    """A probe beside traffic. What comes into one port leaves by the other: what a port sends to
    its own address the probe may divert. A fast machine needs more frames to be still at it."""
    for flow_en in "01":
        expect(any(beside(build, flow_en, frames) for frames in (80000, 400000, 2000000)),
               "nothing moved beside the probe")


def sentences(build):
    """What there is not is said."""
    with Console(build, ["--memic-dev=mlx5_0"]) as testpmd:
        testpmd.wait_prompt()
        for command, words in (
                ("show memic pool nosuch", f"There is no pool nosuch; pools: {POOL}."),
                ("memic dump pool nosuch", f"There is no pool nosuch; pools: {POOL}."),
                ("memic bench pool nosuch", f"There is no pool nosuch; pools: {POOL}."),
                ("show memic port 3", "There is no port 3."),
                ("show memic port 70000", "There is no port 70000."),
                ("show memic port x", "Bad arguments"),
                ("show memic nosuch", "Bad arguments"),
                (f"memic bench pool {POOL} burst 0", "burst 0 is not from 1 to 512."),
                (f"memic bench pool {POOL} burst 513", "burst 513 is not from 1 to 512."),
                (f"memic bench pool {POOL} seconds 0", "seconds 0 is not from 1 to 3600."),
                (f"memic bench pool {POOL} burst -1", "Bad arguments"),
                ("memic bench forward seconds 3601", "seconds 3601 is not from 1 to 3600.")):
            answer = testpmd.run(command)
            expect(words in answer, f"{command}: {answer}")
        testpmd.run("port stop all")
        expect('No port is started: give "port start all".' in
               testpmd.run("memic bench forward"), "stopped ports")
        testpmd.run("port close all")
        answer = testpmd.run("show memic all")
        expect("No port." in answer, answer)
        # the pool has its memory still
        expect(f"  {POOL}" in answer and "mlx5_0" in answer, answer)
        expect("There is no port 0." in testpmd.run("show memic port 0"), "closed port")
        testpmd.quit()
        check_card(testpmd.stats())


def nothing(build):
    """Neither device nor pool, and then no driver either."""
    with Console(build, devices=()) as testpmd:
        testpmd.wait_prompt()
        answer = testpmd.run("show memic all")
        for words in ("No device: the mlx5 driver has opened none.",
                      "No pool of the mempool ops mlx5_memic", "No port."):
            expect(words in answer, answer)
        expect("No device: the mlx5 driver has opened none." in testpmd.run("memic bench copy"),
               "copy")
        testpmd.quit()
    with Console(build, driver=False, devices=()) as testpmd:
        testpmd.wait_prompt()
        for command in ("show memic all", "show memic devices", f"show memic pool {POOL}",
                        "show memic port 0", "show memic stats", "clear memic stats",
                        f"memic dump pool {POOL}", "memic bench copy", "memic bench forward"):
            answer = testpmd.run(command)
            expect("No figures: the mempool driver mlx5_memic is not loaded" in answer,
                   f"{command}: {answer}")
        testpmd.quit()


def read_file(testpmd, command=None):
    """Output of the commands of a file; some releases print a prompt for each."""
    start = len(testpmd.output) if command else 0
    if command:
        testpmd.send(command)
    end = testpmd.wait_for("Read CLI commands from .*", start=start)
    return testpmd.output[start:testpmd.wait_for(PROMPT, start=end)]


def from_file(build):
    """As from the terminal: --cmdline-file, and the command load."""
    with tempfile.NamedTemporaryFile("w", suffix=".cmd") as file:
        os.chmod(file.name, 0o644)
        file.write(f"show memic devices\nshow memic pool {POOL}\nmemic dump pool {POOL}\n")
        file.flush()
        flags = ["--memic-dev=mlx5_0", f"--cmdline-file={file.name}"]
        with Console(build, flags) as testpmd:
            for text in (read_file(testpmd), read_file(testpmd, f"load {file.name}")):
                for words in ("quarantined [B]", "rule: --memic flags", f"mempool <{POOL}>@"):
                    expect(words in text, f"no '{words}' in: {text}")
            # and the terminal has them, too
            only(testpmd.table("show memic devices", "device"))
            testpmd.quit()


main({case.__name__: case for case in (show, rates, foreign, dump, probe, probe_running,
    sentences, nothing, from_file)})
