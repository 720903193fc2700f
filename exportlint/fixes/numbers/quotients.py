"""Quotient and remainder of numbers that were read from tensors, by the operators that torch.export has for them.

`row, column = divmod(i.item(), 4)` becomes `number = i.item()` and `row, column = number // 4, number % 4`.

Safe: both are whole numbers, and evaluated where and as often as before. Otherwise the remainder of tensors is one of
torch.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from exportlint.analysis.domain.values import Const, Scalar, Size
from exportlint.fixes.errors import DeclinedError, InapplicableError
from exportlint.fixes.proofs.observed_values import builtin
from exportlint.fixes.proofs.purity import may_repeat, require_first

if TYPE_CHECKING:
    from exportlint.analysis.domain.values import Value
    from exportlint.analysis.facts import Fact
    from exportlint.findings import Fix
    from exportlint.fixes.edit.code import Code
    from exportlint.fixes.edit.template import Expression, Statement


def divmod_fix(code: Code, _: Fact) -> Fix:
    """`divmod(a, b)` as `(a // b, a % b)`. Raises DeclinedError if an operand cannot be evaluated first."""
    made = code.tree.parents[code.expression]
    found = made if isinstance(made, ast.Call) and builtin(code, made) == "divmod" else code.expression
    match found:
        case ast.Call(args=[left, right], keywords=[]) if builtin(code, found) == "divmod":
            pass
        case _:
            raise InapplicableError("it is not `divmod`")
    statement = code.tree.statement(found)
    lines: list[Statement] = []

    def repeated(node: ast.expr) -> Expression:
        if may_repeat(code, node):
            return code.concrete(node)
        require_first(code, statement, node)
        name = code.fresh("number", found)
        lines.append(code.statement("{name} = {number}", name=name, number=node))
        return code.make("{name}", name=name)

    if isinstance(left, ast.Starred) or isinstance(right, ast.Starred):
        raise DeclinedError("not all arguments are known")
    one, other = repeated(left), repeated(right)
    result = code.make("({one} // {other}, {one} % {other})", one=one, other=other)
    edits = [code.replace(found, result)]
    if lines:
        edits.insert(0, code.statements.insert_before(statement, lines))
    return code.fix("Divide with `//` and `%`", *edits, safe=code.surely(_is_whole, left, right))


def _is_whole(value: Value) -> bool:
    if isinstance(value, Const):
        return type(value.value) is int
    return isinstance(value, Size) or (isinstance(value, Scalar) and value.kind == "int")
