# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""What can be told of style without opinion: check_style.py [FILE]..., default the tree.

Lines of 100 columns at most, a tab being 8; no blanks at the end; C is indented by tabs;
a newline ends each file, and no source file has more than 700 lines. MAINTAINERS names the
folder of each.
"""

import os
import re
import shutil
import subprocess
import sys

COLUMNS = 100
LINES = 700
CHECKED = re.compile(r"\.(c|h|py|sh|bash|map)$|^devtools/[a-z]+$|^\.ci/run$|^README\.md$")


def tree():
    """Files of the tree, by git, or whatever lies there in a tarball."""
    if shutil.which("git"):
        git = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"],
                             capture_output=True, text=True, check=False)
        if git.returncode == 0:
            return git.stdout.split()
    return [os.path.relpath(os.path.join(where, name)) for where, folders, names in os.walk(".")
            for name in names if not re.match(r"\./(build|\.git/)", where + "/")]


def faults(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    lines = text.split("\n")
    if text and lines[-1] != "":
        yield f"{len(lines)}: no newline at the end"
    if len(lines) > LINES + 1:
        yield f"{LINES + 1}: more than {LINES} lines"
    in_c = path.endswith((".c", ".h"))
    for number, line in enumerate(lines, 1):
        columns = len(line.expandtabs(8))
        if columns > COLUMNS:
            yield f"{number}: {columns} columns"
        if line != line.rstrip():
            yield f"{number}: blanks at the end"
        # fewer than 8 align what goes on from the line before
        if in_c and re.match(r" {8}|\t* +\t", line):
            yield f"{number}: indented by blanks"


def kept_folders():
    with open("MAINTAINERS", encoding="utf-8") as file:
        return tuple(re.findall(r"^F: (.+/)$", file.read(), re.M))


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    paths = [path for path in sys.argv[1:] or tree() if CHECKED.search(path)
             and os.path.isfile(path)]
    found = [f"{path}:{fault}" for path in paths for fault in faults(path)]
    kept = kept_folders()
    found += [f"{path}: MAINTAINERS does not name its folder" for path in paths
              if "/" in path and not path.startswith(kept)]
    for text in found:
        print(text, file=sys.stderr)
    if not paths:
        sys.exit("no file found to check")
    print(f"{len(paths)} files checked, {len(found)} faults")
    sys.exit(1 if found else 0)


main()
