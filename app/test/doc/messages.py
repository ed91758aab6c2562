# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Messages in C sources: the format strings of calls that tell somebody what went wrong."""

import glob
import os
import re

TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|(\w+)|\S')
DEFINE = re.compile(r'^\s*#\s*define\s+(\w+)\s+("(?:[^\n\\]|\\.)*)$', re.M)
CONVERSION = re.compile(r"%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|z|j|t)?[a-zA-Z]")
# files, a call, where its format stands, and what its first argument must be, if anything
DRIVER = "drivers/mempool/mlx5_memic/*.c"
CALLS = [
    (DRIVER, "MPM_LOG", 1, r"ERR|WARNING"),
    (DRIVER, "in_host_memory", 2, None),
    # sentences that become part of a message
    (DRIVER, "snprintf", 2, r"(?:w->)?(?:why|note|reason|cure)"),
    ("drivers/mempool/mlx5_memic/loader.c", "fprintf", 1, "stderr"),
    ("drivers/mempool/mlx5_memic/attach.c", "rte_exit", 1, None),
    ("lib/memic/*.c", "memic_fail", 1, None),
    ("app/testpmd-memic/*.c", "TPM_LOG", 1, r"ERR|WARNING"),
    ("app/testpmd-memic/options.c", "rte_exit", 1, None),
    ("app/mlx5emu/*.c", "complain", 1, None),
    ("lib/mlx5emu/*.c", "fprintf", 1, "stderr"),
    ("lib/mlx5emu/*.c", "emu_report", 0, None),
]
# Fixed text of fewer characters is a frame for text from elsewhere, as "%s (%s)".
LEAST = 7


def arguments(text, start):
    """Arguments of the call whose opening parenthesis is before start."""
    parts, depth, at = [""], 0, start
    while depth >= 0:
        token = TOKEN.search(text, at)
        at = token.end()
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token[0], 0)
        if token[0] == "," and depth == 0:
            parts.append("")
        elif depth >= 0:
            parts[-1] += token[0] + " "
    return [part.strip() for part in parts]


def literal(argument, macros):
    """The text of string literals and macros next to each other; None if it is no literal."""
    text = ""
    for token in TOKEN.finditer(argument):
        if token[1] is not None:
            text += token[1]
        elif token[2] in macros:
            text += macros[token[2]]
        elif token[2] and token[2].startswith("PRI"):
            text += "lu"
        elif token[2] and text and token[2].isupper():
            text += "%s"  # a macro of the build
        else:
            return None
    return text.replace('\\"', '"').replace("\\n", "")


def macros_of(source):
    """Macros that are string literals."""
    found, raw, different = {}, {}, set()
    for folder in ("drivers/mempool/mlx5_memic", "lib/memic", "lib/mlx5emu", "app/mlx5emu",
                   "app/testpmd-memic"):
        for path in glob.glob(os.path.join(source, folder, "*.[ch]")):
            with open(path, encoding="utf-8") as file:
                for name, text in DEFINE.findall(file.read().replace("\\\n", " ")):
                    if raw.setdefault(name, text) != text:
                        different.add(name)
    for _ in range(3):
        for name, text in raw.items():
            value = literal(text, found)
            if value is not None:
                found[name] = "%s" if name in different else value
    return found


def canonical(text):
    """What a format prints, with a % for whatever is filled in."""
    return re.sub("%+", "%", CONVERSION.sub("%", text.replace("%%", "percent"))).strip()


def messages(source):
    """Messages in canonical form, and where each is."""
    macros, found = macros_of(source), {}
    for pattern, name, place, first in CALLS:
        for path in sorted(glob.glob(os.path.join(source, pattern))):
            with open(path, encoding="utf-8") as file:
                text = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"),
                              file.read(), flags=re.S)
            for call in re.finditer(rf"\b{name}\(", text):
                given = arguments(text, call.end())
                if len(given) <= place or first and not re.fullmatch(first, given[0].replace(
                        " ", "")):
                    continue
                form = literal(given[place], macros)
                if form and len(re.sub(r"[\s%]", "", canonical(form))) >= LEAST:
                    line = text[:call.start()].count("\n") + 1
                    found[canonical(form)] = f"{os.path.relpath(path, source)}:{line}"
    return found
