"""A fix does the same to a program in whatever layout, and nothing to what is beside it.

All programs are tried that the catalogue's pages show a fix of, and those of the documents in this folder. No fix may
be missing in any layout. It may only be less safe than that of the plain program if it loses a comment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.config.toml import check, parse
from exportlint.edits import apply
from exportlint.findings import Applicability, Finding
from exportlint.fixer import fix
from exportlint.linter import Task, lint
from exportlint.source import LineIndex, comments
from tests.catalogue import pages
from tests.fixes.rewrites import rewrites
from tests.fixes.variants import essence, joined, parenthesised, spread, with_newlines, with_tabs
from tests.sampling import one_in

ROOT = Path("/project")
MAX_LESS_SAFE = 100
"""How many safe fixes may lose a comment, of those of all programs with a comment on every line."""

Layouts = Mapping[str, Callable[[str], str]]

LINES: Layouts = {
    "CRLF": with_newlines("\r\n"),
    "CR": with_newlines("\r"),
    "tabs and CRLF": lambda text: with_newlines("\r\n")(with_tabs(text)),
}
SPREAD: Layouts = {
    "arguments on lines": partial(spread, brackets=False),
    "operands on lines with comments": partial(spread, comments=True),
    "redundant parentheses": parenthesised,
}
MORE: Layouts = {
    "arguments on lines with comments": partial(spread, brackets=False, comments=True),
    "operands on lines": spread,
    "tokens on lines": partial(spread, every=True),
    "tokens on lines with comments": partial(spread, every=True, comments=True),
    "backslashes": joined,
    "redundant parentheses on lines": lambda text: spread(parenthesised(text)),
    "redundant parentheses on lines with comments": lambda text: spread(parenthesised(text), comments=True),
}


@dataclass(frozen=True)
class Program:
    """A program that a page or a document shows, with the settings to lint it with."""

    name: str
    text: str
    settings: Layer

    def task(self, text: str) -> Task:
        return Task(ROOT / "case.py", combine([self.settings], ROOT), data=text.encode())

    def findings(self, text: str) -> list[Finding]:
        return list(lint([self.task(text)]).findings)

    def fixed(self, text: str) -> str:
        (task,) = fix([self.task(text)], lambda _: Applicability.DISPLAY_ONLY).tasks
        return task.read().text


def _shown_on_pages() -> list[Program]:
    found = []
    for page in pages():
        for block in page.blocks:
            shapes: dict[str, object] = {} if block.dynamic else {"dynamic-dims": []}
            fixed = [b for b in page.blocks if b.fix and b.kind == "fixed" and page.original_of(b) is block]
            for mode in sorted({b.fix_mode for b in fixed}):
                given = check(shapes | parse(block.settings) | {"mode": mode}, None)
                layer = Layer(ROOT, given | {"torch-version": (2, 13)})
                found.append(Program(f"{block.name} {mode}", block.plain, layer))
    return found


def _shown_in_documents() -> list[Program]:
    return [
        Program(case.name, case.before, Layer(ROOT, {"torch-version": (2, 13)} | check(parse(case.settings), None)))
        for document in sorted(Path(__file__).parent.glob("*.md"))
        for case in rewrites(document)
    ]


PAGES = _shown_on_pages()
PROGRAMS = [*PAGES, *_shown_in_documents()]


def of_every(programs: list[Program]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("program", one_in(40, programs), ids=lambda program: program.name)


@of_every(PROGRAMS)
def test_operands_on_several_lines(program: Program) -> None:
    require_same_fixes(program, SPREAD)


@of_every(PROGRAMS)
def test_operands_on_several_lines_that_end_with_crlf(program: Program) -> None:
    text, crlf = spread(program.text, comments=True), with_newlines("\r\n")
    for one, other in zip(program.findings(text), program.findings(crlf(text)), strict=True):
        assert (one.fix is None) == (other.fix is None)
        if one.fix is not None and other.fix is not None:
            assert one.fix.applicability is other.fix.applicability
            fixed = apply(one.fix.edits, LineIndex(text))
            assert apply(other.fix.edits, LineIndex(crlf(text))) == crlf(fixed)


@pytest.mark.thorough
@pytest.mark.parametrize("layout", MORE)
def test_every_layout(layout: str) -> None:
    for program in PROGRAMS:
        require_same_fixes(program, {layout: MORE[layout]})


def require_same_fixes(program: Program, layouts: Layouts) -> None:
    plain = program.findings(program.text)
    for layout, lay_out in layouts.items():
        text = lay_out(program.text)
        assert essence(text) == essence(program.text), f"{layout} is another program"
        found = program.findings(text)
        assert [f.code for f in found] == [f.code for f in plain], layout
        for one, other in zip(plain, found, strict=True):
            require_same_fix(program.text, one, text, other)


def require_same_fix(plain: str, finding: Finding, text: str, other: Finding) -> None:
    assert (finding.fix is None) == (other.fix is None), f"{finding.code} is fixed in one layout only"
    if finding.fix is None or other.fix is None:
        return
    expected, fixed = apply(finding.fix.edits, LineIndex(plain)), apply(other.fix.edits, LineIndex(text))
    assert essence(fixed) == essence(expected)
    loses = lost(text, fixed) - lost(plain, expected)
    if other.fix.applicability is Applicability.SAFE:
        assert not loses
    if other.fix.applicability is not finding.fix.applicability:
        assert loses
        assert finding.fix.applicability is Applicability.SAFE


def lost(before: str, after: str) -> Counter[str]:
    """The comments that a text has no more."""
    return Counter(c.text for c in comments(before)) - Counter(c.text for c in comments(after))


@pytest.mark.thorough
def test_few_safe_fixes_lose_a_comment() -> None:
    count = 0
    for program in PROGRAMS:
        text = spread(program.text, comments=True)
        for one, other in zip(program.findings(program.text), program.findings(text), strict=True):
            is_safe = [f.fix is not None and f.fix.applicability is Applicability.SAFE for f in (one, other)]
            count += is_safe == [True, False]
    assert count <= MAX_LESS_SAFE


@of_every(PAGES)
def test_line_ends_and_tabs(program: Program) -> None:
    plain = program.fixed(program.text)
    for layout, lay_out in LINES.items():
        assert program.fixed(lay_out(program.text)) == lay_out(plain), layout
