# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""The faults of the software card, met by the unmodified PMD and by our driver."""

import os
import re
import struct
import subprocess
import tempfile
import time

from harness import (FITTING, PCI_DEVICE, Failure, Testpmd, check_card, check_wire,
                     device_pools, expect, expect_output, main)

FRAMES = 5000
LOG = ["--log-level=mempool.mlx5_memic:info"]
ENDLESS = "check:100000000:1500"


def card(*faults, memic="256K", wire=f"check:{FRAMES}:1500"):
    """Options of the launcher."""
    options = ["--memic", memic, "--wire", wire]
    for fault in faults:
        options += ["--fault", fault]
    return options


def only_pool(testpmd):
    pools = device_pools(testpmd)
    expect(len(pools) == 1, f"pools of the driver: {sorted(pools)}")
    return next(iter(pools.values()))


def forward(build, *faults, eal=(), device="", pool="mlx5_memic", refused=0, **options):
    """Forward FRAMES under faults that harm none; returns the pool, the port's counters and
    the output. So many uses of keys are refused before, by the probe."""
    with Testpmd(build, card(*faults, **options), [*LOG, *eal], FITTING, pool, device) as testpmd:
        testpmd.wait_prompt()
        info = only_pool(testpmd) if pool else None
        testpmd.start()
        testpmd.forward(FRAMES)
        expect(testpmd.quit() == 0, "testpmd failed")
        stats = testpmd.stats()
        expect(stats["protection_errors"] == refused, f"not {refused} uses refused: {stats}")
        check_card({**stats, "protection_errors": 0})
        port = stats["ports"][0]
        expect(port["bad"] == 0, f"a byte changed: {port}")
        return info, port, testpmd.output


def host_bytes(port):
    return port["host_read_bytes"] + port["host_write_bytes"]


def memic_bytes(port):
    return port["memic_read_bytes"] + port["memic_write_bytes"]


# ---- keys ----

def klm_create(build):
    """Case: firmware without KLM over device memory. mkey=auto goes on to KSM and says so."""
    pool, port, output = forward(build, "klm=create")
    expect(pool["mkey"] == "ksm", f"the key is {pool['mkey']}")
    expect(re.search(r"MLX5_MEMIC: .*no klm key.*EREMOTEIO", output), "nothing said of klm")
    expect(host_bytes(port) == 0, f"host memory used: {port}")
    check_wire(port, FRAMES)


def no_key(build):
    """Neither kind: the pool lives in host memory, and the reason is told."""
    pool, port, output = forward(build, "klm=create", "ksm=create")
    expect(pool["device_slots"] == 0, str(pool))
    expect("ksm" in pool["reason"] and "EREMOTEIO" in pool["reason"], pool["reason"])
    expect(re.search(r"MLX5_MEMIC: .*mb_pool_0.*host memory", output), "nothing said of the pool")
    expect(memic_bytes(port) == 0, f"device memory used: {port}")
    check_wire(port, FRAMES)


def klm_use(build):
    """Keys that fail at use only: every use is counted, nothing crashes, no byte leaks."""
    eal = [*LOG, "--vdev=mempool_mlx5_memic0,mkey=klm"]
    with Testpmd(build, card("klm=use"), eal, FITTING) as testpmd:
        testpmd.wait_prompt()
        expect(only_pool(testpmd)["mkey"] == "klm", "no klm key")
        testpmd.start()
        try:
            testpmd.forward(1, stall_seconds=2)
        except Failure as err:
            expect("stuck" in str(err), str(err))
        else:
            raise Failure("a frame came through")
        expect(testpmd.quit() == 0, "testpmd failed")
        stats = testpmd.stats()
        port = stats["ports"][0]
        expect(stats["protection_errors"] > 0, f"no protection error: {stats}")
        expect(port["errors"] >= stats["protection_errors"], f"no completion told: {port}")
        expect(memic_bytes(port) + host_bytes(port) == 0, f"bytes moved: {port}")
        expect(stats["leaked_objects"] == 0, "objects are still alive")


