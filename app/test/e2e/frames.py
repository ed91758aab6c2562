# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Frames, checksums, capture files and the Toeplitz hash, computed without the emulator.

Written from the documents: RFC 791, 768, 793, 8200, 1071, the pcap file format, and
Microsoft's "RSS hashing functions" for the hash.
"""

import ipaddress
import socket
import struct

MAC = bytes.fromhex("b8599faabbcc")   # of emu0
PEER = bytes.fromhex("02000000c0de")
BROADCAST = b"\xff" * 6
MULTICAST = bytes.fromhex("01005e000001")

TCP, UDP = socket.IPPROTO_TCP, socket.IPPROTO_UDP

PCAP_HEADER = struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)


def checksum(data):
    """Internet checksum of RFC 1071: 0 over data that holds its own right one."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def pseudo_header(src, dst, protocol, length):
    if len(src) == 4:
        return src + dst + struct.pack(">BBH", 0, protocol, length)
    return src + dst + struct.pack(">II", length, protocol)


def l4_header(protocol, sport, dport, length):
    if protocol == UDP:
        return struct.pack(">HHHH", sport, dport, length, 0)
    return struct.pack(">HHIIBBHHH", sport, dport, 1, 1, 5 << 4, 0x10, 8192, 0, 0)


def l4_checksum_at(protocol):
    return 6 if protocol == UDP else 16


def frame(src="192.0.2.1", dst="198.51.100.1", protocol=UDP, sport=1000, dport=2000,
          length=100, dmac=MAC, smac=PEER, bad=()):
    """An Ethernet frame of length without FCS; bad names checksums to corrupt: "ip", "l4"."""
    src, dst = (ipaddress.ip_address(address).packed for address in (src, dst))
    head = 14 + (20 if len(src) == 4 else 40) + (8 if protocol == UDP else 20)
    payload = bytes(index & 0xff for index in range(length - head))
    length = len(payload) + (8 if protocol == UDP else 20)
    l4 = bytearray(l4_header(protocol, sport, dport, length) + payload)
    value = checksum(pseudo_header(src, dst, protocol, length) + bytes(l4)) or 0xffff
    struct.pack_into(">H", l4, l4_checksum_at(protocol), value ^ (0x5a5a if "l4" in bad else 0))
    if len(src) == 4:
        ip = bytearray(struct.pack(">BBHHHBBH", 0x45, 0, 20 + length, 1, 0, 64, protocol, 0))
        ip += src + dst
        struct.pack_into(">H", ip, 10, checksum(bytes(ip)) ^ (0x5a5a if "ip" in bad else 0))
        kind = 0x0800
    else:
        ip = struct.pack(">IHBB", 6 << 28, length, protocol, 64) + src + dst
        kind = 0x86dd
    return dmac + smac + struct.pack(">H", kind) + bytes(ip) + bytes(l4)


class Parsed:
    """Headers of a frame, and whether its checksums are right."""

    def __init__(self, data):
        self.dmac, self.smac = data[:6], data[6:12]
        self.kind, = struct.unpack_from(">H", data, 12)
        ip = data[14:]
        if self.kind == 0x0800:
            header = (ip[0] & 15) * 4
            length = struct.unpack_from(">H", ip, 2)[0] - header
            self.protocol, self.src, self.dst = ip[9], ip[12:16], ip[16:20]
            self.ip_ok = checksum(ip[:header]) == 0
        else:
            header, length = 40, struct.unpack_from(">H", ip, 4)[0]
            self.protocol, self.src, self.dst = ip[6], ip[8:24], ip[24:40]
            self.ip_ok = True
        l4 = ip[header:header + length]
        self.sport, self.dport = struct.unpack_from(">HH", l4)
        self.payload = l4[8 if self.protocol == UDP else (l4[12] >> 4) * 4:]
        pseudo = pseudo_header(self.src, self.dst, self.protocol, length)
        self.l4_ok = checksum(pseudo + l4) == 0
        self.l4_checksum, = struct.unpack_from(">H", l4, l4_checksum_at(self.protocol))


def write_pcap(path, frames):
    with open(path, "wb") as file:
        file.write(PCAP_HEADER)
        for number, data in enumerate(frames):
            file.write(struct.pack("<IIII", number, 0, len(data), len(data)) + data)


def read_pcap(path):
    """Frames of a capture in the byte order of this machine, micro- or nanoseconds."""
    with open(path, "rb") as file:
        data = file.read()
    magic, = struct.unpack_from("<I", data)
    if magic not in (0xa1b2c3d4, 0xa1b23c4d):
        raise ValueError(f"'{path}' is no capture file: magic 0x{magic:x}")
    frames, at = [], 24
    while at < len(data):
        length, = struct.unpack_from("<I", data, at + 8)
        frames.append(data[at + 16:at + 16 + length])
        at += 16 + length
    return frames


def toeplitz(key, data):
    """For each 1 bit of the data, the 32 bits of the key that begin at that bit."""
    bits = int.from_bytes(key, "big")
    width, result = len(key) * 8, 0
    for index in range(len(data) * 8):
        if data[index // 8] >> (7 - index % 8) & 1:
            result ^= bits >> (width - 32 - index) & 0xffffffff
    return result


def rss_hash(key, data, ports=True):
    """Hash of addresses and, where wanted and there, ports of a frame."""
    parsed = Parsed(data)
    text = parsed.src + parsed.dst
    if ports and parsed.protocol in (TCP, UDP):
        text += struct.pack(">HH", parsed.sport, parsed.dport)
    return toeplitz(key, text)
