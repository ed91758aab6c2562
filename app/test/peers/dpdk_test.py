# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""DPDK's own dpdk-test with pools of the driver, compared with what it says of ring_mp_mc.

usage: dpdk_test.py BUILD_FOLDER CASE
"""

import difflib
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
import harness  # noqa: E402
from harness import add_preload, expect  # noqa: E402

DPDK_TEST = "/usr/bin/dpdk-test"
CONTROL = "ring_mp_mc"
DRIVER = "mlx5_memic"

# Sub-tests of mbuf_autotest that cannot pass on a pool of pinned external buffers, and with
# what they fail, on the driver's pools and on DPDK's own alike. Before the first one
# rte_pktmbuf_copy() into the pool has taken the flag of external buffers off an mbuf, so that
# rte_mbuf_from_indirect() looks for the mbuf in front of the buffer; and where the flag is still
# there the reference that the sub-test wants to see is counted in the shared info. The second one
# attaches another buffer to mbufs of the pool.
ATTACH = ("test_attach_from_different_pool", "invalid refcnt in m")
SHINFO = ("test_pktmbuf_ext_shinfo_init_helper", "Invalid ext_buf ref_cnt")

# What differs from run to run, from ops to ops or between lcores.
ALIKE = (
    (re.compile(r"0x[0-9a-f]+"), "ADDRESS"),
    # drawn at random, and 0 has no prefix
    (re.compile(r"^(\t\w+=|.* value: )(ADDRESS|0)([,;])$"), r"\1RANDOM\3"),
    (re.compile(r"ops_index=\d+"), "ops_index"),
    (re.compile(rf"\b({CONTROL}|{DRIVER})\b"), "OPS"),
    (re.compile(r"\d+ references processed"), "references processed"),
    (re.compile(r"^  [cp][th]=\d+$"), "  index of a ring"),
    (re.compile(r"\d+ cycles, [\d.]+ cycles/iter"), "cycles"),
)
OTHER = re.compile(r"^(MLX5_MEMIC|EAL|TELEMETRY|mlx5_|RTE>>|APP:)|"
                   r"^test_refcnt_worker (started|finished) at lcore|^$")


# what rte_mempool_dump() says of the library's caches
CACHE = re.compile(r"^\s+(cache_size=|cache_count\[|total_cache_count=)")


class Run:
    """One run of one autotest."""

    def __init__(self, build, test, ops, rules="", **peers):
        env = dict(os.environ, DPDK_TEST=test, MLX5_MEMIC=rules)
        env.update({f"PEERS_{key.upper()}": value for key, value in peers.items()})
        # the preload library of the card is put in front of ours
        add_preload(env, os.path.join(build.folder, "app/test/peers/libpeers_pools.so"))
        command = [DPDK_TEST, "--no-huge", "-m", "512", harness.lcores(2), "-a",
                   harness.PCI_DEVICE, "--no-telemetry", "--log-level=mempool.mlx5_memic:debug",
                   f"--mbuf-pool-ops-name={ops}", *harness.plugin_arguments(build.plugin, env)]
        with harness.Program(build, command, ["--preset", "cx7"], env) as program:
            self.status = program.wait_exit()
            self.output = program.output
            self.stats = program.stats() if self.status in (0, 255) else None
        if self.stats:
            harness.check_card(self.stats)

    def passed(self):
        return self.status == 0 and re.search(r"^Test OK\r?$", self.output, re.M) is not None

    def answers(self, caches=True):
        """Its lines without what is not an answer, dumps' two counts in one without caches."""
        lines, cached = [], 0
        for line in self.output.splitlines():
            if OTHER.search(line):
                continue
            if not caches:
                if total := re.search(r"total_cache_count=(\d+)", line):
                    cached = int(total[1])
                if CACHE.search(line):
                    continue
                if common := re.search(r"common_pool_count=(\d+)", line):
                    line, cached = f"  objects={int(common[1]) + cached}", 0
            for pattern, word in ALIKE:
                line = pattern.sub(word, line)
            lines.append(line.rstrip())
        return lines

    def expect_pinned(self, pool, slots):
        """The driver had this many buffers of the pool on the device when it was used."""
        match = re.search(rf"pool {pool}: \d+ mbufs pinned, (\d+) in device memory", self.output)
        expect(match, f"pool {pool} was not pinned")
        expect(int(match[1]) == slots, f"pool {pool} has {match[1]} slots, not {slots}")


