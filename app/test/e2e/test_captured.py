# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Pools that got the driver's ops in other ways: of drivers, in foreign memory, in odd modes."""

import re

from harness import (FITTING, PCI_DEVICE, Testpmd, check_card, check_wire, device_pools,
                     dpdk_release, expect, expect_output, main)

FRAMES = 3000
WIRE = ["--wire", f"check:{FRAMES}:1500"]


def forward_all(testpmd):
    testpmd.start()
    testpmd.forward(FRAMES)
    expect(testpmd.quit() == 0, "testpmd failed")
    stats = testpmd.stats()
    check_card(stats)
    check_wire(stats["ports"][0], FRAMES)
    return stats["ports"][0]


# DPDK 23.11 gave the key another name
MEMBER = "slave" if dpdk_release() == "22.11" else "member"
BOND = f"--vdev=net_bonding0,mode=4,{MEMBER}={PCI_DEVICE}"


def split(pools):
    """The application's pools and those of others."""
    ours = {name: pool for name, pool in pools.items() if name.startswith("mb_pool")}
    return ours, {name: pool for name, pool in pools.items() if name not in ours}


def expect_ordinary(pools):
    expect(pools, "no pool of a driver")
    for name, pool in pools.items():
        expect(pool["device_slots"] == 0, f"{name}: {pool}")
        expect("a driver made it for itself" in pool["reason"], f"{name}: {pool}")


def bonding(build):
    """Case 21: mode 4 makes a pool for its own frames."""
    eal = [BOND]
    with Testpmd(build, ["--memic", "256K"], eal, FITTING) as testpmd:
        testpmd.wait_prompt()
        ours, others = split(device_pools(testpmd))
        expect_ordinary(others)
        # whatever came first, the data pool has the memory
        expect(ours["mb_pool_0"]["device_slots"] > 0, f"{ours}")
        expect(testpmd.quit() == 0, "testpmd failed")
        expect(testpmd.stats()["leaked_objects"] == 0, "objects left")


def bonding_named(build):
    """Who names such a pool gets it."""
    eal = [BOND,
           "--vdev=mempool_mlx5_memic0,pools=mb_pool*,size=64K",
           "--vdev=mempool_mlx5_memic1,pools=*"]
    with Testpmd(build, ["--memic", "256K"], eal, FITTING) as testpmd:
        testpmd.wait_prompt()
        _, others = split(device_pools(testpmd))
        expect(any(pool["device_slots"] > 0 for pool in others.values()), f"{others}")
        expect(testpmd.quit() == 0, "testpmd failed")


def tap_gso(build):
    """Case 21: net_tap makes a pool for segments where a port segments in software."""
    with Testpmd(build, ["--memic", "256K"], ["--vdev=net_tap0,iface=memictest"],
                 FITTING) as testpmd:
        testpmd.wait_prompt()
        for line in ("port stop 1", "port config 1 tx_offload tcp_tso on", "port start 1"):
            testpmd.run(line)
        ours, others = split(device_pools(testpmd))
        expect_ordinary(others)
        expect(ours["mb_pool_0"]["device_slots"] > 0, f"{ours}")
        expect(testpmd.quit() == 0, "testpmd failed")


def last_straddles(testpmd, size, count):
    """Whether the last of the application's own buffers ends in another page than it begins."""
    zone = re.search(r"_xb_0>.*virt:(0x[0-9a-f]+)", testpmd.run("dump_memzone"))
    return zone is not None and (int(zone.group(1), 16) + (count - 1) * size) % 4096 > 4096 - size


def mp_alloc(build, kind, slots, count=1025):
    """Case 74: memory of the application's choice."""
    app = [*FITTING, f"--total-num-mbufs={count}", f"--mp-alloc={kind}"]
    with Testpmd(build, ["--memic", "256K", *WIRE], app=app) as testpmd:
        testpmd.wait_prompt()
        if not last_straddles(testpmd, 1664, count):
            pools = device_pools(testpmd)
            got = sum(pool["device_slots"] for pool in pools.values())
            expect(got == int(slots), f"{got} slots: {pools}")
            port = forward_all(testpmd)
            expect((port["memic_write_bytes"] > 0) == (got > 0), f"{port}")
            return
        expect(testpmd.quit() == 0, "testpmd failed")
    # whatever the pool's ops, the PMD registers the pages in which buffers of the application
    # begin (mlx5_mempool_get_extmem_cb()): the next one ends where it begins
    mp_alloc(build, kind, slots, count + 1)


def eal_mode(build, *options):
    """Cases 70 and 71: the same in every mode of EAL."""
    with Testpmd(build, ["--memic", "256K", *WIRE], options, FITTING) as testpmd:
        testpmd.wait_prompt()
        (pool,) = device_pools(testpmd).values()
        expect(pool["device_slots"] == 157, str(pool))
        port = forward_all(testpmd)
        expect(port["host_write_bytes"] + port["host_read_bytes"] == 0, f"host memory: {port}")


def app_mode(build, *options):
    with Testpmd(build, ["--memic", "256K", *WIRE], app=[*FITTING, *options]) as testpmd:
        testpmd.wait_prompt()
        (pool,) = device_pools(testpmd).values()
        expect(pool["device_slots"] == 157, str(pool))
        forward_all(testpmd)


def tiny(build):
    """Case 10: a device with next to nothing: the pool works, and it is said why."""
    for memic, slots in ((63, 0), (64, 0), (1663, 0), (1664, 1), (3328, 2)):
        with Testpmd(build, ["--memic", str(memic), *WIRE], app=FITTING) as testpmd:
            testpmd.wait_prompt()
            (pool,) = device_pools(testpmd).values()
            expect(pool["device_slots"] == slots, f"{memic} bytes: {pool}")
            if slots == 0:
                expect_output(testpmd, rf"mlx5_0 .* has {memic} bytes of device memory, one "
                              r"buffer takes 1664 \(ENOMEM\)")
            forward_all(testpmd)


def faults(build, pattern, slots, *specs):
    """Case 9: memory that is not what the device says; cases 72 and 86: one that starts within
    a page, aligned to 64 bytes only."""
    emu = ["--memic", "256K", *WIRE]
    for spec in specs:
        emu += ["--fault", spec]
    with Testpmd(build, emu, app=FITTING) as testpmd:
        testpmd.wait_prompt()
        (pool,) = device_pools(testpmd).values()
        expect(pool["device_slots"] == int(slots), str(pool))
        if pattern:
            expect_output(testpmd, pattern)
        forward_all(testpmd)


main({case.__name__: case for case in (
    bonding, bonding_named, tap_gso, mp_alloc, eal_mode, app_mode, tiny, faults)})
