# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Completion in bash offers every option that --help tells, and what options take."""

import os
import re
import subprocess
import sys

# What may stand behind an option: the words typed, some of what is offered then.
VALUES = {
    "mlx5emu": [
        (["--preset", "c"], {"cx5", "cx6dx", "cx7"}),
        (["--preset", "=", "cx7"], {"cx7"}),
        (["--preset=", "cx5", "--wire", ""], {"loop", "pair", "tap", "pcap:", "check:"}),
        (["--fault", "k"], {"klm=", "ksm="}),
        (["--fault", "h"], {"help"}),
        (["--", "dpdk-test"], {"dpdk-testpmd"}),
        (["--", "ls", "/usr/bi"], {"/usr/bin"}),
    ],
    "dpdk-memic-info": [
        (["--alloc", "ME"], {"MEMIC:"}),
        (["--alloc", "STEER"], {"STEERING_SW_ICM:"}),
    ],
    "dpdk-memic-perf": [(["--test", "get"], {"get_put"})],
}


def offered(tool, script, words):
    """What bash would offer for the last of the words behind the command's name."""
    name = os.path.basename(tool)
    run = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); ' \
          'eval "$(complete -p "$1" | sed -E "s/.*-F ([^ ]+).*/\\1/")"; ' \
          'printf "%s\\n" "${COMPREPLY[@]}"'
    env = dict(os.environ, PATH=os.path.dirname(tool) + ":/usr/bin:/bin")
    result = subprocess.run(["bash", "-c", run, "bash", script, name, *words], env=env, check=True,
                            capture_output=True, text=True, timeout=30)
    if result.stderr:
        sys.exit(f"{name} {words}: bash said: {result.stderr}")
    return set(result.stdout.split())


def main():
    tool, script = sys.argv[1:]
    name = os.path.basename(tool)
    text = subprocess.run([tool, "--help"], check=True, capture_output=True, text=True).stdout
    options = set(re.findall(r"(?:^  |, )(--[a-z-]+)", text, re.M))
    if len(options) < 5:
        sys.exit(f"--help of {name} tells no options: {text}")
    there = {word for word in offered(tool, script, ["--"]) if word != "--"}
    if there != options:
        sys.exit(f"{name}: offered but not in --help: {there - options}, or the other way round: "
                 f"{options - there}")
    for words, wanted in VALUES[name]:
        there = offered(tool, script, words)
        if not wanted <= there:
            sys.exit(f"{name} {words}: {wanted - there} is not offered, only {sorted(there)[:20]}")
    print(f"{name}: {len(options)} options, {len(VALUES[name])} values")


main()
