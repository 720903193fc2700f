"""Writes in place as operators that make a new tensor."""

from __future__ import annotations

import ast

from exportlint.analysis import table
from exportlint.fixes.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.precedence import Precedence, of_operator


def rebound(code: Code, node: ast.AST) -> tuple[str, str]:
    """A variable that a statement changes in place, and the one that binds it to what the operator makes of it.

    `x = x + 1` for `x += 1`, `x = x.t()` for `x.t_()`.

    Raises:
        DeclinedError: the node is no such statement, or no operator does the same.
    """
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        name = node.target.id
        symbol = code.text(node)[len(name) :].partition("=")[0].strip()
        tighter = Precedence(min(of_operator(node.op) + 1, Precedence.ATOM))
        return name, f"{name} = {name} {symbol} {code.operand(node.value, tighter)}"
    call, statement = node, code.tree.parents[node]
    if (
        not isinstance(call, ast.Call)
        or not isinstance(call.func, ast.Attribute)
        or not isinstance(statement, ast.Expr)
    ):
        raise DeclinedError("the write is part of a statement that does more")
    name, operator = code.text(call.func.value), OPERATORS.get(call.func.attr, call.func.attr[:-1])
    if not isinstance(call.func.value, ast.Name) or table.tensor_member(operator) is None:
        raise DeclinedError("no operator does the same to a variable")
    return name, f"{name} = {name}.{operator}{code.text(call)[len(code.text(call.func)) :]}"


OPERATORS = {"resize_": "reshape", "resize_as_": "reshape_as"}
"""Of methods that do not end like the operator with an underscore behind it."""
