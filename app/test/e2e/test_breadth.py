# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""What a port can do beyond forwarding: hashes, checksums, jumbo frames, buffer split."""

import collections
import os
import re
import tempfile
import time

import frames as eth
from harness import (PCI_DEVICE, Program, Testpmd, check_card, check_wire, expect, lcores, main)

# mlx5_rxq.c: rss_hash_default_key[], which the tests also read back from the port
PMD_KEY = bytes.fromhex("2cc681d15bdbf4f7fca28319db1a3e946b9e38d92c9c03d1ad9944a7d9563d59"
                        "063c25f3fc1fdc2a")

SMALL = ["--rxd=64", "--txd=64", "--burst=16", "--mbcache=0", "--total-num-mbufs=4096"]


def check_frame(number):
    """Headers of the check wire's frame of this number, as doc/guides/mlx5emu.rst has them."""
    return eth.frame(f"192.0.2.{1 + number % 254}", "198.51.100.1", eth.UDP,
                     0xc000 | number & 0x3fff, 9)


def read_key(testpmd):
    match = re.search(r"RSS key:\s+([0-9A-F]{80})", testpmd.run("show port 0 rss-hash key"))
    expect(match, "the port has no RSS key")
    return bytes.fromhex(match[1])


def rss(build, flow_en, queues, fields):
    """Each queue gets exactly the frames whose hash leads to it."""
    queues, count = int(queues), 4000
    app = [*SMALL, f"--rxq={queues}", f"--txq={queues}"]
    app += ["--rss-udp"] if fields == "ports" else []
    with Testpmd(build, ["--wire", f"check:{count}:128"], [], app, None,
                 f"dv_flow_en={flow_en}") as testpmd:
        testpmd.wait_prompt()
        key = read_key(testpmd)
        expect(key == PMD_KEY, f"the key is {key.hex()}")
        wanted = collections.Counter(
            eth.rss_hash(key, check_frame(number), fields == "ports") % queues
            for number in range(count))
        testpmd.start()
        testpmd.forward(count)
        got = testpmd.query("/ethdev/stats,0")["q_ipackets"][:queues]
        expect(testpmd.quit() == 0, "testpmd failed")
        check_card(testpmd.stats())
        check_wire(testpmd.stats()["ports"][0], count)
    expect(got == [wanted[queue] for queue in range(queues)], f"{got} frames, not {wanted}")
    expect(min(got) > 0, f"idle queues: {got}")


def received(testpmd, count):
    """What testpmd prints of each frame with "set verbose 1", in order of arrival by queue."""
    testpmd.run("set fwd rxonly")
    testpmd.run("set verbose 1")
    # the forwarding thread's lines mix with the prompt: no run()
    start = end = len(testpmd.output)
    testpmd.send("start")
    for _ in range(count):
        end = testpmd.wait_for(r"ol_flags: .*\n", 30, end)
    expect(testpmd.quit() == 0, "testpmd failed")
    check_card(testpmd.stats())
    return re.findall(r"length=(\d+) - nb_segs=(\d+)(?: - RSS hash=0x([0-9a-f]+))?"
                      r"(?: - RSS queue=0x([0-9a-f]+))?.*?hw ptype: (.*?) - sw ptype"
                      r".*?ol_flags: (.*?)\n", testpmd.output[start:], re.DOTALL)


def receive(build, flow_en, folder, frames, app):
    """Feed frames from a capture; returns what testpmd says of them."""
    path = os.path.join(folder, "in.pcap")
    eth.write_pcap(path, frames)
    with Testpmd(build, ["--wire", f"pcap:{path}:"], [], [*SMALL, *app], None,
                 f"dv_flow_en={flow_en}") as testpmd:
        testpmd.wait_prompt()
        return received(testpmd, len(frames))


def in_folder(case):
    """Gives a case a folder for its captures."""
    def run(build, *args):
        with tempfile.TemporaryDirectory(prefix="memic.") as folder:
            case(build, folder, *args)
    run.__name__ = case.__name__
    return run


