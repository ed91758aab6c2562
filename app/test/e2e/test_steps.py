# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Every failure once: steps/steps.c lets each call of a life that takes something fail.

Calls that the driver makes, by itself or through libibverbs, must each end well: an errno
that says what happened, a message that names it and the pool, device or port, nothing left
behind, and the same life once more goes as usual. What DPDK does with failures of its own
calls is its own business where it does the same with ring_mp_mc.
"""

import collections
import os
import re

from harness import (PCI_DEVICE, Program, Skip, add_preload, expect, lcores, main,
                     plugin_arguments)

# Steps that there are at least in each phase: a loop that counts fewer looks at nothing.
# The driver takes nothing when a port stops.
LEAST = {"probe": 4, "first": 100, "pool": 45, "start": 1, "traffic": 2, "stop": 0, "free": 4,
         "close": 4}
LEAST_OF_OTHERS = {"probe": 100, "first": 10, "pool": 10, "start": 70, "traffic": 1, "stop": 10,
                   "free": 1, "close": 10}
LEAST_OF_LOAD = 40

# What libibverbs and libmlx5 do with a failure of their own, whoever calls them: a name, where,
# what the test says of it, whether it is met each time, and why it is none of the driver's.
KNOWN = (
    ("import without a list", r"< ibv_get_device_list .*< ibv_import_device ",
     r"no message that names the errno .*ibv_import_device on mlx5_0: ENODEV", True,
     "ibv_import_device() says ENODEV whatever kept it from listing devices"),
    ("import without attributes", r"^ioctl write command 1 .*< ibv_cmd_query_device_any .*"
     r"< ibv_import_device ", r"no message that names the errno .*max_dm_size", True,
     "libmlx5 opens a device that it could not ask for its attributes, and then refuses each "
     "allocation with EINVAL"),
    ("fork range", r"^malloc < libibverbs\S+ < libibverbs\S+ < (libmlx5|ibv_reg_mr)",
     r"^left: heap: \+\d+ blocks;$", False,
     "ibv_dontfork_range() loses the first half of a range when there is no memory for the "
     "second; whether it is cut in two is a matter of addresses"),
    ("registration refused", r"< mlx5_common_verbs_reg_mr ", r"^start returns -22: ", True,
     "the PMD makes EINVAL of whatever errno a registration fails with"),
    ("close without unmapping", r"^munmap < libmlx5.*< ibv_close_device ", r"^left:.*mappings",
     True, "libmlx5 does not look whether the pages of its doorbells were unmapped"),
)

# Of a removed device destroys say EIO, and the driver takes what says so for gone.
GONE = ("gone", r"^ioctl object (0x1001|0x7|0x1|0x3|0x4|0x9) .*destroy|"
        r"^ioctl object 0x(1001|7) method 0x(1001|1) ", r"left:|the retry has \d+ slots", False,
        "EIO says that device and object are gone")

# The same for DPDK: a name, the phase, where, what the test says, with which pools it is met in
# a whole loop, and the reason.
BOTH = ("mlx5_memic", "ring_mp_mc")
KNOWN_OF_OTHERS = (
    ("fork range", r"\w+", KNOWN[2][1], KNOWN[2][2], (), KNOWN[2][4]),
    ("probe crashes", "probe", r"< \w*(mlx5|rte_)", r"^status ", BOTH,
     "the PMD gives up its probe with pointers that it has not set yet"),
    ("probe keeps", "probe", r"< \w*(mlx5|rte_intr|librte_eal)", r"left:", BOTH,
     "the PMD does not give back all that a probe had made which then fails or does without"),
    ("probe's flows", "probe", r"mlx5dv_dr|mlx5_devx", r"^the retry: \d+ frames sent, 0 came", (),
     "what the PMD could not destroy when it tried what the card can do takes later frames"),
    ("start crashes", "start", r"< \w*(mlx5|librte_)", r"^status ", BOTH,
     "the PMD and ethdev use queues whose memory they did not get"),
    ("start keeps", "start", r"< \w*(mlx5|librte_)", r"left:|^the retry", BOTH,
     "the PMD does not give back queues and their mbufs when the rest of a port does not start"),
    ("stop ignores", "stop", r"^ioctl .*", r"left:|^the retry", BOTH,
     "the PMD looks at no answer of the calls that destroy queues and flows"),
    ("close ignores", "close", r"^ioctl ", r"left:", BOTH,
     "the PMD looks at no answer of the calls that destroy what the probe made"),
    ("MR stays", "free", r"< mlx5_mr_mempool_unregister ", r"left: card's objects",
     ("ring_mp_mc",), "the PMD looks at no answer when it deregisters the memory of a pool; the "
     "driver does, and tries again"),
    ("list stays mapped", "free", r"^munmap < rte_mem_unmap .*< rte_fbarray_destroy ",
     r"^left:.* mappings: \+1;$", ("mlx5_memic",),
     "EAL does not look whether the list of external memory was unmapped; pools of ring_mp_mc "
     "have no such memory"),
)


class Run(Program):
    """The program with options NAME=VALUE."""

    def __init__(self, build, flow_en, **options):
        env = dict(os.environ)
        add_preload(env, os.path.join(build.folder, "app/test/e2e/libe2e_step.so"))
        device = f"{PCI_DEVICE},dv_flow_en={flow_en}"
        options = {"device": device, "ops": "mlx5_memic", **options}
        command = [os.path.join(build.folder, "app/test/e2e/e2e_steps"), "--no-huge", "-m", "128",
                   lcores(1), "-a", device, *plugin_arguments(build.plugin, env), "--",
                   *(f"{name}={value}" for name, value in options.items())]
        super().__init__(build, command, ["--memic", "256K"], env)

    def finish(self, seconds=600):
        """Exit status; a run without the library's malloc is skipped."""
        status = self.wait_exit(seconds)
        if status == 77:
            raise Skip("another malloc() comes before the test's own")
        return status


