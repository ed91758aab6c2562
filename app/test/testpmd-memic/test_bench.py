# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Measurements by commands and by --memic-bench."""

import re

from common import POOL, SLOTS, Console, only, rows_of
from harness import check_card, expect, expect_output, main


def check_spread(row, median):
    expect(0 < float(row["p10"]) <= float(row[median]) <= float(row["p90"]), f"spread: {row}")


def pool(build):
    """Get and put beside ring_mp_mc and the floor, on a pool whose rings are full."""
    with Console(build, ["--memic-dev=mlx5_0"]) as testpmd:
        testpmd.wait_prompt()
        free = only(testpmd.table(f"show memic pool {POOL}", "pool"))
        answer = testpmd.run(f"memic bench pool {POOL} burst 8 seconds 1", 60)
        head = re.search(rf"pool {POOL}, bursts of 8, (\d+) rounds on one lcore", answer)
        expect(head and int(head[1]) >= 5, answer)
        rows = rows_of(answer, "get and put")
        expect([row["get and put"] for row in rows] ==
               ["ring_mp_mc", "ring_mp_mc again", "mlx5_memic", "copy of pointers"], str(rows))
        for row in rows:
            check_spread(row, "median [cycles/object]")
        expect(rows[0]["ratio to ring"] == "1.00", str(rows[0]))
        expect(float(rows[3]["ratio to ring"]) < 1,
               f"the floor is above: {rows}")
        # nothing is lost or left out
        now = only(testpmd.table(f"show memic pool {POOL}", "pool"))
        for name in ("slots", "free", "out", "host free", "host out"):
            expect(now[name] == free[name], f"{name} was {free[name]}, is {now[name]}")
        answer = testpmd.run(f"memic bench pool {POOL} burst 512 seconds 1", 60)
        expect("bursts of 512" in answer, answer)
        pools = testpmd.run("show memic pool nosuch")
        expect(f"pools: {POOL}." in pools, f"pools are left: {pools}")
        testpmd.run("start")
        answer = testpmd.run(f"memic bench pool {POOL}")
        expect('testpmd is forwarding on lcore 1: give "stop" first.' in answer, answer)
        testpmd.run("stop")
        testpmd.quit()
        check_card(testpmd.stats())


def copy(build):
    """Into memory of its own where there is some left, and else into a slot."""
    with Console(build, ["--memic-size=64K"]) as testpmd:
        testpmd.wait_prompt()
        answer = testpmd.run("memic bench copy", 60)
        expect("into memory of mlx5_0" in answer, answer)
        rows = rows_of(answer, "copy")
        ways = ["memic_copy_to", "memcpy", "memcpy to host memory", "ibv_memcpy_to_dm"]
        expect([(row["copy"], row["size [B]"]) for row in rows] ==
               [(way, size) for size in ("64", "512", "1500") for way in ways], str(rows))
        for row in rows:
            check_spread(row, "median [cycles/B]")
        testpmd.quit()
        check_card(testpmd.stats())
    with Console(build, ["--memic-size=all"]) as testpmd:
        testpmd.wait_prompt()
        answer = testpmd.run("memic bench copy", 60)
        expect(f"into a slot of pool {POOL}; without ibv_memcpy_to_dm, as pools have all memory "
               "of mlx5_0" in answer, answer)
        expect("ibv_memcpy_to_dm" not in [row["copy"] for row in rows_of(answer, "copy")], answer)
        testpmd.quit()
        check_card(testpmd.stats())


