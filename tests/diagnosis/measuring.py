"""How many of the recorded errors come to the right rule and line.

`errors.jsonl` has one error a line: where it is from (`source`), the text, the `rules` that it is about (none: no
rule of exportlint, then `known` says whether a remedy is known), and the `rows` of the user's code that are right
(none: the text names no line of the user). Those with `code` were recorded with torch 2.13, by exporting that module
in `_SCRIPT`; frames of torch are left out but for the outermost and the innermost. The others are from public threads.
"""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exportlint.config import Configuration
from exportlint.diagnosis import Explainer, Explanation, explained, read_errors, read_lines

_ERRORS = Path(__file__).with_name("errors.jsonl")

_SCRIPT = """\
import torch
from model import M


def main(args, kwargs, dynamic_shapes):
    model = M().eval()
    return torch.export.export(model, args, kwargs, strict={strict}, dynamic_shapes=dynamic_shapes)
"""


@dataclass(frozen=True)
class LoggedCase:
    """An error that was printed, and what is right to say of it."""

    source: str
    text: str
    rules: tuple[str, ...]
    rows: tuple[int, ...]
    known: bool = True
    code: str = ""
    strict: bool = False

    def explain(self, directory: Path, *, with_code: bool) -> Explanation | None:
        """What is said of it first; None if no error is found in it."""
        if with_code:
            (directory / "model.py").write_text(self.code, encoding="utf-8")
            (directory / "export.py").write_text(_SCRIPT.format(strict=self.strict), encoding="utf-8")
        explainer = Explainer(Configuration(directory, isolated=True), [directory])
        errors = read_errors(read_lines(io.BytesIO(self.text.encode())))
        return next(explained(errors, explainer, most=50), None)

    def has_right_rule(self, found: Explanation | None) -> bool:
        """Whether the rule is right."""
        if found is None:
            return False
        if self.rules:
            return found.rule is not None and found.rule.code in self.rules
        return found.rule is None and found.is_known == self.known

    def has_right_line(self, found: Explanation | None) -> bool:
        """Whether the line is right, which may be that of the cause or the one that torch blames."""
        if found is None:
            return False
        rows = {found.place.row} if found.place is not None else set()
        if found.finding is not None:
            rows.add(found.finding.span.start.row)
        return not rows.isdisjoint(self.rows) if self.rows else not rows


def cases() -> list[LoggedCase]:
    """All that are recorded."""

    def made(one: dict[str, Any]) -> LoggedCase:
        return LoggedCase(**{**one, "rules": tuple(one["rules"]), "rows": tuple(one["rows"])})

    return [made(json.loads(line)) for line in _ERRORS.read_text(encoding="utf-8").splitlines()]


@dataclass(frozen=True)
class Score:
    """How many of `total` have the right rule, the right line, and both."""

    name: str
    total: int
    rule: int
    line: int
    both: int
    wrong: tuple[str, ...] = ()


def score(name: str, among: list[LoggedCase], *, with_code: bool) -> Score:
    """What becomes of some cases, each in a directory by itself."""
    with tempfile.TemporaryDirectory() as directory:
        found = [(case, case.explain(Path(directory), with_code=with_code)) for case in among]
    rule = [case.has_right_rule(one) for case, one in found]
    line = [case.has_right_line(one) for case, one in found]
    wrong = tuple(
        f"{case.source}: {case.rules} {case.rows}: {one.rule and one.rule.code if one else None}"
        for (case, one), right, there in zip(found, rule, line, strict=True)
        if not (right and there)
    )
    return Score(name, len(found), sum(rule), sum(line), len(found) - len(wrong), wrong)


def scores() -> Iterator[Score]:
    """The rows of the table of `docs/explain.md`."""
    measured = [case for case in cases() if case.code]
    public = [case for case in cases() if not case.code]
    yield score("recorded with torch 2.13, with sources", measured, with_code=True)
    yield score("the same, text only", measured, with_code=False)
    yield score("from public threads, text only", public, with_code=False)


def table() -> str:
    """The table of `docs/explain.md`."""
    lines = ["| errors | number | right rule | right line | both |", "|---|---|---|---|---|"]
    for one in scores():
        share = f"{one.both} ({100 * one.both / one.total:.0f} %)"
        lines.append(f"| {one.name} | {one.total} | {one.rule} | {one.line} | {share} |")
    return "\n".join(lines)
