"""`match` statements."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from exportlint.analysis.domain.lattice import join, options
from exportlint.analysis.domain.values import (
    UNKNOWN,
    Const,
    Dict,
    External,
    Object,
    Python,
    Scalar,
    Sequence,
    Shape,
    Size,
    Tensor,
    TorchModule,
    Tuple,
    Union,
    Value,
)
from exportlint.analysis.eval.branches_and_loops import resume
from exportlint.analysis.eval.demands import data_of, demand_truth, doubtful
from exportlint.analysis.eval.frame import Environment, Frame, executes
from exportlint.analysis.eval.narrowing import is_instance, narrowed, recognized
from exportlint.analysis.eval.sizes import note_conversion
from exportlint.analysis.facts import Conversion

NO_SEQUENCE = (Const, Tensor, Dict, Object, TorchModule, Size, Scalar)
NO_MAPPING = (Const, Tensor, Tuple, Sequence, Shape, TorchModule, Size, Scalar)
COMPARED = (ast.MatchValue, ast.MatchOr)
NEVER_SINGLETON = (Tuple, Sequence, Dict, Shape, Object, TorchModule, Size)
"""What is surely neither None nor True nor False."""


@executes(ast.Match)
def _match_statement(frame: Frame, node: ast.Match) -> bool:
    subject = frame.evaluate(node.subject)
    before = frame.env
    open_env: Environment | None = before
    ends: list[Environment] = []
    is_compared = False
    for case in node.cases:
        if open_env is None:
            break
        frame.env = dict(open_env)
        value = frame.peek(node.subject) if open_env is not before else subject
        if is_compared:
            value = doubtful(value)
        verdict = _matched(frame, case.pattern, value)
        if verdict is False:
            continue
        is_compared = is_compared or (isinstance(case.pattern, COMPARED) and data_of(value) is not None)
        _narrow(frame, node.subject, case.pattern)
        if case.guard is not None:
            is_true = demand_truth(frame, frame.evaluate(case.guard), case.guard, "if")
            verdict = False if is_true is False else verdict if is_true else None
        if verdict is not False and frame.execute(case.body):
            ends.append(frame.env)
        open_env = None if verdict else _left(frame, open_env, node.subject, case)
    return resume(frame, before, ends if open_env is None else [*ends, open_env])


def _matched(frame: Frame, pattern: ast.pattern, value: Value) -> bool | None:
    """Whether a pattern surely matches a value, or surely does not. Binds its names to the parts of the value."""
    if isinstance(value, Union) and not isinstance(pattern, (ast.MatchValue, ast.MatchAs)):
        return _any_option(frame, pattern, value)
    if isinstance(pattern, ast.MatchValue):
        return _equals(frame, pattern, value)
    if isinstance(pattern, ast.MatchSingleton):
        return _is_singleton(pattern, value)
    if isinstance(pattern, ast.MatchSequence):
        return _matches_sequence(frame, pattern, value)
    if isinstance(pattern, ast.MatchMapping):
        return _matches_mapping(frame, pattern, value)
    if isinstance(pattern, ast.MatchClass):
        return _matches_class(frame, pattern, value)
    if isinstance(pattern, ast.MatchOr):
        if any(isinstance(part, ast.MatchClass) and _is_symbolic(frame, part) for part in pattern.patterns):
            value = doubtful(value)  # `int() | torch.SymInt()` takes both
        # one comparison of data is enough to tell: the next ones are never reached
        values = [value, *[doubtful(value)] * (len(pattern.patterns) - 1)]
        return _first(_matched(frame, part, v) for part, v in zip(pattern.patterns, values, strict=True))
    if isinstance(pattern, ast.MatchAs):
        verdict = True if pattern.pattern is None else _matched(frame, pattern.pattern, value)
        if pattern.name is not None:
            frame.env[pattern.name] = value
        return verdict
    if isinstance(pattern, ast.MatchStar) and pattern.name is not None:
        frame.env[pattern.name] = value
    return True


def _any_option(frame: Frame, pattern: ast.pattern, value: Union) -> bool | None:
    """The verdict on a value that is one of several; the names of the pattern are bound to any of their parts."""
    before, verdicts, found = frame.env, set[bool | None](), list[Environment]()
    for option in options(value):
        frame.env = dict(before)
        verdict = _matched(frame, pattern, option)
        verdicts.add(verdict)
        if verdict is not False:
            found.append(frame.env)
    names = {name for env in found for name in env}
    frame.env = {name: join([env[name] for env in found if name in env]) for name in names} if found else before
    return verdicts.pop() if len(verdicts) == 1 else None


def _first(verdicts: Iterable[bool | None]) -> bool | None:
    """Whether one of several holds, tried in order."""
    found: bool | None = False
    for verdict in verdicts:
        if verdict:
            return True if found is False else None
        found = None if verdict is None else found
    return found


def _all(verdicts: Iterable[bool | None]) -> bool | None:
    """Whether all of several hold."""
    known = set(verdicts)
    return False if False in known else None if None in known else True


def _equals(frame: Frame, pattern: ast.MatchValue, value: Value) -> bool | None:
    expected = frame.evaluate(pattern.value)
    if isinstance(value, Const) and isinstance(expected, Const):
        return value.value == expected.value
    plain = isinstance(expected, Const) and not isinstance(expected.value, (int, float))
    if plain and isinstance(value, (Tensor, Scalar, *NEVER_SINGLETON)):
        return False
    demand_truth(frame, value, pattern.value, "match")
    return None


def _is_singleton(pattern: ast.MatchSingleton, value: Value) -> bool | None:
    if isinstance(value, Const):
        return value.value is pattern.value
    surely = isinstance(value, NEVER_SINGLETON) or (
        isinstance(value, Tensor) and not value.optional and not value.assumed
    )
    return False if surely or (isinstance(value, Scalar) and pattern.value is None) else None


def _matches_sequence(frame: Frame, pattern: ast.MatchSequence, value: Value) -> bool | None:
    parts = pattern.patterns
    star = next((i for i, part in enumerate(parts) if isinstance(part, ast.MatchStar)), None)
    if isinstance(value, Tuple):
        if len(value.items) != len(parts) if star is None else len(value.items) < len(parts) - 1:
            return False
        items = list(value.items)
        if star is not None:
            end = len(items) - (len(parts) - 1 - star)
            items[star:end] = [Tuple(tuple(items[star:end]), mutable=True)]
        return _all([_matched(frame, part, item) for part, item in zip(parts, items, strict=True)])
    item = value.item if isinstance(value, Sequence) else Size() if isinstance(value, Shape) else UNKNOWN
    for part in parts:
        _matched(frame, part, Sequence(item) if isinstance(part, ast.MatchStar) else item)
    return False if isinstance(value, NO_SEQUENCE) else None


def _matches_mapping(frame: Frame, pattern: ast.MatchMapping, value: Value) -> bool | None:
    verdicts: list[bool | None] = [None if not isinstance(value, Dict) else True]
    for key, part in zip(pattern.keys, pattern.patterns, strict=True):
        known = value.get(key.value) if isinstance(value, Dict) and isinstance(key, ast.Constant) else None
        if known is None:
            is_closed = isinstance(value, Dict) and value.rest is None and isinstance(key, ast.Constant)
            verdicts.append(False if is_closed else None)
        verdicts.append(_matched(frame, part, known or UNKNOWN))
    if pattern.rest is not None:
        frame.env[pattern.rest] = UNKNOWN
    return False if isinstance(value, NO_MAPPING) else _all(verdicts)


def _matches_class(frame: Frame, pattern: ast.MatchClass, value: Value) -> bool | None:
    kind = is_instance(frame, value, pattern.cls)
    _note_number_pattern(frame, pattern, value)
    found = recognized(frame, value, pattern.cls)
    verdicts: list[bool | None] = [kind]
    for part in pattern.patterns:
        # `int(n)`: the one place of Python's own types is the value itself
        itself = isinstance(value, (Const, Size, Scalar, Python)) and len(pattern.patterns) == 1
        verdicts.append(_matched(frame, part, value if itself else UNKNOWN))
    for name, part in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
        verdicts.append(_matched(frame, part, frame.attribute(found, name, pattern)))
    return _all(verdicts)


def _note_number_pattern(frame: Frame, pattern: ast.MatchClass, value: Value) -> None:
    """Record `case int():` for a symbol, which is none during export."""
    asked = frame.peek(pattern.cls)
    name = asked.name.removeprefix("builtins.") if isinstance(asked, External) else None
    if isinstance(value, Size) and name == "int":
        note_conversion(frame, value, pattern, "class pattern")
    if isinstance(value, Scalar) and not value.assumed and name in {"int", "float"} and value.kind in {name, None}:
        frame.emit(Conversion, pattern, value, target="class pattern", operand=value)


def _is_symbolic(frame: Frame, pattern: ast.MatchClass) -> bool:
    asked = frame.peek(pattern.cls)
    return isinstance(asked, External) and asked.name in {"torch.SymInt", "torch.SymFloat"}


def _narrow(frame: Frame, subject: ast.expr, pattern: ast.pattern) -> None:
    """Let the subject be what a pattern binds as a whole: `case Tensor()` tells of the variable as well."""
    if isinstance(pattern, ast.MatchClass) and isinstance(subject, ast.Name):
        known = frame.env.get(subject.id)
        if known is not None:
            kept = [
                recognized(frame, o, pattern.cls)
                for o in options(known)
                if is_instance(frame, o, pattern.cls) is not False
            ]
            frame.env[subject.id] = join(kept) if kept else known


def _left(frame: Frame, env: Environment, subject: ast.expr, case: ast.match_case) -> Environment:
    """The environment where a case did not match."""
    if not isinstance(case.pattern, ast.MatchSingleton) or case.pattern.value is not None or case.guard is not None:
        return env
    test = ast.Compare(subject, [ast.IsNot()], [ast.Constant(None)])
    return narrowed(frame, env, test, True) or env
