"""Lists that grow with each call, kept as what is asked of them: the sum of their items, their number, the last one.

`self.losses.append(x.mean())` becomes `self.losses_sum.add_(x.mean())` of a buffer, and `sum(self.losses)` that buffer.

Needs: nothing else is asked of the list, and items have sizes that the code tells. Never safe: the sum is that of
tensors of one dtype, added in place, and the items themselves are gone.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.observed_values import builtin, tensor
from exportlint.fixes.proofs.purity import is_pure
from exportlint.fixes.state.constructor import Constructor, buffer, receiver
from exportlint.fixes.state.counters import number_of
from exportlint.fixes.state.places import empty_like

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression, Statement

WRITES = {"len": "{place}.add_(1)", "sum": "{place}.add_({item})", "last": "{place}.copy_({item})"}
"""What `append` does to each of the buffers."""
GROWING = "it grows with each call, and a buffer keeps its size"


def keep_totals(code: Code, constructor: Constructor, name: str) -> list[Draft]:
    """A list as buffers of what is asked of it.

    Raises:
        DeclinedError: more is asked of it, or the sizes of its items are not known.
    """
    constructor.require_private(name)
    first = constructor.assignment(name)
    if not isinstance(first.value, ast.List) or first.value.elts:
        raise DeclinedError(GROWING)
    added: dict[ast.stmt, ast.expr] = {}
    asked: dict[ast.expr, str] = {}
    for use in constructor.uses(name):
        around = code.tree.parents[use]
        call = code.tree.parents[around]
        if use is first.target:
            continue
        if isinstance(around, ast.Attribute) and around.attr == "append" and isinstance(call, ast.Call):
            statement = code.tree.parents[call]
            if not isinstance(statement, ast.Expr) or len(call.args) != 1:
                raise DeclinedError(GROWING)
            added[statement] = call.args[0]
        elif isinstance(around, ast.Call) and around.args == [use] and builtin(code, around) in {"sum", "len"}:
            asked[around] = builtin(code, around) or ""
        elif isinstance(around, ast.Subscript) and ast.unparse(around.slice) == "-1":
            asked[around] = "last"
        else:
            raise DeclinedError(GROWING)
    names = {kind: constructor.free(f"{name}_{kind}") for kind in dict.fromkeys(asked.values())}
    owner, items = first.target.value, [*added.values()]
    registered = [buffer(code, owner, own, _start(code, constructor, kind, items)) for kind, own in names.items()]
    drafts = [code.statements.replace([first.statement], registered)]
    for statement, item in added.items():
        drafts.append(code.statements.replace([statement], _written(code, names, statement, item)))
    for node, kind in asked.items():
        place = _place(code, node, names[kind])
        drafts.append(code.replace(node, code.make("{place}.clone()", place=place)))
    return drafts


def _start(code: Code, constructor: Constructor, kind: str, items: list[ast.expr]) -> Expression:
    """What a buffer holds before the first call. Raises DeclinedError."""
    numbers = [number_of(item) for item in items]
    if kind == "len" or (numbers and None not in numbers):
        start = 0.0 if kind != "len" and float in map(type, numbers) else 0
        return code.make("{tensor}({start})", tensor=code.name("torch.tensor"), start=start)
    if not all(tensor(code, item) is not None for item in items):
        raise DeclinedError("its items may be something other than tensors")
    return empty_like(code, constructor, items)


def _written(code: Code, names: dict[str, str], statement: ast.stmt, item: ast.expr) -> list[Statement]:
    """The statements that write what `append` does to the list. The item is evaluated once."""
    if {"sum", "last"} <= names.keys() or not is_pure(code, item):
        raise DeclinedError("the item would be computed several times, or not at all")
    lines = []
    for kind, template in WRITES.items():
        if kind in names:
            place = _place(code, statement, names[kind])
            number = code.make("{tensor}({item})", tensor=code.name("torch.tensor"), item=item)
            given = number if kind == "last" and number_of(item) is not None else code.concrete(item)
            lines.append(code.statement(template, place=place, item=given))
    return lines


def _place(code: Code, node: ast.AST, name: str) -> Expression:
    method = code.tree.function(node)
    if not isinstance(method, ast.FunctionDef):
        raise DeclinedError("a nested function uses it")
    return code.make("{owner}.{name}", owner=receiver(method), name=name)
