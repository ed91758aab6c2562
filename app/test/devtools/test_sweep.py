# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""devtools/sweep: what is measured again and what is not, and the page that comes of it."""

import html.parser
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import redirect_stdout

from harness import Failure, Skip, expect
from harness import main as run_case
from svg import Plot

DEVTOOLS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../../devtools")
SWEEP = os.path.join(DEVTOOLS, "sweep")
sys.path[:0] = [SWEEP, DEVTOOLS]

# the line above shows where these are
import cells as runs  # noqa: E402
import matrix  # noqa: E402
import progress  # noqa: E402
from environment import BUILT, TITLES, differences, digest, environment  # noqa: E402
from store import Store  # noqa: E402

CARD = ("--preset", "cx7")


class Job:
    """Counts how often it runs; fails if told so."""

    def __init__(self, name, fails=False):
        self.name, self.fails, self.times = name, fails, 0

    def arguments(self):
        return {"frames": 5}

    def run(self, _):
        self.times += 1
        if self.fails:
            raise Failure("stuck: 1 of 5 frames")
        return {"results": [self.name]}


def measure(jobs, store, limit=100):
    """Results, failures and what was said."""
    output = io.StringIO()
    with redirect_stdout(output):
        results, failed = progress.measure(None, jobs, store, limit)
    return results, failed, output.getvalue()


def goes_on(_):
    """What is there is not run again; what failed is."""
    jobs = [Job("a"), Job("b", fails=True), Job("c")]
    with tempfile.TemporaryDirectory() as folder:
        results, failed, said = measure(jobs, Store(folder, {"cpu": "x"}))
        expect(failed == {"b": "stuck: 1 of 5 frames"} and results[jobs[1]] is None, f"{failed}")
        expect(results[jobs[2]] == {"results": ["c"]}, "the one after it was not run")
        expect("[2/3] b: failed: stuck: 1 of 5 frames" in said and "there from before" not in said,
               said)
        jobs[1].fails = False
        results, failed, said = measure(jobs, Store(folder, {"cpu": "x"}))
        expect([job.times for job in jobs] == [1, 2, 1], f"{[job.times for job in jobs]}")
        expect("there from before: 2 of 3 runs" in said and not failed, said)
        expect(results[jobs[0]] == {"results": ["a"]}, f"{results}")


def check_digest(build):
    """Each program and library of the build that takes part counts."""
    with tempfile.TemporaryDirectory() as folder:
        for name in BUILT:
            os.makedirs(os.path.join(folder, os.path.dirname(name)), exist_ok=True)
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                file.write("0")
        digests = [digest(folder)]
        for name in BUILT:
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                file.write("1")
            digests.append(digest(folder))
    expect(len(set(digests)) == len(digests), "a change was not noticed")
    known = {os.path.realpath(os.path.join(build.folder, name)) for name in BUILT}
    expect(any("librte_pmd_mlx5_memic" in name for name in known), f"no driver in {known}")
    for name in known:
        needed = subprocess.run(["ldd", name], capture_output=True, text=True, check=True).stdout
        for path in re.findall(r"=> (/\S+)", needed):
            expect(not path.startswith(build.folder + "/") or os.path.realpath(path) in known,
                   f"{name} needs {path}")


