#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Get an example program of DPDK out of its documentation, as distributions ship it.

usage: example.py PAGE.html OUT.c

Debian installs no sources of examples, but the pages of the package dpdk-doc hold them
line by line.
"""

import html.parser
import sys


class Lines(html.parser.HTMLParser):
    """Text of the elements <div class="line"> of the page's first fragment."""

    def __init__(self):
        super().__init__()
        self.lines, self.depth, self.fragment = [], 0, 0

    def handle_starttag(self, tag, attrs):
        if tag != "div":
            return
        kind = dict(attrs).get("class")
        if kind == "fragment":
            self.fragment += 1
        if self.depth or kind == "line" and self.fragment == 1:
            self.depth += 1
            if self.depth == 1:
                self.lines.append("")

    def handle_endtag(self, tag):
        if tag == "div" and self.depth:
            self.depth -= 1

    def handle_data(self, data):
        if self.depth:
            self.lines[-1] += data.replace("\xa0", " ")


def main():
    page = Lines()
    with open(sys.argv[1], encoding="utf-8") as file:
        page.feed(file.read())
    if not any("main(" in line for line in page.lines):
        sys.exit(f"{sys.argv[0]}: no program in '{sys.argv[1]}'")
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write("".join(line.rstrip() + "\n" for line in page.lines))


main()
