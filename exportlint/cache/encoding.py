"""Findings and what else looking at a file gives, as plain data and back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from exportlint.findings import Applicability, Caller, Edit, Finding, Fix, Position, Severity, Span, Step
from exportlint.source import Comment
from exportlint.suppressions import Pragma, Suppressions
from exportlint.suppressions.pragmas import Directive, Problem, Selector
from exportlint.suppressions.removal import Place
from exportlint.syntax.unresolved_imports import UnreadFile, UnresolvedImport
from exportlint.units import Unit

Plain = list[Any]


class Steps:
    """Makes the steps of trails from plain ones, each once."""

    def __init__(self, plain: Sequence[Plain]) -> None:
        self._plain = plain
        self._made: dict[int, Step] = {}

    def step(self, number: int) -> Step:
        """The step with a number."""
        if number not in self._made:
            filename, span, message, cell, role, changes = self._plain[number]
            self._made[number] = Step(filename, _span_of(span), message, cell, role, changes)
        return self._made[number]


def encoded(unit: Unit) -> Plain:
    """A unit but for what it depends on: its findings come first, and the trail of each is its ninth part."""
    return [
        [_finding(finding) for finding in unit.findings],
        [_pragma(pragma) for pragma in unit.suppressions.pragmas],
        [_problem(problem) for problem in unit.suppressions.problems],
        sorted([one.filename, one.row, one.name] for one in unit.unresolved),
        sorted([one.filename, one.reason] for one in unit.unread),
        unit.exported,
    ]


def decoded(plain: Plain, steps: Steps, reads: frozenset[Path]) -> Unit:
    """The unit that was encoded, in which trails are numbers of `steps`.

    Raises:
        ValueError, TypeError, LookupError: it is none.
    """
    findings, pragmas, problems, unresolved, unread, exported = plain
    suppressions = Suppressions(tuple(map(_pragma_of, pragmas)), tuple(map(_problem_of, problems)))
    return Unit(
        tuple(_finding_of(one, steps) for one in findings),
        suppressions,
        reads,
        frozenset(UnresolvedImport(*one) for one in unresolved),
        frozenset(UnreadFile(*one) for one in unread),
        exported,
    )


def _step(step: Step) -> Plain:
    return [step.filename, _span(step.span), step.message, step.cell, step.role, step.changes]


def _span(span: Span) -> Plain:
    return [span.start.row, span.start.column, span.end.row, span.end.column]


def _span_of(plain: Plain) -> Span:
    row, column, end_row, end_column = plain
    return Span(Position(row, column), Position(end_row, end_column))


def _finding(finding: Finding) -> Plain:
    return [
        finding.code,
        finding.name,
        finding.severity.value,
        finding.message,
        finding.filename,
        _span(finding.span),
        finding.symbol,
        finding.mode,
        [_step(step) for step in finding.trail],
        finding.help,
        finding.cell,
        _fix(finding.fix),
        [[c.filename, _span(c.definition), _span(c.span), c.callee, c.cell] for c in finding.callers],
        sorted(finding.through),
        finding.fix_pending,
        finding.declined,
    ]


def _finding_of(plain: Plain, steps: Steps) -> Finding:
    code, name, severity, message, filename, span, symbol, mode, trail, help_, cell, fix, callers, through, *rest = (
        plain
    )
    pending, declined = rest
    return Finding(
        code,
        name,
        Severity(severity),
        message,
        filename,
        _span_of(span),
        symbol,
        mode,
        tuple(map(steps.step, trail)),
        help_,
        cell,
        _fix_of(fix),
        tuple(Caller(name, _span_of(whole), _span_of(part), callee, at) for name, whole, part, callee, at in callers),
        frozenset(through),
        pending,
        declined,
    )


def _fix(fix: Fix | None) -> Plain | None:
    if fix is None:
        return None
    edits = [[_span(edit.span), edit.content, edit.cell] for edit in fix.edits]
    return [fix.applicability.value, fix.message, edits, sorted(map(list, fix.names)), fix.obstacle]


def _fix_of(plain: Plain | None) -> Fix | None:
    if plain is None:
        return None
    applicability, message, edits, names, obstacle = plain
    return Fix(
        Applicability(applicability),
        message,
        tuple(Edit(_span_of(span), content, cell) for span, content, cell in edits),
        frozenset((row, name) for row, name in names),
        obstacle,
    )


def _pragma(pragma: Pragma) -> Plain:
    enable = None if pragma.enable is None else _directive(pragma.enable)
    return [_directive(pragma.directive), pragma.first, pragma.last, enable, pragma.partial]


def _pragma_of(plain: Plain) -> Pragma:
    directive, first, last, enable, partial = plain
    return Pragma(_directive_of(directive), first, last, None if enable is None else _directive_of(enable), partial)


def _directive(directive: Directive) -> Plain:
    place, comment = directive.place, directive.place.comment
    return [
        directive.verb,
        [
            comment.row,
            comment.column,
            comment.text,
            comment.own_line,
            comment.blanks,
            comment.start_offset,
            comment.logical_start_row,
            comment.logical_end_row,
        ],
        _span(place.span),
        list(map(_span, place.entries)),
        [[one.text, _span(one.span), sorted(one.codes)] for one in directive.selectors],
    ]


def _directive_of(plain: Plain) -> Directive:
    verb, comment, span, entries, selectors = plain
    place = Place(Comment(*comment), _span_of(span), tuple(map(_span_of, entries)))
    found = tuple(Selector(text, _span_of(at), frozenset(codes)) for text, at, codes in selectors)
    return Directive(verb, place, found)


def _problem(problem: Problem) -> Plain:
    return [_span(problem.span), problem.message, _fix(problem.fix)]


def _problem_of(plain: Plain) -> Problem:
    span, message, fix = plain
    return Problem(_span_of(span), message, _fix_of(fix))
