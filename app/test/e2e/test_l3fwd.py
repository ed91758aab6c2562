# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""l3fwd as the distribution has it: routes frames that are in device memory, byte for byte."""

import os
import signal
import tempfile

import frames as eth
from harness import (PCI_DEVICE, Program, Skip, Telemetry, check_card, expect, lcores, main,
                     plugin_arguments)

FRAMES = 500
EXAMPLE = "/usr/share/dpdk/examples/l3fwd"
OPS = "--mbuf-pool-ops-name=mlx5_memic"
# what l3fwd writes into the frames that leave by port 0
NEXT_HOP = bytes.fromhex("020000000000")


def l3fwd(build, emu, eal, app, env):
    path = os.path.join(build.folder, "app/test/e2e/e2e_l3fwd")
    if not os.path.exists(path):
        raise Skip(f"'{path}' was not built: the package dpdk-doc is missing")
    command = [path, "--no-huge", "-m", "512", lcores(1), *eal, OPS, "--", "-P", "--no-numa",
               "--rx-queue-size", "64", "--tx-queue-size", "64",
               f"--rule_ipv4={EXAMPLE}/lpm_default_v4.cfg",
               f"--rule_ipv6={EXAMPLE}/lpm_default_v6.cfg", *app]
    return Program(build, command, emu, env)


def query(program, command):
    telemetry = Telemetry(os.path.join(program.folder, "dpdk/rte/dpdk_telemetry.v2"))
    try:
        return telemetry.query(command)
    finally:
        telemetry.close()


def wait_sent(program):
    for _ in range(300):
        program.read(0.1)
        if query(program, "/ethdev/stats,0")["opackets"] >= FRAMES:
            return


def end(program):
    program.process.send_signal(signal.SIGINT)
    expect(program.wait_exit() == 0, f"status {program.status}")
    check_card(program.stats())


def routed(frame):
    """The frame as a router sends it on: addresses, time to live and checksum."""
    ip = bytearray(frame[14:34])
    ip[8] -= 1
    ip[10:12] = b"\0\0"
    ip[10:12] = eth.checksum(bytes(ip)).to_bytes(2, "big")
    return NEXT_HOP + eth.MAC + frame[12:14] + bytes(ip) + frame[34:]


def shared(build):
    """512 KiB and short rings: every frame is on the card, where the CPU reads and writes."""
    into = [eth.frame(src="192.0.2.1", dst=f"198.18.0.{number % 250 + 1}", sport=number + 1,
                      length=1500) for number in range(FRAMES)]
    env = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="memic.") as folder:
        paths = [os.path.join(folder, name) for name in ("in.pcap", "out.pcap")]
        eth.write_pcap(paths[0], into)
        emu = ["--memic", "512K", "--fault", "trap=all", "--wire", "pcap:" + ":".join(paths)]
        eal = ["-a", PCI_DEVICE, *plugin_arguments(build.plugin, env)]
        with l3fwd(build, emu, eal, ["-p", "1", "--config", "(0,0,0)"], env) as program:
            program.wait_for("Port 0 Link up")
            wait_sent(program)
            end(program)
            port = program.stats()["ports"][0]
        out = eth.read_pcap(paths[1])
    expect(out == [routed(frame) for frame in into],
           f"{len(out)} of {FRAMES} frames, or not as routed")
    expect(port["host_write_bytes"] + port["host_read_bytes"] == 0, f"host memory used: {port}")
    expect(port["memic_write_bytes"] == FRAMES * 1500, f"device memory not used: {port}")
    for key in ("cpu_reads", "cpu_writes"):
        expect(port[key] >= FRAMES, f"{key} is {port[key]}, fewer than frames")


def per_port_pool(build):
    """Each port's pool is on the device of the port, by a rule for each."""
    env = dict(os.environ)
    devices = ["0000:08:00.0", "0000:08:00.1"]
    eal = plugin_arguments(build.plugin, env)
    for number, device in enumerate(devices):
        eal += ["-a", device,
                f"--vdev=mempool_mlx5_memic{number},dev={device},pools=mbuf_pool_{number}:*"]
    with l3fwd(build, ["--ports", "2", "--memic", "512K"], eal,
               ["-p", "3", "--per-port-pool", "--config", "(0,0,0),(1,0,0)"], env) as program:
        program.wait_for("Port 1 Link up")
        pools = {name: query(program, f"/mlx5_memic/info,{name}")
                 for name in query(program, "/mlx5_memic/list")}
        end(program)
    where = {name: info["device"] for name, info in pools.items() if info["device_slots"] > 0}
    expect(where == {"mbuf_pool_0:0": "mlx5_0", "mbuf_pool_1:0": "mlx5_1"}, f"pools: {pools}")


main({"shared": shared, "per_port_pool": per_port_pool})
