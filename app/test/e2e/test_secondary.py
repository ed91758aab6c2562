# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Primary and secondary processes on one card. Cases 3, 17, 45, 46 and 48.

EAL shares memory between processes in huge pages only. The programs run in a mount
namespace with a hugetlbfs of its own, which goes with the last of them; who reserves
pages is whoever runs the tests, as devtools/test.sh does.
"""

import os
import re
import signal
import subprocess
import sys
import tty

from harness import (PROMPT, Build, Failure, PCI_DEVICE, Program, Skip, TESTPMD, check_card,
                     check_wire, dpdk_release, expect, expect_output, main, plugin_arguments)

PAGES = 100             # of 2 MiB that must be free
INSIDE = "--inside"     # marks the run within the launcher
STACK = "librte_mempool_stack.so"


# ---- within the launcher ----

class Process(Program):
    """A process beside others under one launcher."""

    count = 0

    def __init__(self, command, env):
        # pylint: disable=super-init-not-called
        self.folder = os.environ["RUNTIME_DIRECTORY"] + "/none"
        self.command = command
        self.output = ""
        self.status = None
        self.reader, writer = os.openpty()
        tty.setraw(writer)
        try:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=writer,
                                            stderr=writer, env=env)
        finally:
            os.close(writer)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.wait_exit()
        expect(self.status == -signal.SIGKILL, "it ended before it was killed")


class Ours(Process):
    """Our program; the kind is primary or secondary."""

    def __init__(self, build, kind, plugins=None, block=None, ready=True, launcher=()):
        env = dict(os.environ)
        if plugins is None:
            plugins = plugin_arguments(build.plugin, env)
        # lcores differ between the processes, as caches are an lcore's
        first = 2 * Process.count % 100
        Process.count += 1
        cpus = ",".join(str(cpu) for cpu in sorted(os.sched_getaffinity(0)))
        command = [*launcher, os.path.join(build.folder, "app/test/e2e/e2e_secondary"),
                   "--huge-dir", os.environ["HUGE_DIR"], "--file-prefix", "memic",
                   "-m", "64", f"--proc-type={kind}", f"--lcores={first}@({cpus}),"
                   f"{first + 1}@({cpus})", "-a", PCI_DEVICE, *plugins]
        if block is not None:
            command += ["--", hex(block)]
        super().__init__(command, env)
        if ready:
            self.wait_for("ready")

    def run(self, command, pattern):
        """Give a command and return what the pattern's groups are in the answer."""
        start = len(self.output)
        self.send(command)
        end = self.wait_for(pattern + r"\r?\n", 60, start)
        groups = re.search(pattern, self.output[start:end]).groups()
        return groups[0] if len(groups) == 1 else groups

    def quit(self):
        self.send("quit")
        expect(self.wait_exit() == 0, f"exit status {self.status}")


def out(process):
    """How many objects of the pool are out, by the process's own account."""
    return int(process.run("count", r"out (\d+) device mlx5_0 .*"))


def buffers(build):
    """Every byte and every count is the same in both."""
    with Ours(build, "primary") as first, Ours(build, "secondary") as second:
        slots = int(first.run("count", r"out 0 device mlx5_0 slots (\d+).*"))
        expect(0 < slots < 512, f"{slots} slots")
        expect(second.run("count", r"out 0 device mlx5_0 slots (\d+).*") == str(slots),
               "the secondary sees other slots")
        expect(second.run("get 64", r"got 64 device (\d+)") == "64", "slots come first")
        expect(out(first) == 64 and out(second) == 64, "counts differ")
        second.run("fill 3", "filled 64")
        second.run("give", "gave 64")
        first.run("take", "took 64")
        first.run("check 3", "good 64")
        first.run("fill 5", "filled 64")
        first.run("give", "gave 64")
        second.run("take", "took 64")
        second.run("check 5", "good 64")
        second.run("put 64", "put 64")
        expect(out(first) == 0 and out(second) == 0, "objects are lost")
        # what one has the other cannot get; up to 48 may be in the cache of an lcore
        first.run("get 400", r"got 400 device (\d+)")
        second.run("get 113", "get failed -(105|2)")
        second.run("get 64", r"got 64 device (\d+)")
        expect(out(first) == 464, "counts differ")
        second.run("put 64", "put 64")
        first.run("put 400", "put 400")
        second.quit()
        expect(out(first) == 0, "the secondary took objects along")
        first.quit()


