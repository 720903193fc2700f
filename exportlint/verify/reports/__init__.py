"""What verify found out, as text for people and for programs: one module a format."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from exportlint.findings import Finding, Position, Severity, Span, Step
from exportlint.messages import recognize
from exportlint.source import LineIndex
from exportlint.verify.results import Frame, Run
from exportlint.verify.target import Target
from exportlint.verify.verdicts import RULINGS, Judged, Judgement, Sources, Surprise

TEXT_FORMATS = ("text", "concise")
"""The formats for people, which are written run by run."""

FORMATS = (*TEXT_FORMATS, "json", "sarif", "junit")

MISSED = "missed"
"""The code of the findings that surprises are shown as."""


class Unbuildable(Protocol):
    """A module that is not a target."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def place(self) -> tuple[Path, int]:
        """Where it stands."""

    @property
    def reason(self) -> str:
        """Why, in one line."""

    @property
    def proposal(self) -> Sequence[str]:
        """The lines of a configured target that would make it one, if that is what it needs."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that there is to tell. `root` is what file names are shown relative to, `seconds` the wall time of it all.

    `unbuildable` are the modules that are not targets: name, place, and why.
    """

    root: Path
    targets: Sequence[Target]
    runs: Sequence[Run]
    judgement: Judgement
    unbuildable: Sequence[Unbuildable] = ()
    seconds: float = 0.0

    @property
    def agrees(self) -> bool:
        """Whether all targets export, and their programs agree with them."""
        return all(run.verdict == "exports" for run in self.runs)

    def place(self, run: Run) -> tuple[Path, int] | None:
        """Where the target of a run stands."""
        return next((target.place for target in self.targets if target.name == run.target), None)


def render(outcome: Outcome, output_format: str, sources: Sources) -> str:
    """The report in one of `FORMATS` for programs, with a line end. File names in it are absolute."""
    name = "json_" if output_format == "json" else output_format
    text: str = importlib.import_module(f"{__name__}.{name}").render(outcome, sources)
    return text


def as_finding(surprise: Surprise, place: tuple[Path, int] | None, sources: Sources) -> Finding | None:
    """A surprise as the finding that was missed; `place` is the target's. None where nobody knows the place."""
    if surprise.frame is not None:
        filename, row, symbol = surprise.frame.file, surprise.frame.row, surprise.frame.function
    elif place is not None:
        filename, row, symbol = str(place[0]), place[1], ""
    else:
        return None
    source = sources(filename)
    return Finding(
        code=MISSED,
        name=surprise.what,
        severity=surprise.severity,
        message=surprise.said,
        filename=filename,
        span=_row_span(None if source is None else source.lines, row),
        symbol=symbol,
        mode=surprise.run.mode,
        trail=tuple(_step(frame, sources) for frame in surprise.because),
        help=advice(surprise, None if source is None else source.lines),
        fix=next(iter(surprise.fixes), None),
    )


def _step(frame: Frame, sources: Sources) -> Step:
    source = sources(frame.file)
    span = _row_span(None if source is None else source.lines, frame.row)
    return Step(frame.file, span, "this line restricts the size")


def advice(surprise: Surprise, lines: LineIndex | None) -> str | None:
    """How to have the linter find it, or what `exportlint explain` would say of the error; None if nothing is known."""
    if surprise.hint:
        return surprise.hint
    frame = surprise.frame
    line = lines.line(frame.row) if lines is not None and frame is not None and frame.row <= len(lines) else ""
    found = recognize(*surprise.raised, line) if surprise.raised is not None else None
    if found is None:
        return None
    page = f"`exportlint rule {found.codes[0]}` says what to write instead" if found.codes else ""
    known = (found.family.meaning, "" if found.codes else found.family.remedy) if found.family else ()
    return "; ".join(filter(None, (*known, page))) or None


def _row_span(lines: LineIndex | None, row: int) -> Span:
    """What stands on a row."""
    if lines is None or not 1 <= row <= len(lines):
        return Span(Position(max(row, 1), 1), Position(max(row, 1), 1))
    text = lines.line(row)
    start = len(text) - len(text.lstrip())
    return Span(Position(row, start + 1), Position(row, max(len(text.rstrip()), start) + 1))


def told(outcome: Outcome, sources: Sources) -> list[tuple[Finding, str, str, Run | None]]:
    """All that is said of places in the code: finding, `missed` or its ruling, why, and the run that says so."""
    said = [(j.finding, str(j.ruling), j.why, j.run) for j in outcome.judgement.findings if matters(j)]
    for surprise in outcome.judgement.missed:
        finding = as_finding(surprise, outcome.place(surprise.run), sources)
        if finding is not None:
            said.append((finding, MISSED, surprise.said, surprise.run))
    return sorted(said, key=lambda one: (one[0].sort_key, one[1]))


def counted(outcome: Outcome) -> dict[str, int]:
    """How many findings became what, and how many were missed, of those that there is anything to tell of."""
    counts = Counter(judged.ruling for judged in outcome.judgement.findings if matters(judged))
    return {**{ruling: counts[ruling] for ruling in RULINGS}, MISSED: len(outcome.judgement.missed)}


def matters(judged: Judged) -> bool:
    """Whether there is anything to tell of a finding: not where nothing around it ran, or it claims nothing."""
    return judged.ruling != "not reached" or (judged.near and judged.finding.severity is not Severity.INFO)
