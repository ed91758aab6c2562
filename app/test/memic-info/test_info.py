# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""dpdk-memic-info on the software card, which plays each answer that a card may give."""

import collections
import json
import os
import re
import socket
import subprocess
import tempfile

from harness import Failure, expect, main
from unprivileged import low_addresses_kept

NEEDED = {"mapping", "mr", "busy", "auto", "store-fence", "load-fence", "teardown"}


def info(build, *arguments, emu=(), status=0, before="", leaves=False):
    """Run it; returns standard output, standard error and what the card counted. Objects are
    left only where that is the point."""
    program = os.path.join(build.folder, "app/memic-info/dpdk-memic-info")
    command = ["/bin/sh", "-c", f'{before}exec "$0" "$@"', program, *arguments]
    with tempfile.TemporaryDirectory(prefix="memic.", dir="/tmp") as folder:
        stats = os.path.join(folder, "stats.json")
        done = subprocess.run([build.emu, "--stats", stats, *emu, "--", *command],
                              capture_output=True, text=True, timeout=100, check=False)
        text = done.stdout + done.stderr
        expect(done.returncode == status, f"exit status {done.returncode}, not {status}: {text}")
        counted = None
        if os.path.exists(stats):
            with open(stats, encoding="utf-8") as file:
                counted = json.load(file)
            expect(leaves or counted["leaked_objects"] == 0,
                   f"{counted['leaked_objects']} objects left")
    return done.stdout, done.stderr, counted


def devices(build, *arguments, **options):
    out, _, counted = info(build, "--json", *arguments, **options)
    return json.loads(out)["devices"], counted


def device(build, *arguments, **options):
    found, _ = devices(build, *arguments, **options)
    expect(len(found) == 1, f"{len(found)} devices")
    return found[0]


def probe(build, *faults, emu=(), status=0, arguments=(), before=""):
    """Answers of the checks by name."""
    options = list(emu)
    for fault in faults:
        options += ["--fault", fault]
    one = device(build, "--probe", *arguments, emu=options, status=status, before=before)
    checks = {check["check"]: check for check in one["checks"]}
    missing = [c for c in checks.values() if c["needed"] and c["answer"] != "yes"]
    expect(one["missing"] == len(missing), f"{one['missing']} missing, but {missing}")
    for check in checks.values():
        expect(check["question"] and check["reason"], f"no words for {check}")
    return checks


def answer(checks, name, wanted, reason=""):
    expect(name in checks, f"no check {name}: {sorted(checks)}")
    expect(checks[name]["answer"] == wanted, f"{name} is not {wanted}: {checks[name]}")
    expect(re.search(reason, checks[name]["reason"]), f"not for '{reason}': {checks[name]}")


# ---- what there is ----

def table(build):
    """What people read: each device, its memory, all types, and no line too long."""
    out, _, _ = info(build, "--probe", emu=["--ports", "2"])
    for pattern in (r"^mlx5_0$", r"^mlx5_1$", r"address +0000:08:00\.1", r"firmware +22\.",
                    r"NUMA node +0", r"port 1 +active, Ethernet, 100 Gb/s",
                    r"max_dm_size +131072 bytes", r"free now +131072 bytes, 131072",
                    r"pages of 4096 bytes", r"BAR window of \d+ bytes",
                    r"MEMIC +yes +packets", r"STEERING_SW_ICM +no +E", r"ENCAP_SW_ICM +no +E",
                    r"klm +yes", r"auto\* +yes +klm", r"All that is needed works"):
        expect(re.search(pattern, out, re.M), f"no '{pattern}' in:\n{out}")
    expect(max(map(len, out.splitlines())) <= 100, "a line is longer than 100 columns")


