# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Run DPDK programs under mlx5emu: used by the end-to-end tests and by the demo.

Only the standard library of Python 3.11 is needed. A test program defines functions,
hands them to main() and is run once per case: exit status 0 passed, 1 failed, 77
skipped.
"""

import json
import os
import re
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import traceback
import tty

TESTPMD = "/usr/bin/dpdk-testpmd"
PLUGIN = "librte_mempool_mlx5_memic.so"
PCI_DEVICE = "0000:08:00.0"

# Rings, burst and data room with which 256 KiB of MEMIC hold every frame in flight:
# slots >= rxd + txd + burst. No lcore cache, as it would keep slots back. 1025 is the
# smallest pool that testpmd makes.
FITTING = ["--rxd=64", "--txd=64", "--burst=16", "--mbuf-size=1664", "--mbcache=0",
           "--total-num-mbufs=1025"]


# Another thread of testpmd may tell of an event in the middle of it.
PROMPT = r"(?:\s*Port \d+: [a-z ]+ event\s*)?".join("testpmd> ")


class Failure(Exception):
    """The program under test did not do what it should."""


class Skip(Exception):
    """The test cannot be run here."""


class Build:
    """Files of a build folder."""

    def __init__(self, folder):
        self.folder = os.path.realpath(folder)
        self.emu = os.path.join(self.folder, "app/mlx5emu/mlx5emu")
        self.preload = os.path.join(self.folder, "lib/mlx5emu/libmlx5emu.so")
        self.plugin = os.path.join(self.folder, "drivers/mempool/mlx5_memic", PLUGIN)
        for path in (self.emu, self.preload, self.plugin):
            if not os.path.exists(path):
                raise Failure(f"'{path}' is not there; has the build finished?")


def dpdk_release():
    """Year and month of the DPDK that programs here run with, as "24.11"."""
    version = subprocess.run(["pkg-config", "--modversion", "libdpdk"], check=True,
                             capture_output=True, text=True).stdout
    return ".".join(version.split(".")[:2])


def world_writable_above(path):
    """Whether EAL would refuse to load a plugin from here."""
    while path != "/":
        path = os.path.dirname(path)
        if os.stat(path).st_mode & stat.S_IWOTH:
            return True
    return False


def plugin_arguments(plugin, env):
    """EAL arguments that load a plugin, wherever it lies."""
    if not world_writable_above(plugin):
        return ["-d", plugin]
    # a bare name is looked up by the dynamic linker, which does not mind
    before = env.get("LD_LIBRARY_PATH")
    folder = os.path.dirname(plugin)
    env["LD_LIBRARY_PATH"] = f"{folder}:{before}" if before else folder
    return ["-d", os.path.basename(plugin)]


def lcores(count):
    """lcores that float over the CPUs we may use: works on a single one too."""
    cpus = ",".join(str(cpu) for cpu in sorted(os.sched_getaffinity(0)))
    return "--lcores=" + ",".join(f"{lcore}@({cpus})" for lcore in range(count))


def add_preload(env, library):
    """Preload a library after those that are there, as a sanitizer's must come first."""
    before = env.get("LD_PRELOAD")
    env["LD_PRELOAD"] = f"{before}:{library}" if before else library


class Telemetry:
    """Client of one DPDK process' telemetry socket."""

    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self.sock.settimeout(10)
            self.sock.connect(path)
            self.max_len = json.loads(self.sock.recv(1024))["max_output_len"]
        except BaseException:
            self.sock.close()
            raise

    def query(self, command):
        """Answer of one command such as "/ethdev/stats,0"."""
        self.sock.send(command.encode())
        answer = json.loads(self.sock.recv(self.max_len))
        return answer[command.split(",")[0]]

    def close(self):
        self.sock.close()