class Steps:
    """All steps of a phase, also those behind one that ended the program."""

    def __init__(self, build, flow_en, phase, **options):
        self.steps, self.faults = {}, {}
        self.output = ""
        first, every = options.get("first", 1), options.get("every", 1)
        while first:
            first = self.run(build, flow_en, phase, first, every, options)

    def run(self, build, flow_en, phase, first, every, options):
        """Returns the step to go on with, or None."""
        options = {**options, "phase": phase, "first": first}
        with Run(build, flow_en, **options) as program:
            status = program.finish()
            output = program.output
        self.output += output
        for number, what in re.findall(rf"^step {phase} (\d+): (.*): [\w ]*: (?:good)?\r?$",
                                       output, re.M):
            self.steps[int(number)] = what
        for number, text in re.findall(rf"^fault {phase} (\d+): ((?:.|\n)*?)(?=^(?:begin|phase|"
                                       r"step|fault) |^end: )", output, re.M):
            self.faults[int(number)] = text.strip()
        if status == 0:
            expect(re.search(r"^end: ", output, re.M), f"no end of {phase}")
            return None
        begun = re.findall(rf"^begin {phase} (\d+)", output, re.M)
        what = re.search(r"^fails: (.*?)\r?$", output[output.rfind("begin "):], re.M)
        expect(begun, f"{phase}: status {status} before the first step:\n{output[-2000:]}")
        number = int(begun[-1])
        self.steps[number] = what[1] if what else "?"
        self.faults[number] = f"status {status}"
        return number + every


def ours(build, flow_en, errno="ENOMEM"):
    """Each call that the driver makes."""
    met, total, bad = collections.Counter(), 0, []
    known_here = KNOWN + (GONE,) if errno == "EIO" else KNOWN
    for phase, least in LEAST.items():
        steps = Steps(build, flow_en, phase, errno=errno)
        print(f"{phase}: {len(steps.steps)} steps")
        total += len(steps.steps)
        expect(len(steps.steps) >= least, f"{phase} has only {len(steps.steps)} steps")
        for number, fault in steps.faults.items():
            what = steps.steps[number]
            name = next((known[0] for known in known_here if re.search(known[1], what) and
                         re.search(known[2], fault, re.S)), None)
            met[name] += 1
            if not name:
                bad.append(f"{phase} {number}: {what}\n{fault}")
    expect(not bad, "\n".join(bad))
    for name, _, _, always, reason in known_here:
        print(f"{met[name]} times {name}: {reason}")
        expect(met[name] or not always, f"'{name}' is not met any more")
    print(f"{total} steps, {sum(met.values())} that are not the driver's")


