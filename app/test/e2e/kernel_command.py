# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""A command for mlx5emu: asks what RDMA netlink and the netdev's driver answer, and checks it.

Constants: linux/netlink.h, rdma/rdma_netlink.h, linux/ethtool.h, linux/sockios.h.
"""

import array
import errno
import fcntl
import socket
import struct
import sys

NETLINK_RDMA = 20
NLMSG_ERROR, NLMSG_DONE = 2, 3
REQUEST, MULTI, ACK, DUMP = 1, 2, 4, 0x300
GET, PORT_GET, SYS_GET, GET_CHARDEV, SET = (5 << 10 | command for command in (1, 5, 6, 15, 2))
DEV_INDEX, DEV_NAME, PORT_INDEX, NDEV_NAME, CHARDEV_TYPE = 1, 2, 3, 51, 69
CHARDEV_NAME, COPY_ON_FORK = 70, 93

SIOCETHTOOL, SIOCSIFMTU = 0x8946, 0x8922
GDRVINFO, GPAUSE, SPAUSE = 3, 0x12, 0x13


def check(condition, text):
    if not condition:
        sys.exit(f"kernel_command: {text}")


def attribute(kind, data):
    data = struct.pack("=I", data) if isinstance(data, int) else data.encode() + b"\0"
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def attributes(data):
    found = {}
    while data:
        length, kind = struct.unpack_from("=HH", data)
        found[kind] = data[4:length]
        data = data[length + 3 & ~3:]
    return found


class Netlink:
    def __init__(self):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_RDMA)
        self.sock.bind((0, 0))
        self.sock.settimeout(5)
        self.sequence = 0

    def ask(self, kind, flags=0, data=b""):
        """The answers, or the negative errno."""
        self.sequence += 1
        self.sock.send(struct.pack("=IHHII", 16 + len(data), kind, flags | REQUEST, self.sequence,
                                   0) + data)
        answers = []
        while True:
            text = self.sock.recv(65536)
            length, got, got_flags, sequence, _ = struct.unpack_from("=IHHII", text)
            check(length == len(text) and sequence == self.sequence, f"message {text.hex()}")
            if got == NLMSG_ERROR:
                return struct.unpack_from("=i", text, 16)[0] or answers
            if got == NLMSG_DONE:
                return answers
            check(got == kind, f"type 0x{got:x} for 0x{kind:x}")
            answers.append(attributes(text[16:]))
            if not got_flags & MULTI and not flags & ACK:
                return answers


def check_netlink(devices):
    nl = Netlink()
    names = [answer[DEV_NAME] for answer in nl.ask(GET, DUMP)]
    check(names == [b"mlx5_%d\0" % index for index in range(devices)], f"devices {names}")
    for index in range(devices):
        number = attribute(DEV_INDEX, index)
        answer = nl.ask(PORT_GET, ACK, number + attribute(PORT_INDEX, 1))[0]
        check(answer[NDEV_NAME] == b"emu%d\0" % index, f"netdev {answer}")
        answer = nl.ask(GET_CHARDEV, 0, number + attribute(CHARDEV_TYPE, "uverbs"))[0]
        check(b"uverbs%d\0" % index in answer.values(), f"node {answer}")
    check(nl.ask(SYS_GET)[0][COPY_ON_FORK] == b"\1", "no copy on fork")
    number = attribute(DEV_INDEX, 0)
    for kind, data, wanted in (
            (GET, b"", errno.EINVAL), (GET, attribute(DEV_INDEX, devices), errno.ENODEV),
            (PORT_GET, number, errno.EINVAL),
            (PORT_GET, number + attribute(PORT_INDEX, 2), errno.EINVAL),
            (GET_CHARDEV, number + attribute(CHARDEV_TYPE, "umad"), errno.EOPNOTSUPP),
            (SET, number + attribute(DEV_NAME, "other"), errno.EOPNOTSUPP)):
        got = nl.ask(kind, 0, data)
        check(got == -wanted, f"0x{kind:x} {data.hex()}: {got}, not {-wanted}")


def ethtool(sock, netdev, data):
    buffer = array.array("B", data)
    request = struct.pack("16sP8x", netdev.encode(), buffer.buffer_info()[0])
    fcntl.ioctl(sock, SIOCETHTOOL, request)
    return buffer.tobytes()


def error_of(call, *args):
    try:
        call(*args)
    except OSError as err:
        return err.errno
    return 0


def set_mtu(sock, mtu):
    fcntl.ioctl(sock, SIOCSIFMTU, struct.pack("16si20x", b"emu0", mtu))


def check_netdev():
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    info = ethtool(sock, "emu0", struct.pack("=I", GDRVINFO) + bytes(192))
    check(info[4:13] == b"mlx5_core" and b"22.35.1012 (MT_0000000359)" in info, f"driver {info}")
    check(ethtool(sock, "emu0", struct.pack("=IIII", GPAUSE, 1, 1, 1))[4:] == bytes(12), "pause")
    check(ethtool(sock, "emu0", struct.pack("=IIII", SPAUSE, 0, 0, 0)), "pause off")
    for pause, wanted in (((0, 1, 0), errno.EOPNOTSUPP), ((1, 0, 0), errno.EINVAL)):
        got = error_of(ethtool, sock, "emu0", struct.pack("=IIII", SPAUSE, *pause))
        check(got == wanted, f"pause {pause}: errno {got}, not {wanted}")
    for mtu, wanted in ((67, errno.EINVAL), (9979, errno.EINVAL), (68, 0), (9978, 0), (1500, 0)):
        got = error_of(set_mtu, sock, mtu)
        check(got == wanted, f"MTU {mtu}: errno {got}, not {wanted}")
    # the loopback device is nobody's port
    got = error_of(ethtool, sock, "lo", struct.pack("=IIII", GPAUSE, 0, 0, 0))
    check(got == errno.EOPNOTSUPP, f"ethtool of lo: errno {got}")


check_netlink(int(sys.argv[1]))
check_netdev()
print("good")
