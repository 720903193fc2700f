"""Lists of numbers that tensor data indexes, as tensors.

`counts = [0] * 4` becomes `counts = torch.zeros(4, dtype=torch.int64)`, so that `counts[n]` takes a number that is read
from a tensor, and `torch.tensor(counts)` becomes `counts`.

Needs: the function makes the list and only asks for its items, their sum or a tensor of them. Never safe: the items are
tensors, and the sums of floats are those of single precision.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Const
from exportlint.analysis.facts import Conversion
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import keyword
from exportlint.fixes.errors import DeclinedError, InapplicableError
from exportlint.fixes.proofs.observed_values import builtin, item_of, operation
from exportlint.fixes.state.counters import fits, number_of

if TYPE_CHECKING:
    from exportlint.findings import Fix
    from exportlint.fixes.edit.statements import Draft
    from exportlint.fixes.edit.template import Expression


def indexed_list_fix(code: Code, fact: Conversion) -> Fix:
    """Make the list a tensor. Raises DeclinedError if something needs it as a list, or its items as numbers."""
    subscript = code.tree.parents[code.expression]
    if (
        fact.target != "list index"
        or not isinstance(subscript, ast.Subscript)
        or not isinstance(subscript.value, ast.Name)
    ):
        raise InapplicableError("it is not an item of a list")
    scope, name = code.tree.function(subscript), subscript.value.id
    if scope is None:
        raise InapplicableError("the code runs when the file is imported")
    uses = code.tree.contents(scope).named(name)
    made = [s for n in uses if isinstance(n.ctx, ast.Store) and isinstance(s := code.tree.parents[n], ast.Assign)]
    if len(made) != 1 or sum(isinstance(n.ctx, ast.Store) for n in uses) != 1:
        raise InapplicableError("the list is not made once")
    kind = _kind(made[0].value)
    edits = [code.replace(made[0].value, _tensor(code, made[0].value, kind))]
    for use in uses:
        if use is not made[0].targets[0]:
            edits += _changed(code, use, kind)
    code.claim(name, subscript)
    return code.fix("Keep the numbers in a tensor", *edits, safe=False)


def _kind(value: ast.expr) -> type:
    """The type of the numbers that a list is made of. Raises InapplicableError."""
    match value:
        case ast.BinOp(left=ast.List(elts=[ast.Constant(value=number)]), op=ast.Mult()):
            numbers = [number]
        case ast.ListComp(elt=ast.Constant(value=number), generators=[ast.comprehension(ifs=[])]):
            numbers = [number]
        case ast.List(elts=[_, *_] as items) if all(isinstance(item, ast.Constant) for item in items):
            numbers = [item.value for item in items if isinstance(item, ast.Constant)]
        case _:
            raise InapplicableError("the list is not made of numbers")
    kinds = {type(number) for number in numbers}
    if not kinds <= {int, float}:
        raise InapplicableError("the list is not made of numbers")
    return float if float in kinds else int


def _tensor(code: Code, value: ast.expr, kind: type) -> Expression:
    """The tensor in place of a list."""
    dtype = [keyword("dtype", code.name("torch.int64", value))] if kind is int else []
    match value:
        case ast.BinOp(left=ast.List(elts=[ast.Constant(value=0 | 0.0)]), right=count):
            return code.make(
                "{zeros}({count}, {*dtype})", zeros=code.name("torch.zeros", value), count=count, dtype=dtype
            )
    return code.make("{tensor}({value})", tensor=code.name("torch.tensor", value), value=value)


def _changed(code: Code, use: ast.Name, kind: type) -> list[Draft]:
    """What becomes of a use of the list. Raises DeclinedError."""
    around = code.tree.parents[use]
    match around:
        case ast.Subscript(value=value, ctx=ast.Store()) if value is use and not isinstance(around.slice, ast.Slice):
            statement = code.tree.parents[around]
            is_sum = isinstance(statement, ast.AugAssign) and isinstance(statement.op, (ast.Add, ast.Sub, ast.Mult))
            if not is_sum and not (isinstance(statement, ast.Assign) and statement.targets == [around]):
                raise DeclinedError("an item is changed in another way")
            if not _is_number(code, statement.value, kind):  # type: ignore[attr-defined]
                raise DeclinedError("an item may become a number of a different type")
            return []
        case ast.Subscript(value=value) if value is use:
            return []
        case ast.Call(args=[only], keywords=[]) if only is use:
            if operation(code, around) in {"tensor", "as_tensor"}:
                return [code.replace(around, use)]
            if builtin(code, around) in {"sum", "len"}:
                return []
    raise DeclinedError("the list is used as a whole")


def _is_number(code: Code, node: ast.expr, kind: type) -> bool:
    """Whether an expression surely is a number that the items can become."""
    number = number_of(node)
    if number is not None:
        return fits(Const(number), kind)
    if kind is float and item_of(node) is not None:
        return True
    return code.surely(lambda value: all(fits(option, kind) for option in options(value)), node)
