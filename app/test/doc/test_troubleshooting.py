# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""The guide's page of messages against the sources, both ways.

usage: test_troubleshooting.py SOURCE_FOLDER
"""

import glob
import os
import re
import sys

from messages import canonical, messages

PAGE = "doc/guides/troubleshooting.rst"
# Whose messages a section has that is about programs which are not ours, in binary form.
OTHERS = "trouble-pmd"
BINARIES = ["/usr/lib/*/dpdk/pmds-*/librte_net_mlx5.so", "/usr/bin/dpdk-testpmd",
            "/usr/lib/*/dpdk/pmds-*/librte_common_mlx5.so", "/usr/lib/*/librte_eal.so"]


def sections(page):
    """For each label the entries behind it: messages, and the text below them."""
    found, entries, below = {}, [], True
    for line in page.splitlines():
        label, message = re.match(r"\.\. _([\w-]+):", line), re.match(r"\| ``(.*)``$", line)
        if label:
            entries = found[label[1]] = []
        elif message and below:
            entries.append([[message[1]], ""])
        elif message:
            entries[-1][0].append(message[1])
        elif entries and line.startswith("    "):
            entries[-1][1] += line
        below = not message and (below or bool(line))
    return found


def pattern(message):
    """What a message in canonical form must be for an entry to be about it."""
    text = re.sub(r"<[^<>]*>", "%", message)
    text = re.sub("%+", "%", text)
    return re.compile(".*".join(re.escape(piece) for piece in text.split("...")))


def sort_key(message):
    return re.sub(r"<[^>]*>|[^a-z0-9]+", " ", message.lower()).split()


def in_binaries(message, blob):
    """Whether all fixed pieces of a message are in programs of others."""
    pieces = [piece.strip() for piece in re.split(r"<[^<>]*>|\.\.\.", message)]
    return all(piece.encode() in blob for piece in pieces if len(piece) > 5)


def read_binaries():
    blob = b""
    for path in [path for names in BINARIES for path in glob.glob(names)]:
        with open(path, "rb") as file:
            blob += file.read()
    return blob


def check(page, found, blob):
    """Faults of a page; found are the messages of the sources, blob programs of others."""
    faults, told = [], []
    for label, entries in sections(page).items():
        faults += [f"{entry[0][0]}: has no cure" for entry in entries
                   if not re.search(r"\*\*Cure:\*\*\s+\S", entry[1])]
        firsts = [sort_key(entry[0][0]) for entry in entries]
        faults += [f"{entries[i][0][0]}: is not sorted" for i in range(1, len(firsts))
                   if firsts[i] < firsts[i - 1]]
        for message in [message for entry in entries for message in entry[0]]:
            if label == OTHERS:
                if blob and not in_binaries(message, blob):
                    faults.append(f"{message}: no program has it")
                continue
            told.append(pattern(message))
            if not any(told[-1].fullmatch(form) for form in found):
                faults.append(f"{message}: no source has it")
    faults += [f"{place}: the page lacks: {form}" for form, place in found.items()
               if not any(entry.fullmatch(form) for entry in told)]
    return faults, len(told)


GOOD = """
.. _a:

A
-

| ``pool <pool> failed: <errno>``
| ``size <n> ... wrong``

    What it means. **Cure:** none.

| ``zero``

    What it means. **Cure:** none.

.. _trouble-pmd:

B
-

| ``mlx5 <n> fails``

    What it means. **Cure:** none.
"""
FORMS = {canonical("pool %s failed: %s"): "a.c:1", "zero": "a.c:3",
         canonical("size %zu is too small, wrong"): "a.c:2"}


def control():
    """Wrong pages are found out."""
    cases = [(GOOD, FORMS, 0), (GOOD, {**FORMS, "new message": "b.c:1"}, 1),
             (GOOD, {"zero": "a.c:3"}, 2), (GOOD.replace("failed", "fails"), FORMS, 2),
             (GOOD.replace("``zero``", "``attic``"), FORMS, 3),
             (GOOD.replace("mlx5 <n> fails", "mlx4 failed <n>"), FORMS, 1),
             (GOOD.replace("**Cure:** none.\n\n| ``zero", "None.\n\n| ``zero"), FORMS, 1)]
    for page, forms, wanted in cases:
        faults, _ = check(page, forms, b"mlx5 %u fails mlx5")
        if len(faults) != wanted:
            sys.exit(f"self check: {wanted} faults wanted, found {faults}")


def main(source):
    control()
    found = messages(source)
    with open(os.path.join(source, PAGE), encoding="utf-8") as file:
        faults, told = check(file.read(), found, read_binaries())
    if len(found) < 200:
        faults.append(f"only {len(found)} messages in the sources")
    print(f"{len(found)} messages in the sources, {told} told, {len(faults)} faults")
    sys.exit("\n".join(faults) or 0)


main(sys.argv[1])
