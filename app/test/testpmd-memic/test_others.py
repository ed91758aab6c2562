# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""The plugin in programs that are not testpmd, or no shared DPDK: it does nothing (case 2)."""

import os
import re
import subprocess

from common import plugin
from harness import Skip, expect, lcores, main, plugin_arguments

DPDK_TEST = "/usr/bin/dpdk-test"
QUIET = ["--no-huge", "-m", "64", "--no-pci", "--no-shconf", "--no-telemetry"]


def run(program, build, eal=(), app=(), env=None, text=None):
    """Status and output of a program that was given the plugin; and with its log turned up."""
    env = dict(os.environ if env is None else env)
    arguments = [*QUIET, lcores(1), *plugin_arguments(plugin(build), env), *eal]
    done = subprocess.run([program, *arguments, *app], env=env, text=True, input=text,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
                          check=False)
    return done.returncode, done.stdout


def lines_of_ours(output):
    return [line for line in output.splitlines() if re.search("memic", line, re.I)]


def dpdk_test(build):
    """It has command lines of DPDK's and flags, too, but not testpmd's."""
    if not os.path.exists(DPDK_TEST):
        raise Skip(f"no {DPDK_TEST}")
    for eal in ([], ["--log-level=user.testpmd_memic:debug"]):
        status, output = run(DPDK_TEST, build, eal, text="show memic all\nversion_autotest\nquit\n")
        expect(status == 0, f"status {status}: {output}")
        expect("Test OK" in output, output)
        ours = [line for line in lines_of_ours(output) if "show memic all" not in line]
        expect(ours == [], f"{ours}")


def plain(build, program):
    """A program without command line: one line of INFO at most, which is off by default."""
    status, output = run(program, build)
    expect(status == 0 and lines_of_ours(output) == [], f"{status}: {output}")
    status, output = run(program, build, ["--log-level=user.testpmd_memic:debug"])
    ours = lines_of_ours(output)
    expect(status == 0 and len(ours) == 1, f"{status}: {output}")
    expect("this program gets no flags --memic-* and no commands" in ours[0], ours[0])


def static(build, program):
    """A program with DPDK inside: one line, and the program goes on."""
    if not os.path.exists(program):
        raise Skip("no program with DPDK inside was built")
    _, output = run(program, build, app=["--", "-p", "1"])
    ours = lines_of_ours(output)
    expect(len(ours) == 1 and "this program has DPDK linked into it. The plugin stays off" in
           ours[0], output)
    expect("tailq is already registered" not in output, output)
    expect("No Ethernet ports" in output, output)


main({case.__name__: case for case in (dpdk_test, plain, static)})
