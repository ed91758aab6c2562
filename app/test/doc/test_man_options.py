# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""A tool's manual page against what --help prints: the same options, no more, no less.

usage: test_man_options.py PROGRAM GUIDES
"""

import os
import re
import subprocess
import sys


def main(program, guides):
    usage = subprocess.run([program, "--help"], check=True, capture_output=True, text=True).stdout
    page = os.path.join(guides, "man", os.path.basename(program) + ".rst")
    with open(page, encoding="utf-8") as file:
        text = file.read()
    told = {option for line in re.findall(r"^\*\*--.*$", text, re.M)
            for option in re.findall(r"\*\*(--[\w-]+)", line)}
    have = {option for line in re.findall(r"^ +--.*$", usage, re.M)
            for option in re.findall(r"(?:^ +|, )(--[\w-]+)", line)}
    print(f"{len(have)} options")
    faults = [f"{option}: not in {page}" for option in sorted(have - told)]
    faults += [f"{option}: in {page}, but not in --help" for option in sorted(told - have)]
    if not have or not told:
        faults.append("no option was found")
    sys.exit("\n".join(faults) or 0)


main(*sys.argv[1:])
