# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""devtools/plot: what is in its drawings, and what it says of input that is none."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from types import SimpleNamespace

from harness import Failure, Skip, expect, main
from svg import Plot

PLOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../../devtools/plot")
sys.path.insert(0, os.path.dirname(PLOT))
LOADER = SourceFileLoader("plot", PLOT)     # the name has no .py
SCRIPT = module_from_spec(spec_from_loader("plot", LOADER))
LOADER.exec_module(SCRIPT)
POOLS = {"host": "host pool", "split": "split pool (64 B of each frame on host)",
         "device": "device pool"}


def cell(pool, size, ring=64, cache=0, host=1000, memic=1000):
    return {"pool": pool, "frame_bytes": size, "ring": ring, "cache": cache, "frames": 10,
            "host_payload_bytes": host, "memic_payload_bytes": memic, "inline_bytes": 10,
            "other_bytes": 200}


def sweep(cells):
    return {"schema": "dpdk-memic-sweep/1", "cells": cells, "results": []}


def timed(test, ops, name, value, **more):
    return {"test": test, "ops": ops, "spill": 0.0, name: value, name + "_p10": value / 2,
            name + "_p90": value * 3, **more}


def perf(results):
    return {"schema": "dpdk-memic-perf/1", "env": {}, "results": results}


PCIE = sweep([cell(pool, size, host=host * size) for size in (64, 1500, 9000)
              for pool, host in (("host", 20), ("split", 3), ("device", 1))])
# by depth of rings and cache
SHARES = {(64, 0): 100, (64, 256): 90, (1024, 0): 12, (1024, 256): 8}
SHARE = sweep([cell("device", 1500, ring, cache, 100 - percent, percent)
               for (ring, cache), percent in SHARES.items()] +
              [cell("device", 64), PCIE["cells"][0]])
GET_PUT = perf([timed("get_put", ops, "cycles_per_object", value * (1 + cache) * lcores,
                      cache=cache, lcores=lcores, bulk=bulk)
                for ops, value in (("ring_mp_mc", 2.0), ("mlx5_memic", 1.5), ("copy", 0.4))
                for cache in (0, 4) for lcores in (1, 2) for bulk in (1, 32)])
CREATE = perf([timed(test, ops, name, value * n, mbufs=n)
               for test, name, value in (("create", "microseconds", 2.0),
                                         ("start", "milliseconds", 0.01))
               for ops in ("ring_mp_mc", "mlx5_memic") for n in (1023, 65536)])
INPUTS = {"pcie": PCIE, "share": SHARE, "get-put": GET_PUT, "create-start": CREATE}


def run(*arguments):
    """The script's main(), which saves the start of a process each time."""
    output, errors = io.StringIO(), io.StringIO()
    sys.argv = [PLOT, *arguments]
    with redirect_stdout(output), redirect_stderr(errors):
        status = SCRIPT.main()
    return SimpleNamespace(returncode=status, stdout=output.getvalue(), stderr=errors.getvalue())


def run_process(*arguments, env=None):
    return subprocess.run([PLOT, *arguments], capture_output=True, text=True, check=False, env=env)


class Folder(tempfile.TemporaryDirectory):
    """A folder with a report in it, and plots of that."""

    def __enter__(self):
        self.path = super().__enter__()
        self.report = os.path.join(self.path, "report.json")
        return self

    def write(self, report):
        with open(self.report, "w", encoding="utf-8") as file:
            file.write(report if isinstance(report, str) else json.dumps(report))

    def plot(self, figure, report, name="out"):
        self.write(report)
        target = os.path.join(self.path, name)
        done = run(figure, self.report, "-o", target)
        if done.returncode != 0:
            raise Failure(f"status {done.returncode}: {done.stderr}")
        expect(done.stdout.split() == [target + ".svg", target + ".png"], done.stdout)
        with open(target + ".png", "rb") as file:
            head = file.read(24)
        expect(head[:8] == b"\x89PNG\r\n\x1a\n", "no PNG")
        expect(int.from_bytes(head[16:20], "big") >= 1200, "too small to print")
        return Plot(target + ".svg")


def check_words(plot, *words):
    for word in words:
        expect(word in plot.words, f"no '{word}' in {plot.words}")


def check_lines(plot, wanted, log):
    """Series by label, and their markers at (x, y), read off the axes."""
    expect(list(plot.series) == list(wanted), f"series {list(plot.series)}")
    to_x, to_y = plot.values(0, log), plot.values(1, log)
    for label, points in wanted.items():
        expect(label in plot.words, f"no '{label}' in the legend")
        got = [(to_x(x), to_y(y)) for x, y in plot.markers(label)]
        expect(len(got) == len(points), f"{label}: {got}, not {points}")
        for (x, y), (want_x, want_y) in zip(got, points):
            # places are hundredths of a pixel
            expect(abs(x - want_x) <= 0.002 * want_x + 0.1, f"{label}: x {x}, not {want_x}")
            expect(abs(y - want_y) <= 0.002 * want_y + 0.1, f"{label}: y {y}, not {want_y}")


