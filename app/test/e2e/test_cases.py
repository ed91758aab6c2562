# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Kinds of faults that users of pools and external buffers have met: whole ways to run."""

import os
import shutil
import subprocess
import tempfile

import frames as eth
from harness import (FITTING, PLUGIN, Skip, Testpmd, add_preload, check_card, check_wire,
                     device_pools, expect, expect_output, lcores, main, world_writable_above)
from split import make_frames
from unprivileged import Unprivileged

FRAMES = 2000
WIRE = ["--wire", f"check:{FRAMES}:1500"]


def only_pool(testpmd):
    (pool,) = device_pools(testpmd).values()
    return pool


def forward_all(testpmd, frames=FRAMES):
    """Forward, quit and check; returns the port's counters."""
    testpmd.start()
    testpmd.forward(frames)
    expect(testpmd.quit() == 0, "testpmd failed")
    check_card(testpmd.stats())
    check_wire(testpmd.stats()["ports"][0], frames)
    return testpmd.stats()["ports"][0]


def case_4(build):
    """Slots that lie across pages, of 1664 bytes and of 9 KB: each byte has a key."""
    app = ["--rxd=32", "--txd=64", "--burst=8", "--mbuf-size=9280", "--max-pkt-len=9018",
           "--mbcache=0", "--total-num-mbufs=1025"]
    for size, options, memic in ((1500, FITTING, "256K"), (9014, app, "1M")):
        emu = ["--memic", memic, "--wire", f"check:{FRAMES}:{size}"]
        with Testpmd(build, emu, app=options) as testpmd:
            testpmd.wait_prompt()
            port = forward_all(testpmd)
        expect(port["host_read_bytes"] + port["host_write_bytes"] == 0, f"host memory: {port}")


def case_12(build, devargs, size, reads):
    """The PMD inlines the start of frames, or all of short ones: the right bytes are sent, and
    what the CPU reads of device memory for that is counted and bounded."""
    emu = ["--memic", "256K", "--wire", f"check:{FRAMES}:{size}", "--fault", "trap=read"]
    with Testpmd(build, emu, app=FITTING, device=devargs) as testpmd:
        testpmd.wait_prompt()
        port = forward_all(testpmd)
    inline = port["inline_bytes"]
    expect((inline > 0) == (port["cpu_reads"] > 0), f"inlined, or read: {port}")
    # no access is longer than a vector or shorter than the byte that it brings
    expect(port["cpu_reads"] <= int(reads) * FRAMES, f"too many reads: {port}")
    expect(inline <= FRAMES * int(size), f"read past the frames: {port}")
    expect(port["memic_read_bytes"] == FRAMES * int(size) - inline, f"{port}")
    print(f"{inline} bytes inlined, {port['cpu_reads']} reads")


def case_22(build):
    """Case 22: 120 slots for rings of 512: the host tier helps out, and nothing waits for ever.
    (Rings larger than the pool: test_lifetime.c.)"""
    app = [*FITTING, "--mbuf-size=2176", "--rxd=512", "--txd=512"]
    with Testpmd(build, ["--memic", "256K", *WIRE], app=app) as testpmd:
        testpmd.wait_prompt()
        pool = only_pool(testpmd)
        expect(pool["device_slots"] == 120, str(pool))
        expect(pool["device_out"] + pool["host_out"] == 512, f"not all in the Rx ring: {pool}")
        port = forward_all(testpmd)
    expect(port["memic_write_bytes"] > 0 and port["host_write_bytes"] > 0, f"{port}")


def case_64(build):
    """Case 64: who may not have the other types of device memory may have MEMIC."""
    with tempfile.TemporaryDirectory() as folder:
        emu = ["--memic", "256K", "--fault", "sw-icm", *WIRE]
        with Testpmd(Unprivileged(build, folder), emu, app=FITTING) as testpmd:
            testpmd.wait_prompt()
            expect(only_pool(testpmd)["device_slots"] == 157, str(only_pool(testpmd)))
            expect("EPERM" not in testpmd.output, "asked for what needs capabilities")
            forward_all(testpmd)


def case_66(build, what):
    """Case 66: no node of the device, or no more memory to lock: a reason, and no crash."""
    if what == "no_node":
        preload = os.path.join(build.folder, "app/test/e2e/libe2e_fail.so")
        env = dict(os.environ, E2E_FAIL="no_node")
        add_preload(env, preload)
        with Testpmd(build, ["--memic", "256K"], app=FITTING, env=env) as testpmd:
            testpmd.wait_prompt()
            pool = only_pool(testpmd)
            expect(pool["device_slots"] == 0 and "opened no device" in pool["reason"], str(pool))
            expect_output(testpmd, "pool mb_pool_0 lives in host memory: the mlx5 driver has")
            expect(testpmd.quit() == 0, "testpmd failed")
        return
    with tempfile.TemporaryDirectory() as folder:
        emu = ["--memic", "256K", *WIRE]
        with Testpmd(Unprivileged(build, folder, 64 << 10), emu, app=FITTING) as testpmd:
            testpmd.wait_prompt()
            # what is on the card is not locked
            expect(only_pool(testpmd)["device_slots"] == 157, str(only_pool(testpmd)))
            expect_output(testpmd, r"MLX5_MEMIC: .*ENOMEM.* 64 KiB \(RLIMIT_MEMLOCK\).*ulimit -l")
            expect_output(testpmd, "Fail to start port 0")
            expect(testpmd.quit() == 0, "testpmd failed")
        with Testpmd(Unprivileged(build, folder), emu, app=FITTING) as testpmd:
            testpmd.wait_prompt()
            forward_all(testpmd)


