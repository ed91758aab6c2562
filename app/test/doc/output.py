# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Output as the documentation shows it against what a command printed."""

import re

NUMBER = r"\b(?:0x[0-9a-f]+|\d+(?:\.\d+)?)\b"
# escape sequences of a terminal
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def visible(text):
    """Lines that a terminal would show: the last of those that stand on each other."""
    lines = []
    for line in CONTROL.sub("", text).split("\n"):
        lines += [part.strip() for part in line.split("\r") if part.strip()][-1:]
    return lines


def pattern(line, figures):
    """What a line of output has to be: "..." stands for anything, and so, where figures
    are said to differ, does a number for any number. How many blanks there are is left
    to the widths of columns."""
    parts = []
    for part in re.split(rf"(\.\.\.|\s+|{NUMBER})", line.strip()):
        if part == "...":
            parts.append(".*?")
        elif not part.strip():
            parts.append(r"\s+" if part else "")
        elif figures and re.fullmatch(NUMBER, part):
            parts.append(r"0x[0-9a-f]+" if part.startswith("0x") else r"\d+(?:\.\d+)?")
        else:
            parts.append(re.escape(part))
    return re.compile("".join(parts))


def difference(shown, printed, figures=False):
    """The first line that is shown and was not printed, or None.

    What is shown is part of what was printed, line below line; a line "..." stands for any
    number of them.
    """
    lines = visible(printed)
    groups = [[]]
    for line in shown:
        if line.strip() == "...":
            groups.append([])
        elif line.strip():
            groups[-1].append(pattern(line, figures))
    at = 0
    for group in groups:
        last = len(lines) - len(group)
        found = next((i for i in range(at, last + 1)
                      if all(p.fullmatch(lines[i + j]) for j, p in enumerate(group))), None)
        if found is None:
            return nearest(group, lines[at:])
        at = found + len(group)
    return None


def nearest(group, lines):
    """Of a group that is nowhere, the line at which the best try ends."""
    best = 0
    for start in range(len(lines)):
        for count, line in enumerate(lines[start:start + len(group)]):
            if not group[count].fullmatch(line):
                break
            best = max(best, count + 1)
    return group[min(best, len(group) - 1)].pattern
