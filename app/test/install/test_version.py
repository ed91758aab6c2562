# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Tools, manual pages, pkg-config files and release notes tell the version that VERSION has."""

import pathlib
import re
import subprocess
import sys


def main(top, build, *tools):
    top, build = pathlib.Path(top), pathlib.Path(build)
    version = (top / "VERSION").read_text(encoding="ascii").strip()
    told = {}
    for tool in tools:
        output = subprocess.run([tool, "--version"], check=True, capture_output=True,
                                text=True).stdout
        told[tool] = re.fullmatch(rf"{pathlib.Path(tool).name} (\S+)\n", output)
    files = {path: r"^Version: *(\S+)$" for path in (build / "meson-private").glob("*.pc")}
    files |= {path: r'^\.TH .* "(\d+\.\d+[^ "]*)" "dpdk-memic"$'
              for path in (build / "doc").glob("*.[1-9]")}
    files[top / "doc/guides/release_notes.rst"] = r"^(\d\S*)\n-+$"
    for path, pattern in files.items():
        told[path] = re.search(pattern, path.read_text(encoding="utf-8"), flags=re.M)
    wrong = [f"{where}: {found[1] if found else 'no version'}, but VERSION has {version}"
             for where, found in told.items() if found is None or found[1] != version]
    print("\n".join(wrong or [f"{len(told)} places tell {version}"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
