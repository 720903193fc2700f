"""Whether operators need a number of Python where a fix would give them a tensor: their dimensions, and truths."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.tree import place
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.liveness import assigned
from exportlint.fixes.proofs.purity import api_of

_DIMS = frozenset({"dim", "dims", "dim0", "dim1", "axis", "start_dim", "end_dim", "source", "destination"})
_TENSORS = frozenset({"tensor", "tensors", "scalar", "any"})
"""Types of parameters that take a tensor."""


def require_tensors_do(code: Code, branch: ast.stmt | ast.expr) -> None:
    """Raises DeclinedError if an operator needs what a branch chooses as a number, so that no tensor will do."""
    for use in _uses(code, branch):
        around = code.tree.parents[use]
        call = code.tree.parents[around] if isinstance(around, ast.keyword) else around
        if isinstance(call, ast.Call) and _needs_number(code, call, use):
            raise DeclinedError(f"`{code.text(call.func)}` needs a number of Python")


def _uses(code: Code, branch: ast.stmt | ast.expr) -> Iterable[ast.expr]:
    """Where the value of a branch is used: itself, or the variables that it assigns."""
    statement = code.tree.statement(branch)
    names = assigned([statement])
    if isinstance(branch, ast.expr) and getattr(statement, "value", None) is not branch:
        return [branch]
    contents = code.tree.contents(code.tree.function(branch) or code.tree.root)
    found = [node for name in names for node in contents.named(name) if isinstance(node.ctx, ast.Load)]
    inside = set(ast.walk(statement))
    return [node for node in found if node not in inside and place(node) > place(statement)]


def _needs_number(code: Code, call: ast.Call, use: ast.expr) -> bool:
    """Whether an operator takes a dimension or a truth where a value stands in a call of it, and never a tensor."""
    api = api_of(code, call)
    if api is None or api.kind not in {"function", "method"}:
        return False
    name = next((keyword.arg for keyword in call.keywords if keyword.value is use), None)
    index = call.args.index(use) if use in call.args else None
    types = [
        (parameter, type_)
        for overload in api.overloads
        for number, (parameter, type_) in enumerate(zip(overload.parameters, overload.types, strict=True))
        if parameter == name or number == index
    ]
    takes_tensors = any(_TENSORS & {*type_.strip("?").split("|")} for _, type_ in types)
    return not takes_tensors and any(parameter in _DIMS or type_ == "bool" for parameter, type_ in types)