def forward(build):
    """Frames of a generator: what the loop says is what the card counted."""
    emu = ["--memic", "256K", "--wire", "check:100000000:1500"]
    with Console(build, ["--memic-dev=mlx5_0", "--rxq=2", "--txq=2"], emu=emu) as testpmd:
        testpmd.wait_prompt()
        answer = testpmd.run("memic bench forward seconds 2", 60)
        row = only(rows_of(answer, "port"))
        rx, tx, dropped = (int(row[n]) for n in ("rx [packets]", "tx [packets]", "dropped"))
        expect(rx > 100 and rx == tx + dropped and row["queues"] == "2", str(row))
        rate = float(row["rx [pkt/s]"])
        expect(0.4 * rx < rate <= 0.51 * rx, f"{rate} packets/s are not {rx} in 2 s")
        share = float(re.search(r"frames on the device: ([\d.]+) % of \d+ looked at", answer)[1])
        expect(float(re.search(r"cycles/packet: ([\d.]+)", answer)[1]) > 0, answer)
        expect("Latency: not measured, as frames come from elsewhere." in answer, answer)
        row = only(rows_of(answer, "pool"))
        expect(row["slots"] == str(SLOTS) and 0 < int(row["slots peak"]) <= SLOTS, str(row))
        # testpmd forwards after that as ever
        testpmd.start()
        testpmd.forward(testpmd.query("/ethdev/stats,0")["opackets"] + 500)
        testpmd.run("stop")
        expect(testpmd.quit() == 0, "testpmd failed")
        port = testpmd.stats()["ports"][0]
        check_card(testpmd.stats())
    expect(port["bad"] == 0, "a byte changed")
    memic = port["memic_write_bytes"] / (port["memic_write_bytes"] + port["host_write_bytes"])
    expect(abs(share - 100 * memic) < 15, f"share {share} %, of the card {100 * memic} %")


def loop(build):
    """On a loop frames of its own go round, and the time that takes is measured."""
    with Console(build, ["--memic-dev=mlx5_0"], emu=["--memic", "256K", "--wire", "loop"]
                 ) as testpmd:
        testpmd.wait_prompt()
        answer = testpmd.run("memic bench forward seconds 1", 60)
        row = only(rows_of(answer, "port"))
        expect(int(row["rx [packets]"]) > 32, str(row))
        row = only(rows_of(answer, "looped frames"))
        times = [float(row[f"{n} [us]"]) for n in ("p50", "p90", "p99", "p99.9", "max")]
        expect(times == sorted(times) and times[0] > 0, str(row))
        expect(row["on device"] == row["looped frames"] and row["lost"] == "0", str(row))
        # all frames of its own were taken off the wire
        before = testpmd.query("/ethdev/stats,0")["ipackets"]
        testpmd.run("show memic stats")
        expect(testpmd.query("/ethdev/stats,0")["ipackets"] == before, "frames still go round")
        expect(testpmd.quit() == 0, "testpmd failed")
        check_card(testpmd.stats())


def silence(build):
    """Neither generator nor loop: told, in no more than a moment."""
    # the wire leads to a port that nobody uses
    emu = ["--memic", "256K", "--ports", "2", "--wire", "pair"]
    with Console(build, ["--memic-dev=mlx5_0"], emu=emu) as testpmd:
        testpmd.wait_prompt()
        answer = testpmd.run("memic bench forward seconds 60", 30)
        expect(re.search(r"No frame came in on any started port within [\d.]+ s, and none of 32 "
                         "that were sent came back: connect a generator, or a loop.", answer),
               answer)
        testpmd.quit()


def flag(build):
    """--memic-bench measures once, before the first command."""
    with Console(build, ["--memic-dev=mlx5_0", "--memic-bench=1"],
                 emu=["--memic", "256K", "--wire", "loop"]) as testpmd:
        testpmd.wait_prompt(90)
        first = testpmd.output.index("testpmd> ")
        for words in (f"pool {POOL}, bursts of 32", "memic_copy_to", "cycles/packet"):
            expect(words in testpmd.output[:first], f"no '{words}' before the prompt")
        expect(testpmd.output.count("cycles/packet") == 1, "measured twice")
        expect(testpmd.quit() == 0, "testpmd failed")
        expect_output(testpmd, "Bye")
        check_card(testpmd.stats())


main({case.__name__: case for case in (pool, copy, forward, loop, silence, flag)})
