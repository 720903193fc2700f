"""The errors that a log tells of: their types, messages and places, in chains as Python prints them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from exportlint.diagnosis.frames import LoggedFrame, frames_in, guarded_in, starts_frame
from exportlint.messages import mentions

_MOST_LINES = 3_000
"""Lines that are kept of one traceback and its message: the first and the last of them."""
_MOST_OF_MESSAGE = 400

_TRACEBACK = re.compile(r"^\s*(?:\+ )?(?:Exception Group )?Traceback \((?:most recent call last|innermost last)\)")
_PYTEST_START = re.compile(r"^_{3,} .+ _{3,}$|^={5,} (?:FAILURES|ERRORS) ={5,}$")
_IPYTHON_START = re.compile(r"^(?P<kind>\w+) +Traceback \(most recent call last\)")
_REPORT = re.compile(
    r"^\s*\d+\. (?:\[\w+\] )?(?:Data dependent error|Missing fake kernel|Constraint violation|Mismatched fake)"
)
_SUMMARY_END = re.compile(r"^={3,}.*(?:short test summary|passed|failed|error).*={3,}$|^-{20,}$")
_CHAINED = re.compile(
    r"^\s*(?:The above exception was the direct cause of|During handling of the above exception, another)"
)
_HEADLINE = re.compile(
    r"^(?P<kind>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Unsupported|Violation|Warning|SymNode|NotFound|Interrupt|Failure)"
    r"|(?:\w+\.)+[A-Z]\w*)(?::\s*(?P<said>.*))?$"
)
_KIND = re.compile(r"^(?P<kind>(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?::\s?(?P<said>.*))?$")


@dataclass(frozen=True, slots=True)
class Link:
    """One exception of a chain. `frames` are those of its traceback, `named` those that its message names."""

    kind: str
    message: str
    frames: tuple[LoggedFrame, ...] = ()
    named: tuple[LoggedFrame, ...] = ()


@dataclass(frozen=True, slots=True)
class LoggedError:
    """Exceptions that were raised from one another, the first cause first, and the row of the log they begin in.

    `guards` are the places at which torch added the last guards before, if the log has them.
    """

    links: tuple[Link, ...]
    row: int
    guards: tuple[LoggedFrame, ...] = ()


@dataclass
class _Open:
    row: int
    form: str
    kind: str = ""
    lines: list[str] = field(default_factory=list)

    def add(self, line: str) -> None:
        if len(self.lines) >= _MOST_LINES:
            del self.lines[_MOST_LINES // 2 : _MOST_LINES // 2 + _MOST_LINES // 4]
        self.lines.append(line)


def read_errors(lines: Iterable[str]) -> Iterator[LoggedError]:
    """The errors of a log, in its order, as soon as each has ended. Only one of them is held at a time."""
    chain: list[Link] = []
    start = 0
    opened: _Open | None = None
    chained = False
    guards: list[LoggedFrame] = []
    for row, line in enumerate(lines, start=1):
        if "[guard added]" in line and (guard := guarded_in(line)) is not None and guard.origin != "tool":
            guards = [*guards[-4:], guard]
        begun = _begun(line, row, opened)
        if begun is None:
            if opened is not None:
                if _CHAINED.match(line):
                    chained = True
                elif opened.form == "pytest" and _SUMMARY_END.match(line):
                    begun = _Open(row, "none")
                else:
                    opened.add(line)
            if begun is None:
                continue
        if opened is not None and (link := _link(opened)) is not None:
            chain.append(link)
        if not chained and chain:
            yield LoggedError(tuple(chain), start, tuple(guards))
            chain, guards = [], []
        if not chain:
            start = row
        opened, chained = begun, False
    if opened is not None and (link := _link(opened)) is not None:
        chain.append(link)
    if chain:
        yield LoggedError(tuple(chain), start, tuple(guards))


def _begun(line: str, row: int, opened: _Open | None) -> _Open | None:
    """What begins with a line, if anything does."""
    if (found := _IPYTHON_START.match(line)) is not None:
        return _Open(row, "ipython", found["kind"])
    if _TRACEBACK.match(line):
        return _Open(row, "python")
    if _PYTEST_START.match(line):
        return _Open(row, "pytest")
    if _REPORT.match(line):
        return _Open(row, "report", lines=[line])
    if opened is None or opened.form in ("none", "loose", "report"):
        found = _HEADLINE.match(line.strip())
        if found is not None and not line.startswith("    "):
            return _Open(row, "loose", lines=[line.strip()])
        if opened is None and mentions(line):
            return _Open(row, "loose", lines=[line.strip()])
        if opened is None and starts_frame(line):  # the beginning was cut off
            return _Open(row, "python", lines=[line])
    return None


def _link(opened: _Open) -> Link | None:
    if opened.form == "none":
        return None
    if opened.form == "report":
        return Link("", "\n".join(opened.lines[:_MOST_OF_MESSAGE]), named=tuple(frames_in(opened.lines)))
    if opened.form == "loose":
        return _with_message("", opened.lines, ())
    if opened.form == "pytest":
        return _of_pytest(opened.lines)
    return _of_python(opened)


def _of_python(opened: _Open) -> Link | None:
    lines = opened.lines
    places = [i for i, line in enumerate(lines) if starts_frame(line)]
    head = None
    for index, line in enumerate(lines):
        if (
            line[:1] not in ("", " ", "\t", "-", "|", "+")
            and not starts_frame(line)
            and index > min(places, default=-1)
        ):
            if opened.form == "ipython" and not (opened.kind and line.startswith(opened.kind)):
                continue
            found = _KIND.match(line) or _HEADLINE.match(line)
            if found is not None:
                head = index
                break
    if head is None:  # everything is further in, or the end was cut off
        head = next(
            (i for i, line in enumerate(lines) if _HEADLINE.match(line.strip()) and not starts_frame(line)), None
        )
    if head is None:
        return Link("", "", tuple(frames_in(lines))) if places else None
    return _with_message("", lines[head:], tuple(frames_in(lines[:head])))


def _of_pytest(lines: list[str]) -> Link | None:
    # The marks of pytest are gone: the message is what stands below the last place before a headline.
    head = next((i for i, line in enumerate(lines) if _HEADLINE.match(line) and not starts_frame(line)), None)
    if head is None:
        return None
    end = next((i for i in range(head, len(lines)) if re.match(r"^\S+\.py:\d+: \w+$", lines[i])), len(lines))
    return _with_message("", lines[head:end], tuple(frames_in([*lines[:head], *lines[end:]])))


def _with_message(kind: str, lines: list[str], frames: tuple[LoggedFrame, ...]) -> Link:
    found = _KIND.match(lines[0]) or _HEADLINE.match(lines[0])
    said = (found["said"] or "") if found is not None else lines[0]
    kind = found["kind"] if found is not None else kind
    rest = lines[1:_MOST_OF_MESSAGE]
    return Link(kind, "\n".join([said, *rest]).strip(), frames, tuple(frames_in(rest)))