@in_folder
def hash_value(build, folder, flow_en):
    """The hash in each mbuf is the one that the documents give, for each kind of frame."""
    # lengths tell the frames apart
    kinds = [("192.0.2.7", "198.51.100.9", eth.UDP), ("2001:db8::7", "2001:db8::9", eth.UDP),
             ("192.0.2.7", "198.51.100.9", eth.TCP), ("2001:db8::7", "2001:db8::9", eth.TCP)]
    frames = [eth.frame(src, dst, protocol, 1000 + number, 53, 100 + number)
              for number, (src, dst, protocol) in enumerate(kinds * 4)]
    by_length = {len(frame): frame for frame in frames}
    for app in (["--rss-ip"], ["--rss-udp"]):
        got = receive(build, flow_en, folder, frames, ["--rxq=4", "--txq=4", *app])
        expect(len(got) == len(frames), f"{len(got)} frames of {len(frames)}")
        for length, _, value, queue, _, _ in got:
            frame = by_length[int(length)]
            if app == ["--rss-udp"] and eth.Parsed(frame).protocol != eth.UDP:
                continue  # not hashed: to queue 0 without a value
            wanted = eth.rss_hash(PMD_KEY, frame, app == ["--rss-udp"])
            expect(int(value, 16) == wanted,
                   f"{app}: hash {value}, not {wanted:x} of {frame.hex()}")
            expect(int(queue, 16) == wanted % 4, f"queue {queue} for hash {wanted:x}")


def checksum_frames():
    """Right and wrong frames of each kind, by their length."""
    found = {}
    for protocol in (eth.UDP, eth.TCP):
        for src, dst in (("192.0.2.1", "198.51.100.1"), ("2001:db8::1", "2001:db8::2")):
            for bad in ((), ("l4",), ("ip",), ("ip", "l4")):
                if "ip" in bad and ":" in src:
                    continue
                length = 100 + len(found)
                found[length] = eth.frame(src, dst, protocol, length=length, bad=bad), bad
    return found


@in_folder
def checksum_rx(build, folder, flow_en):
    """Wrong checksums are not called right.

    The mlx5 PMD knows good and unknown only: a checksum that the card found wrong leaves the
    flag out, and testpmd calls that unknown (mlx5_rx.c, rxq_cq_to_ol_flags()).
    """
    frames = checksum_frames()
    got = receive(build, flow_en, folder, [frame for frame, _ in frames.values()],
                  ["--enable-rx-cksum"])
    expect(len(got) == len(frames), f"{len(got)} frames of {len(frames)}")
    for length, _, _, _, ptype, flags in got:
        frame, bad = frames[int(length)]
        for name, flag in (("ip", "IP_CKSUM"), ("l4", "L4_CKSUM")):
            wanted = f"RX_{flag}_" + ("UNKNOWN" if name in bad else "GOOD")
            expect(re.search(rf"\bRTE_MBUF_F_{wanted}\b", flags), f"{bad}: {flags}, not {wanted}")
        parsed = eth.Parsed(frame)
        expect(("L3_IPV4" if parsed.kind == 0x0800 else "L3_IPV6") in ptype and
               ("L4_UDP" if parsed.protocol == eth.UDP else "L4_TCP") in ptype, f"type {ptype}")


def forwarded(build, flow_en, folder, frames, commands, device=""):
    """What comes out of the port when testpmd forwards these frames."""
    paths = [os.path.join(folder, name) for name in ("in.pcap", "out.pcap")]
    eth.write_pcap(paths[0], frames)
    with Testpmd(build, ["--wire", "pcap:" + ":".join(paths)], [],
                 [*SMALL, "--disable-device-start"], None,
                 f"dv_flow_en={flow_en}{device}") as testpmd:
        testpmd.wait_prompt()
        for command in commands:
            answer = testpmd.run(command)
            expect("Bad arguments" not in answer and "rror" not in answer, answer)
        testpmd.run("start")
        testpmd.forward(len(frames))
        expect(testpmd.quit() == 0, "testpmd failed")
        check_card(testpmd.stats())
    return eth.read_pcap(paths[1])


