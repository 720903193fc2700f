"""What generator functions give."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from exportlint.analysis.domain.lattice import join
from exportlint.analysis.domain.values import (
    Sequence as SequenceValue,
)
from exportlint.analysis.domain.values import (
    Tuple,
    Value,
)


def generated(node: ast.FunctionDef | ast.AsyncFunctionDef, yields: Sequence[Value], *, reached: bool) -> Value:
    """What iterating over a generator gives: one by one, if its body yields each once, whatever its branches do."""
    if reached and len(yields) == len(list(_unconditional(node.body))) == sum(map(_is_yield, ast.walk(node))):
        return Tuple(tuple(yields), lazy="generator")
    return SequenceValue(join(yields), "generator")


def _unconditional(body: Iterable[ast.stmt]) -> Iterable[ast.stmt]:
    """The statements `yield value` that run once in each run of a body."""
    for statement in body:
        if isinstance(statement, ast.With):
            yield from _unconditional(statement.body)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Yield):
            yield statement


def _is_yield(node: ast.AST) -> bool:
    return isinstance(node, (ast.Yield, ast.YieldFrom))