def klm_use_auto(build):
    """mkey=auto is whichever the probe proves, and KLM keys cannot be proven here."""
    pool, port, output = forward(build, "klm=use", refused=1)
    expect(pool["mkey"] == "ksm" and host_bytes(port) == 0, f"{pool} {port}")
    expect(re.search(r"no klm key over its device memory: a frame of 60 bytes .*protection",
                     output), "nothing said of klm")
    check_wire(port, FRAMES)


def no_key_works(build):
    """Both can be made and neither works: host memory, or a failure for who wants no other."""
    pool, port, output = forward(build, "klm=use", "ksm=use", refused=2)
    expect(pool["device_slots"] == 0 and memic_bytes(port) == 0, f"{pool} {port}")
    expect("no ksm key" in pool["reason"], pool["reason"])
    expect(re.search(r"MLX5_MEMIC: .*mb_pool_0.*host memory: no ksm key .*protection", output),
           "nothing said of the pool")
    check_wire(port, FRAMES)
    eal = [*LOG, "--vdev=mempool_mlx5_memic0,spill=0"]
    with Testpmd(build, card("klm=use", "ksm=use"), eal, FITTING) as testpmd:
        expect(testpmd.wait_exit() != 0, "the pool was created")
        expect_output(testpmd, r"spill=0.*no ksm key")


def direct(build):
    """Identity mapping: as good as the others, and only by name."""
    eal = [*LOG, "--vdev=mempool_mlx5_memic0,mkey=direct"]
    pool, port, output = forward(build, "klm=create", "ksm=create", eal=eal, memic="320K")
    expect(pool["mkey"] == "direct" and host_bytes(port) == 0, f"{pool} {port}")
    expect(re.search(r"device memory is at the addresses 0x1000 to", output), "nothing said")
    check_wire(port, FRAMES)
    pool, _, _ = forward(build, "klm=create", "ksm=create")
    expect(pool["device_slots"] == 0, f"{pool}")


def direct_use(build):
    """What does not work but is named is taken, and told."""
    eal = [*LOG, "--vdev=mempool_mlx5_memic0,mkey=direct"]
    with Testpmd(build, card("direct"), eal, FITTING) as testpmd:
        testpmd.wait_prompt()
        expect(only_pool(testpmd)["mkey"] == "direct", "no direct key")
        expect_output(testpmd, r"no frame will pass through direct keys, which mkey=direct asks for"
                      r": a frame of 60 bytes")
        expect(testpmd.quit() == 0, "testpmd failed")
        expect(testpmd.stats()["leaked_objects"] == 0, "objects are still alive")


def direct_offset(build):
    """Memory that starts inside its page cannot be at its offsets."""
    eal = [*LOG, "--vdev=mempool_mlx5_memic0,mkey=direct,size=16640"]
    pool, port, _ = forward(build, "start-offset=64", eal=eal)
    expect(pool["device_slots"] == 0 and memic_bytes(port) == 0, f"{pool} {port}")
    expect("starts 64 bytes into its page" in pool["reason"], pool["reason"])


def loopback_off(build):
    """No frame comes back: the first key that can be made is taken, with a warning."""
    with Testpmd(build, card("loopback=off"), LOG, FITTING) as testpmd:
        testpmd.wait_prompt()
        pool = only_pool(testpmd)
        expect(pool["mkey"] == "klm" and pool["device_slots"] > 0, f"{pool}")
        expect_output(testpmd, r"takes klm keys, as they can be made, but whether frames pass "
                      r".*did not come back")
        testpmd.start()
        testpmd.forward(FRAMES)
        expect(testpmd.quit() == 0, "testpmd failed")
        check_card(testpmd.stats())
        port = testpmd.stats()["ports"][0]
        # the probe's frame left by the wire, which knows nothing of it
        expect(port["bad"] == 1 and host_bytes(port) == 60, f"{port}")
        check_wire({**port, "bad": 0}, FRAMES)


