# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""rdma-core's own tests on the software card, compared with what expected.txt says, and later.txt
of releases after the first.

usage: rdma_core.py BUILD_FOLDER MODULE [SEED]
       rdma_core.py BUILD_FOLDER list MODULE...

A difference in either direction is a failure: a test that passes though it is listed as
skipped as much as one that fails though it is listed to pass. "list" runs nothing: it wants
each module of the package to be in expected.txt, and each that is not "out" there to be among
those given, which the build runs.
"""

import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
import harness  # noqa: E402

SHIPPED = "/usr/share/doc/rdma-core/tests"  # package python3-pyverbs
NEEDED = {"pyverbs": "python3-pyverbs", "scapy": "python3-scapy"}
HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"
STATES = ("pass", "skip", "fail", "out")


def lines_of(name):
    """Number of the line, text and words of each line that says something."""
    path = os.path.join(HERE, name)
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip() and not line.startswith("#"):
                yield f"{path}:{number}: wrong or double: {line.strip()}", line.split()


def read_line(expected, complaint, words, again):
    """Take a test's state into {module: {test id: (state, why)}}."""
    name, state, why = (*words, "", "")[0], (*words, "")[1], " ".join(words[2:])
    tests = expected.setdefault(name.split(".")[0], {})
    if state == "gone" and again and not why and name in tests:
        del tests[name]
    elif (state not in STATES or (state == "pass") != (why == "") or
            name in tests and (not again or tests[name] == (state, why))):
        raise harness.Failure(complaint)
    else:
        tests[name] = (state, why)


def read_expected():
    """{module: {test id: (state, why)}}; the id of a whole module is its name."""
    expected = {}
    release = rdma_core_release()
    for complaint, words in lines_of("expected.txt"):
        read_line(expected, complaint, words, False)
    for complaint, words in lines_of("later.txt"):
        if int(words[0]) <= release:
            read_line(expected, complaint, words[1:], True)
    return {module: tests for module, tests in expected.items() if tests}


def rdma_core_release():
    """The library's version, as 1.14.44.0, has it behind its own."""
    version = subprocess.run(["pkg-config", "--modversion", "libibverbs"], check=True,
                             capture_output=True, text=True).stdout
    return int(version.split(".")[2])


def is_out(module, tests):
    return module in tests and tests[module][0] == "out"


def shipped_modules():
    names = (name.removesuffix(".gz") for name in os.listdir(SHIPPED))
    return {name.removesuffix(".py") for name in names
            if name.startswith("test_") and name.endswith(".py")}


def unpack(folder):
    """The tests as they are before Debian compresses the large ones."""
    tests = os.path.join(folder, "tests")
    os.mkdir(tests)
    for name in os.listdir(SHIPPED):
        source = os.path.join(SHIPPED, name)
        target = os.path.join(tests, name.removesuffix(".gz"))
        with (gzip.open if name.endswith(".gz") else open)(source, "rb") as packed:
            with open(target, "wb") as file:
                shutil.copyfileobj(packed, file)


def run_module(build, folder, module, seed):
    """{test id: (state, why)} as the tests say."""
    report = os.path.join(folder, module + ".json")
    command = [PYTHON, "-W", "ignore", os.path.join(HERE, "run_module.py"), folder, module, seed,
               report]
    # tests of raw packet QPs ask for user 0, not for the capability
    if os.geteuid() != 0:
        command[:0] = ["unshare", "--map-root-user"]
    with harness.Program(build, command) as program:
        status = program.wait_exit(110)
        if status != 0:
            raise harness.Failure(f"{module} ended with status {status}")
        # there are none where no test opened the card
        stats = program.stats() if os.path.exists(program.stats_path) else {}
        text = program.tail(1000)
    for name in ("leaked_objects", "protection_errors"):
        harness.expect(stats.get(name, 0) == 0, f"{module}: {name} is {stats.get(name)}")
    with open(report, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return {name: (state, why) for name, state, why in lines}, text


def compare(module, expected, results):
    """Print what differs; the number of differences."""
    differences = 0
    for name in sorted(expected.keys() | results.keys()):
        want, got = expected.get(name), results.get(name)
        if want is None:
            print(f"not in expected.txt: {name} {' '.join(got)}")
        elif got is None:
            print(f"in expected.txt, but there is no such test: {name}")
        elif want[0] == got[0] and (want[0] != "skip" or want[1] == got[1]):
            continue
        else:
            print(f"{name}: expected {' '.join(want)}, is {' '.join(got)}")
        differences += 1
    states = [state for state, _ in results.values()]
    print(f"{module}: " + ", ".join(f"{states.count(state)} {state}" for state in STATES[:3]))
    return differences


def check_list(expected, run):
    """Each module of the package is listed, and runs or is out."""
    out = {module for module, tests in expected.items() if is_out(module, tests)}
    complaints = (
        ("not in expected.txt", shipped_modules() - expected.keys()),
        (f"in expected.txt, but not in {SHIPPED}", expected.keys() - shipped_modules()),
        ("neither run nor out", expected.keys() - out - run),
        ("out and run", out & run),
        ("out, but tests of it are listed", {name for name in out if len(expected[name]) > 1}),
    )
    for text, modules in complaints:
        for module in sorted(modules):
            print(f"{text}: {module}")
    print(f"{len(run)} modules run, {len(out)} are out")
    return sum(len(modules) for _, modules in complaints)


def check_packages():
    for module, package in NEEDED.items():
        if not os.path.exists(os.path.join("/usr/lib/python3/dist-packages", module)):
            raise harness.Skip(f"package {package} is not installed")
    if not os.path.isdir(SHIPPED):
        raise harness.Skip(f"package python3-pyverbs has no tests in {SHIPPED}")


def check_one(build, module, seed):
    expected = read_expected().get(module, {})
    with tempfile.TemporaryDirectory(prefix="rdma-core.", dir=build.folder) as folder:
        unpack(folder)
        results, text = run_module(build, folder, module, seed)
    differences = compare(module, expected, results)
    if differences:
        print(text)
    return differences


def main():
    if len(sys.argv) < 3:
        print(__doc__)
        sys.exit(2)
    build, what, *rest = sys.argv[1:]
    try:
        check_packages()
        if what == "list":
            differences = check_list(read_expected(), set(rest))
        else:
            differences = check_one(harness.Build(build), what, (rest or ["1"])[0])
    except harness.Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    except harness.Failure as failure:
        print(f"failed: {failure}")
        sys.exit(1)
    sys.exit(1 if differences else 0)


main()
