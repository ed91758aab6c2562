# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Run a fuzz target: over its kept corpus and on from there, and say how far it came.

With --runs the same inputs are tried each time (fixed seed); with --seconds it goes on
until then. An input that fails is kept in the current folder and printed as text that
can be fed to the program again.
"""

import argparse
import base64
import os
import re
import subprocess
import sys
import tempfile

SEED = "20260101"
# what leaks is told at the end of the input that lost it
SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:handle_abort=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}


def arguments():
    parser = argparse.ArgumentParser(description="run a fuzz target")
    limit = parser.add_mutually_exclusive_group(required=True)
    limit.add_argument("--runs", type=int, help="inputs to make, the same each time")
    limit.add_argument("--seconds", type=int, help="time to spend")
    parser.add_argument("--grow", metavar="FOLDER",
                        help="start from what is there, too, and keep inputs that reach new code")
    parser.add_argument("program")
    parser.add_argument("corpus")
    return parser.parse_args()


def command(args, folder):
    limit = [f"-runs={args.runs}", f"-seed={SEED}"] if args.runs else \
        [f"-max_total_time={args.seconds}"]
    corpora = [args.grow or folder, args.corpus]
    return [args.program, *limit, "-max_len=4096", "-timeout=20", "-rss_limit_mb=2048",
            "-print_final_stats=1", f"-artifact_prefix={folder}/crash/", *corpora]


def show_artifacts(folder):
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            data = file.read()
        with open(name, "wb") as file:
            file.write(data)
        print(f"{name} (in {os.getcwd()}), base64: {base64.b64encode(data).decode()}")


def summary(name, text):
    """Executions, and edges that some input went over.

    Counted over all that is linked in: also what a target has no way to reach, and the
    branches that the sanitizers add.
    """
    counters = sum(int(n) for n in re.findall(r"\((\d+) inline 8-bit counters\)", text))
    runs = re.findall(r"^stat::number_of_executed_units:\s+(\d+)", text, re.M)
    edges = re.findall(r"cov: (\d+)", text)
    if not runs or not edges or counters == 0:
        return None
    covered = int(edges[-1])
    return (f"fuzz {name}: {runs[-1]} executions, {covered} of {counters} edges "
            f"({100 * covered // counters} %)")


def main():
    args = arguments()
    name = os.path.basename(args.program).removeprefix("fuzz_")
    if not os.listdir(args.corpus):
        sys.exit(f"{name}: no corpus in '{args.corpus}'")
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "crash"))
        result = subprocess.run(command(args, folder), env={**os.environ, **SANITIZERS},
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, errors="replace", check=False)
        line = summary(name, result.stdout)
        if result.returncode != 0 or line is None:
            print(result.stdout[-20000:])
            show_artifacts(os.path.join(folder, "crash"))
            sys.exit(f"{name}: failed with status {result.returncode}")
        print(line)


if __name__ == "__main__":
    main()