def loopback_corrupts(build):
    """A loop that changes bytes says nothing of keys."""
    pool, port, output = forward(build, "loopback=corrupts")
    expect(pool["mkey"] == "klm" and host_bytes(port) == 0, f"{pool} {port}")
    expect(re.search(r"takes klm keys.*wrong byte at 59", output), "no warning")
    check_wire(port, FRAMES)


def ordering_refused(build):
    """Kernels that refuse relaxed ordering on DM MRs: the driver goes without it."""
    pool, port, _ = forward(build, "ordering=refused")
    expect(pool["mkey"] == "klm" and host_bytes(port) == 0, f"{pool} {port}")
    check_wire(port, FRAMES)


def ordering_demanded(build):
    """Firmware that wants ordering attributes in each key gets them."""
    pool, port, _ = forward(build, "ordering=demanded")
    expect(pool["mkey"] == "klm" and host_bytes(port) == 0, f"{pool} {port}")
    check_wire(port, FRAMES)


def check_after_error(testpmd):
    """One protection error, after which traffic went on."""
    expect(testpmd.quit() == 0, "testpmd failed")
    stats = testpmd.stats()
    port = stats["ports"][0]
    expect(stats["protection_errors"] == 1, f"protection errors: {stats}")
    expect(port["errors"] > 0 and port["bad"] == 0, str(port))
    expect(port["returned"] > FRAMES - 500, f"no traffic after the error: {port}")
    expect(stats["leaked_objects"] == 0, "objects are still alive")


def check_recovery(build, fault, device=""):
    """The PMD goes on by itself; what was in the ring is lost."""
    with Testpmd(build, card(fault), LOG, FITTING, device=device) as testpmd:
        testpmd.wait_prompt()
        testpmd.start()
        testpmd.forward(FRAMES - 64)
        check_after_error(testpmd)


def mkey_read(build):
    """A use of a key fails while sending."""
    check_recovery(build, "mkey-use=read:1500")


def mkey_write(build):
    """A use of a key fails while receiving, without vectors."""
    check_recovery(build, "mkey-use=write:1500", device="rx_vec_en=0")


def mkey_write_vectors(build):
    """With vectors it recovers by luck only, or when its queues are set up again."""
    with Testpmd(build, card("mkey-use=write:1500"), LOG, FITTING) as testpmd:
        testpmd.wait_prompt()
        testpmd.start()
        try:
            testpmd.forward(FRAMES - 64, stall_seconds=3)
        except Failure as err:
            expect("stuck" in str(err), str(err))
            for command in ("stop", "port stop 0", "port config all rxq 1", "port start 0"):
                testpmd.run(command)
            testpmd.start()
            # counted from zero; what was in the old ring, and dropped since, is lost
            testpmd.forward(FRAMES - 1500 - 400)
        check_after_error(testpmd)


# ---- device memory ----

def dm_multiple(build):
    """Lengths refused: no multiple of 3000 is a whole page of a slot's size."""
    pool, port, _ = forward(build, "dm-multiple=3000")
    expect(pool["device_slots"] == 0 and "EINVAL" in pool["reason"], str(pool))
    check_wire(port, FRAMES)
    pool, port, _ = forward(build, "dm-multiple=4096")
    expect(host_bytes(port) == 0, f"{pool} {port}")


def memic_held(build):
    """Others hold half of it: the driver backs off to what is left."""
    pool, port, _ = forward(build, "memic-held=128K")
    expect(0 < pool["device_bytes"] <= 128 << 10, str(pool))
    expect(memic_bytes(port) > 0 and host_bytes(port) > 0, f"one kind only: {port}")
    check_wire(port, FRAMES)
    pool, port, _ = forward(build, "memic-held=256K")
    expect(pool["device_slots"] == 0 and "ENOMEM" in pool["reason"], str(pool))


