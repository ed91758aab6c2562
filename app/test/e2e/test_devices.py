# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Two devices: each reaches its own memory only, and what is done about that."""

import os
import re

from frames import read_pcap
from harness import (FITTING, PCI_DEVICE, Program, Testpmd, check_card, check_wire,
                     device_pools, expect, expect_output, lcores, main, plugin_arguments)

FRAMES = 5000
BYTES = 1500
DEVICES = (PCI_DEVICE, "0000:08:00.1")
WIRE = ["--ports", "2", "--wire", f"check:{FRAMES}:{BYTES}"]
# headers into a pool of their own
SPLIT = ["--rxpkts=128,1372", "--mbuf-size=384,1664", "--rx-offloads=0x102000",
         "--tx-offloads=0x8000", "--txd=128"]


def own_pools(more=""):
    """A rule for the pool of each device, which is what l3fwd --per-port-pool takes."""
    return [f"--vdev=mempool_mlx5_memic{port},dev=mlx5_{port},pools={name}{more}"
            for port, name in enumerate("ab")]


def program(build, mode, rules=(), frames=FRAMES, emu=("--ports", "2"), memic="1M", eal=(),
            flow_en="1", status=0):
    """Run devices.c; returns it after its end and the card's counters."""
    env = dict(os.environ)
    command = [os.path.join(build.folder, "app/test/e2e/e2e_devices"), "--no-huge", "-m", "128",
               lcores(1), *plugin_arguments(build.plugin, env), *rules, *eal]
    for device in DEVICES:
        command += ["-a", f"{device},dv_flow_en={flow_en}"]
    with Program(build, [*command, "--", mode, str(frames)], ["--memic", memic, *emu],
                 env) as run:
        run.wait_exit()
        print(run.tail())
        expect(run.status == status, f"status {run.status}, not {status}")
        stats = run.stats()
        check_card(stats)
        return run, stats["ports"]


def memic_bytes(port):
    return port["memic_read_bytes"], port["memic_write_bytes"]


def host_bytes(port):
    return port["host_read_bytes"], port["host_write_bytes"]


def numbers(output):
    """What the program says: received, sent and not sent of each port."""
    return [tuple(map(int, found)) for found in
            re.findall(r"port \d: received (\d+), sent (\d+), not sent (\d+)", output)]


# ---- pools for each port ----

def all_bounced(ports, frames=FRAMES):
    """Received on the device, sent by the other one out of host memory, every byte right."""
    for port in ports:
        check_wire(port, frames)
        expect(memic_bytes(port) == (0, frames * BYTES), f"not all received on the device: {port}")
        expect(host_bytes(port) == (frames * BYTES, 0), f"not all sent from the host: {port}")


def bounce(build, flow_en):
    """Also takes back the promise of mbufs of one pool, which testpmd and l3fwd make."""
    run, ports = program(build, "bounce", own_pools(",foreign=bounce"), emu=WIRE, flow_en=flow_en,
                         eal=["--log-level=mempool.mlx5_memic:info"])
    all_bounced(ports)
    expect(numbers(run.output) == [(FRAMES, FRAMES, 0)] * 2, "not all sent")
    expect_output(run, "port 0 is configured without RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE")


def drop(build, flow_en):
    """Nothing leaves, the sender is handed back all, and it is said once for each port."""
    emu = ["--ports", "2", "--wire", f"check:1000:{BYTES}"]
    run, ports = program(build, "drop", own_pools(), 1000, emu, flow_en=flow_en)
    for port in ports:
        expect(port["tx_frames"] == 0 and port["bad"] == 0, f"something left: {port}")
        expect(port["rx_frames"] > 0, f"nothing came: {port}")
    lines = re.findall(r"MLX5_MEMIC: (port [^\n]*)", run.output)
    expect(len(lines) == 2, f"not one line a port: {lines}")
    for line, way in zip(sorted(lines), (("0", "b", "1"), ("1", "a", "0"))):
        port, pool, device = way
        expect(re.match(rf"port {port} \({DEVICES[int(port)]}\) cannot send frames of pool {pool} "
                        rf"out of device memory of mlx5_{device} .*foreign=bounce", line), line)


