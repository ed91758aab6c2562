# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Run what the documentation tells to type, on the software card, and compare the output.

usage: test_commands.py BUILD_FOLDER SOURCE_FOLDER marks
       test_commands.py BUILD_FOLDER SOURCE_FOLDER control
       test_commands.py BUILD_FOLDER SOURCE_FOLDER PAGE, a path below SOURCE_FOLDER

Commands run in a folder that looks like the top of the tree, with programs and plugins of
the build folder as if they were installed. EAL gets --no-huge and little memory, wherever
a command starts a program of DPDK.
"""

import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import tty

from blocks import SHELL, Block, literals, read_blocks
from harness import PROMPT, Build, Failure, Program, Skip, expect, lcores
from output import difference

SECONDS = 100


class Session(Program):
    """An interactive program that later blocks of the page talk to."""

    def __init__(self, command, folder, env):  # pylint: disable=super-init-not-called
        self.folder, self.output, self.status, self.command = folder, "", None, [command]
        self.reader, writer = os.openpty()
        tty.setraw(writer)
        self.process = subprocess.Popen(["bash", "-c", command], cwd=folder, env=env,
                                        stdin=subprocess.PIPE, stdout=writer, stderr=writer,
                                        start_new_session=True)
        os.close(writer)
        self.wait_for(PROMPT, SECONDS)

    def __exit__(self, kind, *_):
        folder, self.folder = self.folder, ""  # the page's, which others still use
        super().__exit__(kind)
        self.folder = folder

    def run(self, line):
        start = len(self.output)
        self.send(line)
        if line == "quit":
            expect(self.wait_exit() == 0, f"ended with status {self.status}")
            return self.output[start:]
        end = self.wait_for(PROMPT, SECONDS, start)
        return self.output[start:end]


class Page:
    """A page whose commands run, one after the other, in a folder of their own."""

    def __init__(self, build, source):
        self.folder = tempfile.mkdtemp(prefix="memic.", dir="/tmp")
        self.session = None
        self.env = dict(os.environ, RUNTIME_DIRECTORY=self.folder, TMPDIR=self.folder)
        for name in os.listdir(source):
            if not name.startswith(("build", ".")):
                os.symlink(os.path.join(source, name), os.path.join(self.folder, name))
        os.symlink(build.folder, os.path.join(self.folder, "build"))
        self.env.pop("MEMIC_BUILD", None)
        plugins = [os.path.dirname(build.plugin), os.path.join(build.folder, "app/testpmd-memic")]
        self.put_ahead("LD_LIBRARY_PATH", plugins)
        tools = [os.path.join(build.folder, "app", name)
                 for name in ("mlx5emu", "memic-info", "memic-perf")]
        self.put_ahead("PATH", [self.wrappers(tools), *tools])

    def __enter__(self):
        return self

    def __exit__(self, *details):
        self.end_session(*details)
        shutil.rmtree(self.folder, ignore_errors=True)

    def put_ahead(self, name, folders):
        self.env[name] = ":".join([*folders, *filter(None, [self.env.get(name)])])

    def wrappers(self, tools):
        """Programs of DPDK that know how to do without huge pages and CPUs of their own."""
        folder = os.path.join(self.folder, "bin")
        os.mkdir(folder)
        perf = shlex.quote(os.path.join(tools[2], "dpdk-memic-perf"))
        more = "".join(f'case " $* " in {given}) ;; *) more="$more {add}" ;; esac\n'
                       for given, add in (('*" --no-huge "*', "--no-huge"), ('*" -m "*', "-m 256"),
                                          ('*" -l "*|*" --lcores"*', lcores(2))))
        texts = {
            "dpdk-testpmd": 'exec /usr/bin/dpdk-testpmd $more "$@"',
            "dpdk-memic-perf": 'case " $* " in *" -- "*) ;; *) set -- "$@" -- ;; esac\n'
                               f'exec {perf} "$@" $more',
        }
        for name, text in texts.items():
            path = os.path.join(folder, name)
            with open(path, "w", encoding="ascii") as file:
                file.write(f"#!/bin/sh\n{more}{text}\n")
            os.chmod(path, stat.S_IRWXU)
        return folder

    def end_session(self, *details):
        session, self.session = self.session, None
        if session:
            try:
                if session.status is None and not any(details):
                    session.run("quit")
            finally:
                session.__exit__(*(details or (None, None, None)))

    def shell(self, block, command, typed):
        """Run a command of the shell, the lines typed after it being its input."""
        if block.on:
            command = shlex.join([*block.on, "--", "bash", "-c", command])
        if block.session:
            self.end_session()
            self.session = Session(command, self.folder, self.env)
            return self.session.output
        with subprocess.Popen(["bash", "-c", "set -o pipefail\n" + command], cwd=self.folder,
                              env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace",
                              start_new_session=True) as process:
            try:
                printed, _ = process.communicate("".join(line + "\n" for line in typed), SECONDS)
            except subprocess.TimeoutExpired as err:
                os.killpg(process.pid, 9)
                raise Failure(f"{block}: did not end in {SECONDS} s: {command}") from err
        expect(process.returncode == 0,
               f"{block}: status {process.returncode} of: {command}\n{printed[-4000:]}")
        return printed

    def run(self, block):
        """Run all commands of a block."""
        steps = block.steps()
        while steps:
            prompt, command, shown = steps.pop(0)
            typed = []
            if prompt in SHELL and not block.session:
                while steps and steps[0][0] not in SHELL:
                    _, line, more = steps.pop(0)
                    typed.append(line)
                    shown = [*shown, "...", *more]
            start = time.monotonic()
            if prompt in SHELL:
                printed = self.shell(block, command, typed)
            else:
                expect(self.session, f"{block}: '{command}' has no session on this page")
                printed = self.session.run(command)
            lack = difference(shown, printed, block.figures)
            expect(lack is None, f"{block}: '{command}' did not print: {lack}\n{printed[-4000:]}")
            print(f"{block}: {command.splitlines()[0]}: {len(shown)} lines as shown, "
                  f"{time.monotonic() - start:.1f} s")


def pages(source):
    """All pages with commands, as paths below the source folder."""
    found = [name for name in os.listdir(source) if name.endswith(".md")]
    for folder, _, names in os.walk(os.path.join(source, "doc")):
        found += [os.path.relpath(os.path.join(folder, name), source)
                  for name in names if name.endswith((".rst", ".md"))]
    return sorted(found)


def test_names(build):
    """Names of meson's tests, as meson introspect --tests would print them."""
    path = os.path.join(build.folder, "meson-info/intro-tests.json")
    with open(path, encoding="utf-8") as file:
        return {test["name"] for test in json.load(file)}


