# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Reads plots back: texts, series, and where on the axes their markers and boxes are."""

import math
import re
import xml.etree.ElementTree as ET

NS = {"svg": "http://www.w3.org/2000/svg"}
HREF = "{http://www.w3.org/1999/xlink}href"


def at(element):
    """Where an element is moved to."""
    x, y = re.match(r"translate\(([-\d.]+),([-\d.]+)\)", element.get("transform", "")).groups()
    return float(x), float(y)


class Plot:
    """A drawing by devtools/plot."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        self.root = ET.fromstring(self.text)
        self.title = self.root.find("svg:title", NS).text
        # (text, x, y)
        self.texts = [("".join(group.itertext()).strip(), *at(group))
                      for group in self.root.iterfind(".//svg:g[@text-anchor]", NS)]
        self.words = [text for text, _, _ in self.texts]
        self.series = {group.find("svg:title", NS).text: group
                       for group in self.root.iterfind(".//svg:g[@id]", NS)
                       if re.search(r"_plot_\d+$", group.get("id"))}

    def ticks(self, axis):
        """(value, place) of the ticks of an axis, 0 the horizontal one, that are numbers."""
        anchor = ("middle", "end")[axis]
        for group in self.root.iterfind(".//svg:g", NS):
            mark, text = group.find("svg:path", NS), group.find("svg:g[@text-anchor]", NS)
            if mark is None or text is None or text.get("text-anchor") not in (anchor, "start"):
                continue
            value = "".join(text.itertext()).strip()
            start, end = re.findall(r"[ML]([-\d.]+),([-\d.]+)", mark.get("d"))[:2]
            # the mark is short, and across its axis
            if re.fullmatch(r"[\d.]+", value) and start[axis] == end[axis]:
                yield float(value), float(start[axis])

    def values(self, axis, log):
        """A function from a place to a value, as the outermost ticks say."""
        found = sorted(self.ticks(axis))
        (low, low_at), (high, high_at) = found[0], found[-1]
        scale = math.log if log else float
        back = math.exp if log else float
        step = (scale(high) - scale(low)) / (high_at - low_at)
        return lambda place: back(scale(low) + (place - low_at) * step)

    def markers(self, label):
        """Places of a series' markers; the last one is that of the legend."""
        return [at(use) for use in self.series[label].iterfind(".//svg:use", NS)][:-1]

    def marker_kind(self, label):
        """Shape: the definition is for all plots of one name, so the end of it."""
        return {re.search(r"Pt\d+$", use.get(HREF))[0]
                for use in self.series[label].iterfind(".//svg:use", NS)}

    def dashes(self, label):
        return {path.get("stroke-dasharray")
                for path in self.series[label].iterfind(".//svg:path", NS)}

    def boxes(self, label):
        """(middle, top) of a series' bars; the first one is that of the legend."""
        found = []
        for box in self.series[label].iterfind(".//svg:polygon", NS):
            xs, ys = zip(*((float(x), float(y)) for x, y in
                           re.findall(r"([-\d.]+),([-\d.]+)", box.get("points"))))
            found.append(((min(xs) + max(xs)) / 2, min(ys)))
        return found[1:]

    def hatches(self, label):
        """What the bars are filled with."""
        pattern = self.series[label].find(".//svg:pattern", NS)
        if pattern is None:
            return "plain " + self.series[label].find(".//svg:polygon", NS).get("fill")
        return " ".join(path.get("d") for path in pattern.iter(f"{{{NS['svg']}}}path"))