@in_folder
def checksum_tx(build, folder, flow_en):
    """Checksums are written where the program asks for it, and only there."""
    frames = [frame for frame, _ in checksum_frames().values()]
    engine = [*(f"csum set {what} hw 0" for what in ("ip", "udp", "tcp")),
              "port start 0", "set fwd csum"]
    out = forwarded(build, flow_en, folder, frames, engine)
    expect(len(out) == len(frames), f"{len(out)} frames of {len(frames)} came out")
    for data in out:
        parsed = eth.Parsed(data)
        expect(parsed.ip_ok and parsed.l4_ok, f"wrong checksum in {data.hex()}")
    # the control: a port that is not asked leaves right and wrong ones as they are
    out = forwarded(build, flow_en, folder, frames, ["port start 0", "set fwd macswap"])
    expect([data[12:] for data in out] == [frame[12:] for frame in frames],
           "the port changed frames on its own")


@in_folder
def vlan_tag(build, folder, flow_en):
    """The card inserts no VLAN tags, so the PMD writes them itself, into the inline header."""
    frames = [frame for frame, _ in checksum_frames().values()]
    out = forwarded(build, flow_en, folder, frames,
                    ["tx_vlan set 0 5", "port start 0", "set fwd macswap"])
    expect([data[12:] for data in out] == [b"\x81\x00\x00\x05" + frame[12:] for frame in frames],
           "not each frame came out with its tag and else unchanged")


JUMBO = 9014    # MTU 9000


def jumbo(build, flow_en, pool, segments):
    """9000 byte packets in one buffer or in several."""
    count = 2000
    if segments == "1":
        app = ["--mbuf-size=10240", "--rxd=32", "--txd=32"]
    else:
        app = ["--mbuf-size=2176", "--rxd=256", "--txd=256", "--tx-offloads=0x8000",
               "--enable-scatter"]
    app += ["--max-pkt-len=9018", "--burst=8", "--mbcache=0", "--total-num-mbufs=1025"]
    emu = ["--memic", "8M", "--wire", f"check:{count}:{JUMBO}"]
    with Testpmd(build, emu, [], app, None if pool == "host" else pool,
                 f"dv_flow_en={flow_en}") as testpmd:
        testpmd.wait_prompt()
        testpmd.start()
        testpmd.forward(count)
        expect(testpmd.quit() == 0, "testpmd failed")
        stats = testpmd.stats()
    check_card(stats)
    port = stats["ports"][0]
    check_wire(port, count)
    where = "host" if pool == "host" else "memic"
    expect(port[f"{where}_write_bytes"] == count * JUMBO, f"not all into {where} memory: {port}")


def split(build, flow_en):
    """Buffer split: headers into a pool in host memory, payload into one on the device."""
    count, size, header = 4000, 1500, 128
    app = ["--rxd=64", "--txd=128", "--burst=16", "--mbcache=0", "--total-num-mbufs=1025",
           f"--rxpkts={header},{size - header}", "--mbuf-size=384,1664", "--rx-offloads=0x102000",
           "--tx-offloads=0x8000"]
    eal = ["--vdev=mempool_mlx5_memic0,pools=mb_pool_0_1"]
    with Testpmd(build, ["--memic", "256K", "--wire", f"check:{count}:{size}"], eal, app,
                 "mlx5_memic", f"dv_flow_en={flow_en}") as testpmd:
        testpmd.wait_prompt()
        testpmd.start()
        testpmd.forward(count)
        expect(testpmd.quit() == 0, "testpmd failed")
        stats = testpmd.stats()
    check_card(stats)
    port = stats["ports"][0]
    check_wire(port, count)
    for name, wanted in (("host", count * header), ("memic", count * (size - header))):
        for way in ("read", "write"):
            got = port[f"{name}_{way}_bytes"]
            expect(got == wanted, f"{name}_{way}_bytes is {got}, not {wanted}")


