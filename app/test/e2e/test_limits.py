# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""What a program is not given: the rows of doc/guides/limits.rst. It works, or says why.

Rows that other files have: cases 64 and 66 in test_cases.py (users, lockable memory),
sw_icm_refused and identity_refused in ../memic-info, eal_mode in test_captured.py.
"""

import os
import re
import tempfile

from harness import (PCI_DEVICE, Program, Skip, check_card, check_wire, expect, expect_output,
                     lcores, main, plugin_arguments)
from test_secondary import need_huge_pages
from unprivileged import Unprivileged, low_addresses_kept

FRAMES = 2000
SLOTS = 157
WIRE = ["--wire", f"check:{FRAMES}:1500"]
EMU = ["--memic", "256K", *WIRE]
LOG = "--log-level=mempool.mlx5_memic:info"
CAP_NET_RAW, CAP_SYS_RAWIO = 13, 17
HOST = r"MLX5_MEMIC: pool limits lives in host memory: "


class Limits(Program):
    """app/test/e2e/limits.c and what became of its steps."""

    def __init__(self, build, *steps, emu=(), eal=("--no-huge",), before=(), devargs=""):
        env = dict(os.environ)
        command = [*before, os.path.join(build.folder, "app/test/e2e/e2e_limits"),
                   "-m", "128", lcores(1), LOG, "-a", PCI_DEVICE + devargs, *eal,
                   *plugin_arguments(build.plugin, env), "--", *steps]
        super().__init__(build, command, [*EMU, *emu], env)

    def step(self, name):
        """The errno of a step by its name, or "done"."""
        found = re.search(rf"step {name}: (\w+)", self.output)
        expect(found, f"step {name} was not taken")
        return found[1]

    def finish(self, **answers):
        """All steps were taken, all were done but those that are named with their errno."""
        expect(self.wait_exit() == 0, f"exit status {self.status}")
        for name, answer in re.findall(r"step (\S+): (\w+)", self.output):
            wanted = answers.get(name.split("=")[0], "done")
            expect(answer == wanted, f"step {name}: {answer}, not {wanted}")
        expect(self.stats()["leaked_objects"] == 0, "objects of the card are left")


# ---- capabilities ----

def dropped(build, flow_en):
    """CAP_NET_RAW given up while the program runs. Pools and keys need it no more, nor do
    queues that run; a port that is set up does, and starts by nobody's fault but its own."""
    flow = f",dv_flow_en={flow_en}"
    with Limits(build, "pool", "start", f"drop={CAP_NET_RAW}", f"forward={FRAMES}", "stop",
                devargs=flow) as program:
        program.finish()
        check_card(program.stats())
        check_wire(program.stats()["ports"][0], FRAMES)
    with Limits(build, f"drop={CAP_NET_RAW}", "pool", "start", devargs=flow) as program:
        program.finish(start="EPERM")
        # the key can still be made, what cannot be is to try it out
        expect_output(program, r"takes klm keys.*could not be found out.*EPERM: raw packet "
                      "queues need CAP_NET_RAW")
        expect(HOST not in program.output, "host memory")


def rawio(build):
    """mkey=direct wants addresses below vm.mmap_min_addr, which take CAP_SYS_RAWIO."""
    with low_addresses_kept(), Limits(build, f"drop={CAP_SYS_RAWIO}", "pool",
                eal=["--no-huge", "--vdev=mempool_mlx5_memic0,mkey=direct"]) as program:
        program.finish()
        expect_output(program, HOST + r".*EPERM: addresses below vm.mmap_min_addr need "
                      "CAP_SYS_RAWIO")


def no_net_raw(build, flow_en):
    """Without CAP_NET_RAW from the start the PMD opens no port; pools live on."""
    drop = ["setpriv", "--bounding-set", "-net_raw", "--inh-caps", "-net_raw"]
    with Limits(build, "pool", "start", before=drop, devargs=f",dv_flow_en={flow_en}") as program:
        program.finish(start="ENODEV")
        expect_output(program, "mlx5_net: probe of PCI device 0000:08:00.0 aborted")
        expect_output(program, "queues need CAP_NET_RAW" if flow_en == "0" else
                      HOST + "the mlx5 driver has opened no device")


