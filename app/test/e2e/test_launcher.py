# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""What mlx5emu promises to whoever starts it."""

import glob
import os
import shutil
import signal
import subprocess
import tempfile
import time

from harness import Failure, Skip, add_preload, expect, main

NOBODY = 65534

# All that COMMAND's environment has from the launcher, see doc/guides/mlx5emu.rst.
OURS = {"LD_PRELOAD", "MLX5EMU", "SYSFS_PATH", "SYSFS_PCI_DEVICES"}


def run(build, *args, env=None, prefix=()):
    """Run the launcher to its end."""
    return subprocess.run([*prefix, build.emu, *args], capture_output=True, text=True, timeout=60,
                          env=env, check=False)


def expect_status(result, status):
    expect(result.returncode == status,
           f"status {result.returncode}, not {status}: {result.args}\n{result.stderr}")


def status(build):
    for command, wanted in ((["true"], 0), (["sh", "-c", "exit 3"], 3),
                            (["sh", "-c", "kill -9 $$"], 137),
                            (["/nonexistent/command"], 127), (["/"], 126)):
        expect_status(run(build, "--", *command), wanted)
    # options after COMMAND are COMMAND's, with and without the dashes
    result = run(build, "echo", "--ports")
    expect(result.stdout == "--ports\n", f"printed {result.stdout!r}")


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def take_signals():
    """What runs in the background is started with some ignored, which a shell cannot trap."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def start_trapping(build, folder):
    """A command that writes "ready", and the name of the signal it gets."""
    log = os.path.join(folder, "log")
    script = f"""for s in INT TERM HUP QUIT; do trap "echo $s >>{log}; exit 9" $s; done
        echo ready >{log}; while :; do sleep 0.05; done"""
    process = subprocess.Popen([build.emu, "--", "sh", "-c", script], start_new_session=True,
                               preexec_fn=take_signals)
    wait_for(lambda: os.path.exists(log) and os.path.getsize(log) > 0, "the command to start")
    return process, log


def wait_for(condition, what):
    deadline = time.monotonic() + 20
    while not condition():
        if time.monotonic() > deadline:
            raise Failure(f"waited too long for {what}")
        time.sleep(0.05)


def signals(build):
    for number in SIGNALS:
        with tempfile.TemporaryDirectory() as folder:
            process, log = start_trapping(build, folder)
            process.send_signal(number)
            try:
                got = process.wait(20)
            finally:
                process.kill()
            expect(got == 9, f"status {got} after {number.name}")
            with open(log, encoding="utf-8") as file:
                names = file.read().split()
            expect(names == ["ready", number.name[3:]], f"{number.name} arrived as {names}")


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def killed_launcher(build):
    """No command outlives its launcher."""
    with tempfile.TemporaryDirectory() as folder:
        pid_file = os.path.join(folder, "pid")
        env = dict(os.environ, TMPDIR=folder)
        process = subprocess.Popen(
            [build.emu, "--", "sh", "-c", f"echo $$ >{pid_file}; exec sleep 600"], env=env)
        wait_for(lambda: os.path.exists(pid_file) and os.path.getsize(pid_file) > 0, "the command")
        with open(pid_file, encoding="utf-8") as file:
            pid = int(file.read())
        expect(alive(pid), "the command does not run")
        process.kill()
        process.wait()
        wait_for(lambda: not alive(pid), "the command to end")


def usage(build):
    wrong = (["--nosuch"], ["--ports", "9"], ["--ports", "x"], ["--preset", "cx3"],
             ["--one-device"], ["--memic", "12Q"], ["--wire", "bogus"], ["--wire", "check:1"],
             ["--wire", "pair"], ["--wire", "pcap:/nonexistent:x"],
             ["--stats", "/nonexistent/s.json"],
             ["--trace", "/nonexistent/t"], ["--fault", "bogus"], ["--memic"])
    for options in wrong:
        result = run(build, *options, "--", "echo", "ran")
        expect_status(result, 2)
        expect("ran" not in result.stdout, f"{options}: the command ran")
        expect(options[0].lstrip("-") in result.stderr, f"{options}: says {result.stderr!r}")
    expect_status(run(build), 2)
    expect_status(run(build, "--"), 2)
    for option in ("--help", "--version"):
        result = run(build, option)
        expect_status(result, 0)
        expect("mlx5emu" in result.stdout, f"{option} printed {result.stdout!r}")
    expect_status(run(build, "--fault", "help"), 0)


def environment_of(text):
    return dict(entry.split("=", 1) for entry in text.split("\0") if entry)


def environment(build):
    # empty, unless a sanitizer's runtime has to be there
    runtime = os.environ.get("LD_PRELOAD", "")
    before = {"PATH": os.environ["PATH"], "LD_PRELOAD": runtime, "ODD NAME": "a\nb",
              "HOME": "/nowhere"}
    result = run(build, "--", "env", "-0", env=before)
    expect_status(result, 0)
    after = environment_of(result.stdout)
    expect(after["LD_PRELOAD"] == f"{runtime}:{build.preload}".lstrip(":"),
           f"LD_PRELOAD={after['LD_PRELOAD']}")
    expect(set(after) - set(before) == OURS - {"LD_PRELOAD"}, f"new: {set(after) - set(before)}")
    for name in set(before) - OURS:
        expect(after[name] == before[name], f"{name} changed to {after[name]!r}")
    libc = "libdl.so.2"
    env = dict(before)
    add_preload(env, libc)
    result = run(build, "--", "env", "-0", env=env)
    expect(environment_of(result.stdout)["LD_PRELOAD"] == f"{env['LD_PRELOAD']}:{build.preload}",
           "an LD_PRELOAD that was there is gone")


def files(build):
    """The run's folder goes; results of an older run do not look like ours."""
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, TMPDIR=folder)
        result = run(build, "--", "sh", "-c", "echo $SYSFS_PATH; umask", env=env)
        path, umask = result.stdout.split()
        expect(path.startswith(folder), f"the tree was in {path}")
        expect(int(umask, 8) == current_umask(), f"the command's umask is {umask}")
        stale = os.path.join(folder, "stats.json")
        with open(stale, "w", encoding="utf-8") as file:
            file.write("{}")
        expect_status(run(build, "--stats", stale, "--", "true", env=env), 0)
        expect(not os.path.exists(stale), "an old file of statistics stayed")
        left = glob.glob(os.path.join(folder, "*"))
        expect(not left, f"left behind: {left}")


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def ibv_devinfo():
    path = shutil.which("ibv_devinfo")
    if path is None:
        raise Skip("no ibv_devinfo; install ibverbs-utils")
    return path


