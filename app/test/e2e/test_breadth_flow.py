# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Flow rules of testpmd, and that what the card has not is neither offered nor accepted."""

import re
import time

import frames as eth
from harness import Testpmd, check_card, expect, main
from tap import Tap

APP = ["--rxd=64", "--txd=64", "--burst=16", "--mbcache=0", "--total-num-mbufs=4096",
       "--rxq=4", "--txq=4"]
KEY = bytes.fromhex("2cc681d15bdbf4f7fca28319db1a3e946b9e38d92c9c03d1ad9944a7d9563d59"
                    "063c25f3fc1fdc2a")

DNS = eth.frame(dport=53)
UDP = eth.frame(src="192.0.2.3", dport=9)
BANNED = eth.frame(src="192.0.2.9", dport=53)
TCP6 = [eth.frame("2001:db8::1", "2001:db8::2", eth.TCP, 1000 + n, 80) for n in range(8)]
OTHER = eth.frame(dmac=bytes.fromhex("021122334455"), src="192.0.2.4")


def on_tap(build, flow_en, device="", app=()):
    return Testpmd(build, ["--wire", "tap"], [], [*APP, *app], None,
                   f"dv_flow_en={flow_en}{device}")


def queue_counts(testpmd):
    return testpmd.query("/ethdev/stats,0")["q_ipackets"][:4]


def queues_of(testpmd, peer, frames, taken=None):
    """How many of these frames each queue gets, where so many are taken, by default all; and that
    nothing else comes of them."""
    before, on_wire = queue_counts(testpmd), testpmd.on_wire("rx")
    for frame in frames:
        peer.send(frame)
    testpmd.climb(on_wire + len(frames), lambda: testpmd.on_wire("rx"), 10)
    testpmd.climb(sum(before) + (len(frames) if taken is None else taken),
                  lambda: sum(queue_counts(testpmd)), 10)
    time.sleep(0.1)
    return [new - old for new, old in zip(queue_counts(testpmd), before)]


def create(testpmd, rule):
    answer = testpmd.run(f"flow create 0 ingress pattern {rule} / end")
    match = re.search(r"Flow rule #(\d+) created", answer)
    expect(match, answer)
    return match[1]


def on_queue(queue, count=1):
    return [count if index == queue else 0 for index in range(4)]


def rules(build, flow_en):
    """Queue, drop and RSS on Ethernet, IPv4, IPv6, UDP and TCP; list, destroy, flush."""
    with on_tap(build, flow_en) as testpmd:
        testpmd.wait_prompt()
        testpmd.run("set fwd rxonly")
        testpmd.run("start")
        with Tap("emu0", testpmd.process.pid) as peer:
            home = {frame: queues_of(testpmd, peer, [frame]) for frame in (DNS, UDP, OTHER)}
            for counts in home.values():
                expect(sum(counts) == 1, f"before any rule: {counts}")
            away = (home[DNS].index(1) + 1) % 4
            dns = create(testpmd, f"eth / ipv4 / udp dst is 53 / end actions queue index {away}")
            create(testpmd, "eth / ipv4 src is 192.0.2.9 / udp / end actions drop")
            create(testpmd, "eth / ipv6 / tcp / end actions rss types ipv6-tcp end "
                   "queues 1 3 end")
            create(testpmd, "eth dst is 02:11:22:33:44:55 / end actions queue index 2")

            expect(queues_of(testpmd, peer, [DNS]) == on_queue(away), "the rule of port 53")
            expect(queues_of(testpmd, peer, [UDP]) == home[UDP], "a frame of no rule moved")
            expect(queues_of(testpmd, peer, [OTHER]) == on_queue(2), "the rule of an address")
            wanted = [0, 0, 0, 0]
            for frame in TCP6:
                wanted[(1, 3)[eth.rss_hash(KEY, frame) % 2]] += 1
            got = queues_of(testpmd, peer, TCP6)
            expect(got == wanted, f"RSS rule: {got}, not {wanted}")
            listed = testpmd.run("flow list 0")
            expect(len(re.findall(r"^\d+\s", listed, re.M)) == 4, f"flow list: {listed}")
            expect("destroyed" in testpmd.run(f"flow destroy 0 rule {dns}"), "destroy")
            expect(queues_of(testpmd, peer, [DNS]) == home[DNS], "the rule of port 53 is back")
            expect(queues_of(testpmd, peer, [BANNED], 0) == [0] * 4, "the drop rule")
            testpmd.run("flow flush 0")
            expect(sum(queues_of(testpmd, peer, [BANNED])) == 1, "the drop rule is still there")
            got = queues_of(testpmd, peer, [OTHER])
            expect(got == home[OTHER], f"the rule of an address is still there: {got}")
        expect(testpmd.quit() == 0, "testpmd failed")
        check_card(testpmd.stats())


