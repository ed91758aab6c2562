# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""What the tests of the testpmd plugin share: testpmd with both plugins loaded."""

import os
import re

from harness import Failure, Testpmd, expect, plugin_arguments

POOL = "mb_pool_0"
# 256 KiB hold 157 buffers of this size, which is more than the rings do
APP = ["--rxd=64", "--txd=64", "--burst=16", "--mbuf-size=1664", "--mbcache=64",
       "--total-num-mbufs=2048"]
SLOTS = 157


def plugin(build):
    return os.path.join(build.folder, "app/testpmd-memic/libtestpmd_memic.so")


class Console(Testpmd):
    """testpmd with the plugin ahead of the driver, or alone if driver is None.

    Pools use the driver's ops only if a flag or EAL option says so.
    """

    def __init__(self, build, flags=(), emu=("--memic", "256K"), eal=(), driver=True, env=None,
                 **more):
        env = dict(os.environ if env is None else env)
        eal = [*plugin_arguments(plugin(build), env), *eal]
        if driver:
            eal += plugin_arguments(build.plugin, env)
        super().__init__(build, emu, eal, [*APP, *flags], pool=None, env=env, **more)

    def table(self, command, head, seconds=30, nth=0):
        """Rows of the table of a command's output whose header begins with a word."""
        return rows_of(self.run(command, seconds), head, nth)


def rows_of(output, head, nth=0):
    """Rows as dictionaries, of the nth such table; columns line up, numbers to the right.

    Columns are at least two blanks apart, words within a header or cell one.
    """
    # what was erased on the line, as messages of progress
    output = re.sub(r"[^\n]*\x1b\[K", "", output)
    lines = output.replace("\r", "").splitlines()
    starts = [i for i, line in enumerate(lines) if re.match(rf"  +{re.escape(head)}(  |$)", line)]
    if len(starts) <= nth:
        raise Failure(f"no table '{head}' in: {output}")
    header = lines[starts[nth]]
    heads = [(m.group(), m.start(), m.end()) for m in re.finditer(r"\S+( \S+)*", header)]
    rows = []
    for line in lines[starts[nth] + 1:]:
        cells = [(m.group(), m.start(), m.end()) for m in re.finditer(r"\S+( \S+)*", line)]
        if not line.startswith("  ") or len(cells) != len(heads):
            break
        for (name, left, right), (_, start, end) in zip(heads, cells):
            expect(start == left or end == right, f"column '{name}' is askew: {output}")
        rows.append({name: text for (name, *_), (text, *_) in zip(heads, cells)})
    return rows


def only(rows):
    """The one row of a table."""
    if len(rows) != 1:
        raise Failure(f"not one row: {rows}")
    return rows[0]
