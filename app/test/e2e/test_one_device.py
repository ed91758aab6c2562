# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Ports of one IB device, an uplink and representors, share pool, PD and device memory."""

import json
import shutil
import time

from harness import (FITTING, Failure, Program, Skip, Testpmd, check_card, check_wire,
                     device_pools, expect, expect_output, main)

FRAMES = 5000
BYTES = 1500
# where none comes back the wire waits 100 ms for each 32
KEPT = 640
TOTAL = FRAMES * BYTES


def one_device(build, ports, flow_en, pool, emu=(), frames=FRAMES):
    """testpmd on the uplink and all representors; the pool fits what is in flight."""
    memory = ["--memic", "1M", "--wire", f"check:{frames}:{BYTES}"]
    device = f"representor=[0-{ports - 2}],dv_flow_en={flow_en}"
    return Testpmd(build, ["--ports", str(ports), "--one-device", *memory, *emu], (), FITTING,
                   pool, device)


def forward_all(testpmd, ports):
    """Until every port has sent all frames of its neighbour."""
    testpmd.start()
    testpmd.forward(FRAMES, ports=range(ports))


def check_ports(stats, ports, memory):
    """Each byte of each port as it should be, and all in memory of the one kind."""
    other = {"memic": "host", "host": "memic"}[memory]
    names = [f"mlx5_0/{number}" for number in range(1, ports + 1)]
    expect([port["name"] for port in stats["ports"]] == names, f"not the ports {names}: {stats}")
    for port in stats["ports"]:
        check_wire(port, FRAMES)
        for way in ("read", "write"):
            expect(port[f"{memory}_{way}_bytes"] == TOTAL, f"not all in {memory} memory: {port}")
            expect(port[f"{other}_{way}_bytes"] == 0, f"{other} memory used: {port}")
        expect(port["inline_bytes"] == 0, f"bytes were inlined: {port}")
        expect(port["tx_no_rule"] == 0, f"frames went nowhere: {port}")


def run(build, ports, flow_en, pool, memory, emu=()):
    with one_device(build, ports, flow_en, pool, emu) as testpmd:
        testpmd.wait_prompt()
        pools = device_pools(testpmd) if pool else {}
        forward_all(testpmd, ports)
        expect(testpmd.quit() == 0, "testpmd failed")
        stats = testpmd.stats()
        check_card(stats)
        check_ports(stats, ports, memory)
        return pools


def forward(build, ports):
    """One pool for all ports; frames cross from port to port without leaving the card."""
    pools = run(build, int(ports), 0, "mlx5_memic", "memic")
    expect(len(pools) == 1, f"not one pool: {pools}")


def host(build, flow_en):
    """The control. With dv_flow_en=1 the PMD sends from queues of verbs only without DevX."""
    run(build, 2, flow_en, None, "host", ["--fault", "no-devx"] if flow_en == "1" else [])


def devx_queues(build):
    """dv_flow_en=1: each port receives its own frames into device memory; but the switch
    has no rule for queues that DevX makes, so nothing comes out."""
    with one_device(build, 2, 1, "mlx5_memic", frames=KEPT) as testpmd:
        testpmd.wait_prompt()
        testpmd.run("set fwd rxonly")
        testpmd.run("start")
        deadline = time.monotonic() + 60
        while any(testpmd.query(f"/ethdev/stats,{port}")["ipackets"] < KEPT
                  for port in range(2)):
            if time.monotonic() > deadline:
                raise Failure("not all frames were received within 60 s")
            testpmd.read(0.1)
        testpmd.run("stop")
        testpmd.run("set fwd txonly")
        testpmd.run("start")
        time.sleep(1)
        expect(testpmd.quit() == 0, "testpmd failed")
        stats = testpmd.stats()
        check_card(stats)
        for port in stats["ports"]:
            expect(port["sent"] == KEPT and port["rx_frames"] == KEPT,
                   f"not all received: {port}")
            expect(port["memic_write_bytes"] == KEPT * BYTES, f"not all into device memory: {port}")
        lost = sum(port["tx_no_rule"] for port in stats["ports"])
        sent = sum(port["tx_frames"] for port in stats["ports"])
        expect(sent > 0 and lost == sent, f"{sent} sent, {lost} without a rule")
        expect_output(testpmd, r"was made by DevX and has no rule in the e-switch")


def own_frames_only(build, flow_en):
    """While one port alone is polled, frames of the other stop at its own full ring."""
    with one_device(build, 2, flow_en, "mlx5_memic", frames=KEPT) as testpmd:
        testpmd.wait_prompt()
        testpmd.run("set fwd rxonly")
        testpmd.run("set portlist 0")
        testpmd.run("start")
        deadline = time.monotonic() + 60
        while testpmd.query("/ethdev/stats,0")["ipackets"] < KEPT:
            if time.monotonic() > deadline:
                raise Failure("not all frames were received within 60 s")
            testpmd.read(0.1)
        received = [testpmd.query(f"/ethdev/stats,{port}")["ipackets"] for port in range(2)]
        expect(received == [KEPT, 0], f"received {received}")
        expect(testpmd.quit() == 0, "testpmd failed")
        frames = [port["rx_frames"] for port in testpmd.stats()["ports"]]
        # FITTING has rings of 64
        expect(frames[0] == KEPT and 0 < frames[1] <= 64, f"the card received {frames}")


def links(build):
    """What programs see: the ports' network devices, by both kinds of netlink."""
    if not shutil.which("ip") or not shutil.which("rdma"):
        raise Skip("no ip or rdma; install iproute2")
    options = ["--ports", "3", "--one-device"]
    with Program(build, ["rdma", "-j", "link"], options) as program:
        expect(program.wait_exit() == 0, "rdma failed")
        found = [(link["port"], link["netdev"]) for link in json.loads(program.output)]
        expect(found == [(1, "emu0"), (2, "emu1"), (3, "emu2")], f"ports {found}")
    for port, name in enumerate(("p0", "pf0vf0", "pf0vf1")):
        with Program(build, ["ip", "-j", "-d", "link", "show", f"emu{port}"], options) as program:
            expect(program.wait_exit() == 0, "ip failed")
            (link,) = json.loads(program.output)
            expect(link["phys_port_name"] == name, f"emu{port} is {link}")
            expect(link["phys_switch_id"] == "ccbbaa00039f59b8", f"emu{port} is {link}")


main({case.__name__: case for case in (forward, host, devx_queues, own_frames_only, links)})
