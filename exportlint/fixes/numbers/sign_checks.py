"""Checks that numbers read from tensors are not negative, before a view that begins or ends there is written.

`h[:n] *= 2` becomes `torch._check(n >= 0)` and `h[:n] *= 2`: torch.export then knows where the view is.

Never safe: a negative number, which counts from the end, raises.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from exportlint.analysis.domain.values import Const
from exportlint.analysis.eval.gradients import is_unplaced
from exportlint.analysis.facts import Fact
from exportlint.findings import Fix
from exportlint.fixes.control_flow.branch_paths import names_in
from exportlint.fixes.edit import template as templates
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.live_variables import bound

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Statement

COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)
KEEPS_SIGN = (ast.Add, ast.Mult, ast.FloorDiv)
"""What gives, of a number that is not negative and a positive constant, another one that is not."""


def sign_checks_fix(code: Code, _: Fact) -> Fix:
    """`torch._check(n >= 0)` before the number is used. Raises DeclinedError."""
    written = code.expression
    if isinstance(written, ast.Call) and isinstance(written.func, ast.Attribute):
        written = written.func.value
    if not isinstance(written, ast.Subscript):
        raise DeclinedError("the view is made elsewhere")
    parts = written.slice.elts if isinstance(written.slice, ast.Tuple) else [written.slice]
    numbers = [number for part in parts for number in _numbers(part) if is_unplaced(code.value(number))]
    names = dict.fromkeys(_name(code, number).id for number in numbers)
    if not names:
        raise DeclinedError("the view is made elsewhere")
    check = code.name("torch._check", written)
    lines: dict[ast.stmt, list[Statement]] = {}
    for name in names:
        line = code.statement("{check}({name} >= 0)", check=check, name=templates.dotted(name))
        lines.setdefault(_first_use(code, written, name), []).append(line)
    what = " and ".join(f"`{name}`" for name in names)
    checks = [code.statements.insert_before(place, new) for place, new in lines.items()]
    return code.fix(f"Check that {what} is not negative", *checks, safe=False)


def _first_use(code: Code, written: ast.Subscript, name: str) -> ast.stmt:
    """The first statement of the block behind the one that gives a variable its number that uses it.

    What torch.export does not know when it makes the first view there, it does not learn for the next one.
    """
    first = code.tree.statement(written)
    for other in reversed(code.tree.block(first)[: code.tree.index(first)]):
        if name in bound([other]):
            break
        if name in names_in(other) and not isinstance(other, COMPOUND):
            first = other
    return first


def _numbers(part: ast.expr) -> Iterator[ast.expr]:
    if not isinstance(part, ast.Slice):
        yield part
    else:
        yield from (bound for bound in (part.lower, part.upper) if bound is not None)


def _name(code: Code, number: ast.expr) -> ast.Name:
    """The variable whose sign settles that of a bound. Raises DeclinedError."""
    if isinstance(number, ast.BinOp) and isinstance(number.op, KEEPS_SIGN):
        fixed = code.value(number.right)
        if isinstance(fixed, Const) and type(fixed.value) is int and fixed.value > 0:
            number = number.left
    if not isinstance(number, ast.Name):
        raise DeclinedError("no variable holds the number")
    return number