def expect_devices(result, names):
    expect_status(result, 0)
    for name in names:
        expect(name in result.stdout, f"no {name} in:\n{result.stdout}")
    count = result.stdout.count("hca_id:")
    expect(count == len(names), f"{count} devices, not {len(names)}")
    expect(result.stdout.count("PORT_ACTIVE") == len(names), "a port is not active")


def devices(build):
    tool = ibv_devinfo()
    expect_devices(run(build, "--", tool), ["mlx5_0"])
    expect_devices(run(build, "--ports", "2", "--", tool), ["mlx5_0", "mlx5_1"])
    result = run(build, "--preset", "cx5", "--", tool)
    expect_devices(result, ["mlx5_0", "mlx5_1"])
    for text in ("4119", "MT_0000000012", "16.35.1012"):
        expect(text in result.stdout, f"no {text} in:\n{result.stdout}")
    result = run(build, "--ports", "2", "--one-device", "--", tool)
    expect(result.stdout.count("hca_id:") == 1, f"not one device in:\n{result.stdout}")
    expect(result.stdout.count("PORT_ACTIVE") == 2, f"not two ports in:\n{result.stdout}")
    result = run(build, "--memic", "256K", "--", tool, "-v")
    expect("262144Bytes" in result.stdout, f"no 256 KiB of device memory in:\n{result.stdout}")