def clone(build):
    _, ports = program(build, "clone", own_pools(",foreign=bounce"), emu=WIRE)
    all_bounced(ports)


def chain(build):
    """A frame of which only a later segment is foreign."""
    _, ports = program(build, "chain", own_pools(",foreign=bounce"), emu=WIRE)
    all_bounced(ports)


def hold(build):
    """Mbufs that the sender holds on to are copied and stay as they are."""
    _, ports = program(build, "hold", own_pools(",foreign=bounce"), emu=WIRE)
    all_bounced(ports)


def fields(build):
    program(build, "fields", own_pools(",foreign=bounce"))


def mixed(build):
    run, ports = program(build, "mixed", own_pools())
    expect(ports[1]["tx_frames"] == 3, f"not the three of the host: {ports[1]}")
    expect(len(re.findall("MLX5_MEMIC: port 1", run.output)) == 1, "not said once")


def refuse(build, flow_en):
    """Before the PMD hears of it: the device starts nothing, and the other port is not touched."""
    run, _ = program(build, "refuse", own_pools(), flow_en=flow_en)
    lines = re.findall(r"MLX5_MEMIC: (port 1 [^\n]*)", run.output)
    expect(len(lines) == 2, f"not one line a start: {lines}")
    for pattern in (r"\(0000:08:00.1\) not started \(EXDEV\)", "Rx queue 0 has pool a ",
                    r"memory of mlx5_0 \(0000:08:00.0\)", "dev=0000:08:00.1,pools=", "siblings=1"):
        expect(re.search(pattern, lines[0]), f"no '{pattern}' in '{lines[0]}'")


def exhaust(build):
    run, _ = program(build, "exhaust", own_pools(",foreign=bounce"))
    expect(len(re.findall("has no mbuf left for a copy", run.output)) == 1, "not said once")


def callbacks(build):
    program(build, "callbacks", own_pools())


def copying(build):
    """Case 69: drivers that copy send the right bytes; net_null has no callback at all."""
    path = os.path.join("/tmp", f"memic.{os.getpid()}.pcap")
    try:
        program(build, "copying", own_pools(),
                eal=["--vdev=net_null0", f"--vdev=net_pcap0,rx_iface=lo,tx_pcap={path}"])
        sent = read_pcap(path)
    finally:
        if os.path.exists(path):
            os.unlink(path)
    expect(len(sent) == 16, f"{len(sent)} frames in the capture")
    for number, data in enumerate(sent):
        expect(data == bytes((number + index) & 255 for index in range(200)),
               f"frame {number} is altered")


# ---- one pool for all ports ----

def shared(build, rule, topology, emu, flow_en="1", app=(), eal=()):
    """testpmd's one pool on two ports; returns its pools at the end and the ports' counters."""
    with Testpmd(build, ["--memic", "256K", *emu],
                 [f"--vdev=mempool_mlx5_memic0,{rule}", *eal],
                 [*FITTING, f"--port-topology={topology}", *app],
                 device=f"dv_flow_en={flow_en}", devices=DEVICES) as testpmd:
        testpmd.wait_prompt()
        testpmd.start()
        testpmd.forward(FRAMES, ports=(0, 1))
        pools = device_pools(testpmd)
        for port in (0, 1):
            guard = testpmd.query(f"/mlx5_memic/port,{port}")
            expect(guard["guarded_queues"] == 1, str(guard))
            expect((guard["bounce_pool"] != "") == ("bounce" in rule), str(guard))
            expect(guard["foreign_dropped"] == 0, str(guard))
        expect(testpmd.quit() == 0, "testpmd failed")
        stats = testpmd.stats()
        check_card(stats)
        for port in stats["ports"]:
            check_wire(port, FRAMES)
        return pools, stats["ports"], testpmd