def load(build, every):
    """Each call that the driver makes while EAL starts, in a process of its own."""
    with Run(build, "1", load=0) as program:
        expect(program.finish() == 0, f"status {program.status}")
        calls = int(re.search(r"^load: (\d+) calls", program.output, re.M)[1])
    expect(calls >= LEAST_OF_LOAD, f"the driver makes only {calls} calls")
    numbers = range(1, calls + 1, int(every))
    for number in numbers:
        with Run(build, "1", load=number) as program:
            status = program.finish()
            output = program.output
        step = re.search(r"^step load .*", output, re.M)
        expect(step and status == 0, f"step {number}: status {status}: {step}\n{output}")
        slots = re.findall(r"^life \d: (\d+) slots", output, re.M)
        expect(len(slots) == 2 and slots[1] == "120", f"{step[0]}: the retry has {slots}\n{output}")
        if slots[0] != slots[1]:
            expect(re.search(r"MLX5_MEMIC: pool steps lives in host memory: .*ENOMEM", output),
                   f"{step[0]}: nothing said of it:\n{output}")
    print(f"load: {len(numbers)} of {calls} steps")


def control(build):
    """Faults that are planted are found, or the test could not fail."""
    for plant, step, said in (
            ("leak", 5, r"left:.* heap: \+\d+ blocks"),
            ("object", 40, r"the retry has 0 slots|left: card's objects: .*DM"),
            ("silence", 2, r"no message"),
            ("byte", 2, r"frames sent, \d+ came back, [1-9]\d* of them wrong"),
            ("crash", 2, r"^status (139|-11)$")):
        steps = Steps(build, "1", "pool", first=step, last=step, plant=plant)
        fault = steps.faults.get(step, "")
        print(f"{plant}: {fault}")
        expect(re.search(said, fault, re.S), f"{plant} is not found")


def faults_of_others(build, flow_en, phase, every, ops):
    """Number of steps of a phase, and the known faults that were met by name."""
    steps = Steps(build, flow_en, phase, who="others", every=every, ops=ops)
    met, bad = collections.Counter(), []
    for number, fault in steps.faults.items():
        what = steps.steps[number]
        name = next((known[0] for known in KNOWN_OF_OTHERS if re.fullmatch(known[1], phase) and
                     re.search(known[2], what) and re.search(known[3], fault, re.S)), None)
        met[name] += 1
        if not name:
            bad.append(f"{ops} {phase} {number}: {what}\n{fault}")
    return len(steps.steps), met, bad


def others(build, flow_en, every):
    """Calls of DPDK itself: nothing with the driver that is not the same with ring_mp_mc."""
    every = int(every)
    met = {ops: collections.Counter() for ops in BOTH}
    bad = []
    for phase, least in LEAST_OF_OTHERS.items():
        counts = {}
        for ops in BOTH:
            counts[ops], known, unknown = faults_of_others(build, flow_en, phase, every, ops)
            met[ops] += known
            bad += unknown
        print(f"{phase}: {counts['mlx5_memic']} steps, {counts['ring_mp_mc']} with ring_mp_mc")
        expect(counts["mlx5_memic"] >= least // every, f"{phase} has too few steps: {counts}")
    for name, _, _, _, where, reason in KNOWN_OF_OTHERS:
        print(f"{met['mlx5_memic'][name]} times, {met['ring_mp_mc'][name]} with ring_mp_mc, "
              f"{name}: {reason}")
        for ops in where:
            expect(every > 1 or met[ops][name], f"'{name}' is not met any more with {ops}")
    expect(not bad, "\n".join(bad))


main({case.__name__: case for case in (ours, load, control, others)})
