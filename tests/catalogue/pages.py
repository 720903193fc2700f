"""The catalogue's pages as data: sections, code blocks with the findings that their comments state, severity tables."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from exportlint.findings import Mode, Severity

MODES: tuple[Mode, ...] = ("non-strict", "strict")
DIRECTORY = Path(__file__).parents[2] / "rules"

_FENCE = re.compile(
    r"(?P<directives>(?:^<!-- [\w -]+: [^\n]*? -->\n)*)"
    r"^```(?P<language>\w+)(?P<info>[^\n]*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_DIRECTIVE = re.compile(r"^<!-- (run|needs cuda|dynamic|settings|eager raises): (.*) -->$", re.MULTILINE)
_CLAIM = re.compile(r"(error|warning|info): \[([\w, -]+)\](?: in (non-strict|strict))?(?=;|\s|$)")
_CELLS = {"—": None, **{severity.value: severity for severity in Severity}}

Marked = tuple[int, str, str]
"""A finding as a comment states it: row, name of the rule, severity."""

Row = tuple[str, tuple[Severity | None, ...]]
"""A row of a severity table: the mode, and the severity in each version of torch."""


@dataclass(frozen=True)
class Block:
    """A fenced block of Python.

    `kind` is `bad`, `fixed` or `ok`, and empty on pages that are not about torch. `label` ties a `fixed` block to a
    `bad` one. `inputs` are the tuples of arguments to run it with, one after the other, as expressions. It is exported
    with the first. `needs_cuda`: eager cannot run it without, while export can. `dynamic` are the `dynamic_shapes` to
    export it with, an expression in which `AUTO` is known; `settings` are those to lint it with, in TOML. `raises`
    names the exception that the model raises without export too: operators that run functions compile them.
    """

    page: str
    row: int
    kind: str
    label: str
    source: str
    inputs: tuple[str, ...]
    needs_cuda: bool
    dynamic: str = ""
    settings: str = ""
    raises: str = ""

    @property
    def name(self) -> str:
        """Unique in the catalogue, and fit for a file name."""
        return f"{self.page[:6]}_{self.row}_{self.kind or 'lint'}"

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
    """One page of the catalogue."""

    path: Path
    text: str

    @property
    def code(self) -> str:
        """The code of the rule that its file name tells."""
        return self.path.name[:6]

    @property
    def rule(self) -> str:
        """The name of the rule that its file name tells."""
        return self.path.stem[7:]

    @cached_property
    def headings(self) -> list[str]:
        """Its second-level headings."""
        return re.findall(r"^## (.+)$", self.text, re.MULTILINE)

    def section(self, heading: str) -> str:
        """The text below a heading."""
        return self.text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]

    @cached_property
    def blocks(self) -> list[Block]:
        """Its blocks of Python. A `fixed` one without inputs takes those of the block that it rewrites."""
        found: list[Block] = []
        for match in _FENCE.finditer(self.text):
            if match["language"] != "py":
                continue
            kind, _, label = match["info"].strip().partition(" ")
            row = self.text.count("\n", 0, match.start("body"))
            given = dict(_DIRECTIVE.findall(match["directives"]))
            assert len(given) == match["directives"].count("\n"), f"{self.path.name}:{row}: unknown directive"
            block = Block(self.path.name, row, kind, label, match["body"], (), "needs cuda" in given)
            inputs = given.get("run") or given.get("needs cuda")
            if kind == "fixed" and inputs is None:
                bad = _original(found, block)
                found.append(replace(block, inputs=bad.inputs, dynamic=bad.dynamic, settings=bad.settings))
                continue
            parts = tuple(part.strip() for part in (inputs or "").split(";") if part)
            dynamic, settings, raises = (given.get(key, "") for key in ("dynamic", "settings", "eager raises"))
            found.append(replace(block, inputs=parts, dynamic=dynamic, settings=settings, raises=raises))
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
    def severities(self) -> tuple[list[str], set[Row]]:
        """The versions of its severity table, and the rows."""
        lines = [line for line in self.section("Severity").splitlines() if line.startswith("|")]
        head, _, *body = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
        return head[2:], {(row[1], tuple(_CELLS[cell] for cell in row[2:])) for row in body}


def _original(before: list[Block], fixed: Block) -> Block:
    return [b for b in before if b.kind == "bad" and fixed.label in ("", b.label)][-1]


def pages() -> list[Page]:
    """Every page of the catalogue."""
    return [Page(path, path.read_text(encoding="utf-8")) for path in sorted(DIRECTORY.glob("*.md"))]
