# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""devtools/test-matrix.sh and what it is made of, as far as no network is needed."""

import json
import os
import subprocess
import tempfile

from harness import Skip, expect, main

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))


def run(*command, tools=None, **env):
    """Status and output, with tools of that folder instead of the machine's."""
    path = f"{tools}:{os.environ['PATH']}" if tools else os.environ["PATH"]
    result = subprocess.run(command, cwd=TOP, env={**os.environ, "PATH": path, **env},
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            timeout=60, check=False)
    print(result.stdout)
    return result.returncode, result.stdout


def function(*command, **more):
    """A function of chroot.sh."""
    return run("bash", "-c", '. devtools/common.sh; . devtools/chroot.sh; "$@"', "bash", *command,
               **more)


def tool(folder, name, script):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\n{script}\n")
    os.chmod(path, 0o755)


# A dpkg-query that has every package.
INSTALLED = 'for name in "$@"; do echo "installed $name"; done'


def names(_):
    """A release that is none is refused before anything is done."""
    for script in ("test-matrix.sh", "test.sh"):
        for releases in (["potato"], ["trixie", "potato"], [""]):
            status, output = run(f"devtools/{script}", *releases)
            expect(status == 1, f"{script}: status {status}")
            expect(f"'{releases[-1]}' is none of the releases bookworm trixie testing" in output,
                   output)
            expect(len(output.splitlines()) == 1, f"more was done: {output}")


def versions(_):
    """The authors' part of the distribution's version."""
    for package, upstream in (("24.11.8-0+deb13u1", "24.11.8"), ("44.0-2", "44.0"),
                              ("56.1-1", "56.1"), ("1:65.0-1.1", "65.0"),
                              ("25.11~rc1-1", "25.11"), ("22.11.11+dfsg-1~deb12u1", "22.11.11")):
        status, output = function("upstream_version", package)
        expect(status == 0 and output == upstream + "\n", f"{package} became {output}")


def mirror(_):
    """The source of the release itself, not of its updates; the proxy of apt."""
    with tempfile.TemporaryDirectory() as tools:
        tool(tools, "apt-get", """case $1 in indextargets) ;; *) exit 1 ;; esac
echo 'bookworm-security main http://one.invalid/debian-security/'
echo 'bookworm contrib http://two.invalid/debian/'
echo 'bookworm main http://three.invalid/debian/'""")
        tool(tools, "apt-config", "echo \"V='http://proxy.invalid:3128/'\"")
        status, output = function("chroot_mirror", tools=tools)
        expect(status == 0 and output == "http://three.invalid/debian/\n", output)
        clean = {"http_proxy": "", "https_proxy": "http://other.invalid/", "no_proxy": ""}
        _, output = function("chroot_proxies", tools=tools, **clean)
        expect(output == "http_proxy=http://proxy.invalid:3128/\n"
               "https_proxy=http://other.invalid/\n", output)
        tool(tools, "apt-get", "exit 100")
        status, output = function("chroot_mirror", tools=tools)
        expect(status == 1 and "no source of Debian by http" in output, output)


def counts(_):
    """The sum over several logs, and what begins the line."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for log, results in enumerate((["OK", "OK", "SKIP"], ["OK", "FAIL", "TIMEOUT"])):
            paths.append(os.path.join(folder, f"{log}.json"))
            with open(paths[-1], "w", encoding="utf-8") as file:
                for number, result in enumerate(results):
                    file.write(json.dumps({"name": f"test {log} {number}", "result": result,
                                           "duration": 1.5}) + "\n")
        status, output = run("python3", "devtools/count_tests.py", *paths)
        expect(status == 1, f"status {status}")
        expect(output.endswith("\ntests: 3 passed, 2 failed, 1 skipped\n"), output)
        status, output = run("python3", "devtools/count_tests.py", "--of", "dpdk 1 rdma-core 2",
                             paths[0])
        expect(status == 0, f"status {status}")
        expect(output.endswith("\ndpdk 1 rdma-core 2: 2 passed, 0 failed, 1 skipped\n"), output)


def obstacle(_):
    """What stands in the way is said, nothing passes, and nothing is told to have failed."""
    with tempfile.TemporaryDirectory() as folder:
        tool(folder, "dpkg-query", INSTALLED)
        tool(folder, "unshare", "exit 1")
        tool(folder, "id", "echo 0")
        env = {"tools": folder, "MEMIC_BUILD": folder, "MEMIC_CACHE": folder}
        why = "no mount and process namespaces can be made here"
        status, output = run("devtools/test-matrix.sh", "trixie", **env)
        expect(status == 1, f"status {status}")
        expect(f"trixie: not tested: {why}" in output, output)
        expect("\nrelease trixie: 0 passed, 0 failed, 1 skipped\n" in output, output)
        status, output = run("devtools/test-matrix.sh", **env)
        expect(status == 1 and "no release passed" in output, output)
        for release in ("bookworm", "trixie", "testing"):
            expect(f"\nrelease {release}: 0 passed, 0 failed, 1 skipped\n" in output, output)
        status, output = run("devtools/test-matrix.sh", "--prepare", "trixie", **env)
        expect(status == 1 and f"trixie cannot be made: {why}" in output, output)


def added(_):
    """test.sh counts what it was asked for beside its own, but not the release that is advisory."""
    with tempfile.TemporaryDirectory() as folder:
        tool(folder, "dpkg-query", INSTALLED)
        tool(folder, "unshare", "exit 1")
        tool(folder, "id", "echo 0")
        tool(folder, "ninja", "exit 0")
        tool(folder, "meson", """[ "$1" = test ] || exec mkdir -p "$3"
