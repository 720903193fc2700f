"""Comments that say which findings not to report, and what remains of the findings of a file.

| comment | covers |
|---|---|
| `# exportlint: ignore[RULE, ...] reason` behind code | the whole logical line it stands in |
| the same alone on its line | the next logical line: of a compound statement only the header, with its decorators |
| `# exportlint: file-ignore[RULE, ...]` alone, not indented | the file |
| `# exportlint: disable[RULE, ...]` alone | up to `enable` with the same rules in the same block |
| `# noqa: EXP101` behind code | the whole logical line it stands in |

RULE is anything that `--select` takes; without the list, all rules are meant. A `disable` that is never enabled holds
up to the end of its block and is reported, because it is easy to suppress more with it than was meant.
"""

from __future__ import annotations

import bisect
import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain

from exportlint.findings import Finding, Fix, Mode, Severity, Span
from exportlint.registry import all_rules, find_rule
from exportlint.source import Comment, comments
from exportlint.suppressions.logical import LogicalLines
from exportlint.suppressions.pragmas import Directive, Problem, Selector, directives
from exportlint.suppressions.removal import removal

UNUSED = "EXP002"
INVALID = "EXP005"
_SYNTAX_ERROR = "EXP001"

__all__ = ["Pragma", "Suppressions", "find_suppressions"]


@dataclass(frozen=True, slots=True)
class Pragma:
    """A directive and the rows that it covers, from 1, both included; with the `enable` of a `disable`.

    `partial`: other parts of the file cannot be parsed, so it is not reported if it suppresses nothing, and it does not
    hold for what is wrong with them.
    """

    directive: Directive
    first: int
    last: int
    enable: Directive | None = None
    partial: bool = False

    def suppresses(self, code: str, *, named_only: bool) -> Span | None:
        """What of it suppresses findings of a rule: the selector, or all of it if it has none."""
        if self.partial and code == _SYNTAX_ERROR:
            return None
        selectors = self.directive.selectors
        if not selectors:
            return None if named_only else self.directive.span
        return next((selector.span for selector in selectors if code in selector.codes), None)


class _Rows:
    """The rows of ranges that may overlap."""

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        ordered = sorted(ranges)
        self._firsts = [first for first, _ in ordered]
        self._lasts = list(accumulate((last for _, last in ordered), max))

    def __contains__(self, row: int) -> bool:
        place = bisect.bisect_right(self._firsts, row)
        return place > 0 and row <= self._lasts[place - 1]