def memic_returned(build):
    """Given back while the driver backs off: it takes some of it."""
    pool, port, _ = forward(build, "memic-held=256K", "memic-returned=3")
    expect(pool["device_slots"] > 0, str(pool))
    check_wire(port, FRAMES)


def memic_run(build):
    """No piece above 64 KiB: a pool of one piece."""
    pool, port, _ = forward(build, "memic-run=64K")
    expect(0 < pool["device_bytes"] <= 64 << 10, str(pool))
    check_wire(port, FRAMES)


def start_offset(build):
    """An allocation that starts inside a page. 192 bytes of the last page must be free."""
    pool, port, _ = forward(build, "start-offset=192", memic=str((256 << 10) - 192))
    expect(pool["device_slots"] > 0 and host_bytes(port) == 0, f"{pool} {port}")
    check_wire(port, FRAMES)


def no_devx(build):
    """Without DevX there are no indirect keys; the PMD itself works."""
    pool, port, _ = forward(build, "no-devx", device="dv_flow_en=0")
    expect(pool["device_slots"] == 0 and "DevX" in pool["reason"], str(pool))
    expect(memic_bytes(port) == 0, f"device memory used: {port}")
    check_wire(port, FRAMES)


def sw_icm(build, flow_en):
    """With the SW_ICM types there the PMD stays on root tables and works as before."""
    pool, port, _ = forward(build, "sw-icm", device=f"dv_flow_en={flow_en}")
    expect(pool["device_slots"] > 0 and host_bytes(port) == 0, f"{pool} {port}")
    check_wire(port, FRAMES)


# ---- wire ----

def drop(build):
    _, port, _ = forward(build, "drop=100")
    lost = FRAMES // 100
    expect(port["wire_dropped"] == lost and port["lost"] == lost, str(port))
    expect(port["returned"] == FRAMES - lost and port["reordered"] == 0, str(port))


def delay(build):
    _, port, _ = forward(build, "delay=2000")
    expect(port["wire_delayed"] == FRAMES, str(port))
    check_wire(port, FRAMES)