def presets(build):
    """Each preset's own figures, and all of its memory can be had."""
    for preset, part, size in (("cx5", 4119, 131072), ("cx6dx", 4125, 131072),
                               ("cx7", 4129, None), ("nomemic", None, 0)):
        one = devices(build, emu=["--preset", preset])[0][0]
        memory = one["memory"]
        expect(part in (None, one["part_id"]), f"{preset}: {one['part_id']}")
        expect(size in (None, memory["max_dm_size"]), f"{preset}: {memory}")
        expect(memory["free_bytes"] == memory["max_dm_size"], f"{preset}: {memory}")
        types = {entry["type"]: entry for entry in one["types"]}
        expect(len(types) == 5, f"types: {sorted(types)}")
        expect(types["MEMIC"]["may"] == (preset != "nomemic"), f"{preset}: {types['MEMIC']}")
        expect(one["error"] is None and one["firmware"] and one["numa_node"] == 0, f"{one}")


def held(build):
    """What others hold cannot be had, and max_dm_size does not tell."""
    memory = device(build, emu=["--fault", "memic-held=64K", "--fault", "memic-run=16K"])["memory"]
    expect((memory["max_dm_size"], memory["free_bytes"], memory["largest_bytes"]) ==
           (131072, 65536, 16384), f"{memory}")


def sw_icm(build):
    """Types that are there for who may; ENCAP is beyond the library or the kernel."""
    types = {entry["type"]: entry for entry in device(build, emu=["--fault", "sw-icm"])["types"]}
    for name in ("STEERING_SW_ICM", "HEADER_MODIFY_SW_ICM", "HEADER_MODIFY_PATTERN_SW_ICM"):
        expect(types[name]["may"] and "no CPU mapping" in types[name]["why"], f"{types[name]}")
    expect(not types["ENCAP_SW_ICM"]["may"] and "rdma-core 50" in types["ENCAP_SW_ICM"]["why"],
           f"{types['ENCAP_SW_ICM']}")


def sw_icm_refused(build):
    """Without the capabilities the reason names them."""
    out, _, _ = info(build, "--json", emu=["--fault", "sw-icm"],
                     before='exec setpriv --bounding-set -sys_rawio --inh-caps -sys_rawio '
                            '"$0" "$@"; ')
    types = {entry["type"]: entry for entry in json.loads(out)["devices"][0]["types"]}
    expect(not types["STEERING_SW_ICM"]["may"] and
           types["STEERING_SW_ICM"]["why"].startswith("EPERM") and
           "CAP_SYS_RAWIO" in types["STEERING_SW_ICM"]["why"], f"{types}")
    expect(types["MEMIC"]["may"], f"{types['MEMIC']}")


def alloc(build):
    """--alloc of sizes that can and cannot be had."""
    for what, status, text in (
            ("MEMIC:64K", 0, "65536 bytes of MEMIC, mapped"), ("memic:100", 0, "100 bytes"),
            ("MEMIC:1M", 1, "EINVAL: that is more than max_dm_size"),
            ("MEMIC:0", 1, "EINVAL: the length is 0"),
            ("ENCAP_SW_ICM:64", 1, "EOPNOTSUPP")):
        one = device(build, "--alloc", what, status=status)
        expect(text in one["alloc"]["text"] and one["alloc"]["good"] == (status == 0),
               f"{what}: {one['alloc']}")
        out, _, _ = info(build, "--alloc", what, status=status)
        expect(text in " ".join(out.split()), f"{what}: {out}")


def usage(build):
    """Mistakes are named and change nothing."""
    for arguments, text in (
            (["--nosuch"], "nosuch"), (["word"], "'word' is no option"),
            (["--alloc", "MEMIC"], "is not TYPE:BYTES"), (["--alloc", "MEMIC:"], "TYPE:BYTES"),
            (["--alloc", "MEMIC:-1"], "TYPE:BYTES"), (["--alloc", "MEMIC:1T"], "TYPE:BYTES"),
            (["--alloc", "MEMIC:99999999999G"], "TYPE:BYTES"),
            (["--alloc", "MEMIC:64 "], "TYPE:BYTES"),
            (["--alloc", "MEM:1"], "there is no type 'MEM'"), (["--port", "1"], "need --probe"),
            (["--probe", "--port", "0"], "no number"), (["--probe", "--removal", "x"], "no number"),
            (["--device"], "device")):
        out, err, _ = info(build, *arguments, status=2)
        expect(text in err and "usage:" in err and out == "", f"{arguments}: {err}")
    out, _, _ = info(build, "--help")
    expect("--removal" in out, out)


