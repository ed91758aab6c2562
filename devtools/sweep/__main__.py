# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Measure pools over sizes of frames, depths of rings and sizes of caches; write a report.

Ctrl-C ends it and loses nothing but the run it is at: the next call goes on from there.
"""

import argparse
import os
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]

# the line above shows where these are
import cells  # noqa: E402,F401: shows where the harness is
import harness  # noqa: E402
import matrix  # noqa: E402
from environment import environment  # noqa: E402
from plots.draw import CannotDraw, find_gnuplot  # noqa: E402
from progress import TimeIsUp, measure, say, write_report  # noqa: E402
from store import Store  # noqa: E402

SECONDS = 3600
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def interrupt(number, _):
    # a second one would leave behind what the first one is about to end
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt(number)


def parse_options():
    parser = argparse.ArgumentParser(prog="sweep.sh", description=__doc__.split("\n\n")[0])
    parser.add_argument("build", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true",
                        help="few runs of few frames, to see that everything works")
    parser.add_argument("--preset", default="cx7", metavar="CARD",
                        help="the card that mlx5emu plays (default: %(default)s)")
    parser.add_argument("--limit", type=int, default=SECONDS, metavar="SECONDS",
                        help="begin no run after that time (default: %(default)s)")
    parser.add_argument("--output", metavar="FOLDER",
                        help="folder of the report (default: sweep, or with --quick sweep-quick, "
                        "in the build folder)")
    return parser.parse_args()


def check_card(build, card):
    """Whether there is such a card, or each run would fail."""
    done = subprocess.run([build.emu, *card, "--", "true"], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise harness.Failure(done.stderr.strip() or f"mlx5emu: status {done.returncode}")


def sweep(options):
    find_gnuplot()
    build = harness.Build(options.build)
    card = ("--preset", options.preset)
    check_card(build, card)
    folder = options.output or os.path.join(build.folder,
                                            "sweep-quick" if options.quick else "sweep")
    env = environment(build.folder, card)
    jobs = (matrix.quick if options.quick else matrix.whole)(card)
    store = Store(os.path.join(folder, "cells"), env)
    results, failed = measure(build, jobs, store, options.limit)
    path, missing = write_report(folder, env, results, failed)
    say(path)
    for name, why in missing.items():
        print(f"sweep failed: {name}: {why}", file=sys.stderr)
    return 1 if missing else 0


def main():
    options = parse_options()
    # also where they are ignored, as in a background job
    for each in SIGNALS:
        signal.signal(each, interrupt)
    try:
        return sweep(options)
    except KeyboardInterrupt as err:
        print("sweep: interrupted; the same call goes on from here", file=sys.stderr)
        return 128 + err.args[0]
    except TimeIsUp as err:
        print(f"sweep: {err}; the same call goes on from here", file=sys.stderr)
    except (harness.Failure, CannotDraw) as err:
        print(f"sweep failed: {err}", file=sys.stderr)
    except OSError as err:
        print(f"sweep failed: {err.filename}: {err.strerror}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
