# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""What is said when a port starts: what will hurt, and the cure; nothing else."""

import re

from harness import FITTING, PCI_DEVICE, Testpmd, expect, main

SECOND_DEVICE = "0000:08:00.1"
ADVICE = r"MLX5_MEMIC: port \d+ [^\n]*"


def advice(build, app=(), device="", eal=(), memic="256K", emu=(), commands=(), devices=None):
    """Lines of advice until testpmd has started its ports."""
    with Testpmd(build, ["--memic", memic, *emu], eal, [*FITTING, *app], device=device,
                 devices=devices or (PCI_DEVICE,)) as testpmd:
        testpmd.wait_prompt()
        for line in commands:
            testpmd.run(line)
        expect(testpmd.quit() == 0, "testpmd failed")
        lines = re.findall(ADVICE, testpmd.output)
        print("\n".join(lines))
        return lines


def only(lines, *patterns):
    """One line, with all patterns."""
    expect(len(lines) == 1, f"{len(lines)} lines, not 1: {lines}")
    for pattern in patterns:
        expect(re.search(pattern, lines[0]), f"no '{pattern}' in '{lines[0]}'")


def none(lines):
    expect(not lines, f"false alarm: {lines}")


def quiet(build):
    """What the demo does, and pools that fit, give no reason to speak."""
    none(advice(build))
    none(advice(build, ["--rxq=4", "--txq=4", "--rxd=1024", "--txd=1024"], memic="4M"))
    none(advice(build, ["--rxq=8", "--txq=8"], memic="4M",
                device="txq_inline_max=0,txq_inline_mpw=0"))
    # a pool in host memory may do what it likes
    none(advice(build, ["--rxq=8", "--txq=8", "--rxd=1024"], device="mprq_en=1",
                eal=["--vdev=mempool_mlx5_memic0,pools=other"]))


def inline_8_queues(build):
    only(advice(build, ["--rxq=8", "--txq=8"], memic="4M"), r"port 0 \(0000:08:00.0\)",
         "8 Tx queues", "txq_inline_max=0,txq_inline_mpw=0")
    none(advice(build, ["--rxq=7", "--txq=7"], memic="4M"))
    # one of the two is not enough
    only(advice(build, ["--rxq=8", "--txq=8"], memic="4M", device="txq_inline_max=0"),
         "txq_inline_mpw=0")


def inline_devargs(build):
    """The number of queues may be set."""
    only(advice(build, device="txqs_min_inline=0"), "txq_inline_max=0,txq_inline_mpw=0")
    none(advice(build, ["--rxq=8", "--txq=8"], memic="4M", device="txqs_min_inline=16"))


def depth(build):
    """Rings that want more buffers than there are slots."""
    only(advice(build, ["--rxd=128", "--txd=128"]), "up to 256 buffers", "has 157 in device memory",
         "shorter rings")


def mprq(build):
    """Case 24."""
    only(advice(build, device="mprq_en=1"), "mprq_en", "mb_pool_0", "leave the devarg out")


def other_device(build):
    """Two devices and one pool: the reason is said before the port fails to start."""
    lines = advice(build, eal=["--vdev=mempool_mlx5_memic0,dev=mlx5_0"], emu=["--ports", "2"],
                   devices=(PCI_DEVICE, SECOND_DEVICE))
    only(lines, r"port 1 \(0000:08:00.1\)", "pool mb_pool_0", r"memory of mlx5_0 \(0000:08:00.0\)",
         "dev=0000:08:00.1,pools=")


def once(build):
    """Not at every start again."""
    only(advice(build, ["--rxd=128", "--txd=128"],
                commands=("port stop 0", "port start 0", "port stop 0", "port start 0")),
         "up to 256 buffers")


main({case.__name__: case for case in (
    quiet, inline_8_queues, inline_devargs, depth, mprq, other_device, once)})
