# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Cables between ports and to the network stack, and what an interface does to them."""

import os
import shutil
import subprocess
import tempfile

import frames as eth
from harness import TESTPMD, Skip, Testpmd, check_card, dpdk_release, expect, lcores, main
from tap import TYPE, Tap, echo

SMALL = ["--rxd=64", "--txd=64", "--burst=16", "--mbcache=0", "--total-num-mbufs=2048"]
PORTS = ["0000:08:00.0", "0000:08:00.1"]
NOBODY = 65534


def pair(build, flow_en):
    """Two ports on one cable: what goes round does so both ways."""
    with Testpmd(build, ["--ports", "2", "--wire", "pair"], [], SMALL, None,
                 f"dv_flow_en={flow_en}", devices=PORTS) as testpmd:
        testpmd.wait_prompt()
        testpmd.run("set fwd io")
        testpmd.run("start tx_first")
        testpmd.forward(2000, ports=(0, 1))
        testpmd.run("stop")
        expect(testpmd.quit() == 0, "testpmd failed")
        stats = testpmd.stats()
    check_card(stats)
    ports = stats["ports"]
    for one, other in ((ports[0], ports[1]), (ports[1], ports[0])):
        expect(one["tx_frames"] > 1000, f"{one['name']} sent {one['tx_frames']} frames only")
        arrived = other["rx_frames"] + other["rx_no_wqe"] + other["rx_no_match"]
        expect(arrived == one["tx_frames"], f"{arrived} of {one['tx_frames']} frames arrived")
        expect(other["rx_bytes"] > 0, f"{other['name']} received nothing")


def kernel(build, devices):
    """What RDMA netlink and the driver of the netdev answer."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernel_command.py")
    result = subprocess.run([build.emu, "--ports", devices, "--", "/usr/bin/python3", script,
                             devices], capture_output=True, text=True, timeout=60, check=False)
    expect(result.returncode == 0 and result.stdout == "good\n", result.stdout + result.stderr)


def on_tap(build, flow_en, app=()):
    return Testpmd(build, ["--wire", "tap"], [], [*SMALL, *app], None, f"dv_flow_en={flow_en}")


def tap(build, flow_en):
    """The netdev is the cable's other end."""
    with on_tap(build, flow_en) as testpmd:
        testpmd.wait_prompt()
        testpmd.run("set fwd macswap")
        testpmd.run("start")
        with Tap("emu0", testpmd.process.pid) as peer:
            echo(peer, eth.MAC + eth.PEER, 100)
        expect(testpmd.quit() == 0, "testpmd failed")
        check_card(testpmd.stats())


def copy_for_others(build, folder):
    os.chmod(folder, 0o755)
    for name in (build.emu, build.preload):
        target = os.path.join(folder, os.path.relpath(name, build.folder))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(name, target)
    for name in ("frames.py", "harness.py", "tap.py", "tap_command.py"):
        shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), folder)
    for parent, names, _ in os.walk(folder):
        for name in names:
            os.chmod(os.path.join(parent, name), 0o755)
    return os.path.join(folder, os.path.relpath(build.emu, build.folder))


def tap_unprivileged(build, flow_en):
    """The same as somebody who has no privilege at all."""
    if os.geteuid() != 0:
        raise Skip("not root: case tap is unprivileged")
    become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    if subprocess.run([*become, "unshare", "-Un", "true"], check=False,
                      capture_output=True).returncode != 0:
        raise Skip("this machine refuses user namespaces to its users")
    with tempfile.TemporaryDirectory(prefix="memic.") as folder:
        emu = copy_for_others(build, folder)
        runtime = os.path.join(folder, "run")
        os.mkdir(runtime)
        os.chown(runtime, NOBODY, NOBODY)
        env = dict(os.environ, RUNTIME_DIRECTORY=runtime, TMPDIR=runtime)
        command = [*become, emu, "--wire", "tap", "--", "/usr/bin/python3",
                   os.path.join(folder, "tap_command.py"), TESTPMD, "--no-huge", "-m", "256",
                   lcores(2), "-a", f"{PORTS[0]},dv_flow_en={flow_en}", "--", "-i", *SMALL,
                   # the pool is pinned, and counts for RLIMIT_MEMLOCK, often 8 MiB
                   "--total-num-mbufs=1100"]
        result = subprocess.run(command, env=env, text=True, capture_output=True, timeout=100,
                                check=False)
        print(result.stdout[-3000:], result.stderr[-3000:])
        expect(result.returncode == 0 and "echoed" in result.stdout,
               f"status {result.returncode}")


def frame_of(size, dmac=eth.MAC):
    return dmac + eth.PEER + TYPE + bytes(size - 14)


