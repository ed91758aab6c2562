# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Blocks of commands in the documentation, and how each of them is run.

What a reader could type stands in a block of the language "console", behind a prompt: "$ "
or "# " for the shell, "testpmd> " or "--> " for a program. Right before the block a mark
says what tests do with it, in reStructuredText a comment or a caption, in Markdown a
comment or a sentence:

    .. run [with figures] [as session] [on COMMAND...]      <!-- run ... -->
    .. run by TEST                                          <!-- run by TEST -->
    :caption: Not run by a test: REASON                     *Not run by a test: REASON.*
"""

import re
import shlex

PROMPT = re.compile(r"(\$|#|testpmd>|-->) ?(.*)")
SHELL = ("$", "#")
NOT_RUN = re.compile(r"Not run by a test: \S")
MARK = re.compile(r"run(?P<figures> with figures)?(?P<session> as session)?(?: on (?P<on>.+))?")
# What begins a command line in the documentation; a block with one is no mere text.
PROGRAMS = re.compile(r"(?:(?:\$|#|testpmd>|-->) |(?:[A-Z_0-9]+=\S* +)*"
                      r"(?:\./|(?:build|devtools|app)/)?(?:dpdk-\w+(?:\.py)?|mlx5emu|meson|ninja|"
                      r"pkg-config|cc|make|echo|printf|ip|lspci|modprobe|sysctl|ibv_devinfo|"
                      r"mlxconfig|ulimit|apt-get|git|python3|grep|ls|cat|[\w./-]+\.sh|"
                      r"devtools/\w+) +\S)")


class Block:
    """A literal block: where it is, its language, its text and its mark."""

    def __init__(self, path, line, language, text, mark):
        self.path, self.line, self.language = path, line, language
        self.text, self.mark = text, mark
        self.figures = self.session = False
        self.on, self.by = [], None

    def __str__(self):
        return f"{self.path}:{self.line}"

    def fault(self, tests):
        """Why it is not written as it should be, or None. Reads the mark."""
        if self.language is None:
            return "a block without a language: use '.. code-block:: LANGUAGE', or none"
        if self.language != "console":
            found = [line for line in self.text if PROGRAMS.match(line.strip())]
            return f"a command in a block of language '{self.language}': {found[0].strip()}" \
                if found and self.language in ("none", "text", "") else None
        if not self.text or not PROMPT.match(self.text[0]):
            return "a console block that does not begin with a prompt"
        return self.read_mark(tests)

    def read_mark(self, tests):
        if self.mark is None:
            return "commands that are neither run nor marked as not run"
        if NOT_RUN.match(self.mark):
            self.by = "nobody"
            return None
        if self.mark.startswith("run by "):
            self.by = self.mark.removeprefix("run by ")
            return None if self.by in tests else f"there is no test '{self.by}'"
        match = MARK.fullmatch(self.mark)
        if not match:
            return f"a mark that nobody knows: {self.mark}"
        self.figures, self.session = bool(match["figures"]), bool(match["session"])
        self.on = shlex.split(match["on"] or "")
        return None

    def steps(self):
        """Prompt, command and the lines of output below it, in turn."""
        steps = []
        continued = False
        for line in self.text:
            match = None if continued else PROMPT.match(line)
            if match:
                steps.append([match[1], match[2], []])
            elif continued:
                steps[-1][1] += "\n" + line
            elif line.strip() or steps[-1][2]:
                steps[-1][2].append(line)
            continued = (match or continued) and line.endswith("\\")
        return steps


def indented(lines, at, least):
    """The lines from at on that are indented by at least that much, and the next line."""
    end = at
    while end < len(lines) and (not lines[end].strip() or indent(lines[end]) >= least):
        end += 1
    text = lines[at:end]
    while text and not text[-1].strip():
        text.pop()
    while text and not text[0].strip():
        text.pop(0)
    shift = min((indent(line) for line in text if line.strip()), default=0)
    return [line[shift:] for line in text], end


def indent(line):
    return len(line) - len(line.lstrip())


def rst_blocks(path, lines):
    """Blocks of a reStructuredText page."""
    blocks = []
    at, mark = 0, None
    while at < len(lines):
        line = lines[at]
        text = line.strip()
        directive = re.match(r"\.\. code-block:: *(\S*)", text)
        comment = re.match(r"\.\. ((?:run|not run)\b.*)", text)
        at += 1
        if comment:
            mark = comment[1]
        elif directive:
            body, end = indented(lines, at, indent(line) + 1)
            while body and re.match(r":\w+:", body[0]):
                option, value = body.pop(0)[1:].split(":", 1)
                mark = value.strip() if option == "caption" and mark is None else mark
            body, _ = indented(body, 0, 0)
            blocks.append(Block(path, at, directive[1], body, mark))
            at, mark = end, None
        elif text.endswith("::") and not text.startswith(".. "):
            body, end = indented(lines, at, indent(line) + 1)
            blocks.append(Block(path, at, None, body, None))
            at, mark = end, None
        elif text:
            mark = None
    return blocks


def md_blocks(path, lines):
    """Blocks of a Markdown page: fenced ones."""
    blocks = []
    at, mark = 0, None
    while at < len(lines):
        text = lines[at].strip()
        at += 1
        if text.startswith("```"):
            start = at
            while at < len(lines) and not lines[at].strip().startswith("```"):
                at += 1
            blocks.append(Block(path, start, text[3:].strip() or "none", lines[start:at], mark))
            at, mark = at + 1, None
        elif text:
            match = re.fullmatch(r"<!-- (.*) -->|\*(Not run by a test: .*)\.\*", text)
            mark = match and (match[1] or match[2])
    return blocks


def literals(path):
    """Inline literals of a page, each with its line."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    ticks = "`" if path.endswith(".md") else "``"
    for match in re.finditer(rf"(?<!`){ticks}([^`]+){ticks}(?!`)", text):
        yield text[:match.start()].count("\n") + 1, " ".join(match[1].split())


def read_blocks(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    return (md_blocks if path.endswith(".md") else rst_blocks)(path, lines)