def load(build, plugin, folder=""):
    """Exit status and output of a program that does nothing but load a plugin."""
    program = os.path.join(build.folder, "app/test/e2e/e2e_limits")
    with tempfile.TemporaryDirectory() as runtime:
        env = dict(os.environ, RUNTIME_DIRECTORY=runtime, LD_LIBRARY_PATH=folder)
        done = subprocess.run([program, "--no-huge", "-m", "64", "--no-pci", "--no-telemetry",
                               lcores(1), "-d", plugin], env=env, capture_output=True, text=True,
                              timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


def case_34(build):
    """Case 34: EAL takes no plugin from where everybody may write, be it by a link, and the two
    ways around that the guide has; writable to a group is good enough."""
    with tempfile.TemporaryDirectory(prefix="plugins.", dir=build.folder) as folder:
        path, link = (os.path.join(folder, name) for name in (PLUGIN, "link.so"))
        if world_writable_above(path):
            raise Skip("EAL takes no plugins from below this build folder")
        shutil.copy(build.plugin, path)
        os.chmod(folder, 0o775)
        expect(load(build, path)[0] == 0, "not from a folder of a group")
        os.chmod(folder, 0o777)
        os.symlink(path, link)
        for insecure in (path, link):
            status, output = load(build, insecure)
            expect(status == 1 and f"{folder} is world-writable and insecure" in output, output)
        expect(load(build, PLUGIN, folder)[0] == 0, "not by its bare name")
        long = os.path.join(folder, 30 * "folder_of_a_long_name/", PLUGIN)
        expect(load(build, long)[0] == 1, "a file that is not there")


def case_35(build):
    """Case 35: a folder given to -d, with all that such folders hold: the driver once."""
    with tempfile.TemporaryDirectory(prefix="plugins.", dir=build.folder) as folder:
        if world_writable_above(os.path.join(folder, PLUGIN)):
            raise Skip("EAL takes no plugins from below this build folder")
        where = os.path.dirname(build.plugin)
        os.symlink(build.plugin, os.path.join(folder, PLUGIN))
        os.symlink(build.plugin, os.path.join(folder, PLUGIN + ".1"))
        os.symlink(os.path.join(where, "librte_pmd_mlx5_memic.a"), os.path.join(folder, "lib.a"))
        os.symlink("nowhere.so", os.path.join(folder, "librte_dangling.so.2"))
        build.plugin = folder
        with Testpmd(build, ["--memic", "256K", *WIRE], app=FITTING) as testpmd:
            testpmd.wait_prompt()
            expect(only_pool(testpmd)["device_slots"] == 157, str(only_pool(testpmd)))
            expect("already" not in testpmd.output, "loaded twice")
            forward_all(testpmd)


def case_69(build, driver):
    """Case 69: ports that copy or hand on what is in device memory get the right bytes."""
    frames = make_frames(500)
    with tempfile.TemporaryDirectory(prefix="memic.") as folder:
        into, out, empty = (os.path.join(folder, name) for name in ("in", "out", "empty"))
        eth.write_pcap(into, frames)
        eth.write_pcap(empty, [])
        # by net_ring the frames come back into the card's port, net_pcap writes them itself
        vdev, wire = (("net_ring0", f"pcap:{into}:{out}") if driver == "net_ring" else
                      (f"net_pcap0,rx_pcap={empty},tx_pcap={out}", f"pcap:{into}:"))
        with Testpmd(build, ["--memic", "256K", "--wire", wire], [f"--vdev={vdev}"],
                     [*FITTING, "--port-topology=paired"]) as testpmd:
            testpmd.wait_prompt()
            testpmd.start()
            testpmd.forward(len(frames), ports=(0 if driver == "net_ring" else 1,))
            expect(testpmd.quit() == 0, "testpmd failed")
            check_card(testpmd.stats())
            port = testpmd.stats()["ports"][0]
        got = eth.read_pcap(out)
    expect(port["memic_write_bytes"] > 0, f"device memory not used: {port}")
    expect(len(got) == len(frames), f"{len(got)} of {len(frames)} frames")
    expect(got == frames, f"{sum(a != b for a, b in zip(got, frames))} frames changed")


main({case.__name__: case for case in (
    case_4, case_12, case_22, case_34, case_35, case_64, case_66, case_69)})