@dataclass(frozen=True, slots=True)
class Suppressions:
    """The pragmas of one file."""

    pragmas: tuple[Pragma, ...] = ()
    problems: tuple[Problem, ...] = ()

    def partial(self) -> Suppressions:
        """The same pragmas, for a file of which other parts cannot be parsed; nothing is said of them."""
        return Suppressions(tuple(replace(pragma, partial=True) for pragma in self.pragmas))

    def apply(
        self,
        findings: Iterable[Finding],
        enabled: frozenset[str],
        filename: str,
        mode: Mode,
        *,
        require_reason: bool = False,
    ) -> list[Finding]:
        """The findings that no pragma covers, and those about the pragmas themselves, of the rules that are `enabled`.

        `findings` are all of one file and of enabled rules. A pragma is called unused only if every rule that it names
        was enabled. `require_reason`: one without a reason is reported, and suppresses all the same.
        """
        used: set[Span] = set()
        kept = self._kept(list(findings), used)
        found = [(INVALID, problem) for problem in self.problems]
        if require_reason:
            found += [(INVALID, problem) for problem in self._unexplained()]
        found += [(UNUSED, problem) for problem in self._unused(used, enabled)]
        own = [_finding(code, problem, filename, mode) for code, problem in found]
        # A pragma without list does not suppress what is said about itself.
        return kept + self._kept([f for f in own if f.code in enabled], used, named_only=True)

    def remaining(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings that no pragma covers."""
        return self._kept(list(findings), set(), named_only=False)

    def _kept(self, findings: list[Finding], used: set[Span], *, named_only: bool = False) -> list[Finding]:
        """The findings that no pragma suppresses. `used` learns what of the pragmas suppresses some."""
        rows: dict[str, list[int]] = {}
        for finding in findings:
            rows.setdefault(finding.code, []).append(finding.span.start.row)
        covered = {code: _Rows(self._covering(code, sorted(found), used, named_only)) for code, found in rows.items()}
        return [f for f in findings if f.span.start.row not in covered[f.code]]

    def _covering(self, code: str, rows: Sequence[int], used: set[Span], named_only: bool) -> Iterator[tuple[int, int]]:
        """The first and last rows of the pragmas that suppress a finding of a rule in one of the `rows`, in order."""
        for pragma in self.pragmas:
            if bisect.bisect_left(rows, pragma.first) == bisect.bisect_right(rows, pragma.last):
                continue
            if (span := pragma.suppresses(code, named_only=named_only)) is not None:
                used.add(span)
                yield pragma.first, pragma.last

    def _unexplained(self) -> Iterator[Problem]:
        for pragma in self.pragmas:
            directive = pragma.directive
            # Without a list, it is about other linters as well.
            if not pragma.partial and not directive.reason and (directive.selectors or directive.verb != "noqa"):
                yield Problem(directive.span, "suppression without a reason: write one after it")

    def _unused(self, used: set[Span], enabled: frozenset[str]) -> Iterator[Problem]:
        everything = frozenset(rule.code for rule in all_rules())
        for pragma in self.pragmas:
            if pragma.partial:
                continue
            directive = pragma.directive
            unused = [
                selector
                for selector in directive.selectors
                if selector.span not in used and selector.codes <= enabled and not selector.codes & {UNUSED, INVALID}
            ]
            fix = _without(pragma, unused) if unused else None
            for selector in unused:
                message = f"unused suppression: no `{selector.text}` finding here"
                yield Problem(selector.span, message, fix)
            if (
                not directive.selectors
                and directive.verb != "noqa"
                and directive.span not in used
                and everything <= enabled
            ):
                yield Problem(directive.span, "unused suppression: no finding here", _without(pragma, ()))


def _without(pragma: Pragma, unused: Sequence[Selector]) -> Fix:
    """The fix that removes what is unused, and from the `enable` of a `disable` too, or nothing would be enabled."""
    gone = {selector.span for selector in unused}
    kept = {selector.codes for selector in pragma.directive.selectors if selector.span not in gone}
    parts = [(pragma.directive.place, gone)]
    if pragma.enable is not None:
        parts.append(
            (pragma.enable.place, {selector.span for selector in pragma.enable.selectors if selector.codes not in kept})
        )
    return removal("Remove the unused suppression", *parts)


def find_suppressions(text: str) -> Suppressions:
    """The pragmas of the Python file `text`."""
    # Tokenizing costs more than the rest of the work on a file that has no findings.
    if "exportlint" not in text and "noqa" not in text.lower():
        return Suppressions()
    # Most files with a pragma need no logical lines but those that comments know.
    lines = functools.cache(lambda: LogicalLines(text))
    pragmas: list[Pragma] = []
    problems: list[Problem] = []
    opened: dict[tuple[int, _Codes], list[tuple[Comment, Directive]]] = {}
    for comment in comments(text):
        for found in directives(comment):
            if isinstance(found, Problem):
                problems.append(found)
            elif (misplaced := _misplaced(comment, found)) is not None:
                problems.append(Problem(found.span, f"suppression without effect: {misplaced}"))
            elif found.verb == "disable":
                opened.setdefault(_kind(comment, found), []).append((comment, found))
            elif found.verb == "enable":
                if (start := _opening(comment, opened.get(_kind(comment, found), []), lines)) is None:
                    problems.append(_unmatched(found))
                else:
                    pragmas.append(Pragma(start[1], start[0].row, comment.row, found))
            else:
                pragmas.append(Pragma(found, *_rows(comment, found, lines)))
    for comment, directive in sorted(chain.from_iterable(opened.values()), key=lambda start: start[0].start_offset):
        pragmas.append(Pragma(directive, comment.row, lines().block_end(comment.row, comment.column)))
        problems.append(Problem(directive.span, "`disable` without `enable`: it applies up to the end of its block"))
    return Suppressions(tuple(pragmas), tuple(problems))


def _is_between(comment: Comment) -> bool:
    """Whether it stands between two logical lines, not in or behind one."""
    return comment.own_line and (comment.logical_start_row > comment.row or comment.logical_end_row == comment.row)


def _misplaced(comment: Comment, directive: Directive) -> str | None:
    if directive.verb in ("disable", "enable", "file-ignore") and not _is_between(comment):
        return f"`{directive.verb}` must be on a separate line, outside of brackets"
    if directive.verb == "file-ignore" and comment.column != 1:
        return "`file-ignore` must not be indented"
    return None


_Codes = frozenset[frozenset[str]]


def _kind(comment: Comment, directive: Directive) -> tuple[int, _Codes]:
    """What a `disable` and its `enable` have in common."""
    return comment.column, frozenset(selector.codes for selector in directive.selectors)


def _opening(
    enabling: Comment, opened: list[tuple[Comment, Directive]], lines: Callable[[], LogicalLines]
) -> tuple[Comment, Directive] | None:
    """The latest `disable` of the same kind in the block of `enabling`, taken from those that are `opened`."""
    # where the block of the latest has ended, that of each one before has
    if opened and enabling.row <= lines().block_end(opened[-1][0].row, enabling.column):
        return opened.pop()
    return None


def _rows(comment: Comment, directive: Directive, lines: Callable[[], LogicalLines]) -> tuple[int, int]:
    if directive.verb == "file-ignore":
        return 1, sys.maxsize
    first, last = comment.logical_start_row, comment.logical_end_row
    if first <= comment.row:
        return first, last
    if directive.verb == "noqa":
        return comment.row, comment.row
    return first, max(last, lines().header_last_row(first))


def _unmatched(enable: Directive) -> Problem:
    message = "`enable` without a `disable` of the same rules in this block"
    gone = {selector.span for selector in enable.selectors}
    return Problem(enable.span, message, removal("Remove the unused `enable`", (enable.place, gone)))


def _finding(code: str, problem: Problem, filename: str, mode: Mode) -> Finding:
    rule = find_rule(code)
    assert rule is not None
    text = "remove the unused suppression" if code == UNUSED else None
    return Finding(
        code,
        rule.name,
        Severity.WARNING,
        problem.message,
        filename,
        problem.span,
        mode=mode,
        help=text,
        fix=problem.fix,
    )
