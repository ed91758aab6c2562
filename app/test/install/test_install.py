# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Install, use what was installed, uninstall: in a mount namespace, so that nothing stays."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from harness import (FITTING, PCI_DEVICE, Failure, Program, Skip, check_card, check_wire,
                     device_pools, expect, lcores, main, Testpmd)

PREFIX = "/usr/local"
INSIDE = "MEMIC_TEST_INSIDE"
FRAMES = 500


def run(*command, **options):
    """Output of a command that must succeed."""
    result = subprocess.run(command, capture_output=True, text=True, timeout=150, **options)
    if result.returncode != 0:
        raise Failure(f"{' '.join(command)}: status {result.returncode}\n{result.stdout}"
                      f"{result.stderr}")
    return result.stdout.strip()


def text_of(name):
    """The one line of a file in the top folder."""
    top = os.path.join(os.path.dirname(__file__), "../../..")
    with open(os.path.join(top, name), encoding="ascii") as file:
        return file.read().strip()


def pmd_folder():
    """RTE_EAL_PMD_PATH."""
    text = run("sh", "-c", "echo '#include <rte_config.h>\nRTE_EAL_PMD_PATH' | "
               "cc $(pkg-config --cflags libdpdk) -E -P -")
    return json.loads(text.splitlines()[-1])


class Installed:
    """As harness.Build, of what was installed."""

    def __init__(self, folder):
        self.folder = folder
        self.emu = PREFIX + "/bin/mlx5emu"
        self.plugin = os.path.join(pmd_folder(), "librte_mempool_mlx5_memic.so")


def files_below(*folders):
    return sorted(os.path.join(where, name) for folder in folders
                  for where, folders_in, names in os.walk(folder) for name in names)


def in_namespace(case):
    """The case in a mount namespace where all that an install changes is a copy."""
    def enter(build):
        if os.environ.get(INSIDE) != "1":
            if os.geteuid() != 0:
                raise Skip("not root: no mount namespace")
            options = json.loads(run("meson", "introspect", "--buildoptions", build.folder))
            prefix = next(option["value"] for option in options if option["name"] == "prefix")
            if prefix != PREFIX:
                raise Skip(f"the build is for {prefix}, not {PREFIX}")
            os.environ[INSIDE] = "1"
            os.execvp("unshare", ["unshare", "--mount", "--propagation", "private",
                                  sys.executable, *sys.argv])
        with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="memic.") as folder:
            run("mount", "-t", "tmpfs", "tmpfs", folder)
            try:
                for number, place in enumerate((pmd_folder(), "/etc")):
                    run("cp", "-a", place, f"{folder}/{number}")
                    run("mount", "--bind", f"{folder}/{number}", place)
                run("mount", "-t", "tmpfs", "tmpfs", PREFIX)
                run("meson", "install", "-C", build.folder, "--no-rebuild", "--quiet")
                run("ldconfig")
                case(build, folder)
            finally:
                for place in (PREFIX, "/etc", pmd_folder(), folder):
                    subprocess.run(["umount", "-l", place], check=False)
    return enter


