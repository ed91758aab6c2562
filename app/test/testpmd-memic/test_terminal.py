# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""The plugin's commands at a terminal, as a person uses them: TAB, ?, arrows and help."""

import os
import re
import select
import subprocess
import tempfile
import time

from common import APP, POOL, plugin
from harness import (PCI_DEVICE, TESTPMD, Failure, expect, lcores, main, plugin_arguments)

UP = "\x1b[A"
CTRL_C = "\x03"
PROMPT = "testpmd> "


class Terminal:
    """testpmd with a pseudo-terminal for all of its standard streams."""

    def __init__(self, build, flags):
        self.folder = tempfile.TemporaryDirectory(prefix="memic.", dir="/tmp")
        env = {**os.environ, "RUNTIME_DIRECTORY": self.folder.name}
        command = [build.emu, "--memic", "256K", "--", TESTPMD, "--no-huge", "-m", "256",
                   lcores(2), "-a", PCI_DEVICE, *plugin_arguments(plugin(build), env),
                   *plugin_arguments(build.plugin, env), "--", "-i", *APP, *flags]
        self.fd, other = os.openpty()
        self.process = subprocess.Popen(command, stdin=other, stdout=other, stderr=other, env=env,
                                        start_new_session=True)
        os.close(other)
        self.output = ""

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if kind is not None:
            print(f"--- terminal:\n{self.output[-4000:]}\n---")
        os.close(self.fd)
        self.folder.cleanup()

    def read(self):
        if select.select([self.fd], [], [], 0.2)[0]:
            try:
                self.output += os.read(self.fd, 65536).decode(errors="replace")
            except OSError:  # EIO: testpmd has gone
                return False
        return True

    def wait_for(self, pattern, start=0, seconds=30):
        deadline = time.monotonic() + seconds
        while not re.search(pattern, self.output[start:]):
            expect(time.monotonic() < deadline, f"no '{pattern}' after {seconds} s")
            if not self.read() and not re.search(pattern, self.output[start:]):
                raise Failure(f"ended without '{pattern}'")
        return self.output[start:]

    def type(self, keys, pattern):
        """Hit keys and wait for what appears."""
        start = len(self.output)
        os.write(self.fd, keys.encode())
        return self.wait_for(pattern, start)

    def listed(self, keys, pattern):
        """Hit keys that list what may follow, after which prompt and line are shown again."""
        return self.type(keys, rf"(?s){pattern}.*{PROMPT}")

    def run(self, command):
        """A command; returns what came between it and the next prompt."""
        return self.type(command + "\r", r"\n" + PROMPT)


def complete(build):
    """TAB completes words, pools and ports, and lists what fits where that is not unique."""
    with Terminal(build, ["--memic-dev=mlx5_0"]) as terminal:
        terminal.wait_for(PROMPT)
        terminal.type("show memi\t", "show memic ")
        listed = terminal.listed("\t", "stats")
        for word in ("all", "devices", "pool", "port", "stats"):
            expect(re.search(rf"\b{word}\b", listed), f"'{word}' is not offered: {listed}")
        terminal.type("po\t", "port")
        terminal.type("ol m\t", re.escape(POOL))
        answer = terminal.type("\r", r"\n" + PROMPT)
        expect("rule: --memic flags" in answer, answer)
        terminal.listed("show memic port \t", r" 0 \[Number of a port\]")
        answer = terminal.type("0\r", r"\n" + PROMPT)
        expect("0000:08:00.0" in answer, answer)
        listed = terminal.listed("memic probe \t", "IB name or bus address")
        expect("mlx5_0" in listed, listed)
        terminal.type(CTRL_C, PROMPT)
        terminal.type("memic b\t", "bench ")
        terminal.type("pool m\t", re.escape(POOL))
        listed = terminal.listed(" \t", "seconds")
        expect("burst" in listed, listed)
        # what was typed so far is put away
        terminal.type(CTRL_C, PROMPT)
        terminal.type("cle\t", "clear ")
        terminal.type("mem\t", "memic ")
        terminal.type("s\t", "stats")
        expect("begin anew" in terminal.type("\r", r"\n" + PROMPT), "clear memic stats")
        terminal.type("quit\r", "Bye")
        expect(terminal.process.wait(30) == 0, "testpmd failed")


def explain(build):
    """A question mark explains what may follow, and help memic all of it."""
    with Terminal(build, ["--memic-dev=mlx5_0"]) as terminal:
        terminal.wait_for(PROMPT)
        listed = terminal.listed("show memic ?", "stats")
        for words in ("show memic all: Devices, pools and ports", "show memic pool <name>: Where"):
            expect(words in listed, f"no '{words}': {listed}")
        terminal.type(CTRL_C, PROMPT)
        listed = terminal.listed("memic dump pool ?", "Name of a pool")
        expect(POOL in listed, listed)
        terminal.type(CTRL_C, PROMPT)
        listed = terminal.listed("help \t", "memic")
        expect("ports" in listed, f"testpmd's own sections are gone: {listed}")
        answer = terminal.type("memic\r", r"These commands\.\s+" + PROMPT)
        for command in ("show memic all", "show memic devices", "show memic pool <name>",
                        "show memic port <port_id>", "show memic stats", "clear memic stats",
                        "memic bench pool <name> burst <n> seconds <n>", "memic bench copy",
                        "memic bench forward seconds <n>", "memic dump pool <name>",
                        "memic probe <device>"):
            expect(command in answer, f"no '{command}': {answer}")
        # testpmd's own help is as it was
        expect("Help is available for the following sections" in terminal.run("help"), "help")
        terminal.type("quit\r", "Bye")


def history(build):
    """An arrow brings a command back; what cannot be parsed does no harm."""
    with Terminal(build, ["--memic-dev=mlx5_0"]) as terminal:
        terminal.wait_for(PROMPT)
        first = terminal.run("show memic devices")
        expect("quarantined" in first, first)
        expect("Bad arguments" in terminal.run("show memic devicesx"), "devicesx")
        terminal.type(UP, "show memic devicesx")
        terminal.type(UP, "show memic devices")
        again = terminal.type("\r", r"\n" + PROMPT)
        expect("quarantined" in again, again)
        terminal.type("quit\r", "Bye")


def interrupt(build):
    """A signal in the midst of a measurement ends it, and testpmd leaves nothing behind."""
    with Terminal(build, ["--memic-dev=mlx5_0"]) as terminal:
        terminal.wait_for(PROMPT)
        os.write(terminal.fd, f"memic bench pool {POOL} seconds 60\r".encode())
        terminal.wait_for("round [0-9]+ of")
        began = time.monotonic()
        # the launcher hands it on
        terminal.process.terminate()
        terminal.wait_for("Ended by a signal.")
        terminal.wait_for("Bye")
        terminal.process.wait(20)
        expect(time.monotonic() - began < 20, "the measurement went on")
        expect("still alive" not in terminal.output, "objects of the card are left")


main({case.__name__: case for case in (complete, explain, history, interrupt)})
