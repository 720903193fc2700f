"""What an error of a log is: its rule, its line, the finding of the linter that says why, and what to write."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from exportlint.config import Configuration
from exportlint.diagnosis.frames import LoggedFrame, users_line
from exportlint.diagnosis.log import Link, LoggedError
from exportlint.findings import Finding, Fix, Mode
from exportlint.messages import Recognition, closest, recognize
from exportlint.registry import Rule, find_rule
from exportlint.source import SourceFile
from exportlint.verify.linting import Linted
from exportlint.verify.results import Failure, Frame, Run
from exportlint.verify.rulings import one_line

_NEAR = 8
"""Rows between the line that torch blames and the cause that the linter knows, in one function."""
_MOST_FILES = 40
"""Files of the project that are linted for an error of which torch does not say where it is."""
_HINT = re.compile(r"^\s*(?:\d+\.\s+)?`?(torch\._check(?:_is_size)?\(.*\))`?\s*$", re.MULTILINE)
_STRICT = re.compile(
    r"from user code:|(?<!non)_strict_export|_export_to_torch_ir|fullgraph_capture|Developer debug context"
)
_PYTHON = (".py", ".ipynb")


@dataclass(frozen=True, slots=True)
class Place:
    """The user's line. `file` is the path on this machine, or the log's if the file is not here.

    `row` is that of the log, or where its code is now if the file `has_changed`; `code` is the line.
    """

    file: str
    row: int
    function: str
    code: str
    is_here: bool = False
    has_changed: bool = False


@dataclass(frozen=True, slots=True)
class Explanation:
    """What there is to say of one error. `rules` are those that it may be about, the first one before all.

    `meaning` and `remedy` are one sentence each, empty where a rule says more. `finding` is what the linter says of the
    line, with its trail and fix. `closest` are rules whose pages come nearest, for what is not recognized. `row` is the
    row of the log; `count` says how often the error is there. `calls` are where torch.export is called.
    """

    kind: str
    message: str
    row: int
    mode: Mode
    rules: tuple[Rule, ...] = ()
    meaning: str = ""
    remedy: str = ""
    place: Place | None = None
    finding: Finding | None = None
    suggestions: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    closest: tuple[Rule, ...] = ()
    count: int = 1

    @property
    def is_known(self) -> bool:
        """Whether it is explained."""
        return bool(self.rules or self.remedy or self.finding)

    @property
    def rule(self) -> Rule | None:
        """The rule that it is about."""
        return self.rules[0] if self.rules else None

    @property
    def key(self) -> tuple[object, ...]:
        """The same for errors that need to be explained only once."""
        place = None if self.place is None else (self.place.file, self.place.row)
        return place, self.rule, self.meaning or self.message


class Explainer:
    """Explains errors of a project: its files are looked for in `roots`, and linted once."""

    def __init__(self, configuration: Configuration, roots: Sequence[Path]) -> None:
        self._linted = Linted(configuration)
        self._roots = [root.absolute() for root in roots]

    def sources(self, filename: str) -> SourceFile | None:
        """The file of a name, or None if it cannot be read."""
        return self._linted.source(filename)

    def explain(self, error: LoggedError) -> Explanation:
        """What an error is."""
        link, found = _decisive(error)
        inside, call = _places(error, link)
        mode: Mode = "strict" if any(_is_strict(one) for one in error.links) else "non-strict"
        place = self._located(inside)
        called = self._located(call)
        code = "" if place is None else place.code
        if found is not None:
            found = recognize(link.kind, link.message, code) or found
        rules = _rules(found.codes if found is not None else ())
        family = None if found is None else found.family
        explanation = Explanation(
            link.kind.rpartition(".")[2],
            link.message,
            error.row,
            mode,
            rules,
            "" if family is None else family.meaning,
            "" if family is None or (rules and not family.is_wrapper) else family.remedy,
            place or called,
            suggestions=tuple(dict.fromkeys(_HINT.findall(link.message))),
        )
        explanation = self._with_finding(explanation, found, link, place, called, error.guards)
        if explanation.is_known:
            return explanation
        near = closest(f"{link.kind}: {link.message}", code)
        return replace(explanation, closest=_rules(near))

    def _with_finding(
        self,
        explanation: Explanation,
        found: Recognition | None,
        link: Link,
        place: Place | None,
        called: Place | None,
        guards: Sequence[LoggedFrame],
    ) -> Explanation:
        """The explanation with what the linter knows of the line, if the sources are here."""
        here = [one for one in (place, called) if one is not None and one.is_here]
        if not here:
            return explanation
        codes = () if found is None else (*found.codes, *found.others)
        for mode in (explanation.mode, *(m for m in _MODES if m != explanation.mode)):
            run, files = self._run(explanation, link, place, called, mode)
            judgement = self._linted.judge([run], files)
            confirmed = [judged.finding for judged in judgement.findings if judged.ruling == "confirmed"]
            fixes = tuple(fix for missed in judgement.missed for fix in missed.fixes)
            if place is None or not place.is_here:
                confirmed = confirmed or self._only(codes, files, mode, guards)
            elif not confirmed:
                confirmed = self._near(place, codes, files, mode)
            if confirmed:
                best = min(confirmed, key=lambda finding: _order(finding, codes))
                return self._about(explanation, self._linted.with_fix(best), fixes, place)
            explanation = replace(explanation, fixes=explanation.fixes or fixes)
        return explanation

    def _about(
        self, explanation: Explanation, finding: Finding, fixes: tuple[Fix, ...], place: Place | None
    ) -> Explanation:
        others = [rule for rule in explanation.rules if rule.code != finding.code]
        rules = (*_rules([finding.code]), *others)
        if place is None:  # torch names none, and the linter does
            source = self.sources(finding.filename)
            row = finding.span.start.row
            code = "" if source is None or row > len(source.lines) else source.lines.line(row).strip()
            place = Place(finding.filename, row, finding.symbol.rpartition(".")[2], code, is_here=True)
        return replace(explanation, rules=rules, finding=finding, fixes=fixes, place=place)

    def _run(
        self, explanation: Explanation, link: Link, place: Place | None, called: Place | None, mode: Mode
    ) -> tuple[Run, list[Path]]:
        """The error as a run of torch.export that verify would have made, and the files that it is about."""
        frames = () if place is None or not place.is_here else (Frame(place.file, place.row, place.function),)
        failure = Failure("export", explanation.kind, link.message, frames, explanation.suggestions)
        files = [Path(one.file) for one in (place, called) if one is not None and one.is_here]
        if not frames:
            read = sorted(self._linted.read_by(files, mode))
            files += [file for file in read if _is_of_project(file) and file not in files][:_MOST_FILES]
        rows: dict[str, tuple[int, ...]] = {}
        for file in files:
            source = self.sources(str(file))
            rows[str(file)] = () if source is None else tuple(range(1, len(source.lines) + 1))
        call = None if called is None or not called.is_here else Frame(called.file, called.row, called.function)
        run = Run("explain", mode, "cpu", "fails", failures=(failure,), lines=rows, call=call)
        return run, files

    def _near(self, place: Place, codes: Sequence[str], files: Sequence[Path], mode: Mode) -> list[Finding]:
        """What is found near the line, and that the message may be about: the cause stands some rows before, mostly."""
        found = [
            finding
            for finding in self._linted.findings(files, mode)
            if finding.code in codes and self._distance(finding, place) <= _NEAR
        ]
        return sorted(found, key=lambda finding: self._distance(finding, place))[:1]

    def _distance(self, finding: Finding, place: Place) -> int:
        places = [(finding.filename, finding.span.start.row)]
        places += [(step.filename, step.span.start.row) for step in finding.trail]
        places += [(caller.filename, caller.span.start.row) for caller in finding.callers]
        path = os.path.realpath(place.file)
        return min((abs(row - place.row) for file, row in places if os.path.realpath(file) == path), default=_NEAR + 1)

    def _only(
        self, codes: Sequence[str], files: Sequence[Path], mode: Mode, guards: Sequence[LoggedFrame]
    ) -> list[Finding]:
        """What the linter finds of the rules that the message is about, where torch names no line of the model."""
        found = [f for f in self._linted.findings(files, mode) if f.code in codes]
        rows = {(Path(guard.file).name, guard.row) for guard in guards}
        guarded = [f for f in found if (Path(f.filename).name, f.span.start.row) in rows]
        found = guarded or found
        gravest = min((f.severity.rank for f in found), default=0)
        first = [f for f in found if f.severity.rank == gravest]
        return first if len({(f.filename, f.span.start.row) for f in first}) == 1 else []

    def _located(self, frame: LoggedFrame | None) -> Place | None:
        """Where a frame of the log is on this machine."""
        if frame is None:
            return None
        found = self._find(frame.file)
        if found is None:
            return Place(frame.file, frame.row, frame.function, frame.code)
        source = self.sources(str(found))
        if source is None:
            return Place(str(found), frame.row, frame.function, frame.code)
        lines = source.lines
        now = lines.line(frame.row).strip() if frame.row <= len(lines) else ""
        if not frame.code or now == frame.code or frame.code.rstrip("\\ ") in now:
            return Place(str(found), frame.row, frame.function, now or frame.code, is_here=True)
        rows = [row for row in range(1, len(lines) + 1) if lines.line(row).strip() == frame.code]
        if not rows:
            return Place(str(found), frame.row, frame.function, frame.code, has_changed=True)
        row = min(rows, key=lambda row: abs(row - frame.row))
        return Place(str(found), row, frame.function, frame.code, is_here=True, has_changed=True)

    def _find(self, file: str) -> Path | None:
        """The file that a log names, here: at its path, or below a root by the longest end of its path."""
        if not file.lower().endswith(_PYTHON):
            return None
        path = Path(file).expanduser() if file.startswith("~") else Path(file)
        try:
            if path.is_absolute() and path.is_file():
                return path
            parts = [part for part in re.split(r"[\\/]", file) if part not in ("", ".", "~")]
            for length in range(len(parts), 0, -1):
                end = parts[-length:]
                if ".." in end or end[0].endswith(":"):
                    continue
                for root in self._roots:
                    if (found := root.joinpath(*end)).is_file():
                        return found
        except (OSError, ValueError):
            return None
        return None


_MODES: tuple[Mode, ...] = ("non-strict", "strict")


def explained(errors: Iterable[LoggedError], explainer: Explainer, most: int) -> Iterator[Explanation]:
    """What errors are, each of those that say the same once, with their number; at most so many."""
    kept: dict[tuple[object, ...], Explanation] = {}
    for error in errors:
        one = explainer.explain(error)
        if one.key in kept:
            kept[one.key] = replace(kept[one.key], count=kept[one.key].count + 1)
        elif len(kept) < most:
            kept[one.key] = one
    known = any(one.is_known for one in kept.values())
    # Beside errors of torch.export, what nothing is known of is noise of the program that was run.
    yield from (one for one in kept.values() if one.is_known or not known)


def headline(explanation: Explanation) -> str:
    """What torch says, in one line."""
    said = one_line(explanation.message)
    return f"{explanation.kind}: {said}" if explanation.kind and said else explanation.kind or said


def _decisive(error: LoggedError) -> tuple[Link, Recognition | None]:
    """The exception of a chain that says most: of those that are recognized the last, unless it wraps another."""
    known = [(link, found) for link in error.links if (found := recognize(link.kind, link.message)) is not None]
    plain = [one for one in known if not one[1].is_wrapper]
    if plain or known:
        return (plain or known)[-1]
    return error.links[-1], None


def _places(error: LoggedError, link: Link) -> tuple[LoggedFrame | None, LoggedFrame | None]:
    """The user's line in the code that is traced, and the one that calls torch.export; None where there is none."""
    inside = outside = None
    for one in (link, *(other for other in reversed(error.links) if other is not link)):
        inside = inside or users_line(one.named)
        traced, called = split(one.frames)
        inside = inside or traced
        outside = outside or called
    return inside, outside


def split(frames: Sequence[LoggedFrame]) -> tuple[LoggedFrame | None, LoggedFrame | None]:
    """The user's lines in and outside of the code that torch.export traces."""
    first = next((index for index, frame in enumerate(frames) if frame.exports), len(frames))
    if first == len(frames) and not any(frame.origin == "tool" for frame in frames):
        return users_line(frames), None
    return users_line(frames[first:]), users_line(frames[:first])


def _is_strict(link: Link) -> bool:
    return bool(_STRICT.search(link.message)) or any(_STRICT.search(frame.function) for frame in link.frames)


def _rules(codes: Iterable[str]) -> tuple[Rule, ...]:
    return tuple(rule for code in codes if (rule := find_rule(code)) is not None)


def _order(finding: Finding, codes: Sequence[str]) -> tuple[int, int, object]:
    at = codes.index(finding.code) if finding.code in codes else len(codes)
    return finding.severity.rank, at, finding.span.start


def _is_of_project(file: Path) -> bool:
    return not {"site-packages", "dist-packages"} & set(file.parts)
