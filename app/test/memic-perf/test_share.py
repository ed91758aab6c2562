# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Share of the frames' bytes in device memory when there are fewer slots than mbufs."""

import re

from harness import Testpmd, check_card, device_pools, expect, main

FRAMES = 20000
# 256 KiB hold 157 buffers of this size; lcore caches as testpmd makes them
APP = ["--rxd=64", "--txd=64", "--burst=32", "--mbuf-size=1664", "--mbcache=250",
       "--total-num-mbufs=4096"]


def queues(count):
    return [f"--rxq={count}", f"--txq={count}"]


def share(build, app=(), prepare=None):
    """Share in percent, what the pool said at the end and frames received per queue."""
    emu = ["--memic", "256K", "--wire", "check:100000000:1500"]
    with Testpmd(build, emu, [], [*APP, *app]) as testpmd:
        testpmd.wait_prompt()
        if prepare:
            prepare(testpmd)
        testpmd.start()
        before = testpmd.query("/ethdev/stats,0")["opackets"]
        testpmd.forward(before + FRAMES)
        (pool,) = device_pools(testpmd).values()
        received = testpmd.query("/ethdev/stats,0")["q_ipackets"]
        expect(testpmd.quit() == 0, "testpmd failed")
        stats = testpmd.stats()
    check_card(stats)
    port = stats["ports"][0]
    expect(port["bad"] == 0, "a byte changed")
    memic = port["memic_read_bytes"] + port["memic_write_bytes"]
    host = port["host_read_bytes"] + port["host_write_bytes"]
    got = 100 * memic / (memic + host)
    print(f"share {got:.2f} %, queues {received}, pool {pool}")
    return got, pool, received


def cached(build):
    """Neither the lcore that starts the port nor any cache keeps the slots."""
    got, pool, _ = share(build)
    expect(got >= 95, f"share {got:.2f} %")
    expect(pool["device_cached"] + pool["device_out"] <= pool["device_slots"], str(pool))


def restarted(build):
    """Slots come back when rings are drained, and go where frames are again."""
    def restart(testpmd):
        testpmd.run("port stop 0")
        testpmd.run("port start 0")

    got, _, _ = share(build, prepare=restart)
    expect(got >= 95, f"share {got:.2f} %")


def idle_queues(build):
    """Seven queues without traffic do not keep the slots from the eighth."""
    def to_the_last(testpmd):
        size = int(re.search(r"Redirection table size: (\d+)", testpmd.run("show port info 0"))[1])
        testpmd.run("port config 0 rss reta " + ",".join(f"({i},7)" for i in range(size)))
        (pool,) = device_pools(testpmd).values()
        expect(pool["device_out"] == 0, f"rings were filled with slots: {pool}")

    got, _, received = share(build, queues(8), to_the_last)
    # frames that came before the table was set are in other queues; each may hold some
    if sum(received[:7]) == 0:
        expect(got >= 95, f"share {got:.2f} %")
    else:
        expect(got >= 40, f"share {got:.2f} %")


def fair(build):
    """Two queues with even traffic: both get slots."""
    got, _, received = share(build, queues(2))
    expect(min(received[:2]) > FRAMES / 3, f"traffic is not even: {received}")
    expect(got >= 70, f"share {got:.2f} %")


main({case.__name__: case for case in (cached, restarted, idle_queues, fair)})
