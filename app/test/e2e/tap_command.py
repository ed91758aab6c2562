# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""A command for mlx5emu --wire tap that is testpmd and its peer in one: what a user without
any privilege can do. Arguments: testpmd and its own."""

import subprocess
import sys
import time

from frames import MAC, PEER
from tap import TYPE, Tap, echo


def wait_for_port(tap):
    deadline = time.monotonic() + 60
    while not tap.exchange(MAC + PEER + TYPE + bytes(46), 0.5):
        if time.monotonic() > deadline:
            sys.exit("the port never answered")


# close_fds would take the TAP device's descriptor away
with subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, text=True, close_fds=False) as testpmd:
    testpmd.stdin.write("set fwd macswap\nstart\n")
    testpmd.stdin.flush()
    with Tap("emu0") as peer:
        wait_for_port(peer)
        echo(peer, MAC + PEER, 50)
    print("echoed", flush=True)
    testpmd.stdin.write("quit\n")
    testpmd.stdin.flush()
sys.exit(testpmd.returncode)
