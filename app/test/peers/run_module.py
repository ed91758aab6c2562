# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Run one module of rdma-core's tests and write one JSON line per test.

usage: run_module.py FOLDER MODULE SEED REPORT

Runs under mlx5emu. FOLDER is the one that the package "tests" lies in.
"""

import gc
import importlib
import json
import os
import random
import sys
import unittest

from pyverbs.device import Context

DEVICE = "mlx5_0"


def close_contexts():
    """Close what a test left open, and first what holds the rest.

    A test that is skipped half way leaves cycles. Collected as they are, a context may go before
    its queues, which pyverbs then destroys in memory that is freed.
    """
    for thing in gc.get_objects():
        if isinstance(thing, Context):
            thing.close()
    gc.collect()


class Report(unittest.TestResult):
    """Outcome of each test: "pass", "skip" with its reason or "fail" with the last line."""

    def __init__(self, file, seed):
        super().__init__()
        self.file = file
        self.seed = seed
        self.pid = os.getpid()
        self.outcome = None

    def startTest(self, test):
        super().startTest(test)
        self.outcome = ("pass", "")
        # what the tests draw depends on the test and the seed only, not on its neighbours
        random.seed(f"{self.seed}:{test.id()}")

    def stopTest(self, test):
        super().stopTest(test)
        # a child that the test made and forgot is no test of its own
        if os.getpid() != self.pid:
            os._exit(0)
        close_contexts()
        name = test.id().removeprefix("tests.")
        self.file.write(json.dumps([name, *self.outcome]) + "\n")
        self.file.flush()

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.outcome = ("skip", reason)

    def addError(self, test, err):
        super().addError(test, err)
        self.outcome = ("fail", f"{err[0].__name__}: {err[1]}".splitlines()[0])
        print(self.errors[-1][1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.outcome = ("fail", f"{err[0].__name__}: {err[1]}".splitlines()[0])
        print(self.failures[-1][1])


def main():
    folder, module, seed, report = sys.argv[1:]
    tests = os.path.join(folder, "tests")
    # the package's own __init__ imports all modules; one needs none but those it imports
    sys.path[:0] = [folder, tests]
    package = type(sys)("tests")
    package.__path__ = [tests]
    sys.modules["tests"] = package
    sys.argv[1:] = ["--dev", DEVICE, "--port", "1"]
    importlib.import_module("args_parser").parser.parse_args()
    # the modules import each other in circles that only this order gets through
    importlib.import_module("tests.utils")
    gc.disable()
    found = unittest.defaultTestLoader.loadTestsFromName("tests." + module)
    with open(report, "w", encoding="utf-8") as file:
        found.run(Report(file, seed))


main()