def stale(build):
    """Another build or machine measures anew, with a word; another commit alone does not."""
    now = environment(build.folder, CARD)
    unknown = {what for what, value in now.items() if value == "unknown"}
    # of a tarball, or where there is no git, nobody knows the commit
    expect(set(now) == set(TITLES) and unknown <= {"commit"}, f"{now}")
    expect(differences({**now, "commit": "f00"}, now) == [], "the commit counts")
    check_digest(build)
    with tempfile.TemporaryDirectory() as folder:
        job = Job("a")
        measure([job], Store(folder, now))
        times = 1
        for changed, words in (
                ({**now, "commit": "f00"}, None),
                ({**now, "build": "0" * 16}, "measured with another build, and now anew: 1 of 1"),
                ({**now, "kernel": "Linux 9", "cpu": "Z80"}, "with another CPU, kernel, build"),
                (now, "with another CPU, kernel")):
            _, _, said = measure([job], Store(folder, changed))
            times += words is not None
            expect(job.times == times and (words is None or words in said), f"{times}: {said}")
        job.arguments = lambda: {"frames": 6}
        said = measure([job], Store(folder, now))[2]
        expect("measured with other arguments" in said, said)
        path = os.path.join(folder, "a.json")
        for text in ("", "[]", "{}", '{"schema": "dpdk-memic-cell/1", "environment": 1}'):
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
            said = measure([job], Store(folder, now))[2]
            expect("into a file that cannot be read" in said, f"{text}: {said}")
        with open(path, encoding="ascii") as file:
            text = file.read()
        with open(path, "w", encoding="ascii") as file:
            file.write(text.replace("dpdk-memic-cell/1", "dpdk-memic-cell/0"))
        said = measure([job], Store(folder, now))[2]
        expect("by another version of this script" in said, said)


def limit(_):
    """No run begins after the limit, and those before it stay."""
    jobs = [Job("a"), Job("b")]
    jobs[0].run = lambda _: time.sleep(0.2) or {"results": []}
    with tempfile.TemporaryDirectory() as folder:
        try:
            measure(jobs, Store(folder, {}), 0.1)
        except progress.TimeIsUp as err:
            expect("1 of 2 runs" in str(err), str(err))
        else:
            raise Failure("went on")
        expect(os.listdir(folder) == ["a.json"] and jobs[1].times == 0, f"{os.listdir(folder)}")


def cells(_):
    """The matrix is what the plots want, and nothing is run twice."""
    jobs = matrix.whole(CARD)
    names = [job.name for job in jobs]
    expect(len(set(names)) == len(names), "a name twice")
    found = [job.cell for job in jobs if isinstance(job, matrix.TestpmdJob)]
    for pool in ("host", "device", "split"):
        sizes = [cell.frame_bytes for cell in found if cell[0] == pool and cell[2:] == (64, 0)]
        expect(sizes[0] == 64 and sizes[-1] == 9000 and len(sizes) >= 8, f"{pool}: {sizes}")
    caches = {(cell.ring, cell.cache) for cell in found
              if cell.pool == "device" and cell.frame_bytes == 1500}
    expect(len(caches) == len(matrix.RINGS) * len(matrix.CACHES), f"{caches}")
    for cell in found:
        room = runs.room_for(cell.frame_bytes)
        expect(room % 64 == 0 and room >= 128 + cell.frame_bytes, f"{cell}: {room}")


class Page(html.parser.HTMLParser):
    """Tags that are open, and all that would be fetched."""

    EMPTY = {"meta", "br", "hr", "img", "link"}

    def __init__(self, text):
        super().__init__()
        self.open, self.refers, self.ids, self.words = [], [], [], []
        self.feed(text)
        expect(not self.open, f"not closed: {self.open}")
        expect(not self.refers, f"refers to {self.refers}")
        expect(len(set(self.ids)) == len(self.ids), "an id twice")

    def handle_starttag(self, tag, attrs):
        if tag not in self.EMPTY:
            self.open.append(tag)
        for name, value in attrs:
            value = value or ""
            if name == "id":
                self.ids.append(value)
            if name in ("src", "href", "xlink:href", "data") and not value.startswith("#"):
                self.refers.append(value)
            if "://" in value or "@import" in value:
                self.refers.append(value)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.EMPTY:
            self.open.pop()

    def handle_endtag(self, tag):
        expect(self.open and self.open.pop() == tag, f"</{tag}> closes nothing")

    def handle_data(self, data):
        self.words.append(data.strip())


