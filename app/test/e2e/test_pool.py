# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Pools of every size on cards of every size, what is said about them, and their end."""

import os

from harness import (FITTING, Testpmd, check_card, check_wire, device_pools, expect,
                     expect_output, main)

FRAMES = 5000
WIRE = ["--wire", f"check:{FRAMES}:1500"]
# far more than are forwarded before the end
ENDLESS = ["--wire", "check:100000000:1500"]
LOG = ["--log-level=mempool.mlx5_memic:info"]


def forward_all(testpmd):
    """Forward all frames of WIRE, quit and check; returns the port's counters."""
    testpmd.start()
    testpmd.forward(FRAMES)
    expect(testpmd.quit() == 0, "testpmd failed")
    stats = testpmd.stats()
    check_card(stats)
    check_wire(stats["ports"][0], FRAMES)
    return stats["ports"][0]


def only_pool(testpmd):
    pools = device_pools(testpmd)
    expect(len(pools) == 1, f"pools of the driver: {sorted(pools)}")
    return next(iter(pools.values()))


def host_bytes(port):
    return port["host_read_bytes"] + port["host_write_bytes"]


def memic_bytes(port):
    return port["memic_read_bytes"] + port["memic_write_bytes"]


def fits(build):
    """Enough memory for every buffer: nothing is left on the host."""
    app = ["--mbuf-size=1664", "--total-num-mbufs=1025", "--rxd=256", "--txd=256"]
    with Testpmd(build, ["--memic", "2M", *WIRE], LOG, app) as testpmd:
        testpmd.wait_prompt()
        pool = only_pool(testpmd)
        expect(pool["device_slots"] == pool["objects"] and pool["host_slots"] == 0, str(pool))
        port = forward_all(testpmd)
        expect(host_bytes(port) == 0, f"host memory used: {port}")


def spills(build):
    """More buffers than memory: both kinds are used, and it is said how many."""
    app = ["--mbuf-size=1664", "--total-num-mbufs=1025", "--rxd=256", "--txd=256"]
    with Testpmd(build, ["--memic", "128K", *WIRE], LOG, app) as testpmd:
        testpmd.wait_prompt()
        pool = only_pool(testpmd)
        expect(0 < pool["device_slots"] < pool["objects"], str(pool))
        expect(pool["device_slots"] + pool["host_slots"] == pool["objects"], str(pool))
        expect(pool["device_bytes"] <= 128 << 10, str(pool))
        expect_output(testpmd, rf"MLX5_MEMIC: .*\b{pool['device_slots']}\b")
        port = forward_all(testpmd)
        expect(memic_bytes(port) > 0 and host_bytes(port) > 0, f"one kind only: {port}")


def refused(build, eal, pattern, emu=(), env=None):
    """testpmd must not come up, and the output must say why."""
    with Testpmd(build, emu, eal, FITTING, env=env) as testpmd:
        status = testpmd.wait_exit()
        expect(status not in (0, 125) and status < 128, f"status {status}")
        expect_output(testpmd, pattern)


def strict_too_big(build):
    refused(build, [*LOG, "--vdev=mempool_mlx5_memic0,spill=0"],
            r"MLX5_MEMIC: .*mb_pool_0.*(spill|ENOMEM)", ["--memic", "128K"])


def quota(build):
    """size= bounds what one pool takes."""
    eal = ["--vdev=mempool_mlx5_memic0,size=64K"]
    with Testpmd(build, ["--memic", "256K", *WIRE], eal, FITTING) as testpmd:
        testpmd.wait_prompt()
        pool = only_pool(testpmd)
        expect(0 < pool["device_bytes"] <= 64 << 10, str(pool))
        forward_all(testpmd)


def no_memic(build):
    """A card without MEMIC: an ordinary pool, and one warning."""
    with Testpmd(build, ["--preset", "nomemic", *WIRE], app=FITTING) as testpmd:
        testpmd.wait_prompt()
        pool = only_pool(testpmd)
        expect(pool["device_slots"] == 0 and pool["reason"], str(pool))
        expect_output(testpmd, r"MLX5_MEMIC: .*mb_pool_0.*")
        port = forward_all(testpmd)
        expect(memic_bytes(port) == 0, f"device memory used: {port}")


def no_device(build):
    """Case 76, no port at all: the pool lives in host memory, and it is said why."""
    with Testpmd(build, app=FITTING, devices=()) as testpmd:
        testpmd.wait_prompt()
        pool = only_pool(testpmd)
        expect(pool["device_slots"] == 0 and pool["reason"], str(pool))
        expect_output(testpmd, r"MLX5_MEMIC: .*mb_pool_0.*device")
        expect(testpmd.quit() == 0, "testpmd failed")


def other_pools(build):
    """A rule for other pools leaves this one alone."""
    eal = ["--vdev=mempool_mlx5_memic0,pools=other*"]
    with Testpmd(build, ["--memic", "256K", *WIRE], eal, FITTING) as testpmd:
        testpmd.wait_prompt()
        expect(only_pool(testpmd)["device_slots"] == 0, "took device memory")
        expect(memic_bytes(forward_all(testpmd)) == 0, "device memory used")


def wrong_devargs(build):
    """The message names the key."""
    for key, value in (("nosuch", "1"), ("size", "12Q"), ("spill", "2"), ("mkey", "foo"),
                       ("size", "-1")):
        refused(build, [f"--vdev=mempool_mlx5_memic0,{key}={value}"], rf"MLX5_MEMIC: .*\b{key}\b")


def wrong_environment(build):
    refused(build, [], r"MLX5_MEMIC: .*\bsize\b", env=dict(os.environ, MLX5_MEMIC="size=12Q"))


def quit_under_traffic(build):
    """Quit with frames in every ring: no wrong byte, nothing left."""
    with Testpmd(build, ["--memic", "256K", *ENDLESS], app=FITTING) as testpmd:
        testpmd.wait_prompt()
        testpmd.start()
        testpmd.forward(FRAMES)
        expect(testpmd.quit() == 0, "testpmd failed")
        stats = testpmd.stats()
        check_card(stats)
        expect(stats["ports"][0]["bad"] == 0, "a byte changed")


def stop_start(build):
    """Three rounds on one pool: all slots come back from the rings each time."""
    with Testpmd(build, ["--memic", "256K", *ENDLESS], app=FITTING) as testpmd:
        testpmd.wait_prompt()
        for _ in range(3):
            testpmd.start()
            before = testpmd.query("/ethdev/stats,0")["opackets"]
            testpmd.forward(before + FRAMES)
            testpmd.run("stop")
            testpmd.run("port stop 0")
            pool = only_pool(testpmd)
            expect(pool["device_free"] == pool["device_slots"], f"slots still out: {pool}")
            testpmd.run("port start 0")
        expect(testpmd.quit() == 0, "testpmd failed")
        stats = testpmd.stats()
        check_card(stats)
        expect(stats["ports"][0]["bad"] == 0, "a byte changed")


def close_port(build):
    """The port goes before the pool."""
    with Testpmd(build, ["--memic", "256K", *ENDLESS], app=FITTING) as testpmd:
        testpmd.wait_prompt()
        testpmd.start()
        testpmd.forward(FRAMES)
        for line in ("stop", "port stop 0", "port close 0"):
            testpmd.run(line)
        expect(testpmd.quit() == 0, "testpmd failed")
        check_card(testpmd.stats())


main({case.__name__: case for case in (
    fits, spills, strict_too_big, quota, no_memic, no_device, other_pools, wrong_devargs,
    wrong_environment, quit_under_traffic, stop_start, close_port)})