def rx_intr(build, flow_en, program):
    """Interrupts of receive queues: completion channels in one mode, DevX events in the other."""
    command = [program, "--no-huge", "-m", "128", lcores(1), "--log-level=lib.eal:warning",
               "-a", f"{PCI_DEVICE},dv_flow_en={flow_en}", "--", "300"]
    with Program(build, command, ["--wire", "loop"]) as run:
        expect(run.wait_exit() == 0, "rx_intr failed")
        expect("good" in run.output, "rx_intr did not finish")
        check_card(run.stats())


def counters(text):
    return {name: int(value) for name, value in re.findall(r"^(\w+): (\d+)\r?$", text, re.M)}


def xstats(build, flow_en):
    """Counters of the netdev, and the frames that found no buffer."""
    with Testpmd(build, ["--wire", "loop"], [], SMALL, None, f"dv_flow_en={flow_en}") as testpmd:
        testpmd.wait_prompt()
        expect("nable to get statistic" not in testpmd.output and
               "no extended statistics" not in testpmd.output, "the PMD misses counters")
        expect("Cannot get IB device" not in testpmd.output, "no answer on RDMA netlink")
        testpmd.run("set fwd txonly")   # which receives nothing
        testpmd.run("start")
        time.sleep(0.5)
        testpmd.run("stop")
        testpmd.forward(testpmd.query("/ethdev/stats,0")["opackets"])
        got = counters(testpmd.run("show port xstats 0"))
        expect(re.search(rf"RX-missed: {got['rx_out_of_buffer']} ",
                         testpmd.run("show port stats 0")), "RX-missed is another number")
        link = testpmd.run("show port info 0")
        expect("Link speed: 100 Gbps" in link and "full-duplex" in link, f"link: {link}")
        expect(testpmd.quit() == 0, "testpmd failed")
        stats = testpmd.stats()
    check_card(stats)
    port = stats["ports"][0]
    wanted = {"rx_out_of_buffer": port["rx_no_wqe"], "tx_phy_packets": port["tx_frames"],
              "rx_phy_packets": port["tx_frames"], "tx_unicast_packets": port["tx_frames"],
              "rx_unicast_bytes": port["tx_bytes"], "rx_broadcast_packets": 0,
              "rx_phy_crc_errors": 0}
    expect(port["rx_no_wqe"] > 0, "every frame found a buffer")
    for name, value in wanted.items():
        expect(got.get(name) == value, f"{name} is {got.get(name)}, not {value}")


def presets(build):
    """Each card says of itself what public logs of such cards say."""
    for name, part, board, firmware, memic in (
            ("cx5", 4119, "MT_0000000012", "16.35.1012", 131072),
            ("cx6dx", 4125, "MT_0000000359", "22.35.1012", 131072),
            ("cx7", 4129, "MT_0000000838", "28.39.1002", 262144),
            ("nomemic", 4125, "MT_0000000359", "22.35.1012", 0)):
        with Program(build, ["ibv_devinfo", "-v"], ["--preset", name]) as run:
            expect(run.wait_exit() == 0, "ibv_devinfo failed")
            text = run.output
        functions = 2 if name == "cx5" else 1
        expect(text.count("hca_id:") == functions, f"functions of {name}")
        wanted = [f"hca_id:\tmlx5_{index}" for index in range(functions)]
        wanted += [f"vendor_part_id:\t\t\t{part}", f"board_id:\t\t\t{board}",
                   f"fw_ver:\t\t\t\t{firmware}", "vendor_id:\t\t\t0x02c9", "PORT_ACTIVE"]
        if memic:
            wanted.append(f"maximum available device memory:\t{memic}Bytes")
        for line in wanted:
            expect(line in text.replace("\r", ""), f"{name}: no '{line}' in:\n{text}")
        expect(memic or "131072Bytes" not in text, f"{name} has device memory")


main({case.__name__: case for case in (
    presets, rss, hash_value, checksum_rx, checksum_tx, vlan_tag, jumbo, split, rx_intr, xstats)})