mkdir -p "$3/meson-logs"
echo '{"name": "one", "result": "OK", "duration": 1}' >$3/meson-logs/testlog.json""")
        env = {"tools": folder, "MEMIC_BUILD": os.path.join(folder, "build"),
               "MEMIC_CACHE": folder, "HUGE_PAGES": "/nonexistent"}
        for releases, skipped in (((), 0), (("testing",), 0), (("testing", "trixie"), 1)):
            status, output = run("devtools/test.sh", *releases, **env)
            expect(output.endswith(f"\ntests: 2 passed, 0 failed, {skipped} skipped\n"), output)
            expect(status == 0, f"{releases}: status {status}")
            for release in releases:
                expect(f"\nrelease {release}: 0 passed, 0 failed, 1 skipped\n" in output, output)
        # a Debian that builds nothing is a failure
        tool(folder, "unshare", "exit 0")
        tool(folder, "debootstrap", "exit 0")
        tool(folder, "apt-get", "echo bookworm main http://localhost/debian")
        status, output = run("devtools/test.sh", "trixie", **env)
        expect(output.endswith("\ntests: 2 passed, 1 failed, 0 skipped\n"), output)
        expect(status == 1, f"status {status}")


def copied(_):
    """The copy is the tree; what differs is newer than what was compiled, whatever its time."""
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            status, output = function("copy_tree", folder)
            expect(status == 0 and output == "", output)
            paths = {name: os.path.join(folder, name) for name in ("VERSION", "devtools/demo.sh")}
            expect(os.access(paths["devtools/demo.sh"], os.X_OK), "cannot be run")
            for path in paths.values():
                os.utime(path, (1000, 1000))
            with open(paths["VERSION"], "a", encoding="ascii") as file:
                file.write("of another clone")
            os.utime(paths["VERSION"], (2000, 2000))
            with open(os.path.join(folder, "devtools/gone"), "w", encoding="ascii"):
                pass
        status, output = function("copy_tree", folder)
        expect(status == 0, output)
        expect(not os.path.exists(os.path.join(folder, "devtools/gone")), "still there")
        expect(os.stat(paths["VERSION"]).st_mtime > 2000, "the time of another clone")
        expect(os.stat(paths["devtools/demo.sh"]).st_mtime == 1000, "copied for nothing")
        differ = subprocess.run(["diff", "-r", "devtools", os.path.join(folder, "devtools"),
                                 "--exclude=__pycache__"], check=False, cwd=TOP)
        expect(differ.returncode == 0, "not the same")


def command_lines():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                found.append(file.read())
        except OSError:  # it has ended
            pass
    return found


def enter(_):
    """A command in another root: its status, no mounts and no processes left."""
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "-p", "-f", "true"],
                                           check=False).returncode != 0:
        raise Skip("this needs root and namespaces")
    with tempfile.TemporaryDirectory() as root:
        for name in ("usr", "proc", "sys", "dev", "run", "tmp"):
            os.mkdir(os.path.join(root, name))
        for name in ("bin", "sbin", "lib", "lib64"):
            os.symlink(f"usr/{name}", os.path.join(root, name))
        inside = ("[ ! -e /etc ] || exit 1; grep -q ' /proc proc ' /proc/mounts || exit 2; "
                  "unshare --user --map-root-user true || exit 3; sleep 4711 & "
                  "[ \"$SECRET\" = '' ] || exit 4; exit 42")
        # the machine's programs, in a namespace of the test's
        status, output = run("unshare", "-m", "--propagation", "private", "bash", "-c",
                             f'mount --bind /usr "{root}/usr"; . devtools/common.sh; '
                             '. devtools/chroot.sh; chroot_run "$@"', "bash", root, "sh", "-c",
                             inside, SECRET="1")
        expect(status == 42, f"status {status}: {output}")
        with open("/proc/mounts", encoding="utf-8") as file:
            expect(root not in file.read(), "something is still mounted")
        expect(b"sleep\x004711\0" not in command_lines(), "a process goes on")


CASES = (names, versions, mirror, counts, obstacle, added, copied, enter)

main({case.__name__: case for case in CASES})