def clones(build):
    """The last reference is dropped in the process that did not make the pool, and back."""
    with Ours(build, "primary") as first, Ours(build, "secondary") as second:
        for giver, taker in ((first, second), (second, first)):
            giver.run("alloc 32", "allocated 32")
            giver.run("fill 9", "filled 32")
            giver.run("clone", "cloned 32")
            expect(out(first) == 32, "clones hold the buffers")
            giver.run("give", "gave 32")
            taker.run("take", "took 32")
            taker.run("check 9", "good 32")
            # a clone of the clone goes first
            taker.run("clone", "cloned 32")
            taker.run("free", "freed 32")
            expect(out(first) == 0, "buffers do not come back")
            # and they are what rte_pktmbuf_alloc() expects
            taker.run("alloc 64", "allocated 64")
            taker.run("free", "freed 64")
        second.quit()
        first.quit()


def pools(build):
    """Pools come and go while a secondary runs; its own live in host memory (46, 17)."""
    with Ours(build, "primary") as first, Ours(build, "secondary") as second:
        # the first pool's region is the device's last byte, so make room for another
        first.run("drop", "dropped")
        for round_number in range(3):
            expect(int(first.run("more 100", r"more created slots (\d+)")) == 100,
                   f"round {round_number}: memory of a freed pool is still taken")
            second.run("use_more", "using more")
            first.run("use_more", "using more")
            second.run("get 10", "got 10 device 10")
            second.run("fill 1", "filled 10")
            second.run("give", "gave 10")
            first.run("take", "took 10")
            first.run("check 1", "good 10")
            first.run("put 10", "put 10")
            first.run("drop_more", "dropped more")
        expect(second.run("strict 64", r"strict not created: (\d+)") == "95", "not EOPNOTSUPP")
        expect_output(second, "pool strict not created .EOPNOTSUPP.*secondary process creates it")
        second.run("more 64", "more created slots 0")
        expect_output(second, "pool more lives in host memory: a secondary process creates it")
        second.run("use_more", "using more")
        second.run("get 10", "got 10 device 0")
        second.run("put 10", "put 10")
        second.run("drop_more", "dropped more")
        second.quit()
        first.send("quit")
        first.wait_exit()


def early(build):
    """A secondary gets no mbuf of which the primary has not yet decided where it is (5)."""
    with Ours(build, "primary") as first, Ours(build, "secondary") as second:
        first.run("drop", "dropped")
        first.run("raw 100", "raw 100")
        second.run("use_more", "using more")
        second.run("get 1", "get failed -105")
        expect_output(second, "pool more: a secondary process gets mbufs .ENOBUFS. before")
        first.run("init_more", "initialised 100")
        second.run("get 100", "got 100 device 100")
        second.run("put 100", "put 100")
        first.run("drop_more", "dropped more")
        second.quit()
        first.send("quit")
        first.wait_exit()


def late(build):
    """What a secondary frees after its pool is gone comes back, clones as well (15, 18)."""
    with Ours(build, "primary") as first, Ours(build, "secondary") as second:
        second.run("alloc 20", "allocated 20")
        second.run("fill 4", "filled 20")
        second.run("clone", "cloned 20")
        first.run("drop", "dropped")
        expect_output(first, "is freed with 20 of its 512 buffers still out")
        slots = int(first.run("more 512", r"more created slots (\d+)"))
        expect(slots == 157 - 20, f"{slots} slots while 20 are out")
        first.run("drop_more", "dropped more")
        second.run("check 4", "good 20")
        second.run("free", "freed 20")
        expect(first.run("more 512", r"more created slots (\d+)") == "157", "slots are lost")
        first.run("drop_more", "dropped more")
        second.quit()
        first.send("quit")
        first.wait_exit()


def killed(build):
    """What a killed secondary held is out, and all others go on (48)."""
    with Ours(build, "primary") as first:
        with Ours(build, "secondary") as second:
            second.run("get 20", r"got 20 device (\d+)")
            second.kill()
        expect(out(first) == 20, "what it held is not out")
        first.run("get 400", r"got 400 device (\d+)")
        first.run("put 400", "put 400")
        with Ours(build, "secondary") as second:
            expect(out(second) == 20, "what it held is not out")
            second.run("alloc 64", "allocated 64")
            second.run("free", "freed 64")
            second.kill()
        first.run("drop", "dropped")
        expect_output(first, "pool payload is freed with 20 of its 512 buffers still out")
        # the slots that are out are set aside, not given to somebody else
        slots = int(first.run("more 512", r"more created slots (\d+)"))
        expect(100 < slots <= 157 - 20, f"{slots} slots")
        first.quit()


