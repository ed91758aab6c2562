# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Reports in JSON, read such that an error names file and field."""

import json
import math

SCHEMAS = {
    "dpdk-memic-perf/1": "dpdk-memic-perf --json",
    "dpdk-memic-demo/1": "devtools/demo.sh",
    "dpdk-memic-sweep/1": "devtools/sweep.sh",
}


class BadInput(Exception):
    """Something about a report is not as it should be."""


class Node:
    """An object within a report, which knows where it is."""

    def __init__(self, value, path, where=""):
        self.value = value
        self.path = path
        self.where = where

    def __contains__(self, field):
        return field in self.value

    def fail(self, field, text):
        name = f"{self.where}.{field}" if self.where else field
        raise BadInput(f"{self.path}: {name}: {text}")

    def get(self, field, kind, what):
        if field not in self.value:
            self.fail(field, "is missing")
        value = self.value[field]
        # to Python a bool is an int
        if not isinstance(value, kind) or isinstance(value, bool):
            self.fail(field, f"is not {what}")
        return value

    def text(self, field):
        return self.get(field, str, "text")

    def number(self, field, positive=False):
        """A number; of those that are 0 or less, none have a place on some axes."""
        value = self.get(field, (int, float), "a number")
        if not math.isfinite(value) or value < 0:
            self.fail(field, f"{value} is no amount")
        if positive and value == 0:
            self.fail(field, "is 0, which cannot be measured")
        return value

    def items(self, field):
        """Objects of a list."""
        found = self.get(field, list, "a list")
        for index, item in enumerate(found):
            if not isinstance(item, dict):
                self.fail(f"{field}[{index}]", "is not an object")
        where = f"{self.where}.{field}" if self.where else field
        return [Node(item, self.path, f"{where}[{index}]") for index, item in enumerate(found)]


def parse(path):
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as err:
        reason = err.strerror if isinstance(err, OSError) else f"not UTF-8: {err.reason}"
        raise BadInput(f"{path}: cannot be read: {reason}") from err
    if not text.strip():
        raise BadInput(f"{path}: is empty")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as err:
        raise BadInput(f"{path}: is not JSON: {err}") from err


def load(path, needed):
    """The report in a file, which must have a list of that name."""
    value = parse(path)
    if not isinstance(value, dict):
        raise BadInput(f"{path}: is not a JSON object")
    report = Node(value, path)
    schema = report.text("schema")
    if schema not in SCHEMAS:
        report.fail("schema", f"'{schema}' is none of those known here: {', '.join(SCHEMAS)}")
    if needed not in report:
        report.fail(needed, f"is missing, as {SCHEMAS[schema]} writes none")
    return report
