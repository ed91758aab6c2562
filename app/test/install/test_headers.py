# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""A public header compiles by itself, as C of any age and as C++."""

import pathlib
import shutil
import subprocess
import sys

COMPILERS = {
    "gcc": ("c", ["c99", "c11", "gnu17"]),
    "clang": ("c", ["c99", "c11", "gnu17"]),
    "g++": ("c++", ["c++11", "c++20"]),
    "clang++": ("c++", ["c++11", "c++20"]),
}


def main(header, least, package, *more):
    header = pathlib.Path(header)
    flags = subprocess.run(["pkg-config", "--cflags", package], check=True,
                           capture_output=True, text=True).stdout.split()
    # warnings of other people's headers are theirs
    flags = [flag.replace("-I", "-isystem", 1) for flag in flags] + list(more)
    tried, failed = 0, 0
    for compiler, (language, standards) in COMPILERS.items():
        if not shutil.which(compiler):
            continue
        if least in standards:
            standards = standards[standards.index(least):]
        for standard in standards:
            # twice, as a header may come by two ways
            text = f"#include <{header.name}>\n" * 2
            result = subprocess.run(
                [compiler, "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Werror",
                 "-fsyntax-only", f"-I{header.parent}", *flags, "-"],
                input=text, capture_output=True, text=True, check=False)
            tried += 1
            if result.returncode != 0:
                print(f"{compiler} -std={standard}:\n{result.stderr}")
                failed += 1
    print(f"{header.name}: {tried - failed} of {tried} compile")
    return 1 if failed or tried == 0 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
