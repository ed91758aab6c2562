# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""The report as one HTML page that needs no other file."""

import html
import re

from environment import TITLES
from plots.figures import device_share, pcie_per_frame

STYLE = """
body { font-family: sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #000; }
table { border-collapse: collapse; margin: 1em 0; }
caption { text-align: left; padding: 0.3em 0; font-style: italic; }
th, td { border-bottom: 1px solid #bbb; padding: 0.2em 0.8em; text-align: right; }
th:first-child, td:first-child { text-align: left; }
figure { margin: 1em 0; }
svg { max-width: 100%; height: auto; }
@media print { details { display: none; } figure, table { break-inside: avoid; } }
"""

# what the text says of each plot
TEXTS = {
    "pcie": "Payload that the card read from or wrote to host memory, payload in descriptors, "
            "descriptors, completions and doorbells, both ways; TLP headers are not in it. Frames "
            "longer than 1500 B are in buffers as long as they are, of which fewer fit into the "
            "card's memory; what does not fit is in host memory.",
    "share": "Payload that the card read from or wrote to its own memory, of all payload. Caches "
             "are those of the pool; each queue has as many Rx as Tx descriptors.",
    "get-put": "Times are of this machine's CPU; the card, which has 1 MiB of MEMIC here, takes no "
               "part in them. "
               "<em>ring_mp_mc again</em> is the same once more: how far the two are apart is "
               "what a difference means here.",
    "create-start": "Times are with a software card of 1 MiB of MEMIC, whose commands take other "
                    "times than a card's.",
}
KINDS = {
    "host": "testpmd's default mempool ops: all in host memory",
    "device": "mempool ops mlx5_memic: in the card's memory, and what does not fit on host",
    "split": "buffer split: the first 64 B of each frame on host, the rest as in a device pool",
}
HEADS = {"pcie": "Bytes over PCIe", "share": "Frames in device memory",
         "get-put": "Get and put", "create-start": "Pools and port starts"}


def esc(text):
    return html.escape(str(text))


def table(caption, heads, rows):
    lines = [f"<table><caption>{esc(caption)}</caption>",
             "<tr>" + "".join(f"<th>{esc(head)}</th>" for head in heads) + "</tr>"]
    lines += ["<tr>" + "".join(f"<td>{esc(cell)}</td>" for cell in row) + "</tr>" for row in rows]
    return "\n".join([*lines, "</table>"])


def inline_svg(path):
    """A drawing as part of a page: without what makes it a file of its own."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = text[text.index("<svg"):]
    return re.sub(r'\s+xmlns(:xlink)?="[^"]*"', "", text).replace("xlink:href", "href")


def amount(value):
    """Four digits, or all those before the point."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def figure_table(figure):
    """What a plot shows, in numbers: a row for each x, a column for each series."""
    xs = figure.x_values()
    rows = []
    for x in xs:
        row = [figure.groups[x] if figure.groups else f"{x:g}"]
        for series in figure.series:
            found = [point[1] for point in series.points if point[0] == x]
            row.append(amount(found[0]) if found else "")
        rows.append(row)
    return table(figure.y_label, [figure.x_label, *(series.label for series in figure.series)],
                 rows)


def cells_table(report):
    """All that the card counted."""
    heads = ("pool", "frame [B]", "ring", "cache", "frames", "slots", "slots peak",
             "host payload [B]", "device payload [B]", "inline [B]", "other [B]",
             "PCIe per frame [B]", "on device [%]")
    names = ("frame_bytes", "ring", "cache", "frames", "device_slots", "device_peak",
             "host_payload_bytes", "memic_payload_bytes", "inline_bytes", "other_bytes")
    rows = [[run.text("pool"), *(f"{run.number(name):,}" for name in names),
             f"{pcie_per_frame(run):.1f}", f"{device_share(run):.1f}"]
            for run in report.items("cells")]
    return table("Counters of the software card, run by run", heads, rows)


def page(report, drawings, missing):
    """drawings: name of a figure to figure and path of its SVG; missing: what failed and why."""
    env = report.value["environment"]
    parts = [
        "<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8">',
        "<title>dpdk-memic: sweep</title>", f"<style>{STYLE}</style></head><body>",
        "<h1>Packet pools in host and device memory</h1>",
        "<p>The distribution's testpmd on a software ConnectX; bytes are the card's own "
        "counters, each frame was compared byte by byte, and none was lost.</p>",
        table("Environment", ("what", "which"),
              [(title, env.get(name, "unknown")) for name, title in TITLES.items()]),
        table("Pools", ("name", "what it is"), KINDS.items()),
    ]
    if missing:
        parts.append(table("Not measured", ("what", "why"), missing.items()))
    for name, (figure, path) in drawings.items():
        parts += [f"<h2>{esc(HEADS[name])}</h2>", f"<p>{TEXTS[name]}</p>",
                  f"<figure>{inline_svg(path)}</figure>", figure_table(figure)]
    parts += ["<h2>All runs</h2>", "<details open><summary>Counters</summary>",
              cells_table(report), "</details>", "</body></html>", ""]
    return "\n".join(parts)
