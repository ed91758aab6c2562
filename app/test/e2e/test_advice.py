# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""What is said when a port starts: what will hurt, and the cure; nothing else."""

import re

import split
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
         "8 Tx queues", "buffers of pool mb_pool_0 in device memory of mlx5_0",
         "txq_inline_max=0,txq_inline_mpw=0", "fewer Tx queues")
    none(advice(build, ["--rxq=7", "--txq=7"], memic="4M"))
    # one of the two is not enough
    only(advice(build, ["--rxq=8", "--txq=8"], memic="4M", device="txq_inline_max=0"),
         "txq_inline_mpw=0")
    # the pool on the device is that of the second segment
    only(advice(build, ["--rxq=8", "--txq=8", *split.APP], memic="4M",
                eal=["--vdev=mempool_mlx5_memic0,pools=mb_pool_0_1"]),
         "8 Tx queues", "of pool mb_pool_0_1 in device memory of mlx5_0")


def inline_devargs(build):
    """The number of queues may be set."""
    only(advice(build, device="txqs_min_inline=0"), "txq_inline_max=0,txq_inline_mpw=0")
    none(advice(build, ["--rxq=8", "--txq=8"], memic="4M", device="txqs_min_inline=16"))


def depth(build):
    """Rings that want more buffers than there are slots."""
    only(advice(build, ["--rxd=128", "--txd=128"]), r"port 0 \(0000:08:00.0\)",
         "up to 256 buffers", "of pool mb_pool_0 with 157 in device memory", "shorter rings")


def depth_split(build):
    """Case 22 with buffer split: of each ring the pool for payload fills half."""
    rule = ["--vdev=mempool_mlx5_memic0,pools=mb_pool_0_1"]
    app = [option for option in split.APP if "xd=" not in option]
    none(advice(build, app + ["--rxd=128", "--txd=128"], eal=rule))
    only(advice(build, app + ["--rxd=256", "--txd=128"], eal=rule), r"port 0 \(0000:08:00.0\)",
         r"up to 192 buffers \(128 Rx, 64 Tx\)", "of pool mb_pool_0_1 with 157 in device memory")


def mprq(build):
    """Case 24."""
    only(advice(build, device="mprq_en=1"), "mprq_en", "mb_pool_0", "leave the devarg out")


def other_device(build):
    """Two devices and one pool: the port is refused, and the reason said."""
    lines = advice(build, eal=["--vdev=mempool_mlx5_memic0,dev=mlx5_0"], emu=["--ports", "2"],
                   devices=(PCI_DEVICE, SECOND_DEVICE))
    only(lines, r"port 1 \(0000:08:00.1\)", "pool mb_pool_0", r"memory of mlx5_0 \(0000:08:00.0\)",
         r"not started \(EXDEV\)", "out of reach of mlx5_1", "dev=0000:08:00.1,pools=")


def other_device_split(build):
    """The same where the pool is that of a later segment."""
    rule = ["--vdev=mempool_mlx5_memic0,dev=mlx5_0,pools=mb_pool_0_1"]
    lines = advice(build, split.APP, eal=rule, emu=["--ports", "2"],
                   devices=(PCI_DEVICE, SECOND_DEVICE))
    only(lines, r"port 1 \(0000:08:00.1\)", "Rx queue 0 has pool mb_pool_0_1",
         r"not started \(EXDEV\)")


def other_driver(build):
    """Ports of other drivers, each told for itself; frames get there by the CPU."""
    lines = advice(build, eal=["--vdev=net_null0", "--vdev=net_null1"])
    expect(len(lines) == 2, f"{len(lines)} lines, not 2: {lines}")
    for number, line in enumerate(sorted(lines)):
        only([line], rf"port {number + 1} \(net_null{number}, driver net_null\)", "Rx queue 0",
             "pool mb_pool_0", r"memory of mlx5_0 \(0000:08:00.0\)", "copied there by the CPU",
             "pools=NAME for those of mlx5_0 only")


def once(build):
    """Not at every start again."""
    only(advice(build, ["--rxd=128", "--txd=128"],
                commands=("port stop 0", "port start 0", "port stop 0", "port start 0")),
         "up to 256 buffers")


main({case.__name__: case for case in (
    quiet, inline_8_queues, inline_devargs, depth, depth_split, mprq, other_device,
    other_device_split, other_driver, once)})