def expect_passed(run, what):
    if not run.passed():
        print(run.output[-4000:])
    expect(run.passed(), f"{what}: status {run.status}")


def expect_same(control, run, caches=True):
    want, got = control.answers(caches), run.answers(caches)
    expect(len(want) > 20, f"only {len(want)} lines of answers")
    if want != got:
        print("\n".join(list(difflib.unified_diff(want, got, CONTROL, DRIVER, lineterm=""))[:100]))
    expect(want == got, "the answers differ")
    print(f"{len(want)} lines of answers are the same")


def mempool(build):
    """The pools as dpdk-test makes them: none is one of mbufs, all stay in host memory."""
    runs = [Run(build, "mempool_autotest", ops) for ops in (CONTROL, DRIVER)]
    for run, ops in zip(runs, (CONTROL, DRIVER)):
        expect_passed(run, f"mempool_autotest with {ops}")
    expect("Testing mlx5_memic mempool handler" in runs[1].output, "another handler was tested")
    expect_same(*runs)


def mempool_device(build):
    """Slots are in use in three pools: without cache, with a cache, and the handler's own."""
    dress = "test_nocache,test_cache,default_pool"
    rules = ";".join(f"pools={pool},size=80K" for pool in dress.split(","))
    runs = [Run(build, "mempool_autotest", ops, rules, dress=dress) for ops in (CONTROL, DRIVER)]
    for run, ops in zip(runs, (CONTROL, DRIVER)):
        expect_passed(run, f"mempool_autotest with {ops}")
    for pool in dress.split(","):
        # objects of 2048 bytes are mbufs with 1920 bytes of data
        runs[1].expect_pinned(pool, 80 * 1024 // 1920)
    # DPDK's caches are off in pools with slots, which have caches of their own
    expect_same(*runs, caches=False)


def mbuf(build):
    """All sub-tests that DPDK has for pools of pinned external buffers, and for bulks."""
    rules = ("pools=test_pktmbuf_bulk,size=32K;pools=test_pktmbuf_bulk2,size=32K;"
             "pools=test_mbuf_reset;pools=test_pinned_pool,size=64K")
    control = Run(build, "mbuf_autotest", CONTROL)
    run = Run(build, "mbuf_autotest", DRIVER, rules, pinned="1")
    expect_passed(control, f"mbuf_autotest with {CONTROL}")
    expect_passed(run, f"mbuf_autotest with {DRIVER}")
    for pool, slots in (("test_pktmbuf_bulk", 16), ("test_pktmbuf_bulk2", 16),
                        ("test_mbuf_reset", 3), ("test_pinned_pool", 32)):
        run.expect_pinned(pool, slots)
    expect_same(control, run)


def expect_fails_at(run, what, sub_test):
    """Fails in this sub-test, with this complaint; a crash while cleaning up is one, too."""
    name, complaint = sub_test
    expect(not run.passed(), f"{what}: {name} passes; it is listed as one that cannot")
    failures = re.findall(r"mbuf test FAILED \(l\.\d+\): <(.*)", run.output)
    if len(failures) != 1 or complaint not in failures[0]:
        print(run.output[-4000:])
    expect(len(failures) == 1 and complaint in failures[0], f"{what}: {failures}")


def own_pool(build, sub_test, slots, **peers):
    """The pool that most sub-tests share, the driver's and one of DPDK's external buffers."""
    control = Run(build, "mbuf_autotest", CONTROL, extbuf="1", **peers)
    run = Run(build, "mbuf_autotest", DRIVER, f"pools=test_pktmbuf_pool,size={slots * 2}K",
              **peers)
    expect_fails_at(control, "DPDK's own pool of external buffers", sub_test)
    expect_fails_at(run, "the driver's pool", sub_test)
    expect(run.status == control.status, f"status {run.status}, control {control.status}")
    run.expect_pinned("test_pktmbuf_pool", slots)
    expect_same(control, run)


def attach(build):
    # all of its mbufs, as one with a buffer of its own in host memory would pass
    own_pool(build, ATTACH, 128)


def shinfo(build):
    # the pool is replaced behind the sub-test of attach(), which would end the test
    own_pool(build, SHINFO, 64, late="test_pktmbuf_pool")


if __name__ == "__main__":
    if not os.path.exists(DPDK_TEST):
        print(f"skipped: {DPDK_TEST} is not there; it is in package dpdk-dev")
        sys.exit(77)
    harness.main({"mempool": mempool, "mempool_device": mempool_device, "mbuf": mbuf,
                  "attach": attach, "shinfo": shinfo})