def isolated(build, flow_en):
    """A port in isolated mode receives what its rules name, nothing else."""
    with on_tap(build, flow_en, app=["--flow-isolate-all"]) as testpmd:
        testpmd.wait_prompt()
        testpmd.run("set fwd rxonly")
        testpmd.run("start")
        with Tap("emu0", testpmd.process.pid) as peer:
            expect(queues_of(testpmd, peer, [DNS, UDP], 0) == [0] * 4, "frames came without a rule")
            create(testpmd, "eth / ipv4 / udp dst is 53 / end actions queue index 3")
            expect(queues_of(testpmd, peer, [DNS, UDP], 1) == on_queue(3), "the rule of port 53")
        expect(testpmd.quit() == 0, "testpmd failed")
        check_card(testpmd.stats())


def counted(build, flow_en):
    """What a rule saw; the PMD counts by DevX, so not in rules that it makes by verbs."""
    rule = "eth / ipv4 / udp dst is 53 / end actions count / queue index 1"
    with on_tap(build, flow_en) as testpmd:
        testpmd.wait_prompt()
        testpmd.run("set fwd rxonly")
        testpmd.run("start")
        with Tap("emu0", testpmd.process.pid) as peer:
            if flow_en == "0":
                answer = testpmd.run(f"flow create 0 ingress pattern {rule} / end")
                expect("created" not in answer and re.search("(?i)error", answer), answer)
            else:
                number = create(testpmd, rule)
                expect(queues_of(testpmd, peer, [DNS, UDP, DNS])[1] >= 2, "the rule of port 53")
                answer = testpmd.run(f"flow query 0 {number} count")
                expect(re.search(r"hits: 2\b", answer), answer)
                expect(re.search(rf"bytes: {2 * len(DNS)}\b", answer), answer)
        expect(testpmd.quit() == 0, "testpmd failed")
        check_card(testpmd.stats())


def not_offered(build, flow_en):
    """What the emulated card does not do."""
    with on_tap(build, flow_en, ",mprq_en=1") as testpmd:
        testpmd.wait_prompt()
        expect("MPRQ is requested but cannot be enabled" in testpmd.output,
               "mprq_en=1 was accepted without a word")
        offers = testpmd.run("show port 0 rx_offload capabilities")
        offers += testpmd.run("show port 0 tx_offload capabilities")
        for name in ("VLAN_STRIP", "TCP_LRO", "KEEP_CRC", "TCP_TSO", "VXLAN_TNL_TSO",
                     "GRE_TNL_TSO", "OUTER_IPV4_CKSUM"):
            expect(name not in offers, f"{name} is offered: {offers}")
        for name in ("IPV4_CKSUM", "UDP_CKSUM", "TCP_CKSUM", "SCATTER",
                     "MULTI_SEGS", "RSS_HASH"):
            expect(name in offers, f"{name} is not offered: {offers}")
        testpmd.run("port stop 0")
        refusals = (("tso set 1000 0", "not supported|isn't supported"),
                    ("vlan set strip on 0", "(?i)not supported|doesn't support|error|fail"))
        for command, pattern in refusals:
            answer = testpmd.run(command)
            expect(re.search(pattern, answer), f"{command}: {answer}")
        testpmd.run("port start 0")
        bad = ("eth / ipv4 / udp / end actions age timeout 10 / queue index 1",
               "eth / ipv4 / udp / vxlan / eth / end actions queue index 1",
               "eth / ipv4 / gre / end actions queue index 1",
               "eth / vlan / end actions of_pop_vlan / queue index 1",
               "eth / ipv4 / udp / end actions meter mtr_id 1 / queue index 1",
               "eth / ipv4 / udp / end actions set_ttl ttl_value 5 / queue index 1")
        for rule in bad:
            answer = testpmd.run(f"flow create 0 ingress pattern {rule} / end")
            expect("created" not in answer and re.search("(?i)error", answer), f"{rule}: {answer}")
        expect(testpmd.quit() == 0, "testpmd failed")
        check_card(testpmd.stats())


main({case.__name__: case for case in (rules, isolated, counted, not_offered)})
