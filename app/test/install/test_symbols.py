# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""What a library exports: what its header declares and its symbol map lists, or nothing."""

import re
import subprocess
import sys


def exported(library):
    """Names, and the versions they have."""
    output = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                            capture_output=True, text=True).stdout
    symbols = [line.split() for line in output.splitlines()]
    names = [name for *_, kind, name in symbols if kind != "A"]
    return ({name.split("@")[0] for name in names}, {name.partition("@@")[2] for name in names})


def declared(header):
    """Functions of a header, but not those that are defined in it."""
    with open(header, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"^#.*?(?<!\\)$", "", text, flags=re.S | re.M)
    prefix = re.match(r"(?:.*/)?(\w+)\.h$", header).group(1)
    return set(re.findall(rf"\b({prefix}_\w+)\([^;{{}}]*\)\s*;", text))


def listed(symbol_map):
    """The one version of a map, and its names."""
    with open(symbol_map, encoding="ascii") as file:
        text = file.read()
    version, names = re.search(r"^(\w+) \{\nglobal:\n(.*?)local:\n\t\*;\n\};", text,
                               flags=re.S | re.M).groups()
    return version, names.replace(";", "").split()


def public(library, header, symbol_map, abi):
    names, versions = exported(library)
    version, in_map = listed(symbol_map)
    wrong = []
    for what, other in (("declared", declared(header)), ("listed", set(in_map))):
        wrong += [f"{name} is exported, and not {what}" for name in sorted(names - other)]
        wrong += [f"{name} is {what}, and not exported" for name in sorted(other - names)]
    if versions != {version} or not version.endswith("_" + abi.split(".", maxsplit=1)[0]):
        wrong.append(f"versions {versions} where the map says {version} and ABI_VERSION {abi}")
    if not names:
        wrong.append("nothing is exported")
    return wrong


def private(library):
    return [f"{name} is exported" for name in sorted(exported(library)[0])]


def interposing(library, libc, own):
    """Names of libc's, which come before those, and some that are for tests."""
    names = exported(library)[0]
    return [f"{name} is exported, and no name of libc's"
            for name in sorted(names - exported(libc)[0] - {own})] + \
        [f"{own} is not exported" for _ in range(own not in names)]


def main(kind, *args):
    checks = {"public": public, "private": private, "interposing": interposing}
    wrong = checks[kind](*args)
    for line in wrong:
        print(f"{args[0]}: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
