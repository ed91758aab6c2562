# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""A small DPDK program and what it does to mbufs; and controls, which must fail."""

import os

from harness import (PCI_DEVICE, Program, add_preload, check_card, check_wire, expect,
                     expect_output, lcores, main, plugin_arguments)

FRAMES = 20000


def run(build, mode, frames=FRAMES, memic="2M", sabotage=None, eal=()):
    """Run the forwarder; returns it after its end with status and output."""
    env = dict(os.environ)
    if sabotage:
        env["E2E_SABOTAGE"] = sabotage
        add_preload(env, os.path.join(build.folder, "app/test/e2e/libe2e_sabotage.so"))
    command = [os.path.join(build.folder, "app/test/e2e/e2e_fwd"), "--no-huge", "-m", "128",
               lcores(1), "-a", PCI_DEVICE, *plugin_arguments(build.plugin, env),
               *eal, "--", mode, str(frames)]
    emu = ["--memic", memic, "--wire", f"check:{frames}:1500"]
    with Program(build, command, emu, env) as program:
        program.wait_exit()
        print(program.tail())
        return program, program.stats()


def whole(build, mode):
    """Every frame right, every mbuf back, nothing left on the card."""
    program, stats = run(build, mode)
    expect(program.status == 0, f"status {program.status}:\n{program.tail()}")
    check_card(stats)
    check_wire(stats["ports"][0], FRAMES)
    return stats["ports"][0]


def host_bytes(port):
    return port["host_read_bytes"] + port["host_write_bytes"]


def passing(build):
    port = whole(build, "pass")
    expect(host_bytes(port) == 0, f"host memory used: {port}")


def clone(build):
    """Case 18: heads in host memory, data on the device, originals freed first."""
    port = whole(build, "clone")
    expect(host_bytes(port) == 0, f"host memory used: {port}")


def clone_of_clone(build):
    port = whole(build, "clone_of_clone")
    expect(host_bytes(port) == 0, f"host memory used: {port}")


def chain(build):
    """Case 18: a host segment in front of a device segment."""
    port = whole(build, "chain")
    expect(port["host_read_bytes"] == 64 * FRAMES, f"64 bytes a frame from the host: {port}")
    expect(port["memic_read_bytes"] == (1500 - 64) * FRAMES, f"the rest is not: {port}")


def free_order(build):
    """Copies are sent, originals freed in any order."""
    port = whole(build, "free_order")
    expect(port["memic_write_bytes"] == 1500 * FRAMES, f"not all received on the device: {port}")
    expect(port["host_read_bytes"] == 1500 * FRAMES, f"not all sent from the host: {port}")


# ---- controls ----

def flipped_byte(build):
    """A byte that changes in a live slot is seen by the wire."""
    program, stats = run(build, "flip")
    port = stats["ports"][0]
    expect(program.status == 0, f"status {program.status}")
    expect(port["bad"] == 1, f"bad is {port['bad']}, not 1")
    expect(port["returned"] == FRAMES, f"returned {port['returned']}")
    expect_output(program, r"offset 700")


def host_pointer(build):
    """One mbuf that points at host memory shows in the counters, its bytes being right."""
    # a spilled pool, so that its host memory is registered too
    program, stats = run(build, "host_pointer", memic="256K")
    port = stats["ports"][0]
    expect(program.status == 0, f"status {program.status}")
    check_card(stats)
    check_wire(port, FRAMES)
    expect(host_bytes(port) >= 1500, f"host memory not seen: {port}")
    expect(host_bytes(port) % 1500 == 0, f"part of a frame: {port}")
    expect(port["memic_read_bytes"] > 0, f"device memory not seen: {port}")


def no_hook(build):
    """Without the hook the kernel refuses the mapping (EFAULT) and the port its start."""
    program, stats = run(build, "unhook")
    expect(program.status != 0, "the port started")
    expect(stats["ports"][0]["rx_frames"] == 0, f"frames came: {stats}")


def refused_key(build, sabotage, reason):
    """By name, as the probe would not let such keys pass: see found_out()."""
    program, stats = run(build, "pass", sabotage=sabotage,
                         eal=["--vdev=mempool_mlx5_memic0,mkey=klm"])
    port = stats["ports"][0]
    expect_output(program, "no frame will pass through klm keys")
    expect(stats["protection_errors"] > 0, f"no protection error: {stats}")
    expect(port["errors"] > 0, f"no error CQE: {port}")
    expect(port["returned"] == 0, f"frames came through: {port}")
    expect_output(program, reason)


def wrong_lkey(build):
    refused_key(build, "wrong_lkey", r"mkey 0x\w+")


def va_on_zero_based_mr(build):
    refused_key(build, "direct_va", r"mkey 0x\w+")


def found_out(build):
    """mkey=auto does not take keys that are not what they seem."""
    for sabotage in ("wrong_lkey", "direct_va"):
        program, stats = run(build, "pass", sabotage=sabotage)
        port = stats["ports"][0]
        expect(program.status == 0, f"status {program.status}")
        expect_output(program, r"lives in host memory: no ksm key")
        expect(host_bytes(port) == 2 * 1500 * FRAMES, f"not in host memory: {port}")


main({case.__name__: case for case in (
    passing, clone, clone_of_clone, chain, free_order, flipped_byte, host_pointer, no_hook,
    wrong_lkey, va_on_zero_based_mr, found_out)})