def judged(path, tests):
    """Blocks of a page, and what is wrong with how they are written."""
    blocks = read_blocks(path)
    faults = [f"{block}: {fault}" for block in blocks for fault in [block.fault(tests)] if fault]
    return blocks, faults


def inline_faults(build, source, page):
    """Literals in the text that begin with a program of ours name options that it has."""
    tools = {"mlx5emu": "mlx5emu", "dpdk-memic-info": "memic-info", "dpdk-memic-perf": "memic-perf"}
    for line, text in literals(os.path.join(source, page)):
        name, *words = text.split()
        # behind "--" are another program's
        words = words[:words.index("--")] if "--" in words else words
        options = [re.match(r"--[\w-]+", word) for word in words]
        if name.startswith("devtools/") and not os.path.exists(os.path.join(source, name)):
            yield f"{page}:{line}: there is no {name}"
        if name in tools:
            usage = subprocess.run([os.path.join(build.folder, "app", tools[name], name), "--help"],
                                   capture_output=True, text=True, check=True).stdout
            for option in [option[0] for option in options if option]:
                if not re.search(rf"{option}\b", usage):
                    yield f"{page}:{line}: {name} has no option {option}"


def to_run(blocks):
    return [block for block in blocks if block.language == "console" and block.by is None]


def marks(build, source):
    """Every block is written as it should be, and a page with commands to run has a test."""
    tests = test_names(build)
    faults, counts = [], {"run": 0, "by other tests": 0, "not run": 0}
    for page in pages(source):
        blocks, more = judged(os.path.join(source, page), tests)
        faults += more
        faults += inline_faults(build, source, page)
        console = [block for block in blocks if block.language == "console"]
        if to_run(blocks) and f"commands {page}" not in tests:
            faults.append(f"{page}: has commands to run, and no test 'commands {page}'")
        counts["run"] += len(to_run(blocks))
        counts["not run"] += sum(block.by == "nobody" for block in console)
        counts["by other tests"] += sum(block.by not in (None, "nobody") for block in console)
    print(f"blocks of commands: {counts}")
    expect(counts["run"] > 20, "few blocks were found")
    if faults:
        raise Failure("\n".join(faults))


def one_page(build, source, page):
    """Run all commands of a page."""
    blocks, faults = judged(os.path.join(source, page), test_names(build))
    if faults:
        raise Failure("\n".join(faults))
    chosen = to_run(blocks)
    expect(chosen, f"{page}: nothing to run")
    with Page(build, source) as place:
        for block in chosen:
            place.run(block)
    print(f"{page}: {len(chosen)} blocks")


