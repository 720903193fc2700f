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

import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

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

    def covers(self, finding: Finding) -> bool:
        """Whether the finding starts in the rows that are covered."""
        if self.partial and finding.code == _SYNTAX_ERROR:
            return False
        return self.first <= finding.span.start.row <= self.last


@dataclass(frozen=True, slots=True)
class Suppressions:
    """The pragmas of one file."""

    pragmas: tuple[Pragma, ...] = ()
    problems: tuple[Problem, ...] = ()

    def partial(self) -> Suppressions:
        """The same pragmas, for a file of which other parts cannot be parsed; nothing is said of them."""
        return Suppressions(tuple(replace(pragma, partial=True) for pragma in self.pragmas))

    def apply(self, findings: Iterable[Finding], enabled: frozenset[str], filename: str, mode: Mode) -> list[Finding]:
        """The findings that no pragma covers, and those about the pragmas themselves, of the rules that are `enabled`.

        `findings` are all of one file and of enabled rules. A pragma is called unused only if every rule that it names
        was enabled.
        """
        used: set[Span] = set()
        kept = [f for f in findings if not self._suppress(f, used)]
        found = [(INVALID, problem) for problem in self.problems]
        found += [(UNUSED, problem) for problem in self._unused(used, enabled)]
        own = [_finding(code, problem, filename, mode) for code, problem in found]
        # A pragma without list does not suppress what is said about itself.
        return kept + [f for f in own if f.code in enabled and not self._suppress(f, used, named_only=True)]

    def remaining(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings that no pragma covers."""
        return [finding for finding in findings if not self._suppress(finding, set())]

    def _suppress(self, finding: Finding, used: set[Span], *, named_only: bool = False) -> bool:
        suppressed = False
        for pragma in self.pragmas:
            if not pragma.covers(finding):
                continue
            selectors = pragma.directive.selectors
            if not selectors and not named_only:
                used.add(pragma.directive.span)
                suppressed = True
            if match := next((s for s in selectors if finding.code in s.codes), None):
                used.add(match.span)
                suppressed = True
        return suppressed

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
            for selector in unused:
                message = f"unused suppression: nothing of `{selector.text}` is found here"
                yield Problem(selector.span, message, _without(pragma, unused))
            if (
                not directive.selectors
                and directive.verb != "noqa"
                and directive.span not in used
                and everything <= enabled
            ):
                yield Problem(directive.span, "unused suppression: nothing is found here", _without(pragma, ()))


def _without(pragma: Pragma, unused: Sequence[Selector]) -> Fix:
    """The fix that removes what is unused, and from the `enable` of a `disable` too, or nothing would be enabled."""
    gone = {selector.span for selector in unused}
    kept = {selector.codes for selector in pragma.directive.selectors if selector.span not in gone}
    parts = [(pragma.directive.place, gone)]
    if pragma.enable is not None:
        parts.append(
            (pragma.enable.place, {selector.span for selector in pragma.enable.selectors if selector.codes not in kept})
        )
    return removal("Remove what suppresses nothing", *parts)


def find_suppressions(text: str) -> Suppressions:
    """The pragmas of the Python file `text`."""
    # Tokenizing costs more than the rest of the work on a file that has no findings.
    if "exportlint" not in text and "noqa" not in text.lower():
        return Suppressions()
    # Most files with a pragma need no logical lines but those that comments know.
    lines = functools.cache(lambda: LogicalLines(text))
    pragmas: list[Pragma] = []
    problems: list[Problem] = []
    opened: list[tuple[Comment, Directive]] = []
    for comment in comments(text):
        for found in directives(comment):
            if isinstance(found, Problem):
                problems.append(found)
            elif (misplaced := _misplaced(comment, found)) is not None:
                problems.append(Problem(found.span, f"suppression without effect: {misplaced}"))
            elif found.verb == "disable":
                opened.append((comment, found))
            elif found.verb == "enable":
                if (start := _opening(comment, found, opened, lines)) is None:
                    problems.append(_unmatched(found))
                else:
                    opened.remove(start)
                    pragmas.append(Pragma(start[1], start[0].row, comment.row, found))
            else:
                pragmas.append(Pragma(found, *_rows(comment, found, lines)))
    for comment, directive in opened:
        pragmas.append(Pragma(directive, comment.row, lines().block_end(comment.row, comment.column)))
        problems.append(Problem(directive.span, "`disable` without `enable`: it holds up to the end of its block"))
    return Suppressions(tuple(pragmas), tuple(problems))


def _is_between(comment: Comment) -> bool:
    """Whether it stands between two logical lines, not in or behind one."""
    return comment.own_line and (comment.logical_start_row > comment.row or comment.logical_end_row == comment.row)


def _misplaced(comment: Comment, directive: Directive) -> str | None:
    if directive.verb in ("disable", "enable", "file-ignore") and not _is_between(comment):
        return f"`{directive.verb}` must stand on a line of its own, outside of brackets"
    if directive.verb == "file-ignore" and comment.column != 1:
        return "`file-ignore` must not be indented"
    return None


def _opening(
    enabling: Comment, enable: Directive, opened: list[tuple[Comment, Directive]], lines: Callable[[], LogicalLines]
) -> tuple[Comment, Directive] | None:
    """The latest `disable` of the same rules in the block of `enabling`."""
    rules = {selector.codes for selector in enable.selectors}
    for comment, disable in reversed(opened):
        same = comment.column == enabling.column and {selector.codes for selector in disable.selectors} == rules
        if same and enabling.row <= lines().block_end(comment.row, comment.column):
            return comment, disable
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
    return Problem(enable.span, message, removal("Remove what enables nothing", (enable.place, gone)))


def _finding(code: str, problem: Problem, filename: str, mode: Mode) -> Finding:
    rule = find_rule(code)
    assert rule is not None
    text = "remove what suppresses nothing" if code == UNUSED else None
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
