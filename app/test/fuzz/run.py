# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Run a fuzz target: over its kept corpus and on from there, and say how far it came.

With --runs the same inputs are tried each time (fixed seed); with --seconds it goes on
until then. An input that fails is kept in the current folder and printed as text that
can be fed to the program again. With --must-fail the program has a mistake in it, and
some input must show it.
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
    parser.add_argument("--count", metavar="PROGRAM",
                        help="the target once more, to count what the inputs reach")
    parser.add_argument("--must-fail", action="store_true", help="the target has a mistake")
    parser.add_argument("program")
    parser.add_argument("corpus")
    return parser.parse_args()


def command(args, folder):
    limit = [f"-runs={args.runs}", f"-seed={SEED}"] if args.runs else \
        [f"-max_total_time={args.seconds}"]
    corpora = [args.grow or folder, args.corpus]
    return [args.program, *limit, "-max_len=16384", "-timeout=20", "-rss_limit_mb=2048",
            "-print_final_stats=1", f"-artifact_prefix={folder}/crash/", *corpora]


def show_artifacts(folder):
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            data = file.read()
        with open(name, "wb") as file:
            file.write(data)
        print(f"{name} (in {os.getcwd()}), base64: {base64.b64encode(data).decode()}")


def run(command_line):
    return subprocess.run(command_line, env={**os.environ, **SANITIZERS},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False)


def executions(text):
    found = re.search(r"^stat::number_of_executed_units:\s+(\d+)", text, re.M)
    return int(found[1]) if found else 0


def edges(program, corpora):
    """Edges of the code the target is meant for: all, and those some input went over."""
    result = run([program, "-runs=0", *corpora])
    counters = sum(int(n) for n in re.findall(r"\((\d+) inline 8-bit counters\)", result.stdout))
    covered = re.findall(r"INITED cov: (\d+)", result.stdout)
    if result.returncode != 0 or counters == 0 or not covered:
        sys.exit(f"{program}: failed with status {result.returncode}\n{result.stdout[-2000:]}")
    return counters, int(covered[-1])


def report(args, folder, name, text):
    line = f"fuzz {name}: {executions(text)} executions"
    if args.count:
        counters, covered = edges(args.count, [args.grow or folder, args.corpus])
        line += f", {covered} of {counters} edges ({100 * covered // counters} %)"
    print(line)


def check_failure(name, result, artifacts):
    """What a target with a mistake in it must come to."""
    found = re.search(r"not true: .*|ERROR: AddressSanitizer: .*|runtime error: .*", result.stdout)
    if result.returncode == 0 or not found or not os.listdir(artifacts):
        print(result.stdout[-20000:])
        sys.exit(f"{name}: the mistake was not found, status {result.returncode}")
    print(f"fuzz {name}: found: {found[0]}")


def main():
    args = arguments()
    name = os.path.basename(args.program).removeprefix("fuzz_")
    if not os.listdir(args.corpus):
        sys.exit(f"{name}: no corpus in '{args.corpus}'")
    with tempfile.TemporaryDirectory() as folder:
        artifacts = os.path.join(folder, "crash")
        os.mkdir(artifacts)
        result = run(command(args, folder))
        if args.must_fail:
            check_failure(name, result, artifacts)
        elif result.returncode != 0 or executions(result.stdout) == 0:
            print(result.stdout[-20000:])
            show_artifacts(artifacts)
            sys.exit(f"{name}: failed with status {result.returncode}")
        else:
            report(args, folder, name, result.stdout)


if __name__ == "__main__":
    main()