def silent(build):
    """A secondary that does not answer keeps the memory of a freed pool: the next one lives in
    host memory until that process ends (17)."""
    with Ours(build, "primary") as first:
        with Ours(build, "secondary") as second:
            second.process.send_signal(signal.SIGSTOP)
            # until all of its threads have stopped it may still answer
            os.waitpid(second.process.pid, os.WUNTRACED)
            first.run("drop", "dropped")
            expect_output(first, "no answer of secondary processes to a request to unmap device "
                          "memory: ETIMEDOUT: it stays taken until they unmap it or end")
            first.run("more 512", "more created slots 0")
            expect_output(first, "pool more lives in host memory: .*ENOMEM")
            first.run("drop_more", "dropped more")
            second.process.send_signal(signal.SIGCONT)
            second.kill()
        expect(first.run("more 512", r"more created slots (\d+)") == "157", "slots are lost")
        first.run("drop_more", "dropped more")
        first.send("quit")
        first.wait_exit()


def address_taken(build):
    """A secondary that cannot have the memory where it must be is told why (45)."""
    with Ours(build, "primary") as first:
        first.run("get 1", "got 1 device 1")
        address = int(first.run("where", "where (0x[0-9a-f]+)"), 16) >> 32 << 32
        first.run("put 1", "put 1")
        with Ours(build, "secondary", block=address, ready=False) as second:
            expect(second.wait_exit() == 1, f"exit status {second.status}")
            expect_output(second, f"must be at {hex(address)}, as in the primary process, and "
                          "are not .EEXIST.: something else is mapped there")
        # one that runs already says no to a new pool, which lives in host memory then
        with Ours(build, "secondary") as second:
            first.run("drop", "dropped")
            for window in range(1, 8):
                second.run(f"block {hex(address + (window << 32))}", r"blocked 0")
            first.run("more 100", "more created slots 0")
            expect_output(first, "more lives in host memory: a secondary process could not map "
                          "it at 0x[0-9a-f]+: EEXIST")
            second.run("use_more", "using more")
            expect_output(second, "device memory of mlx5_0 for a new pool cannot be mapped at "
                          "0x[0-9a-f]+ .EEXIST.: the pool lives in host memory.*create it again")
            second.run("get 10", "got 10 device 0")
            second.run("put 10", "put 10")
            second.quit()
        first.send("quit")
        first.wait_exit()


def old_kernel(build):
    """A kernel that does not tell how to map device memory costs the secondary only."""
    with Ours(build, "primary") as first:
        first.run("get 100", "got 100 device 100")
        first.run("put 100", "put 100")
        with Ours(build, "secondary", ready=False) as second:
            expect(second.wait_exit() == 1, f"exit status {second.status}")
            expect_output(second, "are not .EOPNOTSUPP.: the kernel does not say where")
        first.quit()


def other_order(build):
    """Another order of plugins gives an error, not a jump into other ops (3)."""
    with Ours(build, "primary") as first:
        env = dict(os.environ)
        # the ABI of a November's release has the number of the year that follows
        abi = int(dpdk_release().split(".", maxsplit=1)[0]) + 1
        plugins = ["-d", f"{STACK}.{abi}", *plugin_arguments(build.plugin, env)]
        with Ours(build, "secondary", plugins=plugins) as second:
            expect_output(second, r"mempool ops at index \d+ are 'mlx5_memic' in the primary "
                          r"process and '\w+' here")
            second.run("get 1", "get failed -95")
            expect_output(second, "pool payload .*run the same program with the same -d options")
            second.run("alloc 1", "alloc failed")
            second.quit()
        expect(out(first) == 0, "something was taken")
        first.run("get 400", r"got 400 device (\d+)")
        first.run("put 400", "put 400")
        first.quit()


