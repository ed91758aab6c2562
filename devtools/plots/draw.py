# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Figures as SVG and PNG, by gnuplot.

Series differ by dashes and markers, or by hatches, as well as by colour, so that they can be
told apart in print. The same figure gives the same bytes.
"""

import html
import os
import re
import shutil
import subprocess
import tempfile

# Okabe and Ito: apart for colour-blind eyes, too
COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
DASHES = ("1", "(16,5)", "(4,4)", "(16,4,3,4)", "(9,4)", "(16,4,3,4,3,4)", "(2,3)")
MARKERS = (7, 4, 9, 6, 5, 8, 11)     # filled circle, square, filled triangle, ...
HATCHES = (3, 0, 1, 6, 4, 2, 5)      # full, empty, crossed, ...

WIDTH, HEIGHT = 800, 520
TERMINALS = {
    "svg": f'svg size {WIDTH},{HEIGHT} noenhanced font "sans-serif,14" linewidth 1.5 '
           'background rgb "white"',
    "png": f'pngcairo size {2 * WIDTH},{2 * HEIGHT} noenhanced font "sans,12" fontscale 2 '
           'linewidth 3 pointscale 2 background rgb "white"',
}


class CannotDraw(Exception):
    """A plot was not made."""


def quoted(text):
    """Text for gnuplot: single quotes know no escapes but the quote itself."""
    return "'" + re.sub(r"[\x00-\x1f\x7f]", " ", text).replace("'", "''") + "'"


def number(value):
    return format(value, ".10g")


def blocks(figure):
    """The data, each series in a block of its own."""
    lines = []
    for index, series in enumerate(figure.series):
        lines.append(f"$s{index} << EOD")
        lines += [" ".join(map(number, point)) for point in series.points]
        lines.append("EOD")
    return lines


def x_ticks(figure):
    """Groups of bars by name, else the values that there are."""
    if figure.groups:
        return ", ".join(f"{quoted(name)} {at}" for at, name in enumerate(figure.groups))
    return ", ".join(f"'{number(x)}' {number(x)}" for x in figure.x_values())


def lines_plot(figure):
    return [f"$s{index} using 1:2 with linespoints linecolor rgb '{COLOURS[index % 7]}' "
            f"dashtype {DASHES[index % 7]} pointtype {MARKERS[index % 7]} pointsize 1 "
            f"title {quoted(series.label)}" for index, series in enumerate(figure.series)]


def bars_plot(figure):
    """Side by side within a group, each with its whiskers."""
    width = 0.8 / len(figure.series)
    return [f"$s{index} using ($1 - 0.4 + {number((index + 0.5) * width)}):2:3:4:"
            f"({number(width * 0.9)}) with boxerrorbars linecolor rgb '{COLOURS[index % 7]}' "
            f"fillstyle pattern {HATCHES[index % 7]} border rgb 'black' "
            f"title {quoted(series.label)}" for index, series in enumerate(figure.series)]


def y_range(figure):
    """A logarithmic axis begins and ends at a power of ten or half way to it."""
    if not figure.y_log:
        return f"[0:{number(figure.y_top) if figure.y_top else ''}]"
    values = [y for series in figure.series for point in series.points for y in point[1:]]
    return f"[{number(min(values) / 1.5)}:{number(max(values) * 1.5)}]"


def script(figure, name, kind, path):
    bars = bool(figure.groups)
    rows = (len(figure.series) + 1) // 2
    commands = [
        "set encoding utf8",
        f"set terminal {TERMINALS[kind]}" + (f" name '{name}'" if kind == "svg" else ""),
        f"set output {quoted(path)}",
        f"set title {quoted(figure.title)}",
        f"set xlabel {quoted(figure.x_label)}",
        f"set ylabel {quoted(figure.y_label)}",
        "set border 3 linecolor rgb 'black'",
        "set tics nomirror",
        "set grid ytics linetype 1 linecolor rgb '#d0d0d0' linewidth 0.5",
        f"set bmargin {rows + 5}",
        f"set key at screen 0.06, screen 0.02 left bottom vertical maxrows {rows} reverse Left "
        "samplen 4",
        f"set xtics ({x_ticks(figure)})" + ("" if bars or len(figure.x_values()) < 8 else
                                            " rotate by -45"),
        f"set yrange {y_range(figure)}",
    ]
    if figure.x_log:
        commands.append("set logscale x 2")
    if figure.y_log:
        commands.append("set logscale y 10")
    xs = figure.x_values()
    if bars:
        commands.append(f"set xrange [-0.5:{number(len(figure.groups) - 0.5)}]")
    elif figure.x_log:
        commands.append(f"set xrange [{number(xs[0] / 1.2)}:{number(xs[-1] * 1.2)}]")
    else:
        margin = (xs[-1] - xs[0] or 1) / 30
        commands.append(f"set xrange [{number(xs[0] - margin)}:{number(xs[-1] + margin)}]")
    parts = bars_plot(figure) if bars else lines_plot(figure)
    return "\n".join([*commands, *blocks(figure), "plot " + ", \\\n     ".join(parts), ""])


def find_gnuplot():
    program = shutil.which("gnuplot")
    if program is None:
        raise CannotDraw("gnuplot is not there; install the package gnuplot-nox")
    return program


def run_gnuplot(text):
    # what is in somebody's ~/.gnuplot is not for us
    done = subprocess.run([find_gnuplot(), "--default-settings", "-"], input=text, text=True,
                          capture_output=True, check=False)
    if done.returncode != 0 or "error" in done.stderr.lower():
        raise CannotDraw(f"gnuplot failed: {done.stderr.strip()}")


def finish_svg(path, figure, name):
    """A title for who cannot see it, and names that stay apart with others in a page."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    titles = [figure.title, *(series.label for series in figure.series)]
    text = re.sub(r"<title>[^<]*</title>",
                  lambda _: f"<title>{html.escape(titles.pop(0))}</title>", text)
    text = re.sub(r"\bgp(Pt\d+|Pat\d+|Dot)\b", rf"{name}\1", text)
    text = text.replace('"gnuplot_canvas"', f'"{name}_canvas"')
    text = re.sub(r"'(textbox|greybox)'", rf"'{name}_\1'", text)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def draw(figure, name, target):
    """Write target.svg and target.png, or neither. Returns their paths."""
    folder = os.path.dirname(os.path.abspath(target))
    name = name.replace("-", "_")
    try:
        scratch = tempfile.mkdtemp(prefix=".plot.", dir=folder)
    except OSError as err:
        raise CannotDraw(f"{folder}: cannot be written: {err.strerror}") from err
    try:
        made = []
        for kind in TERMINALS:
            path = os.path.join(scratch, f"plot.{kind}")
            run_gnuplot(script(figure, name, kind, path))
            if kind == "svg":
                finish_svg(path, figure, name)
            made.append((path, f"{target}.{kind}"))
        for path, final in made:
            os.replace(path, final)
    except OSError as err:
        raise CannotDraw(f"{err.filename2 or err.filename}: cannot be written: "
                         f"{err.strerror}") from err
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return [final for _, final in made]