def named(build):
    """One device by name or address, and devices that are not there."""
    for name in ("mlx5_1", "0000:08:00.1"):
        one = device(build, "--device", name, emu=["--ports", "2"])
        expect(one["name"] == "mlx5_1" and one["address"] == "0000:08:00.1", f"{one}")
    one = device(build, "--device", "mlx5_7", status=1)
    expect("ENODEV" in one["error"] and "mlx5_0" in one["error"], f"{one}")
    out, _, _ = info(build, "--device", "mlx5_7", status=1)
    expect("ENODEV" in out, out)
    found, _ = devices(build, "--probe", emu=["--ports", "2"])
    expect([one["missing"] for one in found] == [0, 0], f"{found}")


def nothing(build):
    """77 without a device, and for a probe of one without device memory."""
    program = os.path.join(build.folder, "app/memic-info/dpdk-memic-info")
    with tempfile.TemporaryDirectory(prefix="memic.", dir="/tmp") as folder:
        done = subprocess.run([program], env={"SYSFS_PATH": folder}, capture_output=True,
                              text=True, check=False)
    if os.path.exists("/sys/class/infiniband") and done.returncode == 0:
        print("there is a real device here")
    else:
        expect(done.returncode == 77 and done.stderr, f"{done}")
    checks = probe(build, emu=["--preset", "nomemic"], status=77)
    answer(checks, "max_dm_size", "no", "max_dm_size is 0")


# ---- probe ----

def good(build):
    """A card that does all: every needed answer is yes, and quickly."""
    checks = probe(build)
    for name in NEEDED | {"loop", "klm", "ksm", "direct", "lengths", "alignments", "mr-range",
                          "mr-zero-based", "identity", "wrong-keys", "max_dm_size"}:
        answer(checks, name, "yes")
    expect({name for name, check in checks.items() if check["needed"]} == NEEDED, f"{checks}")
    answer(checks, "klm", "yes", r"6 sizes from 60 to 1514 .* MTU")
    answer(checks, "auto", "yes", "^klm")
    answer(checks, "write-combining", "unknown", "no card is behind")


def jumbo(build):
    """Frames of 9000 bytes where the MTU allows them."""
    checks = probe(build, emu=["--memic", "256K"], before="ip link set emu0 mtu 9500; ")
    for way in ("klm", "ksm", "direct"):
        answer(checks, way, "yes", "9 sizes from 60 to 9000 bytes")


def keys(build):
    """Each way refused, at creation and at use: the next one is taken, and why is told."""
    for faults, answers, auto, status in (
            (["klm=create"], {"klm": ("no", "EREMOTEIO"), "ksm": ("yes", "")}, "^ksm", 0),
            (["klm=use"], {"klm": ("no", "refused by the receive queue .*protection"),
                           "ksm": ("yes", "")}, "^ksm", 0),
            (["ksm=create"], {"klm": ("yes", ""), "ksm": ("no", "EREMOTEIO")}, "^klm", 0),
            (["ksm=use"], {"klm": ("yes", ""), "ksm": ("no", "protection")}, "^klm", 0),
            (["direct"], {"direct": ("no", "protection")}, "^klm", 0),
            (["klm=use", "ksm=create"], {"direct": ("yes", "")}, "mkey=direct", 1),
            (["klm=use", "ksm=use", "direct"], {"direct": ("no", "")},
             "none: pools live in host memory$", 1),
            (["no-devx"], {"klm": ("no", "DevX"), "ksm": ("no", "DevX"), "direct": ("yes", "")},
             "none", 1)):
        checks = probe(build, *faults, status=status)
        for name, (wanted, reason) in answers.items():
            answer(checks, name, wanted, reason)
        answer(checks, "auto", "no" if status else "yes", auto)


