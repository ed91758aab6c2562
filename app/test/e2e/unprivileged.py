# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Runs as a user other than root, or with less than there is."""

import contextlib
import os
import subprocess

from harness import Build, Skip

NOBODY = 65534
# bytes; pool, rings and doorbells, and no more than many systems allow
ENOUGH = 8192 << 10

BECOME = """#!/bin/sh
chmod 755 "$TMPDIR" && chown {user} "$TMPDIR" &&
exec setpriv --reuid={user} --regid={user} --clear-groups --inh-caps=-all --bounding-set=-all \\
    prlimit {limits} '{emu}' "$@"
"""


class Unprivileged(Build):
    """The launcher as somebody with no capability outside of his own namespaces, and with so
    much lockable memory; more limits as options of prlimit(1)."""

    def __init__(self, build, folder, lockable=ENOUGH, limits=(), user=NOBODY):
        super().__init__(build.folder)
        self.user = user
        if os.geteuid() != 0:
            raise Skip("not root, so every test is unprivileged")
        self.probe(["test", "-r", self.plugin], "read the build folder")
        self.probe(["test", "-w", "/dev/net/tun"], "make TAP devices")
        self.probe(["unshare", "-Un", "true"], "make user namespaces")
        script = os.path.join(folder, "mlx5emu")
        with open(script, "w", encoding="utf-8") as file:
            file.write(BECOME.format(user=user, emu=self.emu, limits=" ".join(
                [f"--memlock={lockable}", *limits])))
        os.chmod(script, 0o755)
        self.emu = script

    def probe(self, command, what):
        become = ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups"]
        if subprocess.run([*become, *command], capture_output=True, check=False).returncode:
            raise Skip(f"users other than root cannot {what} here")


@contextlib.contextmanager
def low_addresses_kept():
    """While vm.mmap_min_addr is what most systems have."""
    path = "/proc/sys/vm/mmap_min_addr"
    with open(path, encoding="ascii") as file:
        before = file.read()
    try:
        if int(before) < 65536:
            with open(path, "w", encoding="ascii") as file:
                file.write("65536")
        yield
    except PermissionError as err:
        raise Skip(f"everybody may use low addresses, and {path} cannot be changed") from err
    finally:
        if int(before) < 65536 and os.access(path, os.W_OK):
            with open(path, "w", encoding="ascii") as file:
                file.write(before)
