# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""testpmd forwards numbered frames; the wire checks each byte that comes out."""

from harness import (FITTING, Testpmd, check_card, check_wire, device_pools, expect, main)

FRAMES = 20000


def forward(build, pool, frame_bytes, app, eal=(), device="", memic="256K"):
    """Returns the telemetry of the pools, received frames of each queue, the port's counters."""
    emu = ["--memic", memic, "--wire", f"check:{FRAMES}:{frame_bytes}"]
    with Testpmd(build, emu, eal, app, pool, device) as testpmd:
        testpmd.wait_prompt()
        pools = device_pools(testpmd) if pool else {}
        testpmd.start()
        testpmd.forward(FRAMES)
        queues = testpmd.query("/ethdev/stats,0")["q_ipackets"]
        expect(testpmd.quit() == 0, "testpmd failed")
        stats = testpmd.stats()
        check_card(stats)
        check_wire(stats["ports"][0], FRAMES)
        return pools, queues, stats["ports"][0]


def host(build, flow_en):
    """The control: the default pool, whose bytes all cross PCIe."""
    _, _, port = forward(build, None, 1500, FITTING, device=f"dv_flow_en={flow_en}")
    expect(port["memic_read_bytes"] + port["memic_write_bytes"] == 0, f"device memory used: {port}")
    expect(port["host_read_bytes"] == FRAMES * 1500, f"not all out of host memory: {port}")
    expect(port["host_write_bytes"] == FRAMES * 1500, f"not all into host memory: {port}")


def memic(build, flow_en, mkey, queues):
    app = [*FITTING, f"--rxq={queues}", f"--txq={queues}"]
    eal = [f"--vdev=mempool_mlx5_memic0,mkey={mkey}"]
    pools, received, port = forward(build, "mlx5_memic", 1500, app, eal, f"dv_flow_en={flow_en}")
    (pool,) = pools.values()
    expect(pool["mkey"] == mkey, f"the key is {pool['mkey']}")
    idle = [queue for queue in range(int(queues)) if received[queue] == 0]
    expect(not idle, f"no frame came to the queues {idle}: {received}")
    if queues == "1":
        expect(port["host_read_bytes"] + port["host_write_bytes"] == 0, f"host memory used: {port}")
        expect(port["inline_bytes"] == 0, f"bytes were inlined: {port}")
    else:
        # four pairs of rings need more slots than there are: part of the frames is enough
        expect(port["memic_write_bytes"] > 0, f"device memory not used: {port}")


def small_frames(build):
    """60 bytes: the shortest there are, and not inlined on one queue."""
    _, _, port = forward(build, "mlx5_memic", 60, FITTING)
    expect(port["host_read_bytes"] + port["host_write_bytes"] == 0, f"host memory used: {port}")


def chained(build):
    """Frames over several buffers, in and out."""
    app = ["--rxd=256", "--txd=256", "--burst=16", "--mbuf-size=640", "--mbcache=0",
           "--total-num-mbufs=1025", "--enable-scatter", "--tx-offloads=0x8000"]
    _, _, port = forward(build, "mlx5_memic", 1500, app, memic="1M")
    expect(port["host_read_bytes"] + port["host_write_bytes"] == 0, f"host memory used: {port}")
    # more than one pointer segment a frame
    expect(port["memic_read_bytes"] == FRAMES * 1500, f"not all out of device memory: {port}")


main({case.__name__: case for case in (host, memic, small_frames, chained)})
