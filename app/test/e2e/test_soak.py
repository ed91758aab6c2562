# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Lives of pools and ports, over and over: nothing piles up on the card meanwhile.

Cases 58 and 72. The program under test looks at its own memory and files; here the emulator's
trace tells how many objects of the card were alive at any time.
"""

import collections
import os
import re

from harness import PCI_DEVICE, Program, check_card, expect, main

# calls of the trace that make and end objects of a kind
MAKES = {"REG_MR": "MR", "DM_MR_REG": "MR", "DEVX_OBJ_CREATE": "DevX object", "DM_ALLOC": "DM",
         "UAR_ALLOC": "UAR", "DEVX_UMEM_REG": "umem", "FLOW_MATCHER_CREATE": "matcher"}
ENDS = {"MR_DESTROY": "MR", "DEVX_OBJ_DESTROY": "DevX object", "DM_FREE": "DM",
        "UAR_DESTROY": "UAR", "DEVX_UMEM_DEREG": "umem", "FLOW_MATCHER_DESTROY": "matcher"}


def live_objects(path):
    """Objects of each kind alive after each call."""
    live, history = collections.Counter(), []
    with open(path, encoding="utf-8") as file:
        for line in file:
            # "TIME THREAD DEVICE: CALL", once more with " -> ERRNO" if it fails
            match = re.fullmatch(r"\S+ \d+ +(?:mlx5_0: )?(\w+)( -> \w+)?\n", line)
            if not match or match[1] not in MAKES and match[1] not in ENDS:
                continue
            one = -1 if match[2] else 1
            if match[1] in MAKES:
                live[MAKES[match[1]]] += one
            else:
                live[ENDS[match[1]]] -= one
            history.append(dict(live))
    return history


def cycles(build, flow_en, count):
    env = dict(os.environ, MEMIC_TEST_CYCLES=count)
    command = [os.path.join(build.folder, "app/test/mempool/test_mempool_lifetime"), build.plugin,
               "-a", f"{PCI_DEVICE},dv_flow_en={flow_en}"]
    trace = os.path.join(build.folder, f"soak-{flow_en}.trace")
    with Program(build, command, ["--memic", "256K", "--trace", trace], env) as program:
        expect(program.wait_exit(3600) == 0, f"status {program.status}")
        stats = program.stats()
        print(re.search(r"\d+ cycles: .*", program.output)[0])
    check_card(stats)
    history = live_objects(trace)
    os.unlink(trace)
    quarter = len(history) // 4
    for kind in sorted(set(MAKES.values()) & set(history[-1])):
        first = max(state.get(kind, 0) for state in history[:quarter])
        later = max(state.get(kind, 0) for state in history[quarter:])
        print(f"{kind}: at most {first} at once in the first quarter, {later} later")
        # detaching and attaching come last and have a few at once
        expect(later <= first + 8, f"{kind}s pile up")


main({case.__name__: case for case in (cycles,)})
