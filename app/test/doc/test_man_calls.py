# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Manual pages of libmemic against its header: calls, prototypes, parameters, errno.

usage: test_man_calls.py HEADER MAP GUIDES
"""

import os
import re
import sys


def words(text):
    """A prototype as it is compared: blanks do not count."""
    return re.sub(r"\s+", " ", text).replace("( ", "(").strip()


def calls(header):
    """Prototype, parameters and errno names of each call."""
    found = {}
    pattern = re.compile(r"/\*\*((?:(?!\*/).)*)\*/\s*"
                         r"((?:const |struct |enum )*\w+ \**(memic_\w+)\(([^;{]*)\);)", re.S)
    for comment, prototype, name, arguments in pattern.findall(header):
        parameters = [] if arguments == "void" else \
            [re.search(r"(\w+)$", words(arg))[1] for arg in arguments.split(",")]
        found[name] = (words(prototype), parameters,
                       set(re.findall(r"-(E[A-Z]+)", comment)))
    return found


def exported(text):
    return set(re.findall(r"\b(memic_\w+);", text))


def check_page(text, name, call):
    prototype, parameters, errors = call
    faults = []
    if prototype not in words(text):
        faults.append(f"{name}: its page lacks '{prototype}'")
    faults += [f"{name}: its page does not tell of parameter '{parameter}'"
               for parameter in parameters
               if not re.search(rf"^[*, \w]*\*{parameter}\*", text, re.M)]
    faults += [f"{name}: its page does not tell of {error}"
               for error in sorted(errors) if f"-{error}" not in text]
    return faults


def check(header, symbols, pages, texts):
    faults = []
    documents = {name: document for document, (section, names) in pages.items()
                 if section == 3 for name in names}
    if not header:
        faults.append("no call was found in the header")
    faults += [f"{name}: exported, but not in the header with a comment of its own"
               for name in sorted(symbols - set(header))]
    faults += [f"{name}: in the header, but not exported"
               for name in sorted(set(header) - symbols)]
    faults += [f"{name}: has a page, but is no call"
               for name in sorted(set(documents) - set(header))]
    for name, call in header.items():
        if name not in documents:
            faults.append(f"{name}: has no page")
        else:
            faults += check_page(texts[documents[name]], name, call)
    return faults


def self_check():
    """The check can fail: one call, spoilt in each way."""
    good = "int memic_x(int a);"
    text = f"{good}\n\n*a*\n   What.\n\n``-EIO``\n   Why.\n"
    header = {"memic_x": (good, ["a"], {"EIO"})}
    pages = {"x": (3, {"memic_x": "does x"})}
    cases = [
        (header, {"memic_x"}, pages, {"x": text}, 0),
        (header, set(), pages, {"x": text}, 1),
        ({}, {"memic_x"}, pages, {"x": text}, 3),
        (header, {"memic_x"}, {}, {"x": text}, 1),
        (header, {"memic_x"}, pages, {"x": text.replace("int a", "long a")}, 1),
        (header, {"memic_x"}, pages, {"x": text.replace("*a*", "*b*")}, 1),
        (header, {"memic_x"}, pages, {"x": text.replace("EIO", "EPERM")}, 1),
    ]
    return [f"self check: {case[4]} faults expected, found {check(*case[:4])}"
            for case in cases if len(check(*case[:4])) != case[4]]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main(header, symbols, guides):
    sys.path.insert(0, guides)
    from man_pages import PAGES  # pylint: disable=import-outside-toplevel,import-error
    texts = {document: read(os.path.join(guides, "man", document + ".rst")) for document in PAGES}
    found = calls(read(header))
    faults = self_check() + check(found, exported(read(symbols)), PAGES, texts)
    print(f"{len(found)} calls, {len(faults)} faults")
    sys.exit("\n".join(faults) or 0)


main(*sys.argv[1:])
