# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""The guide's table of rdma-core's tests against what they are expected to give.

usage: test_peers.py PAGE EXPECTED
"""

import re
import sys

OUTCOMES = ("pass", "skip", "fail")


def expected(text):
    """Outcomes of each module, counted, and how many modules are out."""
    counts, out = {}, 0
    for line in text.splitlines():
        words = line.split()
        if len(words) > 1 and not line.startswith("#"):
            out += words[1] == "out"
            if words[1] in OUTCOMES:
                module = counts.setdefault(words[0].split(".")[0], dict.fromkeys(OUTCOMES, 0))
                module[words[1]] += 1
    return counts, out


def told(page):
    """The same from the rows of the page, whose first cell may name several modules."""
    rows = []
    for row in re.split(r"\n   \* - ", page)[1:]:
        cells = re.split(r"\n     -", row)
        modules = re.findall(r"``(test_\w+)``", cells[0])
        if modules and len(cells) == 5:
            rows.append((modules, [int(cell.strip() or 0) for cell in cells[1:4]]))
    out = re.search(r"^(\d+) modules are out", page, re.M)
    return rows, int(out[1]) if out else None


def check(page, text):
    counts, out = expected(text)
    rows, told_out = told(page)
    faults = [] if out == told_out else [f"{out} modules are out, not {told_out}"]
    for modules, row in rows:
        want = [sum(counts.get(module, {}).get(outcome, 0) for module in modules)
                for outcome in OUTCOMES]
        if want != row:
            faults.append(f"{', '.join(modules)}: {row}, but expected are {want}")
    missing = set(counts) - {module for modules, _ in rows for module in modules}
    return faults + [f"no row has {module}" for module in sorted(missing)], len(rows)


def main(page, text):
    with open(page, encoding="utf-8") as file:
        page = file.read()
    with open(text, encoding="utf-8") as file:
        text = file.read()
    faults, rows = check(page, text)
    spoilt, _ = check(page, text + "test_new.A.b pass\ntest_pd.A.b skip no\nother out why\n")
    if len(spoilt) != len(faults) + 3 and not faults:
        sys.exit(f"self check: three faults are not found: {spoilt}")
    print(f"{rows} rows")
    sys.exit("\n".join(faults) or (0 if rows > 10 else "few rows were found"))


main(*sys.argv[1:])
