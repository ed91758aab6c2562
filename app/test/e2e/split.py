# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Buffer split with testpmd: headers in host memory, payload on the card.

Forwarding runs, whole and split, without and with a program that writes headers. Used by
the end-to-end tests and by the demo.
"""

import os
import random
import tempfile

import frames as eth
from harness import FITTING, Testpmd, device_pools, expect

HEADER = 64     # Ethernet, IPv4 and TCP or UDP
FRAME_BYTES = 1500

# Two segments a frame want two descriptors, Rx and Tx. 0 stands for the rest: the PMD adds
# segments until the longest frame fits, and a ring of 128 then holds fewer frames than 64.
# The offloads are BUFFER_SPLIT with SCATTER, and MULTI_SEGS: rte_ethdev.h. A pool of its own
# for each segment, in the order of --mbuf-size; testpmd calls the second one mb_pool_0_1.
APP = ["--rxd=128", "--txd=128", "--burst=16", "--mbcache=0", "--total-num-mbufs=1025",
       "--mbuf-size=256,1664", f"--rxpkts={HEADER},0",
       "--rx-offloads=0x102000", "--tx-offloads=0x8000"]
RULE = ["--vdev=mempool_mlx5_memic0,pools=mb_pool_0_1"]


class Result:
    """What a run gave."""

    def __init__(self, slots, stats, returned, bad):
        self.slots = slots         # packet buffers on the card
        self.stats = stats
        self.port = stats["ports"][0]
        self.returned = returned   # frames that came back
        self.bad = bad             # those of them that are not as they should be


def testpmd(build, split, wire, mode="io", device="", trap=True):
    """testpmd on a card that counts, where wanted, what the CPU touches in its memory."""
    emu = ["--memic", "256K", "--wire", wire, *(["--fault", "trap=all"] if trap else [])]
    return Testpmd(build, emu, RULE if split else [],
                   [*(APP if split else FITTING), f"--forward-mode={mode}"], device=device)


def forward(program, frames, mode, progress=None):
    """Returns the slots in use once all frames are through and the program has ended."""
    program.wait_prompt()
    slots = sum(info["device_slots"] for info in device_pools(program).values())
    program.start(mode)
    program.forward(frames, progress)
    expect(program.quit() == 0, "testpmd failed")
    return slots


def io(build, frames, split=True, progress=None, **options):
    """Frames of the check wire, which nobody looks into."""
    wire = f"check:{frames}:{FRAME_BYTES}"
    with testpmd(build, split, wire, **options) as program:
        slots = forward(program, frames, "io", progress)
        stats = program.stats()
    return Result(slots, stats, stats["ports"][0]["returned"], stats["ports"][0]["bad"])


def make_frames(count):
    """Frames that differ in every part; without a UDP checksum, as it may be left out."""
    rng = random.Random(count)
    head = eth.frame(length=FRAME_BYTES)[:40] + b"\0\0"
    return [head[:6] + eth.PEER[:2] + number.to_bytes(4, "big") + head[12:] +
            rng.randbytes(FRAME_BYTES - len(head)) for number in range(count)]


def swapped(frame):
    return frame[6:12] + frame[:6] + frame[12:]


def macswap(build, frames, split, progress=None, **options):
    """testpmd swaps the MAC addresses of each frame, so the CPU reads and writes headers."""
    into = make_frames(frames)
    with tempfile.TemporaryDirectory(prefix="memic.") as folder:
        paths = [os.path.join(folder, name) for name in ("in.pcap", "out.pcap")]
        eth.write_pcap(paths[0], into)
        with testpmd(build, split, "pcap:" + ":".join(paths), "macswap", **options) as program:
            slots = forward(program, frames, "macswap", progress)
            stats = program.stats()
        out = eth.read_pcap(paths[1])
    bad = sum(got != swapped(frame) for got, frame in zip(out, into))
    return Result(slots, stats, len(out), bad)