# ---- the node ----

def node(build, errno):
    """A container that sees the card in sysfs and has no node of it."""
    with Limits(build, "pool", "free", emu=["--fault", f"node={errno}"]) as program:
        expect(program.wait_exit() == 0, f"exit status {program.status}")
        expect(program.step("pool") == "done", "no pool")
        expect_output(program, HOST + "the mlx5 driver has opened no device")


# ---- resources ----

def files(build):
    """No descriptor left for the driver's context of its own: said, and mended by one more."""
    steps = []
    for spare in range(8):
        steps += [f"files={spare}", "pool", "free"]
    with Limits(build, *steps) as program:
        program.finish()
        parts = program.output.split("step files=")[1:]
        host = ["lives in host memory" in part for part in parts]
        expect(host[0] and not host[-1], f"{host}")
        for part, lives in zip(parts, host):
            expect(not lives or "ulimit -n" in part, f"no cure: {part}")
            expect("network namespace" not in part, f"a wrong reason: {part}")
        print(f"host memory with {sum(host)} of 8 numbers of descriptors")


def memory(build):
    """No addresses left for the mapping."""
    if "san.so" in os.environ.get("LD_PRELOAD", ""):
        raise Skip("a sanitizer needs addresses itself")
    with Limits(build, "memory=0", "pool", "free", "memory=16384", "pool", "start",
                f"forward={FRAMES}", "stop") as program:
        program.finish()
        expect_output(program, HOST + ".*ENOMEM")
        expect(program.output.count("lives in host memory") == 1, "still in host memory")
        check_wire(program.stats()["ports"][0], FRAMES)


def cgroup(build):
    """The rdma cgroup lets no more objects be made (EAGAIN): a pool without device memory."""
    with Limits(build, "pool", "free", emu=["--fault", "ioctl=1+:EAGAIN:DM_ALLOC"]) as program:
        program.finish()
        expect_output(program, HOST + ".*EAGAIN")


def threads(build):
    """A user who may start no more threads: EAL says so, nobody crashes."""
    with tempfile.TemporaryDirectory() as folder:
        # a user of its own, as what counts is how many threads a user has
        for count in (2, 5):
            poor = Unprivileged(build, folder, limits=[f"--nproc={count}"], user=64321)
            with Limits(poor, "pool") as program:
                expect(program.wait_exit() == 1, f"{count} threads: exit status {program.status}")
                expect_output(program, "EAL: Error - exiting with code: 1")
        enough = Unprivileged(build, folder, limits=["--nproc=32"], user=64321)
        with Limits(enough, "pool", "start", f"forward={FRAMES}", "stop") as program:
            program.finish()
            check_wire(program.stats()["ports"][0], FRAMES)


# ---- ways to run EAL ----

# a hugetlbfs that goes with the program
MOUNTED = ["unshare", "--mount", "sh", "-c", 'mkdir "$TMPDIR/huge" && '
           'mount -t hugetlbfs memic "$TMPDIR/huge" && program=$1 && shift && '
           'exec "$program" --huge-dir "$TMPDIR/huge" "$@"', "sh"]


def modes(build, *eal):
    """The same slots, and every byte, in every mode of EAL."""
    before = []
    if "--no-huge" not in eal:
        need_huge_pages()
        before = [] if "--in-memory" in eal else MOUNTED
    with Limits(build, "pool", "start", f"forward={FRAMES}", "stop", eal=eal,
                before=before) as program:
        program.finish()
        expect(HOST not in program.output, "host memory")
        check_card(program.stats())
        port = program.stats()["ports"][0]
        check_wire(port, FRAMES)
        expect(port["host_read_bytes"] + port["host_write_bytes"] == 0, f"host memory: {port}")


main({case.__name__: case for case in (
    dropped, no_net_raw, rawio, node, files, memory, cgroup, threads, modes)})
