# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Public headers: each call with parameters, units, errno; doxygen has nothing to say.

usage: test_headers.py DOXYGEN DOXYFILE HEADER...
"""

import os
import re
import subprocess
import sys
import tempfile

CALL = re.compile(r"(?:/\*\*((?:(?!\*/).)*)\*/\s*)?"
                  r"^((?:const |struct |enum |unsigned )*\w+ \**((?:memic|rte_pmd)_\w+)"
                  r"\(([^;{]*)\);)", re.S | re.M)
UNIT = re.compile(r"\b(bytes?|numbers?|how many|sizeof|room for|log2|index|key|[mn]s)\b")


def check(name, text):
    """What a header does not tell."""
    faults = []
    calls = CALL.findall(text)
    if not re.search(r"thread", text[:text.find("#include")]):
        faults.append(f"{name}: its first comment says nothing of threads")
    for comment, prototype, call, arguments in calls:
        if not comment:
            faults.append(f"{name}: {call}: no comment")
            continue
        if prototype.startswith("int ") and not re.search(r"@return.*-E[A-Z]", comment, re.S):
            faults.append(f"{name}: {call}: no errno")
        for size in re.findall(r"\bsize_t \*?(\w+)", arguments):
            told = re.search(rf"@param(?:\[\w+\])? {size}\b((?:(?!@(?:param|return)).)*)",
                             comment, re.S)
            if not told or not UNIT.search(told[1]):
                faults.append(f"{name}: {call}: no unit of {size}")
    return faults, len(calls)


def doxygen(program, config, header):
    """Exit status and warnings of doxygen for one header."""
    with open(config, encoding="utf-8") as file:
        text = file.read()
    with tempfile.TemporaryDirectory(prefix="memic.") as folder:
        text += f'\nINPUT = "{header}"\nOUTPUT_DIRECTORY = "{folder}"\n'
        run = subprocess.run([program, "-"], input=text, capture_output=True, text=True,
                             check=False)
    return run.returncode, run.stderr


GOOD = """/**
 * @file
 * Safe for threads.
 */
#include <stddef.h>

/**
 * Does x.
 *
 * @param len bytes of it.
 * @return 0; -EINVAL.
 */
int memic_x(size_t len);
"""


def control(program, config):
    """Wrong headers are found."""
    cases = [("", "", 0, 0), ("Safe for threads", "Safe", 1, 0), ("-EINVAL", "what failed", 1, 0),
             ("bytes of it", "it", 1, 0), (" * @param len bytes of it.\n", "", 1, 1),
             (GOOD[GOOD.index("/**\n * Does"):GOOD.index("int memic")], "", 1, 1)]
    with tempfile.TemporaryDirectory(prefix="memic.") as folder:
        path = os.path.join(folder, "x.h")
        for old, new, faults, bad in cases:
            text = GOOD.replace(old, new) if old else GOOD
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            found, _ = check("x.h", text)
            status, said = doxygen(program, config, path)
            if len(found) != faults or (status != 0) != bool(bad):
                sys.exit(f"self check: '{old}' to '{new}': {found}, doxygen {status}: {said}")


def main(program, config, *headers):
    control(program, config)
    faults, total = [], 0
    for header in headers:
        with open(header, encoding="utf-8") as file:
            more, calls = check(os.path.basename(header), file.read())
        status, said = doxygen(program, config, header)
        faults += more + ([said] if status else [])
        total += calls
    print(f"{total} calls, {len(faults)} faults")
    sys.exit("\n".join(faults) or (0 if total > 40 else "few calls were found"))


main(*sys.argv[1:])
