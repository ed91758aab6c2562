# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""l2fwd as the distribution has it: with shared DPDK, with DPDK and the driver linked in."""

import os
import re
import signal

from harness import (PCI_DEVICE, Failure, Program, Skip, Telemetry, add_preload, check_card,
                     dpdk_release, expect, expect_output, main, plugin_arguments)

FRAMES = 5000
OPS = "--mbuf-pool-ops-name=mlx5_memic"


def l2fwd(build, name, eal, env):
    path = os.path.join(build.folder, "app/test/e2e", name)
    if not os.path.exists(path):
        raise Skip(f"'{path}' was not built: the package dpdk-doc or a static library is missing")
    # two rings of 1024 and a cache of 256 take less than 6 MiB
    emu = ["--memic", "8M", "--wire", f"check:{FRAMES}:1500"]
    command = [path, "--no-huge", "-m", "256", "-l", str(min(os.sched_getaffinity(0))),
               "-a", PCI_DEVICE, *eal, "--", "-p", "1", "-T", "0", "--no-mac-updating"]
    if dpdk_release() == "24.11":
        command.append("-P")  # promiscuous, see e2e_receive() in compat.h
    return Program(build, command, emu, env)


def forwards(build, name, eal, env=None):
    """Every frame comes back unchanged; returns the port's counters and the output."""
    with l2fwd(build, name, eal, env) as program:
        program.wait_for(r"Port 0 Link up", 60)
        returned = 0
        # it says nothing while it forwards, and its statistics are off
        for _ in range(300):
            program.read(0.1)
            returned = sent_so_far(program)
            if returned >= FRAMES:
                break
        program.process.send_signal(signal.SIGINT)
        expect(program.wait_exit() == 0, f"status {program.status}")
        stats = program.stats()
        check_card(stats)
        port = stats["ports"][0]
        # frames that wait in l2fwd's buffers when it ends are lost
        expect(port["returned"] >= FRAMES - 64 and port["bad"] == 0, f"{port}")
        return port, program.output


def sent_so_far(program):
    """Frames that the port sent, by telemetry."""
    path = os.path.join(program.folder, "dpdk/rte/dpdk_telemetry.v2")
    if not os.path.exists(path):
        raise Failure("l2fwd has no telemetry socket")
    telemetry = Telemetry(path)
    try:
        answer = telemetry.query("/ethdev/stats,0")
    finally:
        telemetry.close()
    return answer["opackets"] if answer else 0


def all_on_device(port):
    expect(port["memic_write_bytes"] > 0, f"device memory not used: {port}")
    expect(port["host_write_bytes"] + port["host_read_bytes"] == 0, f"host memory used: {port}")


def shared(build):
    """EAL options are all it takes."""
    env = dict(os.environ)
    port, _ = forwards(build, "e2e_l2fwd", [*plugin_arguments(build.plugin, env), OPS], env)
    all_on_device(port)


def shared_host(build):
    """The control: the same program without the plugin."""
    port, _ = forwards(build, "e2e_l2fwd", [])
    expect(port["memic_write_bytes"] == 0, f"device memory used: {port}")


def environment(build):
    """Rules for a program that is given no vdev."""
    env = dict(os.environ, MLX5_MEMIC="pools=mbuf*,size=1M")
    port, output = forwards(build, "e2e_l2fwd", [*plugin_arguments(build.plugin, env), OPS], env)
    expect(port["memic_write_bytes"] > 0, f"device memory not used: {port}")
    match = re.search(r"MLX5_MEMIC: pool mbuf_pool: \d+ of \d+ buffers, (\d+) bytes", output)
    expect(match and int(match[1]) <= 1 << 20, "the rule did not count")


def static(build):
    """DPDK and the driver linked in, hooks by the linker's --wrap."""
    port, _ = forwards(build, "e2e_l2fwd_static", [OPS])
    all_on_device(port)


def static_rules(build):
    port, output = forwards(build, "e2e_l2fwd_static",
                            [OPS, "--vdev=mempool_mlx5_memic0,size=512K,mkey=ksm"])
    expect(port["memic_write_bytes"] > 0 and port["host_write_bytes"] > 0, f"one kind: {port}")
    expect(re.search(r"MLX5_MEMIC: pool mbuf_pool: 240 of", output), "the rule did not count")


def static_host(build):
    """The control: the driver is there and not asked for."""
    port, _ = forwards(build, "e2e_l2fwd_static", [])
    expect(port["memic_write_bytes"] == 0, f"device memory used: {port}")


def plugin_in_static(build):
    """Case 37: the shared plugin in a program with DPDK inside: one message, no panic."""
    env = dict(os.environ)
    plugin = plugin_arguments(build.plugin, env)
    # a program without the driver, which goes on with its own pools
    port, output = forwards(build, "e2e_l2fwd_plain", plugin, env)
    expect(port["memic_write_bytes"] == 0, f"device memory used: {port}")
    expect(output.count("MLX5_MEMIC:") == 1, "not one message")
    expect(re.search(r"MLX5_MEMIC: this program has DPDK linked into it", output), "no message")
    # and asked for the ops it ends in its own orderly way
    with l2fwd(build, "e2e_l2fwd_plain", [*plugin, OPS], env) as program:
        status = program.wait_exit()
        expect(status == 1, f"status {status}")
        expect_output(program, r"MLX5_MEMIC: this program has DPDK linked into it")
        expect_output(program, r"Cannot init mbuf pool")
        expect("PANIC" not in program.output, "panic")


def other_release(build, wrong):
    """Case 38: DPDK of another ABI in the process."""
    env = dict(os.environ)
    add_preload(env, os.path.join(build.folder, "app/test/e2e", wrong))
    path = os.path.join(build.folder, "app/test/e2e/e2e_bare")
    with Program(build, [path, build.plugin], env=env) as program:
        expect(program.wait_exit() == 0, f"status {program.status}")
        expect_output(program, r"MLX5_MEMIC: built for librte_eal\.so\.\S+, but this program "
                      r"runs on librte_eal\.so\.99")


main({case.__name__: case for case in (
    shared, shared_host, environment, static, static_rules, static_host, plugin_in_static,
    other_release)})
