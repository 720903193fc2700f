"""The catalogue's pages as data: sections, code blocks with the findings that their comments state, severity tables.

The tests prove what the pages say; `exportlint rule --output-format json` tells it to other programs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from exportlint.findings import Mode, Severity

MODES: tuple[Mode, ...] = ("non-strict", "strict")

_FENCE = re.compile(
    r"(?P<directives>(?:^<!-- [\w -]+:(?: [^\n]*?)? -->\n)*)"
    r"^```(?P<language>\w+)(?P<info>[^\n]*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_BEFORE = re.compile(r"\A.*^## .+?$", re.MULTILINE | re.DOTALL)
_DIRECTIVE = re.compile(r"^<!-- ([\w -]+):(?: (.*))? -->$", re.MULTILINE)
_CLAIM = re.compile(r"(error|warning|info): \[([\w, -]+)\](?: in (non-strict|strict))?(?=;|\s|$)")
_STATED = re.compile(r"[ \t]*# (?:error|warning|info): \[[\w, -]+\].*$", re.MULTILINE)
_CELLS = {"—": None, **{severity.value: severity for severity in Severity}}

Marked = tuple[int, str, str]
"""A finding as a comment states it: row, name of the rule, severity."""

DIRECTIVES = frozenset({"run", "needs cuda", "dynamic", "settings", "differs", "script", "eager raises", "fix"})
"""The keys of the lines `<!-- key: value -->` that may stand above a block."""


class Row(NamedTuple):
    """A row of a severity table: the severity of a pattern in a mode, in each version of torch."""

    pattern: str
    mode: str
    severities: tuple[Severity | None, ...]


@dataclass(frozen=True)
class Block:
    """A fenced block of Python.

    `kind` is `bad`, `fixed` or `ok`; it may be empty on pages that are not about torch. `label` ties a `fixed` block to
    a `bad` one. `directives` are the keys and values of the lines above it, `note` is the prose above them.
    """

    page: str
    row: int
    kind: str
    label: str
    source: str
    directives: tuple[tuple[str, str], ...] = ()
    note: str = ""

    def directive(self, key: str) -> str:
        """The value of a directive, empty if the block has none of that key."""
        return dict(self.directives).get(key, "")

    @property
    def inputs(self) -> tuple[str, ...]:
        """The tuples of arguments to run it with, as expressions, one after the other; export gets the first."""
        inputs = self.directive("run") or self.directive("script") or self.directive("needs cuda")
        return tuple(part.strip() for part in inputs.split(";") if part)

    @property
    def needs_cuda(self) -> bool:
        """Whether eager cannot run it without CUDA, while export can."""
        return bool(self.directive("needs cuda"))

    @property
    def raises(self) -> str:
        """The exception that the model raises without export too: operators that run functions compile them."""
        return self.directive("eager raises")

    @property
    def is_script(self) -> bool:
        """Whether it exports by itself: it is executed as it stands, and defines no `Model`.

        If it has inputs, it leaves a `model` and its `program` behind, which are called with them.
        """
        return any(key == "script" for key, _ in self.directives)

    @property
    def dynamic(self) -> str:
        """The `dynamic_shapes` to export it with, an expression in which `AUTO` is known."""
        return self.directive("dynamic")

    @property
    def fix(self) -> str:
        """Applicability of the fixes that make a `fixed` block out of the bad one; empty if people have to write it.

        `none` on a `bad` block that has no fix, for the reason that the prose gives.
        """
        return self.directive("fix").partition(" in ")[0]

    @property
    def fix_mode(self) -> str:
        """The mode that the fixes are for: `unsafe in strict` stands above what has none in the other mode."""
        return self.directive("fix").partition(" in ")[2] or MODES[0]

    def exports_in(self, mode: str) -> bool:
        """Whether it exports in a mode: what `unsafe in non-strict` stands above does in that one only."""
        return not self.directive("fix").endswith(" in non-strict") or mode == "non-strict"

    @property
    def settings(self) -> str:
        """The settings to lint it with, in TOML."""
        return self.directive("settings")

    @property
    def name(self) -> str:
        """Unique in the catalogue, and fit for a file name."""
        return f"{self.page[:6]}_{self.row}_{self.kind or 'lint'}"

    @property
    def plain(self) -> str:
        """Its source without the comments that state findings."""
        return _STATED.sub("", self.source)

    def marked(self, mode: Mode) -> list[Marked]:
        """What its comments state for a mode."""
        return sorted(
            (row, name.strip(), severity)
            for row, line in enumerate(self.source.splitlines(), start=1)
            for severity, names, only in _CLAIM.findall(line.partition("#")[2])
            for name in names.split(",")
            if only in ("", mode)
        )


@dataclass(frozen=True)
class Page:
    """One page of the catalogue, by its file name."""

    name: str
    text: str

    @property
    def code(self) -> str:
        """The code of the rule that its file name tells."""
        return self.name[:6]

    @property
    def rule(self) -> str:
        """The name of the rule that its file name tells."""
        return self.name[7:].removesuffix(".md")

    @cached_property
    def headings(self) -> list[str]:
        """Its second-level headings."""
        return re.findall(r"^## (.+)$", self.text, re.MULTILINE)

    def section(self, heading: str) -> str:
        """The text below a heading."""
        return self.text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]

    @property
    def summary(self) -> str:
        """What the rule does: the first paragraph, in one line."""
        return " ".join(self.section("What it does").strip().partition("\n\n")[0].split())

    @cached_property
    def blocks(self) -> list[Block]:
        """Its blocks of Python. A `fixed` one takes the inputs of the block that it rewrites unless it has its own."""
        found: list[Block] = []
        end = 0
        for match in _FENCE.finditer(self.text):
            note = _BEFORE.sub("", self.text[end : match.start()]).strip()
            end = match.end()
            if match["language"] != "py":
                continue
            kind, _, label = match["info"].strip().partition(" ")
            row = self.text.count("\n", 0, match.start("body"))
            directives = tuple(_DIRECTIVE.findall(match["directives"]))
            block = Block(self.name, row, kind, label, match["body"], directives, note)
            if kind == "fixed" and not block.inputs and not block.is_script:
                bad = _original(found, block)
                # What eager cannot run without CUDA was rewritten so that it can.
                given = (*(d for d in bad.directives if d[0] != "fix"), *block.directives)
                taken = {"run" if key == "needs cuda" else key: value for key, value in given}
                block = replace(block, directives=tuple(taken.items()))
            found.append(block)
        return found

    def original_of(self, fixed: Block) -> Block:
        """The block that `fixed` is the rewrite of: the last bad one before it, with the same label if it has one."""
        return _original(self.blocks[: self.blocks.index(fixed)], fixed)

    @cached_property
    def quotes(self) -> list[str]:
        """What torch says, as quoted."""
        why = self.section("Why is this bad?")
        return [match["body"] for match in _FENCE.finditer(why) if match["language"] == "text"]

    @cached_property
    def severities(self) -> tuple[list[str], list[Row]]:
        """The versions of its severity table, and the rows; none on pages that are not about torch."""
        lines = [line for line in self.section("Severity").splitlines() if line.startswith("|")]
        if not lines:
            return [], []
        head, _, *body = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
        return head[2:], [Row(row[0], row[1], tuple(_CELLS[cell] for cell in row[2:])) for row in body]


def _original(before: list[Block], fixed: Block) -> Block:
    return [b for b in before if b.kind == "bad" and fixed.label in ("", b.label)][-1]
