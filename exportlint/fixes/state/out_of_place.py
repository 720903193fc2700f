"""Writes in place as operators that make a new tensor.

`x += 1` becomes `x = x + 1`, and `x.t_()` becomes `x = x.t()`. Never safe: whoever shares the storage does not see it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from exportlint.analysis.torch import table
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import SYMBOLS, binary
from exportlint.fixes.errors import DeclinedError

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression, Statement


def rebound(code: Code, node: ast.AST) -> tuple[str, Statement]:
    """A variable that a statement changes in place, and the one that binds it to what the operator makes of it.

    `x = x + 1` for `x += 1`, `x = x.t()` for `x.t_()`.

    Raises:
        DeclinedError: the node is no such statement, or no operator does the same.
    """
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        name = node.target.id
        value = binary(SYMBOLS[type(node.op)], name, code.concrete(node.value))
        return name, code.statement("{name} = {value}", name=name, value=value)
    if not isinstance(code.tree.parents[node], ast.Expr):
        raise DeclinedError("the statement does more than this write")
    name, made = _made(code, node)
    return name, code.statement("{name} = {made}", name=name, made=made)


def returned(code: Code, node: ast.AST) -> Expression:
    """What a call that changes a variable in place and is all that is returned becomes: `x.mul(2)` for `x.mul_(2)`.

    Raises:
        DeclinedError: the node is no such call, or no operator does the same.
    """
    whole, around = node, code.tree.parents[node]
    while isinstance(around, ast.IfExp) and whole is not around.test:
        whole, around = around, code.tree.parents[around]
    if not isinstance(around, ast.Return):
        raise DeclinedError("the result is used in other ways")
    return _made(code, node)[1]


def _made(code: Code, call: ast.AST) -> tuple[str, Expression]:
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        raise DeclinedError("it is not a method that writes in place")
    owner, operator = call.func.value, "reshape" if call.func.attr == "resize_" else call.func.attr[:-1]
    if not isinstance(owner, ast.Name) or operator == "resize_as" or table.tensor_member(operator) is None:
        raise DeclinedError("no out-of-place operator does the same")
    function = code.make("{owner}.{operator}", owner=owner, operator=operator)
    return owner.id, code.concrete(call, {call.func: function})
