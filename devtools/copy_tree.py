# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Make a folder hold the files of the current one that standard input names, and nothing else.

What is the same already keeps its time and all else has that of the copy, so that ninja compiles
what has changed: the folder may hold the files of another clone, whose times say nothing.
"""

import filecmp
import os
import shutil
import sys


def main():
    folder = sys.argv[1]
    names = {os.path.normpath(line) for line in sys.stdin.read().splitlines()}
    for place, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(place, name)
            if os.path.relpath(path, folder) not in names:
                os.remove(path)
    for name in names:
        path = os.path.join(folder, name)
        if not os.path.exists(path) or not filecmp.cmp(name, path, shallow=False):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            shutil.copyfile(name, path)
        shutil.copymode(name, path)


main()
