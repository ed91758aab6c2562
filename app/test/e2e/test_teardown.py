# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Ends of programs, ports and pools in every order, and with calls that fail on the way."""

import os
import re
import signal

from harness import (FITTING, PCI_DEVICE, Program, Testpmd, add_preload, check_card, check_wire,
                     device_pools, dpdk_release, expect, expect_output, lcores, main,
                     plugin_arguments)

FRAMES = 5000
# far more than are forwarded before the end
ENDLESS = ["--wire", "check:100000000:1500"]
# contexts that the PMD imports itself while it probes a port, before the driver imports one
PROBE_IMPORTS = 0 if dpdk_release() == "22.11" else 1


def run(build, mode, frames=FRAMES, wire=None, memic="256K", fail=None, faults=()):
    """The forwarder to its end; returns it and the card's statistics."""
    env = dict(os.environ)
    if fail:
        env["E2E_FAIL"] = fail
        add_preload(env, os.path.join(build.folder, "app/test/e2e/libe2e_fail.so"))
    command = [os.path.join(build.folder, "app/test/e2e/e2e_fwd"), "--no-huge", "-m", "128",
               lcores(1), "-a", PCI_DEVICE, *plugin_arguments(build.plugin, env),
               "--", mode, str(frames)]
    emu = ["--memic", memic, *(wire or ["--wire", f"check:{frames}:1500"])]
    for fault in faults:
        emu += ["--fault", fault]
    with Program(build, command, emu, env) as program:
        program.wait_exit()
        print(program.tail())
        return program, program.stats()


def ends_well(build, mode, clean=True, **kwargs):
    """No crash, no wrong byte and, if the program cleaned up, nothing left on the card."""
    program, stats = run(build, mode, **kwargs)
    expect(program.status == 0, f"status {program.status}")
    expect(stats["protection_errors"] == 0, f"protection errors: {stats}")
    expect(stats["ports"][0]["bad"] == 0, f"wrong bytes: {stats}")
    if clean:
        check_card(stats)
    return program, stats


# ---- orders ----

def leave_pools(build):
    """Ports are closed, pools never freed, as l2fwd ends."""
    ends_well(build, "leave_pools", wire=ENDLESS)


def just_exit(build):
    """exit() under traffic: the kernel cleans up, and no crash on the way."""
    ends_well(build, "just_exit", clean=False, wire=ENDLESS)


def rte_exit(build):
    ends_well(build, "rte_exit", wire=ENDLESS)


def pools_first(build):
    """Case 15: stop, free, close."""
    program, _ = ends_well(build, "pools_first", wire=ENDLESS)
    expect("still out" not in program.output, "mbufs were out after the stop")


def pools_before_stop(build):
    """Case 15: the pool goes while the rings are full of its mbufs."""
    program, stats = run(build, "pools_before_stop")
    expect(program.status == 0, f"status {program.status}")
    expect(stats["leaked_objects"] == 0, f"objects left: {stats}")
    expect_output(program, r"pool payload is freed with \d+ of its 1024 buffers still out")


def cleanup_started(build, memic):
    """rte_eal_cleanup() under a started port: what the card has pinned stays with it."""
    ends_well(build, "cleanup_started", clean=False, memic=memic, wire=ENDLESS)


def detach_first(build):
    """Case 51: the device goes before the pools."""
    ends_well(build, "detach_first", wire=ENDLESS)


# ---- testpmd ----

def interrupted(build, number):
    """SIGINT and SIGTERM under traffic."""
    with Testpmd(build, ["--memic", "256K", *ENDLESS], app=FITTING) as testpmd:
        testpmd.wait_prompt()
        testpmd.start()
        testpmd.forward(FRAMES)
        testpmd.process.send_signal(number)
        status = testpmd.wait_exit()
        expect(status in (0, 1, 128 + number, -number), f"status {status}")
        expect_output(testpmd, r"Closing port|Shutting down")
        stats = testpmd.stats()
        check_card(stats)
        expect(stats["ports"][0]["bad"] == 0, "a byte changed")


def sigint(build):
    interrupted(build, signal.SIGINT)


def sigterm(build):
    interrupted(build, signal.SIGTERM)


def detach_attach(build):
    """Case 51: testpmd detaches the port under a live pool and attaches it again."""
    with Testpmd(build, ["--memic", "256K", *ENDLESS], app=FITTING) as testpmd:
        testpmd.wait_prompt()
        testpmd.start()
        testpmd.forward(FRAMES)
        for line in ("stop", "port stop 0", "port close 0", f"device detach {PCI_DEVICE}"):
            testpmd.run(line)
        (pool,) = device_pools(testpmd).values()
        expect(pool["device_free"] == pool["device_slots"] > 0, f"slots are out: {pool}")
        testpmd.run(f"port attach {PCI_DEVICE}")
        # the pool's memory is that of the device before: it cannot be used, and that is said
        testpmd.run("port start 0")
        expect_output(testpmd, r"MLX5_MEMIC: port 0 .* not started \(EXDEV\): .*pool mb_pool_0 .*"
                      "from before it was closed and opened again")
        expect(testpmd.quit() == 0, "testpmd failed")
        stats = testpmd.stats()
        expect(stats["leaked_objects"] == 0, f"objects left: {stats}")