@in_namespace
def layout(build, _folder):
    """Each file at its place, as DPDK's own are; nothing stays after uninstall."""
    pmds, libs = pmd_folder(), f"{PREFIX}/lib/{run('cc', '-print-multiarch')}"
    abi = text_of("ABI_VERSION")
    major = abi.split(".", maxsplit=1)[0]
    version = run("pkg-config", "--modversion", "mlx5_memic", "memic").split()
    expect(version == [text_of("VERSION")] * 2, f"pkg-config tells versions {version}")
    driver = "librte_mempool_mlx5_memic.so"
    for name in (driver, f"{driver}.{major}", f"{driver}.{abi}", "libtestpmd_memic.so"):
        there = os.path.realpath(os.path.join(pmds, name))
        expect(os.path.dirname(there) == os.path.realpath(pmds) and os.path.isfile(there),
               f"'{pmds}/{name}' is not there")
        expect(os.path.realpath(os.path.join(libs, name)) == there,
               f"'{libs}/{name}' does not lead to '{there}'")
    for path in (f"{pmds}/{driver}", *(f"{libs}/{name}.so" for name in (
            "libmemic", "librte_pmd_mlx5_memic", "libtestpmd_memic_commands"))):
        dynamic = run("readelf", "-d", path)
        expect(f"soname: [{os.path.basename(path)}.{major}]" in dynamic, f"no soname: {dynamic}")
    for path in (f"{libs}/librte_pmd_mlx5_memic.a", f"{libs}/libmemic.a",
                 f"{libs}/pkgconfig/memic.pc", f"{libs}/dpdk-memic/libmlx5emu.so",
                 f"{PREFIX}/include/memic.h",
                 f"{PREFIX}/include/rte_pmd_mlx5_memic.h",
                 f"{PREFIX}/share/bash-completion/completions/mlx5emu",
                 f"{PREFIX}/share/bash-completion/completions/dpdk-memic-info",
                 f"{PREFIX}/share/bash-completion/completions/dpdk-memic-perf",
                 f"{PREFIX}/share/doc/dpdk-memic/sample/echo.c"):
        expect(os.path.isfile(path), f"'{path}' is not there")
    # without sphinx there are no manual pages
    if any(name.endswith(".1") for name in os.listdir(os.path.join(build.folder, "doc"))):
        for page in ("man1/mlx5emu.1", "man1/dpdk-memic-info.1", "man1/dpdk-memic-perf.1",
                     "man3/memic_dm_alloc.3", "man7/memic.7"):
            expect(os.path.isfile(f"{PREFIX}/share/man/{page}"), f"no page {page}")
    wraps = run("pkg-config", "--static", "--libs", "mlx5_memic")
    expect("--wrap=ibv_reg_mr_iova2" in wraps and ":librte_pmd_mlx5_memic.a" in wraps,
           f"no --wrap: {wraps}")
    expect("--wrap" not in run("pkg-config", "--libs", "mlx5_memic"), "--wrap with shared DPDK")
    table = run(f"{PREFIX}/bin/mlx5emu", "--", f"{PREFIX}/bin/dpdk-memic-info")
    expect("0000:08:00.0" in table, f"no device: {table}")

    installed = files_below(PREFIX)
    run("ninja", "-C", build.folder, "uninstall")
    left = files_below(PREFIX) + [name for name in files_below(pmds) if "memic" in name]
    expect(len(installed) > 20, f"only {installed} was installed")
    expect(not left, f"left by uninstall: {left}")


@in_namespace
def testpmd(build, _folder):
    """EAL finds driver and plugin by itself; a copy that -d names as well does no harm."""
    installed = Installed(build.folder)
    for eal in ([], ["-d", "librte_mempool_mlx5_memic.so", "-d", "libtestpmd_memic.so"],
                ["-d", build.plugin]):
        with Testpmd(installed, ["--memic", "256K", "--wire", f"check:{FRAMES}:1500"],
                     [*eal, "--mbuf-pool-ops-name=mlx5_memic"],
                     [*FITTING, "--memic-size=all"], pool=None) as pmd:
            pmd.wait_prompt()
            expect(re.search(r"mb_pool_0.*mlx5_0", pmd.run("show memic all")), "no table")
            pools = device_pools(pmd)
            expect(all(pool["device_slots"] == 157 for pool in pools.values()), f"{pools}")
            pmd.start()
            pmd.forward(FRAMES)
            pmd.run("stop")
            expect(pmd.quit() == 0, f"status {pmd.status}")
            check_card(pmd.stats())
            check_wire(pmd.stats()["ports"][0], FRAMES)


@in_namespace
def sample(_build, folder):
    """An application outside the tree, with DPDK shared and with DPDK inside."""
    where = os.path.join(folder, "sample")
    shutil.copytree(f"{PREFIX}/share/doc/dpdk-memic/sample", where)
    for target in ("echo", "echo-static"):
        run("make", "-C", where, "CFLAGS=-O1 -Wall -Wextra -Werror", target)
        command = [os.path.join(where, target), "--no-huge", "-m", "128", lcores(1),
                   "-a", PCI_DEVICE, "--", str(FRAMES)]
        with Program(Installed(where), command,
                     ["--memic", "256K", "--wire", f"check:{FRAMES}:1500"]) as program:
            expect(program.wait_exit() == 0, f"{target}: status {program.status}")
            expect(re.search(r"echo: 144 buffers on mlx5_0, 0 in host memory", program.output),
                   "no buffers on the card")
            stats = program.stats()
            check_card(stats)
            check_wire(stats["ports"][0], FRAMES)
            expect(stats["ports"][0]["memic_write_bytes"] == FRAMES * 1500, "host memory used")


if __name__ == "__main__":
    main({"layout": layout, "testpmd": testpmd, "sample": sample})