# A program with a prompt.
ECHO = "$ while printf 'testpmd> '; read -r line && [ $line != quit ]; do echo got $line; done"

# What must be found: a mark or a text, and a part of what is said of it. A good one first.
PLANTED = [
    ("run", ["$ echo a; echo b", "a", "b"], None),
    ("run", ["$ echo a; echo b; echo c", "a", "...", "c"], None),
    ("run", ["$ cat", "testpmd> typed", "typed"], None),
    ("run with figures", ["$ echo size 12 at 0x4f", "size 7   at 0x1"], None),
    ("run on mlx5emu", ["$ ibv_devices | grep -c mlx5", "1"], None),
    ("run by TEST", ["$ false"], None),
    ("Not run by a test: it needs a card", ["$ false"], None),
    (None, ["$ true"], "neither run nor marked"),
    ("run", ["true"], "does not begin with a prompt"),
    ("run", ["$ false"], "status 1"),
    ("run", ["$ nosuchprogram --option"], "status 127"),
    ("run", ["$ true | false"], "status 1"),
    ("run", ["$ echo a", "b"], "did not print: b"),
    ("run", ["$ echo a; echo c", "a", "b"], "did not print: b"),
    ("run", ["$ echo a; echo x; echo c", "a", "c"], "did not print: c"),
    ("run", ["$ echo c; echo a", "a", "...", "c"], "did not print: c"),
    ("run", ["$ echo size 12", "size 7"], "did not print"),
    ("run with figures", ["$ echo size", "size 7"], "did not print"),
    ("run", ["testpmd> show"], "no session"),
    ("run as session", [ECHO], None),
    ("run", ["testpmd> a", "got a"], None),
    ("run", ["testpmd> a", "got b"], "did not print: got"),
    ("run", ["testpmd> a", "got a", "testpmd> b", "got a"], "'b' did not print: got"),
    ("run by OTHER", ["$ true"], "there is no test 'OTHER'"),
    ("run sometimes", ["$ true"], "a mark that nobody knows"),
    ("Not run by a test: ", ["$ true"], "a mark that nobody knows"),
]
TEXTS = [
    (["::", "", "    $ true"], "without a language"),
    ([".. code-block:: none", "", "    # mlx5emu --help"], "a command in a block"),
    ([".. code-block:: none", "", "    MLX5_MEMIC=x dpdk-l2fwd -- -p 1"], "a command in a block"),
    ([".. run", "", "Other text.", "", ".. code-block:: console", "", "    $ true"],
     "neither run nor marked"),
    ([".. code-block:: console", "   :caption: Not run by a test: why", "", "    $ true"], None),
    ([".. run", "", ".. code-block:: console", "", "    $ true"], None),
    ([".. code-block:: c", "", "    int make = 0;"], None),
]


def said(place, block):
    fault = block.fault({"TEST"})
    if fault or block.by:
        return fault
    try:
        place.run(block)
    except Failure as err:
        return str(err)
    return None


def control(build, source):
    """Wrong blocks are found, each for its reason."""
    with Page(build, source) as place:
        for mark, text, wanted in PLANTED:
            answer = said(place, Block("planted", 1, "console", text, mark))
            expect((answer is None) == (wanted is None) and (wanted or "") in (answer or ""),
                   f"{mark}: {text}: {answer}, but wanted is: {wanted}")
        path = os.path.join(place.folder, "planted.rst")
        for text, wanted in TEXTS:
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(text) + "\n")
            _, faults = judged(path, {"TEST"})
            expect(len(faults) == (wanted is not None) and (not wanted or wanted in faults[0]),
                   f"{text}: {faults}, but wanted is: {wanted}")
        with open(path, "w", encoding="utf-8") as file:
            file.write("``mlx5emu --memics 0 -- ls --all``, ``mlx5emu --memic 0``, ``devtools/no``")
        faults = list(inline_faults(build, place.folder, "planted.rst"))
        expect(len(faults) == 2, f"an option and a file that are not there, but: {faults}")
    print(f"{len(PLANTED) + len(TEXTS)} planted blocks judged as they should be")


def main(build, source, what):
    try:
        special = {"marks": marks, "control": control}
        if what in special:
            special[what](Build(build), source)
        else:
            one_page(Build(build), source, what)
    except Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    except Failure as err:
        sys.exit(str(err))


if len(sys.argv) != 4 or not re.match(r"\w", sys.argv[3]):
    sys.exit(__doc__)
main(*sys.argv[1:])