class Program:
    """A program under mlx5emu, its output, exit status and the card's statistics."""

    def __init__(self, build, command, emu=(), env=None):
        # short, as the name of a socket has 107 bytes
        self.folder = tempfile.mkdtemp(prefix="memic.", dir="/tmp")
        self.stats_path = os.path.join(self.folder, "stats.json")
        self.output = ""
        self.status = None
        env = dict(os.environ if env is None else env)
        # EAL's sockets and locks of this run only
        env["RUNTIME_DIRECTORY"] = self.folder
        env["TMPDIR"] = self.folder
        self.command = [build.emu, "--stats", self.stats_path, *emu, "--", *command]
        # a terminal makes stdio write line by line
        self.reader, writer = os.openpty()
        tty.setraw(writer)
        try:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=writer,
                                            stderr=writer, env=env, start_new_session=True)
        finally:
            os.close(writer)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.status is None:
            self.stop()
        if kind not in (None, Skip, KeyboardInterrupt):
            print("\n".join([f"--- output of: {' '.join(self.command)}", self.tail(), "---"]))
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        os.close(self.reader)
        shutil.rmtree(self.folder, ignore_errors=True)

    def stop(self):
        """End the program the gentle way, then the other."""
        self.process.terminate()
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline and self.read(0.2):
            pass
        try:
            self.process.wait(1)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def read(self, seconds):
        """Take output for up to some seconds; False at its end."""
        if not select.select([self.reader], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.reader, 65536)
        except OSError:  # EIO: the last writer has gone
            return False
        self.output += data.decode(errors="replace")
        return bool(data)

    def wait_for(self, pattern, seconds=60, start=0):
        """Wait until the output behind start has the pattern; returns its end."""
        deadline = time.monotonic() + seconds
        while True:
            match = re.search(pattern, self.output[start:])
            if match:
                return start + match.end()
            if time.monotonic() > deadline:
                raise Failure(f"no '{pattern}' within {seconds} s")
            if not self.read(0.2):
                match = re.search(pattern, self.output[start:])
                if match:
                    return start + match.end()
                raise Failure(f"the program ended without '{pattern}'")

    def send(self, line):
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError as err:
            while self.read(0.2):
                pass
            raise Failure(f"ended before it could read '{line}'") from err

    def wait_exit(self, seconds=60):
        """Wait for the end of the program; returns its exit status."""
        deadline = time.monotonic() + seconds
        while self.read(0.2):
            if time.monotonic() > deadline:
                raise Failure(f"did not end within {seconds} s")
        try:
            self.status = self.process.wait(max(1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired as err:
            raise Failure(f"closed its output but did not end within {seconds} s") from err
        return self.status

    def stats(self):
        """What the card counted; only after the exit."""
        try:
            with open(self.stats_path, encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError) as err:
            raise Failure(f"no statistics of the card: {err}") from err

    def tail(self, lines=60):
        """The last lines of output, for reports of failures."""
        return "\n".join(self.output.splitlines()[-lines:])


class Testpmd(Program):
    """The distribution's testpmd, interactive, on the emulated card."""

    def __init__(self, build, emu=(), eal=(), app=(), pool="mlx5_memic", device="", env=None,
                 devices=(PCI_DEVICE,)):
        if not os.path.exists(TESTPMD):
            raise Failure(f"'{TESTPMD}' is not there; install the packages in devtools/packages")
        env = dict(os.environ if env is None else env)
        command = [TESTPMD, "--no-huge", "-m", "256", lcores(2), *eal]
        for address in devices:
            command += ["-a", address + ("," + device if device else "")]
        if not devices:
            command += ["--no-pci"]
        if pool:
            command += plugin_arguments(build.plugin, env) + [f"--mbuf-pool-ops-name={pool}"]
        # the first frames come in before the start: testpmd would throw them away
        super().__init__(build, [*command, "--", "-i", "--no-flush-rx", *app], emu, env)
        self._telemetry = None

    def __exit__(self, kind, *rest):
        if self._telemetry:
            self._telemetry.close()
        super().__exit__(kind, *rest)

    def wait_prompt(self, seconds=60):
        self.wait_for(PROMPT, seconds)

    def run(self, line, seconds=30):
        """Give one command and return what it printed."""
        start = len(self.output)
        self.send(line)
        end = self.wait_for(PROMPT, seconds, start)
        return self.output[start:end]

    def query(self, command):
        """Answer of a telemetry command."""
        if self._telemetry is None:
            path = os.path.join(self.folder, "dpdk/rte/dpdk_telemetry.v2")
            self._telemetry = Telemetry(path)
        answer = self._telemetry.query(command)
        if answer is None:
            raise Failure(f"telemetry has no answer to '{command}'; was the port probed?")
        return answer

    def start(self, mode="io"):
        """Start forwarding such that a full Tx ring makes testpmd wait, not drop.

        The wire feeds as fast as frames are received, so that the Tx ring is full at times;
        by default testpmd then frees the frames.
        """
        self.run(f"set fwd {mode} retry")
        self.run("set burst tx delay 1 retry 10000000")
        return self.run("start")

    def on_wire(self, way, port=0):
        """Frames that the card itself counted on its wire; 0 of other drivers' ports."""
        return self.query(f"/ethdev/xstats,{port}").get(f"{way}_phy_packets", 0)

    def climb(self, frames, counter, stall_seconds, progress=None):
        """Wait for a counter to reach this many frames, or to stall; returns what it reached."""
        moved, reached = time.monotonic(), -1
        while reached < frames:
            now = counter()
            if now != reached:
                moved, reached = time.monotonic(), now
            elif time.monotonic() - moved > stall_seconds:
                break
            if progress:
                progress(reached)
            if not self.read(0.02):
                raise Failure(f"ended after {reached} of {frames} frames")
        return reached

    def forward(self, frames, progress=None, stall_seconds=30, ports=(0,)):
        """Wait until this many frames were sent on each port; fails when nothing moves."""
        for port in ports:
            sent = self.climb(frames, lambda: self.query(f"/ethdev/stats,{port}")["opackets"],
                              stall_seconds, progress)
            if sent < frames:
                raise Failure(f"stuck: {sent} of {frames} frames after {stall_seconds} s "
                              "without progress")
            # sent means posted: the card has still to finish the last burst
            self.climb(sent, lambda: self.on_wire("tx", port), 0.5)

    def quit(self, seconds=60):
        self.send("quit")
        return self.wait_exit(seconds)


def device_pools(testpmd):
    """Telemetry of each pool of the driver by name."""
    names = testpmd.query("/mlx5_memic/list")
    return {name: testpmd.query(f"/mlx5_memic/info,{name}") for name in names}


def check_card(stats):
    """No object left, no key misused, and every byte accounted for."""
    if stats["leaked_objects"] != 0:
        raise Failure(f"{stats['leaked_objects']} objects of the card are still alive")
    if stats["protection_errors"] != 0:
        raise Failure(f"{stats['protection_errors']} protection errors")
    for port in stats["ports"]:
        read = port["host_read_bytes"] + port["memic_read_bytes"] + port["inline_bytes"]
        written = port["host_write_bytes"] + port["memic_write_bytes"]
        if read != port["tx_bytes"] or written != port["rx_bytes"]:
            raise Failure(f"bytes of {port['name']} do not add up: {port}")


def check_wire(port, frames):
    """Each frame came back with every byte as it was."""
    for name, value in (("sent", frames), ("returned", frames), ("bad", 0), ("lost", 0)):
        if port[name] != value:
            raise Failure(f"check wire: {name} is {port[name]}, not {value}")


def expect(condition, text):
    """assert that stays when Python optimizes."""
    if not condition:
        raise Failure(text)


def expect_output(program, pattern):
    if not re.search(pattern, program.output):
        raise Failure(f"no message like '{pattern}'")


def main(cases):
    """Run the case that argv names: PROGRAM BUILD_FOLDER CASE [ARGUMENT]..."""
    if len(sys.argv) < 3 or sys.argv[2] not in cases:
        print(f"usage: {sys.argv[0]} BUILD_FOLDER {'|'.join(cases)} [ARGUMENT]...")
        sys.exit(2)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        cases[sys.argv[2]](Build(sys.argv[1]), *sys.argv[3:])
    except Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    except Failure:
        traceback.print_exc()
        sys.exit(1)