def page(_):
    """Whatever a name has in it, it is text; plots without data are named."""
    cell = {"pool": "device", "frame_bytes": 64, "ring": 64, "cache": 0, "frames": 10,
            "device_slots": 157, "device_peak": 100, "host_payload_bytes": 0,
            "memic_payload_bytes": 1280, "inline_bytes": 0, "other_bytes": 1000}
    env = {name: f"<b>{name}&" for name in TITLES}
    with tempfile.TemporaryDirectory() as folder:
        path, missing = progress.write_report(folder, env, {1: {"cells": [cell]}},
                                              {"host-64": "<stuck> & 'gone'"})
        with open(path, encoding="utf-8") as file:
            words = Page(file.read()).words
        for name in ("pcie", "share"):
            expect(os.path.exists(os.path.join(folder, name + ".png")), f"no {name}")
    expect(set(missing) == {"host-64", "plot get-put", "plot create-start"}, f"{missing}")
    for text in ("<b>cpu&", "<stuck> & 'gone'", "Not measured", "100.0"):
        expect(text in words, f"no {text}: {words}")


def start(build, folder, *options):
    return subprocess.Popen([sys.executable, SWEEP, build.folder, "--quick", "--output", folder,
                             *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def quick(build):
    """Interrupted after two runs, it goes on with the third; figures are the card's."""
    with tempfile.TemporaryDirectory() as folder:
        with start(build, folder) as sweep:
            said = [sweep.stdout.readline() for _ in range(2)]
            sweep.send_signal(signal.SIGINT)
            said.append(sweep.stdout.read())
        expect(sweep.returncode == 130, f"status {sweep.returncode}: {said}")
        expect("interrupted; the same call goes on from here" in said[-1], f"{said}")
        done = sorted(os.listdir(os.path.join(folder, "cells")))
        expect(len(done) == 2 and os.listdir(folder) == ["cells"], f"{os.listdir(folder)}, {done}")
        with start(build, folder) as sweep:
            said = sweep.stdout.read()
        expect(sweep.returncode == 0, f"status {sweep.returncode}: {said}")
        print(said)
        expect("there from before: 2 of 7 runs" in said and "[7/7]" in said, said)
        check_report(folder)
    with start(build, "/proc/nosuch") as sweep:
        said = sweep.stdout.read()
    expect(sweep.returncode == 1 and said.startswith("sweep failed: /proc/nosuch"), said)
    with start(build, folder, "--preset", "nosuch") as sweep:
        said = sweep.stdout.read()
    expect(sweep.returncode == 1 and "nosuch" in said and not os.path.exists(folder), said)


def check_report(folder):
    with open(os.path.join(folder, "results.json"), encoding="utf-8") as file:
        report = json.load(file)
    for cell in report["cells"]:
        size, frames = cell["frame_bytes"], cell["frames"]
        header = {"host": size, "device": 0, "split": 64}[cell["pool"]]
        expect(cell["host_payload_bytes"] == 2 * header * frames, f"{cell}")
        expect(cell["memic_payload_bytes"] == 2 * (size - header) * frames, f"{cell}")
        expect((cell["device_slots"] == 157) == (cell["pool"] != "host"), f"{cell}")
    with open(os.path.join(folder, "report.html"), encoding="utf-8") as file:
        text = file.read()
    found = Page(text)
    expect(text.count("<svg") == 4, "not four plots")
    for title, value in ((TITLES[name], report["environment"][name]) for name in TITLES):
        expect(title in found.words and value in found.words, f"no {title}")
    plot = Plot(os.path.join(folder, "pcie.svg"))
    expect(len(plot.series) == 3, f"{list(plot.series)}")


def case(function):
    def checked(build):
        if shutil.which("gnuplot") is None:
            raise Skip("gnuplot is not there")
        function(build)
    return checked


run_case({function.__name__: case(function) for function in (
    stale, goes_on, limit, cells, page, quick)})