# ---- mbufs ----

def fast_free(build):
    """Case 20: Tx returns whole bursts to a pool of which part is in host memory."""
    _, stats = ends_well(build, "fast_free", memic="128K")
    check_wire(stats["ports"][0], FRAMES)
    port = stats["ports"][0]
    expect(port["memic_read_bytes"] > 0 and port["host_read_bytes"] > 0, f"one kind only: {port}")


def two_pools(build):
    """Case 20: mbufs of two pools on one queue; the program finds both pools full."""
    _, stats = ends_well(build, "alternate")
    check_wire(stats["ports"][0], FRAMES)


# ---- calls that fail ----

def fails(build, call, count, said, first=1):
    """Case 16: destroys that are refused for a while are done later, and only once."""
    program, _ = ends_well(build, "pass", fail=f"{call}:{first}:{count}")
    failed = len(re.findall(rf"{call} fails", program.output))
    expect(failed == int(count), f"{failed} calls failed")
    expect_output(program, said)


def mr_busy(build):
    fails(build, "dereg_dm_mr", 1, r"MLX5_MEMIC: .*key 0x\w+.*ibv_dereg_mr.*EBUSY", first=2)


def key_busy(build):
    fails(build, "devx_obj_destroy", 1, r"MLX5_MEMIC: .*key 0x\w+.*EBUSY", first=2)


def probe_busy(build):
    """What the probe makes is the first that goes, and the probe tries again by itself."""
    for call in ("dereg_dm_mr", "devx_obj_destroy", "dereg_host_mr"):
        fails(build, call, 1, r"in device memory of mlx5_0")


def dm_busy(build):
    fails(build, "free_dm", 1, r"MLX5_MEMIC: mlx5_0: \d+ bytes .*ibv_free_dm.*EBUSY")


def host_mr_busy(build):
    fails(build, "dereg_host_mr", 1, r"MLX5_MEMIC: ibv_dereg_mr of \d+ bytes .*EBUSY", first=2)


def key_shortage(build):
    """Keys that cannot be made now are no keys refused: another kind, and a warning with the
    cure."""
    program, stats = ends_well(build, "pass", fail="devx_obj_create:1:4")
    check_wire(stats["ports"][0], FRAMES)
    expect_output(program, r"MLX5_MEMIC: mlx5_0: no klm key over its device memory: .*EBUSY.*does "
                  r"not say that klm keys are refused here: trying ksm now.*mkey=klm")
    expect(stats["ports"][0]["memic_write_bytes"] > 0, f"device memory not used: {stats}")
    # once is not worth a word at the default log level
    program, _ = ends_well(build, "pass", fail="devx_obj_create:1:1")
    expect("klm key" not in program.output, "a warning for nothing")


def forever(build, call):
    """Case 16: what is never destroyed is given up with a word, and nothing crashes."""
    program, _ = ends_well(build, "pass", clean=False, fail=f"{call}:1:1000000")
    expect_output(program, r"MLX5_MEMIC: .*EBUSY")
    return program


def kernel_refuses(build, said, *faults):
    """Cases 16 and 25: an ioctl fails; what was taken before comes back all the same."""
    faults = [fault.replace("=own:", f"={PROBE_IMPORTS + 1}:") for fault in faults]
    program, stats = ends_well(build, "pass", faults=faults)
    check_wire(stats["ports"][0], FRAMES)
    expect_output(program, said)


def mr_busy_forever(build):
    forever(build, "dereg_dm_mr")


def key_busy_forever(build):
    forever(build, "devx_obj_destroy")


def dm_busy_forever(build):
    forever(build, "free_dm")


def host_mr_busy_forever(build):
    program = forever(build, "dereg_host_mr")
    expect_output(program, r"ibv_dereg_mr of \d+ bytes at 0x[0-9a-f]+ on mlx5_0: EBUSY: given up")


main({case.__name__: case for case in (
    leave_pools, just_exit, rte_exit, pools_first, pools_before_stop, detach_first,
    cleanup_started, sigint, sigterm, detach_attach, fast_free, two_pools, mr_busy, key_busy,
    probe_busy, dm_busy, host_mr_busy, key_shortage, kernel_refuses, mr_busy_forever,
    key_busy_forever, dm_busy_forever, host_mr_busy_forever)})