def twins(pools):
    main_pool, twin = pools["mb_pool_0"], pools["mb_pool_0@mlx5_1"]
    expect(len(pools) == 2, str(sorted(pools)))
    expect(main_pool["twins"] == ["mb_pool_0@mlx5_1"] and twin["main"] == "mb_pool_0", str(pools))
    expect(main_pool["device"] == "mlx5_0" and twin["device"] == "mlx5_1", str(pools))
    for member in ("objects", "device_slots", "cache_size", "rule"):
        expect(main_pool[member] == twin[member], f"{member}: {pools}")
    return main_pool, twin


def siblings(build, flow_en):
    """Frames that stay with their device never leave its memory."""
    pools, ports, _ = shared(build, "siblings=1", "loop", WIRE, flow_en)
    for pool in twins(pools):
        expect(pool["foreign_dropped"] == 0 and pool["foreign_bounced"] == 0, str(pool))
    for port in ports:
        expect(host_bytes(port) == (0, 0), f"host memory used: {port}")


def siblings_bounce(build, flow_en):
    """Across the devices each frame is copied once."""
    pools, ports, _ = shared(build, "siblings=1,foreign=bounce", "paired", WIRE, flow_en)
    for pool in twins(pools):
        expect(pool["foreign_dropped"] == 0 and pool["foreign_bounced"] == FRAMES, str(pool))
    all_bounced(ports)


def siblings_cache(build):
    """The twin has as large a cache as the main pool, whose own is switched off."""
    app = ["--mbcache=64", "--nb-cores=1"]
    pools, _, _ = shared(build, "siblings=1", "loop", WIRE, app=app)
    expect(twins(pools)[1]["cache_size"] == 64, str(pools))


def siblings_split(build):
    """Both pools of buffer split: headers of 64 bytes go to the host, the rest to each device."""
    pools, ports, _ = shared(build, "siblings=1,pools=mb_pool_0_1", "loop", WIRE, app=SPLIT)
    names = sorted(name for name, pool in pools.items() if pool["device_slots"])
    expect(names == ["mb_pool_0_1", "mb_pool_0_1@mlx5_1"], str(pools))
    for port in ports:
        expect(host_bytes(port) == (128 * FRAMES, 128 * FRAMES), f"headers are elsewhere: {port}")


def split_refused(build):
    """A pool that is only the second of a queue is seen as well."""
    with Testpmd(build, ["--ports", "2"], ["--vdev=mempool_mlx5_memic0,dev=mlx5_0,pools=*_1"],
                 [*FITTING, *SPLIT], devices=DEVICES) as testpmd:
        testpmd.wait_prompt()
        expect(testpmd.quit() == 0, "testpmd failed")
        expect_output(testpmd, r"port 1 \(0000:08:00.1\) not started \(EXDEV\): Rx queue 0 has "
                      r"pool mb_pool_0_1 ")


def twins_life(build, flow_en):
    """They come with the first queue that needs them and go with the pool, whoever holds what."""
    run, _ = program(build, "twins", ["--vdev=mempool_mlx5_memic0,siblings=1,pools=a",
                                      "--vdev=mempool_mlx5_memic1,pools=none"],
                     frames=1000, emu=WIRE, flow_en=flow_en)
    for name in ("a", "a@mlx5_1"):
        expect_output(run, rf"pool {name} is freed with \d+ of its 512 buffers still out")
        expect_output(run, rf"pool {name}: the \d+ buffers that were out .* are back")


def twin_detach(build):
    """The twin on the device as it comes back has all that the first one had."""
    run, _ = program(build, "twin_detach", ["--vdev=mempool_mlx5_memic0,siblings=1,pools=a",
                                            "--vdev=mempool_mlx5_memic1,pools=none"])
    told = re.findall(r"pool a@mlx5_1: (\d+) of 512 buffers", run.output)
    expect(told == ["512", "512"], f"device memory of the twins: {told}")