def mtu(build, flow_en):
    """Longer frames than the interface's MTU allows never reach a queue."""
    app = ["--mbuf-size=10240", "--rxd=32", "--txd=32"]
    with on_tap(build, flow_en, app) as testpmd:
        testpmd.wait_prompt()
        testpmd.run("set fwd macswap")
        for size in (9000, 1500, 4000):
            testpmd.run("port stop 0")
            answer = testpmd.run(f"port config mtu 0 {size}")
            expect("fail" not in answer and "rror" not in answer, answer)
            testpmd.run("port start 0")
            testpmd.run("start")
            info = testpmd.run("show port info 0")
            expect(f"MTU: {size}" in info, f"not MTU {size} in: {info}")
            with Tap("emu0", testpmd.process.pid) as peer:
                expect(peer.exchange(frame_of(size + 14)), f"no frame of MTU {size}")
            testpmd.run("stop")
        testpmd.run("port stop 0")
        answer = testpmd.run("port config mtu 0 9979")
        expect("ailed" in answer or "nvalid" in answer or "rror" in answer,
               f"an MTU that no ConnectX has: {answer}")
        expect(testpmd.quit() == 0, "testpmd failed")
        check_card(testpmd.stats())


# Commands, frames that are taken then, and those that DPDK 24.11.8 takes: when its flow rules are
# made anew it forgets the addresses of a physical function (app/test/e2e/compat.h).
MACS = (("set promisc 0 off", "own broadcast", "broadcast"),
        ("mac_addr add 0 02:11:22:33:44:55", "own other broadcast", "other broadcast"),
        ("set allmulti 0 on", "own other group broadcast", "group broadcast"),
        ("set allmulti 0 off", "own other broadcast", "broadcast"),
        ("mac_addr remove 0 02:11:22:33:44:55", "own broadcast", "broadcast"),
        ("mcast_addr add 0 01:00:5e:00:00:01", "own group broadcast", "broadcast"),
        ("mcast_addr remove 0 01:00:5e:00:00:01", "own broadcast", "broadcast"),
        ("set promisc 0 on", "own other group broadcast", "own other group broadcast"),
        ("set promisc 0 off", "own broadcast", "broadcast"),
        ("mac_addr set 0 02:11:22:33:44:55", "other broadcast", "other broadcast"))


def macs(build, flow_en):
    """Addresses that a port takes: its own, further ones, all of a kind, all."""
    # the last one always comes back
    sent = {frame_of(60, dmac): name for name, dmac in (
        ("own", eth.MAC), ("other", bytes.fromhex("021122334455")), ("group", eth.MULTICAST),
        ("broadcast", eth.BROADCAST))}
    forgets = False
    with on_tap(build, flow_en) as testpmd:
        testpmd.wait_prompt()
        for command in ("set allmulti 0 off", "set fwd macswap", "start"):
            testpmd.run(command)
        with Tap("emu0", testpmd.process.pid) as peer:
            for step, (command, right, forgetful) in enumerate(MACS):
                testpmd.run(command)
                got = [sent[frame] for frame in peer.exchange_all(list(sent))]
                if step == 0:
                    forgets = dpdk_release() == "24.11" and "own" not in got
                what = (forgetful if forgets else right).split()
                expect(sorted(got) == sorted(what),
                       f"{command}: frames to {got} arrived, not to {what}")
        expect(testpmd.quit() == 0, "testpmd failed")
        check_card(testpmd.stats())


def link(build, flow_en):
    """An interface that is down takes the link with it, and the program is told."""
    with on_tap(build, flow_en) as testpmd:
        testpmd.wait_prompt()
        testpmd.run("set fwd macswap")
        testpmd.run("start")
        with Tap("emu0", testpmd.process.pid) as peer:
            expect(peer.exchange(frame_of(60)), "no frame before")
            start = len(testpmd.output)
            testpmd.run("set link-down port 0")
            testpmd.wait_for("(?i)link state change event", 10, start)
            expect("Link status: down" in testpmd.run("show port info 0"), "the link is not down")
        start = len(testpmd.output)
        testpmd.run("set link-up port 0")
        testpmd.wait_for("(?i)link state change event", 10, start)
        expect("Link status: up" in testpmd.run("show port info 0"), "the link is not up")
        with Tap("emu0", testpmd.process.pid) as peer:
            expect(peer.exchange(frame_of(60)), "no frame after")
        expect(testpmd.quit() == 0, "testpmd failed")
        check_card(testpmd.stats())


main({case.__name__: case for case in (kernel, pair, tap, tap_unprivileged, mtu, macs, link)})