def pcie(_):
    with Folder() as folder:
        plot = folder.plot("pcie", PCIE)
    check_words(plot, "frame size without FCS [B]", "bytes over PCIe per frame, in and out [B]",
                "64", "1500", "9000")
    expect("PCIe" in plot.title, plot.title)
    check_lines(plot, {POOLS[pool]: [(size, (host * size + 210) / 10) for size in (64, 1500, 9000)]
                       for pool, host in (("host", 20), ("split", 3), ("device", 1))}, True)


def share(_):
    """Of the size of frames that was run most often, by cache, a line for each ring."""
    with Folder() as folder:
        plot = folder.plot("share", SHARE)
    check_words(plot, "frames in device memory [%]", "cache of each lcore [mbufs]", "0", "256")
    expect("1500" in plot.title, plot.title)
    check_lines(plot, {f"rings of {ring}": [(cache, SHARES[ring, cache]) for cache in (0, 256)]
                       for ring in (64, 1024)}, False)


def create_start(_):
    with Folder() as folder:
        plot = folder.plot("create-start", CREATE)
    check_words(plot, "size of the pool [mbufs]", "time [ms]", "1023", "65536")
    wanted = {}
    for what, each in (("made and freed", 0.002), ("made, port started", 0.01)):
        for ops in ("ring_mp_mc", "mlx5_memic"):
            wanted[f"{what}, {ops}"] = [(n, each * n) for n in (1023, 65536)]
    check_lines(plot, wanted, True)


def get_put(_):
    """Bars of bursts of 32, in the order of their groups, with whiskers."""
    with Folder() as folder:
        plot = folder.plot("get-put", GET_PUT)
    check_words(plot, "get and put [TSC cycles per mbuf]", "cache 0, 1 lcore", "cache 4, 2 lcores")
    expect(list(plot.series) == ["copy of pointers alone", "ring_mp_mc", "mlx5_memic"],
           f"{list(plot.series)}")
    to_y = plot.values(1, True)
    for label, value in (("copy of pointers alone", 0.4), ("ring_mp_mc", 2), ("mlx5_memic", 1.5)):
        got = [to_y(y) for _, y in plot.boxes(label)]
        want = [value, 2 * value, 5 * value, 10 * value]
        expect(len(got) == 4 and all(abs(a - b) < 0.02 * b for a, b in zip(got, want)),
               f"{label}: {got}, not {want}")


def print_(_):
    """Series can be told apart without colour."""
    with Folder() as folder:
        for name in ("pcie", "share", "create-start"):
            plot = folder.plot(name, INPUTS[name])
            looks = {(tuple(plot.marker_kind(label)), tuple(map(str, plot.dashes(label))))
                     for label in plot.series}
            kinds = {tuple(plot.marker_kind(label)) for label in plot.series}
            dashes = {tuple(map(str, plot.dashes(label))) for label in plot.series}
            expect(len(looks) == len(kinds) == len(dashes) == len(plot.series), f"{name}: {looks}")
        plot = folder.plot("get-put", GET_PUT)
        hatches = {plot.hatches(label) for label in plot.series}
        expect(len(hatches) == len(plot.series), f"{hatches}")


def same_bytes(_):
    """The same report gives the same files, whatever the time and the user's settings."""
    with Folder() as folder:
        for name, report in INPUTS.items():
            files = []
            for which in ("a", "b"):
                folder.plot(name, report, which)
                for kind in ("svg", "png"):
                    with open(os.path.join(folder.path, f"{which}.{kind}"), "rb") as file:
                        files.append(file.read())
            expect(files[:2] == files[2:], f"{name} differs")
            expect(not re.search(rb"20\d\d-\d\d|\d\d:\d\d", files[0]), f"a time in {name}")


def names(_):
    """Whatever a name has in it is text."""
    odd = "a'b\"c`touch x`$s0\nexit & <i>{/Symbol a}_x"
    report = perf([timed("create", odd, "microseconds", 5.0, mbufs=n) for n in (512, 1024)])
    with Folder() as folder:
        plot = folder.plot("create-start", report)
        expect(sorted(os.listdir(folder.path)) == ["out.png", "out.svg", "report.json"],
               f"{os.listdir(folder.path)}")
    shown = "made and freed, " + odd.replace("\n", " ")
    expect(shown in plot.words, f"no {shown!r} in {plot.words}")


def without(report, field):
    report = json.loads(json.dumps(report))
    for items in (report.get("cells", ()), report.get("results", ())):
        for item in items:
            item.pop(field, None)
    report.pop(field, None)
    return report


def with_first(report, items, **more):
    report = json.loads(json.dumps(report))
    report[items][0].update(more)
    return report


