"""Expressions that can be evaluated once more, earlier or in vain: they change nothing and draw no random numbers."""

from __future__ import annotations

import ast

from exportlint.analysis import table
from exportlint.analysis.values import External
from exportlint.fixes.code import Code
from exportlint.fixes.held import operation

HARMLESS = frozenset({
    "abs", "bool", "float", "getattr", "hasattr", "int", "isinstance", "len", "list", "max", "min", "range", "round",
    "sum", "tuple", "zip", "any", "all", "enumerate", "reversed", "sorted", "slice", "type", "dict",
})  # fmt: skip
_NEVER = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


def is_pure(code: Code, node: ast.expr) -> bool:
    """Whether evaluating an expression has no effect, with the variables as they are at the finding."""
    return not any(
        isinstance(part, _NEVER) or (isinstance(part, ast.Call) and not _is_harmless(code, part))
        for part in ast.walk(node)
    )


def api_of(code: Code, node: ast.Call) -> table.Api | None:
    """What torch says of the function or tensor method that a call surely reaches."""
    called = code.value(node.func)
    if isinstance(called, External):
        return table.lookup(called.name)
    name = operation(code, node)
    return table.tensor_member(name) if name is not None else None


def _is_harmless(code: Code, node: ast.Call) -> bool:
    called = code.value(node.func)
    if isinstance(called, External) and called.name.startswith("builtins."):
        return called.name.removeprefix("builtins.") in HARMLESS
    if isinstance(called, External) and called.name.startswith("math."):
        return True
    api = api_of(code, node)
    return (
        api is not None
        and api.kind in {"function", "method"}
        and not api.random
        and not (set(api.mutates) - {"out"})
        and not any(keyword.arg in {None, "out", "inplace"} for keyword in node.keywords)
    )