def reorder(build):
    _, port, _ = forward(build, "reorder=50")
    expect(port["reordered"] == port["wire_reordered"], str(port))
    expect(FRAMES // 50 - 1 <= port["reordered"] <= FRAMES // 50, str(port))
    check_wire(port, FRAMES)


# ---- failures ----

def ioctl_probe(build):
    """The Nth ioctl of the probe fails: an error or nothing, no crash, nothing left over."""
    for number in (2, 3, 6, 10, 14, 18, 22, 27, 33, 40, 48):
        fault = f"ioctl={number}:ENOMEM"
        with Testpmd(build, card(fault), LOG, FITTING) as testpmd:
            try:
                testpmd.wait_prompt()
                status = testpmd.quit()
            except Failure:
                status = testpmd.wait_exit()
            expect(status in (0, 1), f"{fault}: status {status}")
            expect_output(testpmd, r"--fault ioctl: .* fails with ENOMEM")
            expect(testpmd.stats()["leaked_objects"] == 0, f"{fault}: objects are still alive")


def ioctl_pool(build):
    """What the driver asks for fails once: it finds another way, or tells why not."""
    # the probe's key: nothing is known then, and the first kind that can be made is taken
    pool, port, output = forward(build, "ioctl=1:EIO:CREATE_MKEY")
    expect(pool["mkey"] == "klm", str(pool))
    expect(re.search(r"could not be found out: .*EIO", output), "not told that nothing is known")
    check_wire(port, FRAMES)
    # the pool's key
    pool, port, output = forward(build, "ioctl=2:EIO:CREATE_MKEY")
    expect(pool["mkey"] == "ksm", str(pool))
    expect(re.search(r"no klm key .*EIO.*does not say that klm keys are refused", output),
           "taken for a card without klm keys")
    check_wire(port, FRAMES)
    for kind in ("DM_ALLOC", "DM_MR_REG"):
        pool, port, _ = forward(build, f"ioctl=1:EIO:{kind}")
        expect(pool["device_slots"] > 0 or pool["reason"], str(pool))
        check_wire(port, FRAMES)


def mkey_shortage(build):
    """A shortage is no refusal: it is tried once more. (One that lasts: test_teardown.py.) A
    refusal is noted at the default log level."""
    pool, port, output = forward(build, "ioctl=1:ENOMEM:CREATE_MKEY")
    expect(pool["mkey"] == "klm", str(pool))
    expect(re.search(r"trying once more for a klm key: .*ENOMEM", output), "nothing said of it")
    expect("keys are refused" not in output, "a warning for nothing")
    check_wire(port, FRAMES)
    with Testpmd(build, card("klm=create"), (), FITTING) as testpmd:
        testpmd.wait_prompt()
        expect_output(testpmd, r"MLX5_MEMIC: mlx5_0 takes no klm keys, trying ksm: .*EREMOTEIO")
        expect(testpmd.quit() == 0, "testpmd failed")


def remove(build, flow_en):
    """The device goes under traffic. The PMD passes DEVICE_FATAL on, testpmd stops, closes and
    detaches the port. The device comes back and is attached, but the pool's memory was that of
    the device before; the pool is freed at the end."""
    with Testpmd(build, card("remove=frames:5000", "return=300", wire=ENDLESS), LOG, FITTING,
                 device=f"dv_flow_en={flow_en}") as testpmd:
        testpmd.wait_prompt()
        expect(only_pool(testpmd)["device_slots"] > 0, "no device memory")
        testpmd.run("set fwd io retry")
        testpmd.send("start")
        testpmd.wait_for("device removal event")
        testpmd.wait_for("Device is detached")
        (pool,) = device_pools(testpmd).values()
        expect(pool["device_free"] == pool["device_slots"] > 0, f"slots are out: {pool}")
        deadline = time.monotonic() + 60
        while "Port 0 is attached" not in testpmd.run(f"port attach {PCI_DEVICE}"):
            expect(time.monotonic() < deadline, "the device did not come back")
        testpmd.run("port start 0")
        expect_output(testpmd, r"MLX5_MEMIC: port 0 .* not started \(EXDEV\): .*pool mb_pool_0 .*"
                      "from before it was closed and opened again")
        expect(testpmd.quit() == 0, "testpmd failed")
        stats = testpmd.stats()
        port = stats["ports"][0]
        expect(port["removed"] and port["bad"] == 0, str(port))
        expect(5000 <= port["tx_frames"] + port["rx_frames"] < 5200, str(port))
        expect(stats["leaked_objects"] == 0, "objects are still alive")
        expect(stats["protection_errors"] == 0, str(stats))


def removed_after(build, milliseconds):
    """Whether testpmd had started before the device went."""
    with Testpmd(build, card(f"remove=ms:{milliseconds}", wire="loop"), LOG, FITTING,
                 None) as testpmd:
        try:
            testpmd.wait_prompt()
        except Failure:
            return False
        testpmd.wait_for("device removal event")
        testpmd.wait_for("Device is detached")
        expect(testpmd.quit() == 0, "testpmd failed")
        expect(testpmd.stats()["leaked_objects"] == 0, "objects are still alive")
        return True


def remove_idle(build):
    """The same without traffic and with a host pool: the PMD's part alone. A busy machine needs
    longer to start."""
    expect(any(removed_after(build, milliseconds) for milliseconds in (1500, 6000, 24000)),
           "the device went before testpmd had started")


# ---- the CPU and device memory ----

def trap_io(build):
    """Rx and Tx bursts, and the driver, never touch a frame in device memory."""
    pool, port, _ = forward(build, "trap=all")
    expect(pool["device_slots"] > 0 and host_bytes(port) == 0, f"{pool} {port}")
    expect(port["cpu_reads"] == 0 and port["cpu_writes"] == 0, f"CPU touches: {port}")
    check_wire(port, FRAMES)


def trap_touch(build):
    """The control: a forwarder that changes headers is caught, and told where."""
    with Testpmd(build, card("trap=all"), LOG, FITTING) as testpmd:
        testpmd.wait_prompt()
        testpmd.run("set fwd macswap")
        testpmd.run("start")
        testpmd.forward(200)
        expect(testpmd.quit() == 0, "testpmd failed")
        port = testpmd.stats()["ports"][0]
        expect(port["cpu_reads"] >= 200 and port["cpu_writes"] >= 200, str(port))
        expect_output(testpmd,
                      r"--fault trap: \d+ CPU writes of device memory at\s+\S*dpdk-testpmd")


def frames_of(path):
    """Frames of a capture file of microsecond resolution."""
    with open(path, "rb") as file:
        data = file.read()
    order = "<" if data[:4] == b"\xd4\xc3\xb2\xa1" else ">"
    at, frames = 24, []
    while at + 16 <= len(data):
        length = struct.unpack(order + "I", data[at + 8:at + 12])[0]
        frames.append(data[at + 16:at + 16 + length])
        at += 16 + length
    return frames


def write_combining(build):
    """Held-back stores: what testpmd writes before it sends is in the frames."""
    pool, port, _ = forward(build, "write-combining")
    expect(host_bytes(port) == 0, f"{pool} {port}")
    check_wire(port, FRAMES)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out.pcap")
        emu = card("write-combining", wire=f"pcap::{path}")
        with Testpmd(build, emu, LOG, FITTING) as testpmd:
            testpmd.wait_prompt()
            testpmd.run("set fwd txonly")
            testpmd.run("start")
            testpmd.forward(2000)
            expect(testpmd.quit() == 0, "testpmd failed")
            port = testpmd.stats()["ports"][0]
        frames = frames_of(path)
        expect(port["memic_read_bytes"] > 0, f"device memory not used: {port}")
        expect(len(frames) == port["tx_frames"], f"{len(frames)} frames captured: {port}")
        # Ethernet to UDP: written by the CPU into each buffer
        wrong = [frame[:42].hex() for frame in frames if frame[:42] != frames[0][:42]]
        expect(not wrong, f"{len(wrong)} frames with other headers: {wrong[:3]}")
        expect(frames[0][12:14] == b"\x08\x00" and frames[0][23] == 17, frames[0][:42].hex())


def documented(build):
    """Each fault's name, value and text is in the guide as --fault help prints them."""
    text = subprocess.run([build.emu, "--fault", "help"], check=True, capture_output=True,
                          text=True).stdout
    entries = re.findall(r"^  (\S+)\n      (.+)$", text, re.M)
    expect(len(entries) > 15, f"help is short: {text}")
    guide = os.path.join(os.path.dirname(__file__), "../../../doc/guides/mlx5emu.rst")
    with open(guide, encoding="utf-8") as file:
        words = " ".join(file.read().split())
    for name, meaning in entries:
        expect(f"``{name}``" in words, f"the guide has no ``{name}``")
        meaning = meaning[0].upper() + meaning[1:]
        expect(meaning in words, f"the guide does not say of {name}: {meaning}")


main({case.__name__: case for case in (
    klm_create, no_key, klm_use, klm_use_auto, no_key_works, direct, direct_use, direct_offset,
    loopback_off, loopback_corrupts, ordering_refused, ordering_demanded,
    mkey_read, mkey_write, mkey_write_vectors,
    dm_multiple, memic_held, memic_returned, memic_run, start_offset, no_devx, sw_icm, drop, delay,
    reorder, ioctl_probe, ioctl_pool, mkey_shortage, remove, remove_idle, trap_io, trap_touch,
    write_combining, documented)})
