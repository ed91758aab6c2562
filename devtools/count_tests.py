# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Sum up meson's testlog.json files: logs of what failed, then the one line to read.

usage: count_tests.py [--of WHAT] LOG...      (WHAT begins the line, default "tests")
"""

import argparse
import json
import sys

PASSED = {"OK"}
# what is known not to work yet has not passed, and is named
SKIPPED = {"SKIP", "IGNORED", "EXPECTEDFAIL"}


def load(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def show(test):
    print(f"---- {test['name']}: {test['result']} after {test['duration']:.1f} s")
    for stream in ("stdout", "stderr"):
        if test.get(stream):
            print(test[stream].rstrip())
    print("----")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--of", default="tests")
    parser.add_argument("paths", nargs="+")
    arguments = parser.parse_args()
    of, paths = arguments.of, arguments.paths
    tests = [test for path in paths for test in load(path)]
    passed = sum(test["result"] in PASSED for test in tests)
    skipped = sum(test["result"] in SKIPPED for test in tests)
    failed = [test for test in tests if test["result"] not in PASSED | SKIPPED]
    for test in failed:
        show(test)
    for test in tests:
        if test["result"] in SKIPPED:
            print(f"{test['result'].lower()}: {test['name']}")
    for test in failed:
        print(f"failed: {test['name']}")
    print(f"{of}: {passed} passed, {len(failed)} failed, {skipped} skipped")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
