# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""The tables of the guide's page on sizing against what pools of the driver really get.

usage: test_sizing.py BUILD_FOLDER tables PAGE PROGRAM
"""

import os
import re

from harness import PCI_DEVICE, Program, check_card, expect, main

CARDS = {"128K": 128 << 10, "256K": 256 << 10}
HEADROOM, GRAIN, BURST, SHORTEST = 128, 64, 16, 16


def table(page, name):
    """Rows of the list-table of that name, without its header."""
    text = page[page.index(f":name: {name}\n"):]
    rows = []
    for line in text.split("\n")[1:]:
        cell = re.fullmatch(r"   (\*| ) - (.*)", line)
        if cell and cell[1] == "*":
            rows.append([])
        if cell:
            rows[-1].append(cell[2])
        elif line.strip() and not line.startswith("   "):
            break
    return [[None if cell == "none" else int(cell) for cell in row] for row in rows[1:]]


def slots_of(build, program, card, rooms):
    """What pools of these data rooms get of a card's device memory, and the bytes."""
    program = os.path.join(build.folder, program)
    command = [program, "--no-huge", "-m", "128", "-l", str(min(os.sched_getaffinity(0))),
               "-a", PCI_DEVICE, "--", *map(str, rooms)]
    with Program(build, command, ["--memic", card]) as run:
        expect(run.wait_exit() == 0, f"status {run.status}")
        check_card(run.stats())
        found = re.findall(r"^room (\d+) slots (\d+) bytes (\d+)\r?$", run.output, re.M)
    expect([int(room) for room, _, _ in found] == rooms, f"rooms {found}")
    return {int(room): (int(slots), int(size)) for room, slots, size in found}


def longest_ring(slots):
    """Rings of powers of two, an Rx and a Tx one, that the slots cover with a burst."""
    ring = 1 << 15
    while ring >= SHORTEST and 2 * ring + BURST > slots:
        ring //= 2
    return ring if ring >= SHORTEST else None


def tables(build, page, program):
    """Every figure of both tables."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    rows = table(text, "slots")
    expect(len(rows) > 6, f"rows: {rows}")
    for frame, room, slot, *_ in rows:
        expect(room == frame + HEADROOM, f"frame of {frame}: data room {room}")
        expect(slot == (room + GRAIN - 1) // GRAIN * GRAIN, f"frame of {frame}: slot {slot}")
    rings = {row[0]: row[1:] for row in table(text, "rings")}
    for column, card in enumerate(CARDS):
        got = slots_of(build, program, card, [row[1] for row in rows])
        for frame, room, slot, *told in rows:
            slots, size = got[room]
            expect(slots == told[column],
                   f"frames of {frame} on {card}: {slots} slots, not {told[column]}")
            expect(size == slots * slot and slots == CARDS[card] // slot,
                   f"frames of {frame} on {card}: {slots} slots, {size} bytes")
            if frame in rings:
                expect(longest_ring(slots) == rings[frame][column],
                       f"frames of {frame} on {card}: rings {rings[frame][column]}, "
                       f"not {longest_ring(slots)}")
    expect(len(rings) > 6 and set(rings) <= {row[0] for row in rows}, f"rings: {rings}")
    print(f"{len(rows)} frame sizes, {len(rings)} with rings, {len(CARDS)} cards")


main({"tables": tables})
