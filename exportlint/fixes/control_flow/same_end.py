"""Ways of a branch that end in the same statement with other values: `out.append(a)` and `out.append(b)`.

The statement stays once, with a choice between the values, as `where` makes it and says when that is safe.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from exportlint.fixes.control_flow.branch_paths import Case, Way, names_in, way
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression, Statement


@dataclass(frozen=True, slots=True)
class End:
    """The last statement of a way, the value in it, and the variables that it reads besides.

    `with_value` is the statement with another value. `target` is the tree of what takes the value, the same however
    it is laid out.
    """

    target: str
    value: ast.expr
    reads: frozenset[str]
    with_value: Callable[[Expression], Statement]


def ends(code: Code, found: Sequence[Case]) -> tuple[End, list[Way]]:
    """How all the ways of a branch end, and the ways with their values as what they return.

    Raises:
        DeclinedError: they end in different ways, or assign what the last statement reads.
    """
    last = [_end(code, case.body[-1]) if case.body else None for case in found]
    first = last[0]
    ways = []
    for case, end in zip(found, last, strict=True):
        if first is None or end is None or end.target != first.target:
            raise DeclinedError("the branches do not end in the same statement")
        start = way(case.body[:-1])
        if start.returned is not None or first.reads & set(start.assigned):
            raise DeclinedError("a branch assigns a variable that the last statement reads")
        ways.append(Way(start.steps, end.value))
    assert first is not None
    return first, ways


def _end(code: Code, statement: ast.stmt) -> End | None:
    match statement:
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute() as target], value=value):
            assigned = partial(code.statement, "{target} = {value}", target=target)
            return End(ast.dump(target), value, frozenset(names_in(target)), lambda new: assigned(value=new))
        case ast.Expr(ast.Call(func=ast.Attribute() as function, args=[value], keywords=[])):
            if not isinstance(value, ast.Starred):
                called = partial(code.statement, "{function}({value})", function=function)
                return End(ast.dump(function), value, frozenset(names_in(function)), lambda new: called(value=new))
    return None