def copy_for_others(build, folder):
    """The build folder may lie where only its owner can go."""
    os.chmod(folder, 0o755)
    for path in (build.emu, build.preload):
        target = os.path.join(folder, os.path.relpath(path, build.folder))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(path, target)
    for parent, folders, _ in os.walk(folder):
        for name in folders:
            os.chmod(os.path.join(parent, name), 0o755)
    return os.path.join(folder, os.path.relpath(build.emu, build.folder))


def user_namespaces_refused():
    probe = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
             "unshare", "-Un", "true"]
    return subprocess.run(probe, capture_output=True, check=False).returncode != 0


def unprivileged(build):
    """As somebody without any privilege: the user stays who he is, the card is there."""
    if os.geteuid() != 0:
        raise Skip("not root, so every test is unprivileged")
    if user_namespaces_refused():
        raise Skip("this machine refuses user namespaces to its users")
    tool = ibv_devinfo()
    become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    with tempfile.TemporaryDirectory() as folder:
        emu = copy_for_others(build, folder)
        result = subprocess.run([*become, emu, "--", "id", "-u"], capture_output=True, text=True,
                                check=False)
        expect_status(result, 0)
        expect(result.stdout == f"{NOBODY}\n", f"the command runs as {result.stdout}")
        result = subprocess.run([*become, emu, "--ports", "2", "--", tool], capture_output=True,
                                text=True, check=False)
        expect_devices(result, ["mlx5_0", "mlx5_1"])
        result = subprocess.run([*become, emu, "--root", "--", "true"], capture_output=True,
                                text=True, check=False)
        expect_status(result, 125)
        expect("CAP_SYS_ADMIN" in result.stderr, f"says {result.stderr!r}")


def root(build):
    """Under the real /sys and /dev, seen by COMMAND only."""
    if run(build, "--root", "--", "true").returncode == 125:
        raise Skip("--root does not work here: " + run(build, "--root", "--", "true").stderr)
    script = """test -z "$SYSFS_PATH$SYSFS_PCI_DEVICES" && ls /sys/class/infiniband /sys/class/net \
        /sys/bus/pci/devices /dev/infiniband"""
    result = run(build, "--root", "--ports", "2", "--", "sh", "-c", script)
    expect_status(result, 0)
    for name in ("mlx5_1", "emu1", "0000:08:00.1", "uverbs1"):
        expect(name in result.stdout.split(), f"no {name} in:\n{result.stdout}")
    expect(not os.path.exists("/sys/class/net/emu1"), "emu1 is seen outside")
    with open("/proc/mounts", encoding="utf-8") as mounts:
        expect("mlx5emu" not in mounts.read(), "a mount is seen outside")
    script = "cat /sys/class/net/emu1/phys_port_name; ls /dev/infiniband"
    result = run(build, "--root", "--ports", "2", "--one-device", "--", "sh", "-c", script)
    expect(result.stdout.split() == ["pf0vf0", "uverbs0"], f"one device is {result.stdout!r}")
    expect_devices(run(build, "--root", "--ports", "2", "--", ibv_devinfo()),
                   ["mlx5_0", "mlx5_1"])


def preload(build):
    """Programs that have nothing to do with a card run as ever."""
    script = "ls /dev >/dev/null && stat /dev/null | grep -q 'type: 1,3' && echo $((6 * 7))"
    result = run(build, "--", "sh", "-c", script)
    expect_status(result, 0)
    expect(result.stdout == "42\n" and result.stderr == "", f"{result.stdout!r} {result.stderr!r}")
    expect_status(run(build, "--", "/usr/bin/python3", "-c", "import socket, mmap, ctypes"), 0)


main({case.__name__: case for case in (
    status, signals, killed_launcher, usage, environment, files, devices, unprivileged, root,
    preload)})