def loops(build):
    """No frame comes back, or a wrong one: nothing is claimed of keys."""
    check_wire = ["--wire", "check:1:60"]
    for faults, emu, reason in ((["loopback=off"], check_wire, "did not come back: the switch"),
                                (["loopback=refused"], [], "mlx5dv_create_qp .*EREMOTEIO"),
                                (["loopback=corrupts"], [], "wrong byte at 59")):
        checks = probe(build, *faults, emu=emu, status=1)
        answer(checks, "loop", "no", reason)
        for name in ("klm", "ksm", "direct", "auto", "store-fence", "load-fence", "wrong-keys"):
            answer(checks, name, "unknown")
        answer(checks, "auto", "unknown", "^klm, as it can be made")
        answer(checks, "teardown", "yes")
    checks = probe(build, emu=check_wire, before="ip link set emu0 down; ", status=1)
    answer(checks, "loop", "no", "interface of port 1 is down")
    # in switchdev mode frames would leave, so none is sent
    options = ["--ports", "2", "--one-device", "--wire", "check:1:60"]
    checks = probe(build, emu=options, status=1)
    answer(checks, "loop", "no", "switchdev mode: EOPNOTSUPP")
    answer(checks, "klm", "unknown")
    # a plug brings the frames back that the switch does not
    answer(probe(build, "loopback=off"), "klm", "yes")


def other_answers(build):
    """The other checks with the answers that the default card does not give."""
    for faults, name, wanted, reason, status in (
            (["memic-held=64K"], "max_dm_size", "no", "65536 bytes can be had", 0),
            (["memic-run=4096"], "identity", "no", "less than two pages", 0),
            (["dm-multiple=64"], "lengths", "no", "1 bytes: EINVAL", 0),
            (["dm-multiple=64"], "mr-range", "yes", "multiple of 64: EINVAL", 0),
            (["start-offset=64"], "alignments", "yes", "up to 2.6: KSM keys", 0),
            (["ordering=refused"], "mr-relaxed-ordering", "no", "EINVAL", 0),
            (["ordering=demanded"], "auto", "yes", "klm", 0),
            (["ordering=demanded"], "mr-relaxed-ordering", "yes", "no error", 0),
            (["write-combining"], "store-fence", "yes", "", 0),
            (["incoherent=stores:1"], "klm", "no", "sent .* came back with a wrong byte", 1),
            (["incoherent=loads:1"], "ksm", "no", "received into device memory came back", 1),
            (["incoherent=stores:200"], "store-fence", "no", "[1-9][0-9]* of 64 frames", 1),
            (["incoherent=loads:350"], "load-fence", "no", "[1-9][0-9]* of 64 frames", 1),
            (["one-page"], "mapping", "no", "stored 0x.. at byte 0 of 16384 and loaded 0x..", 1),
            (["not-busy=dm"], "busy", "no", "under a region: no error; .*: not tried", 1),
            (["not-busy=pd"], "busy", "no", "EBUSY; a protection domain .*: no error", 1),
            (["any-variant"], "wrong-keys", "no", "a key that does not exist", 0),
            (["memic-held=128K"], "max_dm_size", "no", "nothing can be had", 1),
            (["ioctl=3:EIO:REG_MR"], "auto", "yes", "", 0)):
        answer(probe(build, *faults, status=status), name, wanted, reason)


def uncached(build):
    """Traps make each access cost the same, as on a mapping that is not write-combining."""
    checks = probe(build, "trap=all", emu=["--memic", "16K"])
    answer(checks, "write-combining", "no", "uncached")


def fails_anywhere(build):
    """Whatever cannot be made, the probe ends by itself and leaves nothing."""
    for kind, numbers in (("DM_ALLOC", (1, 20, 40, 60)), ("DM_MR_REG", (1, 4, 7, 9, 11)),
                          ("ALLOC_PD", (1, 2, 3)), ("REG_MR", (1,)), ("CQ_CREATE", (1, 2, 5)),
                          ("QP_CREATE", (1, 2, 5)), ("MODIFY_QP", (1, 2, 3, 7)),
                          ("EX_CREATE_FLOW", (1, 2, 5)), ("DEVX_OBJ_CREATE", (1, 2, 4))):
        for number in numbers:
            fault = f"ioctl={number}:ENOMEM:{kind}"
            out, err, _ = info(build, "--probe", "--json", emu=["--fault", fault],
                               before='"$0" "$@"; echo; echo status $?; exit 0; ')
            expect("--fault ioctl" in err, f"{fault} did not bite: {err}")
            expect(re.search(r"status [01]$", out, re.M), f"{fault}: {out} {err}")


