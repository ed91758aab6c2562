# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""One run of testpmd on a software ConnectX, told by what the card counted.

A cell is a kind of pool (host, device, split), a size of frames, a depth of rings and a
size of caches. Used by the demo and by the sweep.
"""

import os
import sys
from typing import NamedTuple

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "../app/test/e2e"))

import harness  # noqa: E402: the line above shows where it is
import split  # noqa: E402

POOLS = ("host", "device", "split")
BURST = 16
DOORBELL_BYTES = 8
HEADROOM = 128
SLOT = 64              # data rooms on the card are multiples of this
L2_BYTES = 22          # Ethernet header, FCS and a VLAN tag
USUAL = 1500           # frames up to this size leave everything as it usually is


class Cell(NamedTuple):
    """What is run."""

    pool: str
    frame_bytes: int
    ring: int = 64
    cache: int = 0

    def __str__(self):
        return f"{self.pool}-{self.frame_bytes}-ring{self.ring}-cache{self.cache}"


def room_for(frame_bytes):
    """Data room of a buffer that holds the frame: as small as may be, but for usual ones."""
    if frame_bytes <= USUAL:
        return 1664
    return -(-(HEADROOM + frame_bytes + L2_BYTES) // SLOT) * SLOT


def testpmd_options(cell):
    """Options of EAL and of testpmd. With split, each frame takes two descriptors."""
    room = room_for(cell.frame_bytes)
    eal, app = [], [f"--burst={BURST}", f"--mbcache={cell.cache}", "--total-num-mbufs=4096"]
    if cell.frame_bytes > USUAL:
        app += [f"--max-pkt-len={cell.frame_bytes + L2_BYTES - 4}"]
    if cell.pool != "split":
        app += [f"--rxd={cell.ring}", f"--txd={cell.ring}", f"--mbuf-size={room}"]
    else:
        eal += split.RULE
        app += [f"--rxd={2 * cell.ring}", f"--txd={2 * cell.ring}", f"--mbuf-size=256,{room}",
                f"--rxpkts={split.HEADER},0", "--rx-offloads=0x102000", "--tx-offloads=0x8000"]
    return eal, app


def counted(port):
    """Bytes by where they went, as demo and sweep report them."""
    return {
        "host_payload_bytes": port["host_read_bytes"] + port["host_write_bytes"],
        "memic_payload_bytes": port["memic_read_bytes"] + port["memic_write_bytes"],
        "inline_bytes": port["inline_bytes"],
        "other_bytes": port["wqe_bytes"] + port["cqe_bytes"] + DOORBELL_BYTES * port["doorbells"],
    }


def run(build, cell, frames, card, progress=None):
    """Forward so many frames, each checked; card are options of mlx5emu."""
    eal, app = testpmd_options(cell)
    emu = [*card, "--wire", f"check:{frames}:{cell.frame_bytes}"]
    pool = None if cell.pool == "host" else "mlx5_memic"
    with harness.Testpmd(build, emu, eal, app, pool) as testpmd:
        testpmd.wait_prompt()
        testpmd.start()
        testpmd.forward(frames, progress)
        pools = harness.device_pools(testpmd).values() if pool else ()
        total = {name: sum(info[name] for info in pools)
                 for name in ("device_slots", "device_peak", "device_gets", "host_gets")}
        if testpmd.quit() != 0:
            raise harness.Failure(f"testpmd ended with status {testpmd.status}")
        stats = testpmd.stats()
    harness.check_card(stats)
    harness.check_wire(stats["ports"][0], frames)
    return {**cell._asdict(), "frames": frames, "slot_bytes": room_for(cell.frame_bytes), **total,
            **counted(stats["ports"][0])}