BAD = (
    ("pcie", "", "is empty"),
    ("pcie", " \n", "is empty"),
    ("pcie", "{", "is not JSON"),
    ("pcie", "[" * 100000, "is not JSON"),
    ("pcie", "PK\x03\x04", "is not JSON"),
    ("pcie", [], "is not a JSON object"),
    ("pcie", without(PCIE, "schema"), "schema: is missing"),
    ("pcie", {**PCIE, "schema": 1}, "schema: is not text"),
    ("pcie", {**PCIE, "schema": "dpdk-memic-sweep/2"}, "schema: 'dpdk-memic-sweep/2' is none"),
    ("pcie", GET_PUT, "cells: is missing, as dpdk-memic-perf --json writes none"),
    ("get-put", without(PCIE, "results"), "results: is missing"),
    ("pcie", sweep([]), "cells: has no run"),
    ("pcie", {**PCIE, "cells": {}}, "cells: is not a list"),
    ("pcie", sweep([1]), "cells[0]: is not an object"),
    ("pcie", without(PCIE, "other_bytes"), "cells[0].other_bytes: is missing"),
    ("pcie", without(PCIE, "ring"), "cells[0].ring: is missing"),
    ("pcie", with_first(PCIE, "cells", frames=0), "cells[0].frames: is 0"),
    ("pcie", with_first(PCIE, "cells", frames=True), "cells[0].frames: is not a number"),
    ("pcie", with_first(PCIE, "cells", frames="10"), "cells[0].frames: is not a number"),
    ("pcie", with_first(PCIE, "cells", inline_bytes=-1), "cells[0].inline_bytes: -1 is no amount"),
    ("pcie", json.dumps(PCIE).replace(": 200", ": NaN", 1),
     "cells[0].other_bytes: nan is no amount"),
    ("pcie", with_first(PCIE, "cells", pool="hots"), "cells[0].pool: 'hots' is none of host"),
    ("share", sweep(PCIE["cells"][:1]), "cells: has no run of a device pool"),
    ("share", with_first(SHARE, "cells", memic_payload_bytes=0),
     "cells[0].memic_payload_bytes: is 0"),
    ("get-put", CREATE, "results: has no get_put with bursts of 32"),
    ("create-start", GET_PUT, "results: has no create or start"),
    ("get-put", without(GET_PUT, "cycles_per_object_p90"), ".cycles_per_object_p90: is missing"),
    ("get-put", without(GET_PUT, "test"), "results[0].test: is missing"),
    ("create-start", with_first(CREATE, "results", microseconds=0),
     "results[0].microseconds: is 0"),
)


def bad_input(_):
    """One sentence that names file and field, and nothing changes."""
    with Folder() as folder:
        target = os.path.join(folder.path, "out")
        for kind in ("svg", "png"):
            with open(f"{target}.{kind}", "w", encoding="ascii") as file:
                file.write("before")
        for figure, report, words in BAD:
            folder.write(report)
            refused(folder, run(figure, folder.report, "-o", target), words)
        with open(folder.report, "wb") as file:
            file.write(b"\xff\xfe\0")
        refused(folder, run("pcie", folder.report, "-o", target), "cannot be read: not UTF-8")
        os.unlink(folder.report)
        refused(folder, run("pcie", folder.report, "-o", target),
                "cannot be read: No such file or directory")


def refused(folder, done, words):
    expect(done.returncode == 1 and done.stdout == "", f"{words}: status {done.returncode}")
    expect(done.stderr.startswith(f"plot: {folder.report}: ") and words in done.stderr and
           len(done.stderr.splitlines()) == 1, f"{words}: {done.stderr}")
    for name in os.listdir(folder.path):
        if name != "report.json":
            with open(os.path.join(folder.path, name), encoding="ascii") as file:
                expect(file.read() == "before", f"{words}: {name} was written")


def bad_output(_):
    with Folder() as folder:
        folder.write(PCIE)
        target = os.path.join(folder.path, "nosuch/out")
        done = run("pcie", folder.report, "-o", target)
        expect(done.returncode == 1 and "nosuch: cannot be written: No such file" in done.stderr,
               done.stderr)
        os.mkdir(os.path.join(folder.path, "out.svg"))
        done = run("pcie", folder.report, "-o", os.path.join(folder.path, "out"))
        expect(done.returncode == 1 and "out.svg: cannot be written: Is a directory" in done.stderr,
               done.stderr)
        expect(sorted(os.listdir(folder.path)) == ["out.svg", "report.json"],
               f"{os.listdir(folder.path)}")
        # nothing but what runs the script itself
        done = run_process("pcie", folder.report, env={"PATH": folder.path})
        expect(done.returncode == 1 and done.stderr ==
               "plot: gnuplot is not there; install the package gnuplot-nox\n", done.stderr)


def usage(_):
    done = run_process("--help")
    expect(done.returncode == 0 and all(name in done.stdout for name in INPUTS), done.stdout)
    for arguments in (["nosuch", "x"], ["pcie"], []):
        done = run_process(*arguments)
        expect(done.returncode == 2 and "usage:" in done.stderr, done.stderr)


def case(function):
    def checked(build):
        if shutil.which("gnuplot") is None:
            raise Skip("gnuplot is not there")
        function(build)
    return checked


main({function.__name__.strip("_"): case(function) for function in (
    get_put, create_start, pcie, share, print_, same_bytes, names, bad_input, bad_output, usage)})