class Tool(Process):
    """A program of the distribution beside the primary."""

    PATH = "/usr/bin/dpdk-proc-info"

    def __init__(self, plugins, *arguments):
        super().__init__([self.PATH, "--huge-dir", os.environ["HUGE_DIR"],
                          "--file-prefix", "memic", "-a", PCI_DEVICE, *plugins, "--", *arguments],
                         dict(os.environ))


def other_program(build):
    """Another program, with other drivers linked in, tells the pool's figures; without the plugin
    it is told what it lacks; and the primary goes on (3)."""
    if not os.path.exists(Tool.PATH):
        raise Skip(f"no {Tool.PATH}")
    with Ours(build, "primary") as first:
        first.run("get 12", "got 12 device 12")
        with Tool(plugin_arguments(build.plugin, os.environ), "--show-mempool=payload") as tool:
            expect(tool.wait_exit() == 0, f"exit status {tool.status}")
            expect_output(tool, r"Count: avail \(500\), in use \(12\)")
            expect_output(tool, "ops_name mlx5_memic")
        with Tool([], "--stats") as tool:
            tool.wait_exit()
            expect_output(tool, "failed to initialize mempool_mlx5_memic_processes device")
        expect(out(first) == 12, "something was taken")
        first.run("put 12", "put 12")
        first.run("get 400", r"got 400 device (\d+)")
        first.run("put 400", "put 400")
        first.quit()


def no_plugin(build):
    """EAL names the device that a secondary without the plugin has no driver for (3)."""
    with Ours(build, "primary") as first:
        with Ours(build, "secondary", plugins=[], ready=False) as second:
            second.wait_for("failed to initialize mempool_mlx5_memic_processes device")
            second.stop()
            second.status = 0
        expect(out(first) == 0, "something was taken")
        first.quit()


def apart(build):
    """The secondary has a launcher of its own."""
    with Ours(build, "primary") as first:
        first.run("port 1", "port 0")
        first.run("inject 16", "injected 16")
        with Ours(build, "secondary", launcher=[build.emu, "--"]) as second:
            second.run("start 0", "started 0")
            for _ in range(300):
                if int(second.run("progress", r"so far (\d+)")) >= 200:
                    break
                second.read(0.1)
            expect(int(second.run("stop", r"forwarded (\d+)")) >= 200, "nothing to forward")
            second.run("get 10", r"got 10 device (\d+)")
            second.run("fill 2", "filled 10")
            second.run("give", "gave 10")
            first.run("take", "took 10")
            first.run("check 2", "good 10")
            first.run("put 10", "put 10")
            second.quit()
        first.run("close", "closed 0")
        expect(out(first) == 0, "buffers are out")
        first.quit()


def wire(build):
    """Every frame goes through the secondary's hands, out of and into device memory."""
    with Ours(build, "primary") as first:
        first.run("port 1", "port 0")
        with Ours(build, "secondary") as second:
            second.run("start 0", "started 0")
            for _ in range(600):
                if int(second.run("progress", r"so far (\d+)")) >= 20000:
                    break
                second.read(0.1)
            expect(second.run("stop", r"forwarded (\d+)") == "20000", "frames are lost")
            second.read(0.5)
            second.quit()
        first.run("close", "closed 0")
        expect(out(first) == 0, "buffers are out")
        first.quit()


def cycles(build):
    """Ten secondaries come and go under traffic, every other one is killed (48)."""
    with Ours(build, "primary") as first:
        first.run("port 2", "port 0")
        first.run("inject 48", "injected 48")
        first.run("start 0", "started 0")
        for cycle in range(10):
            with Ours(build, "secondary") as second:
                second.run("start 1", "started 0")
                for _ in range(300):
                    if int(second.run("progress", r"so far (\d+)")) >= 200:
                        break
                    second.read(0.1)
                expect(int(second.run("stop", r"forwarded (\d+)")) >= 200,
                       f"cycle {cycle}: nothing to forward")
                if cycle % 2:
                    second.kill()
                else:
                    second.quit()
        before = int(first.run("progress", r"so far (\d+)"))
        first.read(0.5)
        expect(int(first.run("progress", r"so far (\d+)")) > before, "the primary has stopped")
        first.run("stop", r"forwarded (\d+)")
        first.run("close", "closed 0")
        expect(out(first) == 0, "buffers are out")
        first.quit()


