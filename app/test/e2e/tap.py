# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""The other end of a port with --wire tap: a raw socket on its netdev."""

import ctypes
import os
import select
import socket
import time

from harness import Failure, Skip

ETH_P_ALL = 3
CLONE_NEWNET = 0x40000000
TYPE = b"\x88\xb5"      # IEEE 802 local experimental: nobody else's frames have it


def enter(path):
    libc = ctypes.CDLL(None, use_errno=True)
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if libc.setns(fd, CLONE_NEWNET) != 0:
            raise Skip(f"cannot enter '{path}': {os.strerror(ctypes.get_errno())}")
    finally:
        os.close(fd)


class Tap:
    """Frames to and from the netdev of a port of a running program."""

    def __init__(self, netdev, pid=None):
        if pid is None:
            self.sock = self.open_socket(netdev)
            return
        home = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            enter(f"/proc/{pid}/ns/net")
            try:
                self.sock = self.open_socket(netdev)
            finally:
                enter(f"/proc/self/fd/{home}")
        finally:
            os.close(home)

    @staticmethod
    def open_socket(netdev):
        # or the stack's own router and group messages come in between
        with open(f"/proc/sys/net/ipv6/conf/{netdev}/disable_ipv6", "w", encoding="ascii") as file:
            file.write("1")
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        sock.bind((netdev, 0))
        return sock

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    def send(self, frame):
        self.sock.send(frame)

    def receive(self, count, seconds=10, wanted=lambda frame: True):
        """The next frames that come out of the port; fewer when time is over."""
        frames, deadline = [], time.monotonic() + seconds
        while len(frames) < count:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.sock], [], [], left)[0]:
                break
            data, address = self.sock.recvfrom(65536)
            if address[2] != socket.PACKET_OUTGOING and wanted(data):
                frames.append(data)
        return frames

    def exchange_all(self, frames, seconds=10):
        """Send frames; those that are sent back with their addresses swapped. What comes back keeps
        its order, so the last one, which must, ends it."""
        back = {frame[6:12] + frame[:6] + frame[12:]: frame for frame in frames}
        came = []
        for frame in frames:
            self.send(frame)
        while not came or came[-1] != frames[-1]:
            got = self.receive(1, seconds, lambda data: data in back)
            if not got:
                break
            came.append(back[got[0]])
        return came

    def exchange(self, frame, seconds=10):
        """Whether a frame is sent back with its addresses swapped."""
        return bool(self.exchange_all([frame], seconds))


def echo(tap, macs, count):
    """Frames of all lengths there and back through a port that swaps addresses."""
    for number in range(count):
        size = 60 + number * 61 % 1455
        frame = macs + TYPE + number.to_bytes(4, "big")
        frame += bytes((number + index) & 0xff for index in range(size - len(frame)))
        if not tap.exchange(frame):
            raise Failure(f"frame {number} of {size} bytes did not come back")
