# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""dpdk-memic-perf runs to its end, and what it writes can be read by programs."""

import csv
import json
import os
import subprocess
import tempfile

from harness import PCI_DEVICE, expect, lcores, main, plugin_arguments

MEASURED = {"get_put": "cycles_per_object", "get_put_deep": "cycles_per_object",
            "pktmbuf": "cycles_per_object", "create": "microseconds",
            "start": "milliseconds", "copy": "cycles_per_byte"}


def perf(build, options, eal=(), device=True, driver=True):
    """Exit status and both outputs of a quick run."""
    env = dict(os.environ)
    program = os.path.join(build.folder, "app/memic-perf/dpdk-memic-perf")
    eal = ["--no-huge", "-m", "512", "--no-shconf", f"--file-prefix=perf{os.getpid()}", lcores(2),
           *eal, *(["-a", PCI_DEVICE] if device else ["--no-pci"])]
    if driver:
        eal += plugin_arguments(build.plugin, env)
    launcher = [build.emu, "--memic", "1M", "--"] if device else []
    run = subprocess.run([*launcher, program, "--quick", *options, *eal], env=env, text=True,
                         capture_output=True, timeout=100, check=False)
    return run.returncode, run.stdout, run.stderr


def check_result(result):
    key = MEASURED[result["test"]]
    expect(result[key] > 0, f"{key} is no measurement: {result}")
    expect(result[key + "_p10"] <= result[key] <= result[key + "_p90"], f"spread: {result}")
    if result["test"] == "copy":
        return
    expect(isinstance(result["ops"], str), f"no ops: {result}")
    if result["ops"] == "mlx5_memic":
        expect(result["device_slots"] > 0, f"nothing on the device: {result}")
    else:
        expect("device_slots" not in result, f"slots of other ops: {result}")


def get_put_cases(results):
    return {(r["ops"], r["cache"], r["bulk"], r["lcores"], r["spill"]) for r in results
            if r["test"] == "get_put"}


def results(build):
    """Every test, every combination."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "perf.json")
        status, output, errors = perf(build, ["--json", path])
        expect(status == 0, f"status {status}: {errors}")
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
    expect(report["schema"] == "dpdk-memic-perf/1", f"schema: {report.get('schema')}")
    expect(report["env"]["dpdk"].startswith("DPDK "), f"environment: {report['env']}")
    found = report["results"]
    for result in found:
        check_result(result)
    expect({r["test"] for r in found} == set(MEASURED), "a test is missing")
    pools = {(r["ops"], r["free"]) for r in found if r["test"] == "pktmbuf"}
    wanted = {(ops, free) for free in ("bulk", "each")
              for ops in ("ring_mp_mc", "ring_mp_mc extbuf", "mlx5_memic")}
    # the table of ops has no room for one more in some releases
    if report["env"]["dpdk"].startswith("DPDK 22.11"):
        wanted |= {("call of ops", "bulk"), ("call of ops", "each")}
    expect(wanted <= pools, f"not measured: {wanted - pools}")
    expect(len(output.splitlines()) == len(found), "the table has not a line for each result")
    cases = get_put_cases(found)
    for cache in (0, 256):
        for bulk in (1, 8, 32):
            for count in (1, 2):
                wanted = {(ops, cache, bulk, count, 0) for ops in
                          ("ring_mp_mc", "stack", "lf_stack", "mlx5_memic", "copy")}
                wanted.add(("mlx5_memic", cache, bulk, count, 0.5))
                expect(wanted <= cases, f"not measured: {wanted - cases}")


def csv_file(build):
    """One test only, as CSV on standard output, and nothing else there."""
    status, output, errors = perf(build, ["--test", "pktmbuf", "--csv", "-"])
    expect(status == 0, f"status {status}: {errors}")
    rows = list(csv.DictReader(line for line in output.splitlines()
                               if not line.startswith(("EAL:", "TELEMETRY:", "mlx5_"))))
    expect(rows and all(row["test"] == "pktmbuf" for row in rows), f"rows: {rows}")
    expect(all(float(row["cycles_per_object"]) > 0 for row in rows), f"rows: {rows}")


def start(build):
    """The port starts with the smallest pool, whose buffers have room for a frame."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "perf.json")
        status, _, errors = perf(build, ["--test", "start", "--mbufs", "384", "--json", path])
        expect(status == 0, f"status {status}: {errors}")
        expect("does not start" not in errors, errors)
        with open(path, encoding="utf-8") as file:
            found = json.load(file)["results"]
    expect([r["ops"] for r in found] == ["ring_mp_mc", "mlx5_memic"], f"{found}")
    expect(all(r["mbufs"] == 384 for r in found), f"{found}")
    # 1 MiB, data rooms of RTE_MBUF_DEFAULT_BUF_SIZE
    expect(found[1]["device_slots"] == min(384, (1 << 20) // 2176), f"{found}")


def sizes(build):
    """Pools of each size that was asked for, in order."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "perf.json")
        status, _, errors = perf(build, ["--test", "create", "--test", "start", "--mbufs", "512",
                                         "--mbufs", "1023", "--mbufs", "9000", "--json", path])
        expect(status == 0, f"status {status}: {errors}")
        with open(path, encoding="utf-8") as file:
            found = json.load(file)["results"]
    for result in found:
        check_result(result)
    got = [(r["test"], r["ops"], r["mbufs"]) for r in found]
    wanted = [(test, ops, n) for test in ("create", "start") for n in (512, 1023, 9000)
              for ops in ("ring_mp_mc", "mlx5_memic")]
    # a pool of 1023 that spills by half
    wanted.insert(4, ("create", "mlx5_memic", 1023))
    expect(got == wanted, f"{got}")
    expect(found[4]["spill"] == 0.5, f"{found[4]}")
    large = found[6]
    expect(large["mbufs"] == 9000 and
           abs(large["spill"] - (1 - large["device_slots"] / 9000)) < 1e-4, f"{large}")


def no_device(build):
    """No card: measured all the same, but 77 says that it proves nothing."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "perf.json")
        status, _, errors = perf(build, ["--test", "create", "--json", path], device=False)
        expect(status == 77, f"status {status}: {errors}")
        with open(path, encoding="utf-8") as file:
            found = json.load(file)["results"]
    expect(all(r["device_slots"] == 0 for r in found if r["ops"] == "mlx5_memic"), f"{found}")


def no_driver(build):
    status, _, errors = perf(build, [], device=False, driver=False)
    expect(status == 77 and "-d librte_mempool_mlx5_memic.so" in errors, f"{status}: {errors}")


def usage(build):
    for options in (["--test", "nosuch"], ["--rounds", "0"], ["--rounds", "1x"], ["--json"],
                    ["--mbufs", "-1"], ["--mbufs", "383"], ["--mbufs", "512"] * 9):
        program = os.path.join(build.folder, "app/memic-perf/dpdk-memic-perf")
        run = subprocess.run([program, *options], text=True, capture_output=True, timeout=20,
                             check=False)
        expect(run.returncode == 2 and "usage:" in run.stderr, f"{options}: {run.returncode}")
        expect(options[0] in run.stderr, f"{options} is not named: {run.stderr}")


main({"results": results, "csv": csv_file, "start": start, "sizes": sizes,
      "no_device": no_device, "no_driver": no_driver, "usage": usage})