def left_behind(build, fault):
    """Answers of a probe that cannot give back what it took."""
    out, _, _ = info(build, "--probe", "--json", emu=["--fault", fault], status=1, leaves=True)
    return {check["check"]: check for check in json.loads(out)["devices"][0]["checks"]}


def calls(build):
    """How often a probe gives each kind of object back."""
    with tempfile.TemporaryDirectory(prefix="memic.", dir="/tmp") as folder:
        path = os.path.join(folder, "trace")
        info(build, "--probe", emu=["--trace", path])
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    names = [re.sub(r".*[ :] *", "", line) for line in lines if " -> " not in line]
    # doorbell pages are libmlx5's own
    return collections.Counter(name for name in names if re.search(
        "DESTROY|DM_FREE", name) and name != "UAR_DESTROY")


def destroy(build):
    """An object that is refused to go once is gone in the end, and one that never goes is told."""
    counts = calls(build)
    expect(set(counts) > {"DM_FREE", "MR_DESTROY", "DEVX_OBJ_DESTROY", "QP_DESTROY", "CQ_DESTROY"},
           f"{counts}")
    for kind, number in counts.items():
        for n in sorted({1, 2, number // 2, number} & set(range(1, number + 1))):
            _, err, _ = info(build, "--probe", emu=["--fault", f"ioctl={n}:EBUSY:{kind}"])
            expect("--fault ioctl" in err, f"{n} of {number} {kind} did not bite: {err}")
        checks = left_behind(build, f"ioctl={number // 2 + 1}+:EBUSY:{kind}")
        answer(checks, "teardown", "no", "could not be destroyed in 3 tries: EBUSY|giving back")


def identity_refused(build):
    """Without the capability the low addresses cannot be had, and the cure is told."""
    with low_addresses_kept():
        checks = probe(build, before='exec setpriv --bounding-set -sys_rawio --inh-caps -sys_rawio '
                                     '"$0" "$@"; ')
    answer(checks, "identity", "no", "EPERM: addresses below vm.mmap_min_addr need CAP_SYS_RAWIO")
    answer(checks, "direct", "yes")


def removed(build):
    """The device goes while somebody waits for it, and in the middle of everything."""
    checks = probe(build, "remove=ms:2500", arguments=["--removal", "20"])
    answer(checks, "removal", "yes", "reads 0x00")
    checks = probe(build, arguments=["--removal", "1"])
    answer(checks, "removal", "unknown", "nobody removed")
    for ms in (20, 60, 120):
        out, _, _ = info(build, "--probe", "--json", emu=["--fault", f"remove=ms:{ms}"],
                         before='"$0" "$@"; echo; echo status $?; exit 0; ')
        expect(re.search(r"status [01]", out), out)


def private(build):
    """What is sent to others names no host, no address of a port and no GUID."""
    out, _, _ = info(build, "--probe", "--json", emu=["--ports", "2"])
    expect("firmware" in out and "checks" in out, out)
    # the card's addresses, however they are written
    for mac in ("b8599faabbcc", "b8599faabbcd", "ba599ffffeaabbcc", "b8599f0300aabbcc"):
        expect(mac not in re.sub("[^0-9a-f]", "", out.lower()), f"{mac} is in there")
    expect(not re.search(r"([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}", out), "a MAC address")
    expect(not re.search(r"([0-9a-fA-F]{4}:){3}[0-9a-fA-F]{4}", out), "a GUID")
    for name in {socket.gethostname(), os.uname().nodename}:
        expect(name not in out, f"the host name {name} is in there")
    for word in ("fe80", "emu0", "node_guid", "hostname"):
        expect(word not in out, f"'{word}' is in there")


main({case.__name__: case for case in (
    table, presets, held, sw_icm, sw_icm_refused, alloc, usage, named, nothing, good, jumbo, keys,
    loops, other_answers, uncached, fails_anywhere, destroy, identity_refused,
    removed, private)})
