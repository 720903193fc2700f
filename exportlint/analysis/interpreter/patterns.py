"""`match` statements."""

from __future__ import annotations

import ast

from exportlint.analysis.interpreter.demands import demand_truth
from exportlint.analysis.interpreter.flow import resume
from exportlint.analysis.interpreter.frame import Environment, Frame, executes
from exportlint.analysis.values import (
    UNKNOWN,
    Dict,
    Tuple,
    Value,
)


@executes(ast.Match)
def _match_statement(frame: Frame, node: ast.Match) -> bool:
    subject = frame.evaluate(node.subject)
    before = frame.env
    ends: list[Environment] = []
    exhausted = False
    for case in node.cases:
        frame.env = dict(before)
        pattern = case.pattern
        if _compares(pattern):
            demand_truth(frame, subject, node.subject, "match")
        _bind_pattern(frame, pattern, subject)
        if case.guard is not None:
            demand_truth(frame, frame.evaluate(case.guard), case.guard, "if")
        if frame.execute(case.body):
            ends.append(frame.env)
        if isinstance(pattern, ast.MatchAs) and pattern.pattern is None and case.guard is None:
            exhausted = True
            break
    return resume(frame, before, ends if exhausted else [*ends, before])


def _bind_pattern(frame: Frame, pattern: ast.pattern, value: Value) -> None:
    """Bind the names of a pattern to the parts of what it is matched with, as far as those are known."""
    if isinstance(pattern, ast.MatchAs):
        if pattern.pattern is not None:
            _bind_pattern(frame, pattern.pattern, value)
        if pattern.name is not None:
            frame.env[pattern.name] = value
    elif isinstance(pattern, ast.MatchSequence):
        fits = isinstance(value, Tuple) and len(value.items) == len(pattern.patterns)
        items = value.items if fits and isinstance(value, Tuple) else (UNKNOWN,) * len(pattern.patterns)
        for part, item in zip(pattern.patterns, items, strict=True):
            _bind_pattern(frame, part, item)
    elif isinstance(pattern, ast.MatchMapping):
        for key, part in zip(pattern.keys, pattern.patterns, strict=True):
            known = value.get(key.value) if isinstance(value, Dict) and isinstance(key, ast.Constant) else None
            _bind_pattern(frame, part, known or UNKNOWN)
        if pattern.rest is not None:
            frame.env[pattern.rest] = UNKNOWN
    elif isinstance(pattern, (ast.MatchClass, ast.MatchOr)):
        parts = [*pattern.patterns, *getattr(pattern, "kwd_patterns", [])]
        for part in parts:
            _bind_pattern(frame, part, value if isinstance(pattern, ast.MatchOr) else UNKNOWN)
    elif isinstance(pattern, ast.MatchStar) and pattern.name is not None:
        frame.env[pattern.name] = UNKNOWN


def _compares(pattern: ast.pattern) -> bool:
    return any(isinstance(p, ast.MatchValue) for p in ast.walk(pattern))
