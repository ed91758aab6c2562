# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Runs what there are no results of, says how far it is, and writes down what came out."""

import os
import time

import harness
from page import page
from plots.draw import draw
from plots.figures import FIGURES, device_share, pcie_per_frame
from plots.inputs import BadInput, Node
from store import write_json

SCHEMA = "dpdk-memic-sweep/1"


class TimeIsUp(Exception):
    """The limit of the whole sweep."""


def summary(result):
    """What one run showed, in a few words."""
    for cell in result.get("cells", ()):
        run = Node(cell, "cell")
        return (f"{pcie_per_frame(run):.1f} B over PCIe per frame, {device_share(run):.1f} % "
                "in device memory")
    return f"{len(result['results'])} results"


def say(text, end="\n"):
    print(text, end=end, flush=True)


def measure(build, jobs, store, limit):
    """Results by job, and why some have none. Those of an earlier run are taken over."""
    results = {job: store.load(job) for job in jobs}
    for why, count in store.stale.items():
        say(f"measured {why}, and now anew: {count} of {len(jobs)} runs")
    rest = [job for job in jobs if results[job] is None]
    if len(rest) < len(jobs):
        say(f"there from before: {len(jobs) - len(rest)} of {len(jobs)} runs")
    failed = {}
    start = time.monotonic()
    for index, job in enumerate(rest):
        begun = time.monotonic()
        if begun - start > limit:
            raise TimeIsUp(f"{limit} s are over after {len(jobs) - len(rest) + index} of "
                           f"{len(jobs)} runs")
        say(f"[{len(jobs) - len(rest) + index + 1}/{len(jobs)}] {job.name}: ", end="")
        try:
            results[job] = job.run(build)
        except harness.Failure as failure:
            failed[job.name] = str(failure)
            say(f"failed: {failure}")
            continue
        except KeyboardInterrupt:
            say("")
            raise
        store.save(job, results[job])
        left = (time.monotonic() - start) / (index + 1) * (len(rest) - index - 1)
        say(f"{summary(results[job])}; {time.monotonic() - begun:.1f} s, about {left:.0f} s left")
    return results, failed


def write_report(folder, env, results, failed):
    """results.json, the plots and the page."""
    merged = {"schema": SCHEMA, "environment": env, "cells": [], "results": []}
    for result in results.values():
        for name, items in (result or {}).items():
            merged[name] += items
    path = os.path.join(folder, "results.json")
    write_json(path, merged)
    report, drawings, missing = Node(merged, path), {}, dict(failed)
    for name in ("pcie", "share", "get-put", "create-start"):
        try:
            figure = FIGURES[name][0](report)
            drawings[name] = figure, draw(figure, name, os.path.join(folder, name))[0]
        except BadInput as err:
            missing[f"plot {name}"] = str(err)
    path = os.path.join(folder, "report.html")
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(page(report, drawings, missing))
    os.replace(path + ".new", path)
    return path, missing
