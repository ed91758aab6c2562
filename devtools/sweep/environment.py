# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""What figures depend on: the machine, what is installed, what was built."""

import hashlib
import os
import re
import subprocess

TOP = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")
# the plugin loads the driver that lies beside it
BUILT = ("app/mlx5emu/mlx5emu", "lib/mlx5emu/libmlx5emu.so", "app/memic-perf/dpdk-memic-perf",
         "drivers/mempool/mlx5_memic/librte_mempool_mlx5_memic.so",
         "drivers/mempool/mlx5_memic/librte_pmd_mlx5_memic.so")
# what has no influence on figures
NO_INFLUENCE = {"commit"}

TITLES = {
    "cpu": "CPU", "cpus": "CPUs in use", "kernel": "kernel", "dpdk": "DPDK",
    "libibverbs": "libibverbs (rdma-core)", "libmlx5": "libmlx5 (rdma-core)",
    "card": "software ConnectX", "version": "dpdk-memic", "commit": "commit", "build": "build",
}


def output_of(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "unknown"
    return done.stdout.strip() if done.returncode == 0 else "unknown"


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.search(r"^model name\s*: (.*)", file.read(), re.M)
    return found[1] if found else os.uname().machine


def digest(folder):
    """Of all programs and libraries that take part."""
    total = hashlib.sha256()
    for name in BUILT:
        with open(os.path.join(folder, name), "rb") as file:
            total.update(file.read())
    return total.hexdigest()[:16]


def environment(folder, card):
    with open(os.path.join(TOP, "VERSION"), encoding="ascii") as file:
        version = file.read().strip()
    return {
        "cpu": cpu_model(),
        "cpus": str(len(os.sched_getaffinity(0))),
        "kernel": f"{os.uname().sysname} {os.uname().release} {os.uname().machine}",
        "dpdk": output_of("pkg-config", "--modversion", "libdpdk"),
        "libibverbs": output_of("pkg-config", "--modversion", "libibverbs"),
        "libmlx5": output_of("pkg-config", "--modversion", "libmlx5"),
        "card": "mlx5emu " + " ".join(card),
        "version": version,
        "commit": output_of("git", "-C", TOP, "describe", "--always", "--dirty", "--abbrev=12"),
        "build": digest(folder),
    }


def differences(before, now):
    """Titles of what has changed and matters."""
    return [title for name, title in TITLES.items()
            if name not in NO_INFLUENCE and before.get(name) != now.get(name)]
