# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Scripts give huge pages back, however they end.

usage: test_huge_pages.py COMMON_SH
"""

import os
import signal
import subprocess
import sys
import tempfile
import time

SLEEP = "echo ready; sleep 60"

# What the script does between reserving pages and its end, how it is ended, its status.
ENDS = [("true", None, 0), ("false", None, 1), ("die reason", None, 1),
        (SLEEP, signal.SIGTERM, -signal.SIGTERM), (SLEEP, signal.SIGINT, -signal.SIGINT),
        (SLEEP, signal.SIGHUP, -signal.SIGHUP),
        # nobody can do anything about this one
        ("echo ready; while :; do :; done", signal.SIGKILL, -signal.SIGKILL)]


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def default_signals():
    """A test that runs in the background has been given a SIGINT that is ignored."""
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sig, signal.SIG_DFL)


def wait_for(pages, value, again):
    """Until the file has the value: the script's end is noticed a moment later."""
    for _ in range(200):
        if read(pages) == value:
            return True
        again()
        time.sleep(0.1)
    return False


def send(shell, sig):
    """To the shell and what it runs, as a terminal does; a kill hits the shell alone."""
    try:
        if sig == signal.SIGKILL:
            shell.kill()
        else:
            os.killpg(shell.pid, sig)
    except ProcessLookupError:
        pass


def run(common, pages, body, sig):
    """What was reserved, whether it was given back, and the status."""
    env = dict(os.environ, HUGE_PAGES=pages)
    script = f". {common}; reserve_huge_pages 10 >&2; cat \"$HUGE_PAGES\"; {body}"
    with subprocess.Popen(["/bin/bash", "-c", script], stdout=subprocess.PIPE, text=True,
                          env=env, start_new_session=True,
                          preexec_fn=default_signals) as shell:
        reserved = shell.stdout.readline().strip()
        if sig is not None:
            shell.stdout.readline()
            send(shell, sig)
        # a command that the shell was just about to start may miss the first signal
        given_back = wait_for(pages, "5", lambda: sig is not None and send(shell, sig))
        return reserved, given_back, shell.wait(30)


def main():
    if os.geteuid() != 0:
        print("skipped: only root reserves huge pages")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        pages = os.path.join(folder, "nr_hugepages")
        for body, sig, want in ENDS:
            write(pages, "5\n")
            result = run(sys.argv[1], pages, body, sig)
            if result != ("15", True, want):
                print(f"'{body}', signal {sig}: reserved {result[0]}, given back {result[1]}, "
                      f"status {result[2]}, {read(pages)} left")
                return 1
    return 0


sys.exit(main())
