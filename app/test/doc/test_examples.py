# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Examples in C that the documentation shows: they compile.

usage: test_examples.py SOURCE_FOLDER COMPILER
"""

import os
import shlex
import subprocess
import sys

from blocks import read_blocks

# What examples take for granted; those that declare it themselves hide it.
BEFORE = """
#include <err.h>
#include <string.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <memic.h>
#include <rte_pmd_mlx5_memic.h>

struct memic_device *dev;
struct memic_dm *dm;
struct ibv_context *ctx;
struct ibv_pd *pd;
struct ibv_sge sge;
struct rte_eth_dev_info info;
struct rte_mempool *pool, *headers, *payload;
uint16_t port, queue;
int socket_id;
void *frame;
size_t length;
"""


def program(blocks):
    """All examples in one file: synopses as they are, the others in a function each."""
    text = BEFORE
    for number, (where, example) in enumerate(blocks):
        head, end = "", ""
        if "#include" not in example:
            head, end = f"void example_{number}(void);\nvoid example_{number}(void)\n{{\n", "}\n"
        text += f'{head}#line 1 "{where}"\n{example}\n{end}'
    return text


def compiles(compiler, source, blocks):
    """What the compiler says of examples, "" if all is well."""
    flags = subprocess.run(["pkg-config", "--cflags", "libdpdk"], check=True,
                           capture_output=True, text=True).stdout.split()
    run = subprocess.run(
        [*shlex.split(compiler), "-x", "c", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
         "-Wno-unused-variable", "-Wno-unused-but-set-variable", "-DALLOW_EXPERIMENTAL_API",
         *(f"-I{os.path.join(source, folder)}"
           for folder in ("lib/memic", "drivers/mempool/mlx5_memic")), *flags, "-"],
        input=program(blocks), capture_output=True, text=True, check=False)
    return run.stderr if run.returncode else ""


def main(source, compiler):
    if "planted" not in compiles(compiler, source, [("planted", "memic_nothing(1);")]):
        sys.exit("self check: a call that does not exist was not found")
    pages = [os.path.join(source, "README.md")]
    for folder, _, names in os.walk(os.path.join(source, "doc")):
        pages += [os.path.join(folder, name) for name in names if name.endswith(".rst")]
    blocks = [(str(block), "\n".join(block.text)) for page in sorted(pages)
              for block in read_blocks(page) if block.language == "c"]
    said = compiles(compiler, source, blocks)
    print(f"{len(blocks)} examples")
    sys.exit(said or (0 if len(blocks) > 8 else "few examples were found"))


main(*sys.argv[1:])
