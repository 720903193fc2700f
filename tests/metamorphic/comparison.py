"""What the linter says of a file and of a variant of it, without rows and trails."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from exportlint.findings import Finding
from exportlint.linter import Task
from exportlint.workspace import Workspace
from tests.metamorphic.transformations import MARK, DoesNotApply, Transformation, Variant

_ROW = re.compile(r"\bline (\d+)\b")


@dataclass(frozen=True, slots=True, order=True)
class Said:
    """A finding by what it says: `place` is its line, or its own text where code was moved."""

    code: str
    severity: str
    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.code} {self.severity} at `{self.place}`: {self.message}"


@dataclass(frozen=True, slots=True)
class Difference:
    """What is said of one of two files that do the same, and not of the other."""

    filename: str
    transformation: str
    gone: tuple[Said, ...]
    new: tuple[Said, ...]

    def __str__(self) -> str:
        lines = [f"{self.filename}: {self.transformation}"]
        lines += [f"  - {said}" for said in self.gone]
        lines += [f"  + {said}" for said in self.new]
        return "\n".join(lines)


def said(findings: Iterable[Finding], variant: Variant, filename: str, *, moves_code: bool) -> Counter[Said]:
    """What findings say, with the names of the original file; nothing of lines that a transformation put in."""
    return Counter(_said(findings, variant, filename, moves_code=moves_code))


def _said(findings: Iterable[Finding], variant: Variant, filename: str, *, moves_code: bool) -> Iterator[Said]:
    lines = variant.text.replace("\r\n", "\n").split("\n")

    def line(row: int) -> str:
        return variant.original(lines[row - 1]).strip() if 0 < row <= len(lines) else ""

    # Of what is found at one place, reports tell one.
    places = {(f.filename, f.span, f.code): f for f in sorted(findings, key=lambda f: f.sort_key, reverse=True)}
    for finding in places.values():
        span = finding.span
        if finding.filename != filename:
            message, place = variant.original(finding.message), f"{finding.filename}:{span.start.row}"
            yield Said(finding.code, finding.severity.value, place, message)
            continue
        text = lines[span.start.row - 1]
        last = span.end.column - 1 if span.end.row == span.start.row else len(text)
        place = variant.original(text[span.start.column - 1 : last] if moves_code else text).strip()
        if MARK in place:
            continue
        message = _ROW.sub(lambda match: "a line" if moves_code else f"`{line(int(match[1]))}`", finding.message)
        yield Said(finding.code, finding.severity.value, place, variant.original(message))


def difference(
    task: Task, name: str, transformation: Transformation, workspace: Workspace, before: Iterable[Finding]
) -> Difference | None:
    """How the findings of a file differ from those of its variant. Raises DoesNotApply.

    `workspace` is what found `before`; it sees the file as it was afterwards. An error that is about an expression as a
    whole stands for what is worth no more than a word inside of it: that may be said where the code is moved apart.
    """
    text = workspace.read(task).text
    variant = transformation(text)
    same = replace(variant, text=text, original=lambda piece: piece)
    data = variant.text.encode()
    workspace.hold(task.path, data)
    try:
        after = workspace.lint(task).findings
    finally:
        workspace.hold(task.path, text.encode())
    one = said(before, same, task.filename, moves_code=variant.moves_code)
    other = said(after, variant, task.filename, moves_code=variant.moves_code)
    gone, new = one - other, other - one
    if variant.moves_code:
        covers = [said.place for said in one if said.severity == "error"]
        covered = {said for said in new if said.severity == "info" and any(said.place in place for place in covers)}
        new = Counter({said: count for said, count in new.items() if said not in covered})
    if not gone and not new:
        return None
    return Difference(task.filename, name, tuple(sorted(gone.elements())), tuple(sorted(new.elements())))


__all__ = ["Difference", "DoesNotApply", "Said", "difference", "said"]
