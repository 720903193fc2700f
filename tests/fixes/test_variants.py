"""A fix does the same to a program in whatever layout, and nothing at all to what is beside it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.config.toml import check, parse
from exportlint.edits import apply
from exportlint.findings import Applicability, Finding
from exportlint.fixer import fix
from exportlint.linter import Task, lint
from exportlint.pages import MODES
from exportlint.source import LineIndex
from tests.catalogue import pages
from tests.fixes.rewrites import rewrites
from tests.fixes.variants import essence, joined, notes, parenthesised, spread, with_newlines, with_tabs


@dataclass(frozen=True)
class Program:
    """A program that a page or a document shows, with the settings to lint it with."""

    name: str
    text: str
    settings: Layer

    def task(self, text: str) -> Task:
        settings = combine([self.settings], Path("/"))
        return Task(Path("/") / "case.py", settings, data=text.encode())


def _programs() -> list[Program]:
    found = []
    for page in pages():
        for block in page.blocks:
            shapes: dict[str, object] = {} if block.dynamic else {"dynamic-dims": []}
            modes = {b.fix_mode for b in page.blocks if b.fix and b.kind == "fixed" and page.original_of(b) is block}
            for mode in sorted(modes & {*MODES}):
                given = shapes | parse(block.settings) | {"mode": mode}
                layer = Layer(Path("/"), check(given, None) | {"torch-version": (2, 13)})
                found.append(Program(f"{block.name}_{mode[:3]}", block.plain, layer))
    for document in sorted(Path(__file__).parent.glob("*.md")):
        for case in rewrites(document):
            layer = Layer(Path("/"), {"torch-version": (2, 13)} | check(parse(case.settings), None))
            found.append(Program(case.name, case.before, layer))
    return found


PROGRAMS = _programs()
every_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)


def found(program: Program, text: str) -> list[Finding]:
    return lint([program.task(text)]).findings


def fixed(program: Program, text: str, finding: Finding) -> str:
    assert finding.fix is not None
    return apply(finding.fix.edits, LineIndex(text))


from functools import partial

VARIANTS = {
    "arguments": partial(spread, brackets=False),
    "arguments#": partial(spread, brackets=False, comments=True),
    "operands": spread,
    "operands#": partial(spread, comments=True),
    "tokens": partial(spread, every=True),
    "tokens#": partial(spread, every=True, comments=True),
    "joined": joined,
    "parenthesised": parenthesised,
    "parenthesised spread": lambda t: spread(parenthesised(t)),
    "parenthesised spread#": lambda t: spread(parenthesised(t), comments=True),
}


def test_all():
    import collections

    kinds = collections.Counter()
    for program in PROGRAMS:
        plain = found(program, program.text)
        for name, make in VARIANTS.items():
            text = make(program.text)
            try:
                ess = essence(text)
            except Exception as e:
                print("SYNTAX", program.name, name, e)
                print(text)
                continue
            if ess != essence(program.text):
                print("VARIANT", program.name, name)
                print(text)
                continue
            others = found(program, text)
            if len(plain) != len(others) or [f.code for f in plain] != [f.code for f in others]:
                print("FINDINGS", program.name, name, [f.code for f in plain], [f.code for f in others])
                continue
            for one, other in zip(plain, others):
                if one.fix is None and other.fix is None:
                    continue
                if one.fix is None or other.fix is None:
                    print(
                        "DECLINED",
                        program.name,
                        name,
                        one.code,
                        one.fix and one.fix.message,
                        other.fix and other.fix.message,
                    )
                    continue
                a, b = fixed(program, program.text, one), fixed(program, text, other)
                kinds[name] += 1
                try:
                    same = essence(a) == essence(b)
                except (SyntaxError, __import__("tokenize").TokenError) as e:
                    same = False
                    print("SYNTAX", e)
                lost = notes(text) - notes(b)
                if (
                    not same
                    or one.fix.applicability != other.fix.applicability
                    and not lost
                    or (lost and other.fix.applicability is Applicability.SAFE)
                ):
                    print(
                        "DIFFERS",
                        program.name,
                        name,
                        one.code,
                        one.fix.applicability,
                        other.fix.applicability,
                        same,
                        len(lost),
                    )
                    if not same:
                        print(a)
                        print(b)
                elif other.fix.applicability != one.fix.applicability:
                    kinds["less safe " + name] += 1
    print(kinds)
    assert 0
