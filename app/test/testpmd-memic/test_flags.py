# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Flags of the plugin among testpmd's own (cases 2 and 33)."""

import os
import re

from common import POOL, SLOTS, Console, only
from harness import expect, expect_output, main

FLAGS = ["dev", "size", "pools", "spill", "mkey", "foreign", "siblings", "stats-file", "bench"]


def slots(testpmd):
    return int(only(testpmd.table(f"show memic pool {POOL}", "pool"))["slots"])


def help_text(build):
    """Listed behind testpmd's own flags."""
    with Console(build, ["--help"]) as testpmd:
        expect(testpmd.wait_exit() == 0, "--help failed")
        own = testpmd.output.index("--total-num-mbufs")
        for flag in FLAGS:
            at = re.search(rf"\n  --memic-{flag}[=\[:]", testpmd.output.replace("\r", ""))
            expect(at and at.start() > own, f"--memic-{flag} is not listed after testpmd's own")


def choose(build):
    """One flag is enough to have the pools on the device."""
    with Console(build, ["--memic-dev=mlx5_0"]) as testpmd:
        testpmd.wait_prompt()
        expect_output(testpmd, "Packet pools use mempool ops mlx5_memic with dev=mlx5_0")
        expect_output(testpmd, "preferred mempool ops selected: mlx5_memic")
        expect(slots(testpmd) == SLOTS, "not all slots")
        expect("rule: --memic flags," in testpmd.run(f"show memic pool {POOL}"), "other rule")
        expect(testpmd.quit() == 0, "testpmd failed")


def rule(build):
    """All keys of a rule, in either way to give a value; the last one counts."""
    flags = ["--memic-dev", "0000:08:00.0", "--memic-size=16K", "--memic-size=32K",
             "--memic-pools=mb*", "--memic-spill=1", "--memic-mkey=ksm", "--memic-siblings=0"]
    with Console(build, flags) as testpmd:
        testpmd.wait_prompt()
        row = only(testpmd.table(f"show memic pool {POOL}", "pool"))
        expect(row["slots"] == str((32 << 10) // 1664) and row["key"] == "ksm", str(row))
        testpmd.quit()


def other_pools(build):
    """A pattern that does not match leaves the pool in host memory, and that is told."""
    with Console(build, ["--memic-pools=rx*"]) as testpmd:
        testpmd.wait_prompt()
        answer = testpmd.run(f"show memic pool {POOL}")
        expect("no rule matches" in answer, answer)
        expect(slots(testpmd) == 0, answer)
        testpmd.quit()


def vdev_first(build):
    """Rules of vdevs come first, the environment's behind the flags."""
    eal = ["--vdev=mempool_mlx5_memic0,pools=other*,size=16K"]
    env = {**os.environ, "MLX5_MEMIC": "size=16K"}
    with Console(build, ["--memic-size=64K"], eal=eal, env=env) as testpmd:
        testpmd.wait_prompt()
        expect(slots(testpmd) == (64 << 10) // 1664, "the flags did not decide")
        testpmd.quit()
    eal = ["--vdev=mempool_mlx5_memic0,size=16K"]
    with Console(build, ["--memic-size=64K"], eal=eal) as testpmd:
        testpmd.wait_prompt()
        expect(slots(testpmd) == (16 << 10) // 1664, "the vdev did not decide")
        testpmd.quit()


def ops_given(build):
    """The user's word on the ops stands, and a contradiction is refused."""
    with Console(build, ["--memic-size=64K"], eal=["--mbuf-pool-ops-name=mlx5_memic"]) as testpmd:
        testpmd.wait_prompt()
        expect(slots(testpmd) == (64 << 10) // 1664, "flags and option together")
        testpmd.quit()
    with Console(build, ["--memic-size=64K"], eal=["--mbuf-pool-ops-name=stack"]) as testpmd:
        expect(testpmd.wait_exit() != 0, "taken")
        expect_output(testpmd, "--memic flags .size=64K. are about pools of the mempool ops "
                      "mlx5_memic, but --mbuf-pool-ops-name=stack asks for others")


def none_given(build):
    """Without flags testpmd is as it was, and says so when asked."""
    with Console(build) as testpmd:
        testpmd.wait_prompt()
        expect("mlx5_memic with" not in testpmd.output, "ops were chosen")
        expect("No pool of the mempool ops mlx5_memic" in testpmd.run("show memic all"), "pools")
        answer = testpmd.run(f"show memic pool {POOL}")
        expect(f"Pool {POOL} is none of the mempool ops mlx5_memic: all its mbufs are in host "
               "memory." in answer, answer)
        testpmd.quit()


def refused(build):
    """Bad values end testpmd as its own do, with flag, value and reason."""
    cases = [
        (["--memic-size=12x"], "--memic-size=12x: the value is not a number of bytes"),
        (["--memic-size="], "--memic-size=: the value is not a number of bytes"),
        (["--memic-spill=2"], "--memic-spill=2: the value is neither 0 nor 1"),
        (["--memic-mkey=xyz"], "--memic-mkey=xyz: the value is none of"),
        (["--memic-pools=a,size=1"], "--memic-pools=a,size=1: the value has a ','"),
        (["--memic-size=0", "--memic-spill=0"], "--memic-size=0 with spill=0 leaves no place"),
        (["--memic-bench=0"], "--memic-bench=0: the value is no number of seconds"),
        (["--memic-bench=1x"], "--memic-bench=1x: the value is no number of seconds"),
        (["--memic-bench", "--auto-start"], "--memic-bench measures before testpmd forwards"),
        (["--memic-stats-file=/nosuch/file"],
         "--memic-stats-file=/nosuch/file: No such file or directory"),
        (["--memic-dev"], "option '--memic-dev' requires an argument"),
        (["--memic-nosuch=1"], "unrecognized option '--memic-nosuch=1'"),
    ]
    # no card: what is refused is refused before anything is made
    for flags, words in cases:
        with Console(build, flags, emu=["--preset", "nomemic"], devices=()) as testpmd:
            expect(testpmd.wait_exit() == 1, f"{flags}: status {testpmd.status}")
            expect(words in testpmd.output, f"{flags}: no '{words}'")
            expect("create a new mbuf pool" not in testpmd.output, f"{flags}: pools were made")


def no_driver(build):
    with Console(build, ["--memic-dev=mlx5_0"], driver=False) as testpmd:
        expect(testpmd.wait_exit() == 1, "taken")
        expect_output(testpmd, "the mempool driver mlx5_memic is not loaded, .*: give EAL the "
                      "option -d librte_mempool_mlx5_memic.so")


main({case.__name__: case for case in (help_text, choose, rule, other_pools, vdev_first,
                                       ops_given, none_given, refused, no_driver)})