class Pmd(Process):
    """The distribution's testpmd."""

    def __init__(self, build, kind, number):
        env = dict(os.environ)
        cpus = ",".join(str(cpu) for cpu in sorted(os.sched_getaffinity(0)))
        super().__init__(
            [TESTPMD, "--huge-dir", os.environ["HUGE_DIR"], "--file-prefix", "memic", "-m", "128",
             f"--lcores={2 * number}@({cpus}),{2 * number + 1}@({cpus})", f"--proc-type={kind}",
             "-a", PCI_DEVICE, *plugin_arguments(build.plugin, env),
             "--mbuf-pool-ops-name=mlx5_memic", "--", "-i", "--num-procs=2",
             f"--proc-id={number}", "--rxq=2", "--txq=2", "--rxd=64", "--txd=64", "--burst=16",
             "--mbuf-size=1664", "--mbcache=0", "--total-num-mbufs=1025", "--no-flush-rx",
             "--txpkts=1500"], env)
        self.wait_for(PROMPT)

    def run(self, line, seconds=30):
        start = len(self.output)
        self.send(line)
        end = self.wait_for(PROMPT, seconds, start)
        return self.output[start:end]


def testpmd(build):
    """The distribution's testpmd, a queue for each process."""
    with Pmd(build, "auto", 0) as first, Pmd(build, "auto", 1) as second:
        first.run("set fwd io retry")
        second.run("set fwd io retry")
        second.run("start")
        first.run("start tx_first")
        for program in (second, first):
            program.read(2)
            text = program.run("stop")
            match = re.search(r"TX-packets: (\d+)", text)
            expect(match and int(match.group(1)) > 1000, f"hardly forwarded anything: {text}")
        second.send("quit")
        expect(second.wait_exit() == 0, f"secondary: exit status {second.status}")
        first.send("quit")
        expect(first.wait_exit() == 0, f"primary: exit status {first.status}")


INNER = {case.__name__: case for case in (
    buffers, clones, pools, early, late, killed, silent, address_taken, old_kernel,
    other_order, other_program, no_plugin, apart, wire, cycles, testpmd)}

# ---- around it ----

EMU = {"wire": ["--memic", "512K", "--wire", "check:20000:1500"], "testpmd": ["--memic", "1M"],
       "cycles": ["--memic", "1M"],
       "old_kernel": ["--memic", "256K", "--fault", "ioctl=2:EOPNOTSUPP:DM_QUERY"]}


def free_pages():
    path = "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"
    try:
        with open(path, encoding="ascii") as file:
            return int(file.read())
    except OSError:
        return 0


def need_huge_pages():
    if os.geteuid() != 0:
        raise Skip("mounting a hugetlbfs needs root")
    if free_pages() < PAGES:
        raise Skip(f"{free_pages()} huge pages of 2 MiB are free, {PAGES} are needed: "
                   "devtools/test.sh reserves them (sysctl vm.nr_hugepages)")


def outer(name):
    """A case that runs its inner half under the launcher and looks at the card's account."""
    def run(build):
        need_huge_pages()
        emu = EMU.get(name, ["--memic", "256K"])
        mount = 'mkdir "$TMPDIR/huge" && mount -t hugetlbfs memic "$TMPDIR/huge" && exec "$@"'
        command = ["unshare", "--mount", "sh", "-c", mount, "sh", sys.executable, __file__,
                   build.folder, INSIDE, name]
        with Program(build, command, emu) as program:
            status = program.wait_exit(110)
            if status == 0 and name == "wire":
                port = program.stats()["ports"][0]
                check_wire(port, 20000)
                host = port["host_read_bytes"] + port["host_write_bytes"]
                expect(host == 0, f"{host} bytes of payload in host memory")
            if status == 0 and name == "testpmd":
                port = program.stats()["ports"][0]
                expect(port["memic_read_bytes"] > 0 and port["host_read_bytes"] == 0,
                       f"payload in host memory: {port}")
            if status == 0:
                check_card(program.stats())
            expect(status == 0, f"exit status {status}")
    return run


def inside(build, name):
    """The half that runs under the launcher."""
    os.environ["HUGE_DIR"] = os.environ["TMPDIR"] + "/huge"
    INNER[name](build)


if __name__ == "__main__":
    CASES = {name: outer(name) for name in INNER}
    CASES[INSIDE] = inside
    main(CASES)