def twin_strict(build):
    """Case 61: spill=0 holds for twins, too; the queue is not set up, and nothing is left."""
    run, _ = program(build, "twin_strict", [
        "--vdev=mempool_mlx5_memic0,siblings=1,pools=a,spill=0,dev=mlx5_0",
        "--vdev=mempool_mlx5_memic1,dev=mlx5_1,pools=b"])
    expect_output(run, r"pool a@mlx5_1 not created \(ENOMEM\), rule mempool_mlx5_memic0 has "
                  "spill=0")
    expect_output(run, r"pool a gets no sibling on mlx5_1: ENOMEM")


def first_full(build):
    """Case 61: all devices that a rule allows are tried; which one it is and how much is told."""
    run, _ = program(build, "nothing", ["--vdev=mempool_mlx5_memic0,pools=a,dev=mlx5_0",
                                        "--vdev=mempool_mlx5_memic1,pools=b,siblings=1"],
                     memic="256K")
    expect_output(run, r"pool a: 157 of 512 buffers, 261248 bytes, in device memory of mlx5_0")
    expect_output(run, r"pool b: 157 of 512 buffers, 261248 bytes, in device memory of mlx5_1")


def all_full(build):
    """Case 62: sums never exceed; the message names device and size."""
    run, _ = program(build, "nothing", ["--vdev=mempool_mlx5_memic0,pools=a,dev=mlx5_0",
                                        "--vdev=mempool_mlx5_memic1,pools=b,dev=mlx5_0"],
                     memic="256K")
    expect_output(run, r"pool b lives in host memory: no 1664 bytes left of the device memory of "
                  "mlx5_0")


def not_named(build):
    """Two devices and a rule that does not say which, nor that each will do."""
    run, _ = program(build, "nothing", status=1)
    expect_output(run, r"pool a not created \(EINVAL\): there are several mlx5 devices, name one "
                  r"with dev=: mlx5_0 \(0000:08:00.0\), mlx5_1 \(0000:08:00.1\)")


def fast_free(build):
    program(build, "fast_free", ["--vdev=mempool_mlx5_memic1,pools=b,dev=mlx5_0",
                                 "--vdev=mempool_mlx5_memic2,pools=a,dev=mlx5_0,size=64K"])


def late_bounce(build):
    run, ports = program(build, "late_bounce", ["--vdev=mempool_mlx5_memic1,pools=b,dev=mlx5_0",
                                                "--vdev=mempool_mlx5_memic2,pools=a,dev=mlx5_0"])
    expect_output(run, r"port 1 .* cannot send frames of pool a .*MBUF_FAST_FREE .*configure it "
                  "once more")
    expect(ports[1]["tx_frames"] == 1, f"not the one frame: {ports[1]}")


def no_callbacks(build):
    """A DPDK that cannot keep buffers from ports: refused, or in host memory, with the reason."""
    run, _ = program(build, "no_callbacks", own_pools())
    expect_output(run, r"not started: port 0 \(0000:08:00.0\) can be kept .*"
                  r"RTE_ETHDEV_RXTX_CALLBACKS \(ENOTSUP\)")
    expect_output(run, r"pool b lives in host memory: port 0 .*RTE_ETHDEV_RXTX_CALLBACKS")


def cost(build, rounds, limit):
    """Of a guarded queue, for frames in host memory. The limit leaves room for a busy machine."""
    run, _ = program(build, "cost", own_pools(",foreign=bounce"), frames=int(rounds))
    cycles = float(re.search(r"passed: ([0-9.]+) cycles", run.output)[1])
    expect(cycles <= float(limit), f"{cycles} cycles per mbuf, more than {limit}")


main({case.__name__: case for case in (
    bounce, drop, clone, chain, hold, fields, mixed, exhaust, refuse, callbacks, copying, siblings,
    siblings_bounce, siblings_cache, siblings_split, split_refused, twins_life, twin_detach,
    twin_strict, first_full, all_full, not_named, fast_free, late_bounce, no_callbacks, cost)})
